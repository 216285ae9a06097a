//! The encrypted file: what it keeps, what it refuses, and that it is never half-written.

use std::fs;

use tempfile::TempDir;

use super::*;

/// A little work, so that tests are quick.
const LITTLE_WORK: u8 = 4;
const PHRASE: &str = " correct horse ";
const KEY: &str = "sk-1234567890";

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn file(folder: &TempDir) -> AgeFile {
    let mut file = AgeFile::new(folder.path());
    file.work = LITTLE_WORK;
    file
}

/// A file that was begun and holds one secret.
fn begun(folder: &TempDir) -> AgeFile {
    let mut file = file(folder);
    begin(&mut file, PHRASE).unwrap();
    file.set(&name("openai"), &secret(KEY)).unwrap();
    file
}

fn begin(file: &mut AgeFile, phrase: &str) -> Result<(), KeyError> {
    file.passphrase(PassphraseAct::Begin(Passphrase::new(phrase)))
}

fn unlock(file: &mut AgeFile, phrase: &str) -> Result<(), KeyError> {
    file.passphrase(PassphraseAct::Unlock(Passphrase::new(phrase)))
}

fn name(text: &str) -> SecretName {
    SecretName::new(text).unwrap()
}

fn secret(text: &str) -> SecretText {
    SecretText::exact(text)
}

#[test]
fn what_is_kept_is_there_for_whoever_has_the_passphrase() {
    let folder = folder();
    drop(begun(&folder));
    let mut again = file(&folder);
    let path = folder.path().join(SECRETS_FILE);
    assert_eq!(again.look(), Ok(Standing::Locked));
    assert_eq!(
        again.get(&name("openai")),
        Err(KeyError::NeedsPassphrase { path })
    );
    unlock(&mut again, PHRASE).unwrap();
    assert_eq!(again.look(), Ok(Standing::Ready));
    assert_eq!(again.get(&name("openai")), Ok(Some(secret(KEY))));
    assert_eq!(again.names(), Ok(vec![name("openai")]));
    assert_eq!(again.remove(&name("openai")), Ok(true));
    assert_eq!(again.remove(&name("openai")), Ok(false));
    assert_eq!(again.get(&name("openai")), Ok(None));
    again.passphrase(PassphraseAct::Forget).unwrap();
    assert_eq!(again.look(), Ok(Standing::Locked));
}

#[test]
fn there_is_no_file_until_a_passphrase_was_chosen() {
    let folder = folder();
    let mut file = file(&folder);
    let path = folder.path().join(SECRETS_FILE);
    assert_eq!(file.look(), Ok(Standing::New));
    assert_eq!(file.get(&name("openai")), Ok(None));
    assert_eq!(file.remove(&name("openai")), Ok(false));
    let no_file = KeyError::NoFile { path: path.clone() };
    assert_eq!(
        file.set(&name("openai"), &secret(KEY)),
        Err(no_file.clone())
    );
    assert_eq!(unlock(&mut file, PHRASE), Err(no_file));
    assert_eq!(begin(&mut file, "  short  "), Err(KeyError::WeakPassphrase));
    assert!(!path.exists());
    begin(&mut file, PHRASE).unwrap();
    assert_eq!(file.look(), Ok(Standing::Ready));
    assert_eq!(begin(&mut file, PHRASE), Err(KeyError::FileExists { path }));
}

#[test]
fn the_file_holds_no_secret_that_can_be_read_and_is_for_its_owner() {
    let folder = folder();
    drop(begun(&folder));
    let path = folder.path().join(SECRETS_FILE);
    let bytes = fs::read(&path).unwrap();
    assert!(bytes.starts_with(b"age-encryption.org/v1\n-> scrypt "));
    for word in [KEY, "openai", PHRASE] {
        assert!(
            !bytes
                .windows(word.len())
                .any(|window| window == word.as_bytes())
        );
    }
    #[cfg(unix)]
    for entry in fs::read_dir(folder.path()).unwrap() {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = entry.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn a_wrong_passphrase_is_told_from_damage() {
    let folder = folder();
    drop(begun(&folder));
    let path = folder.path().join(SECRETS_FILE);
    let whole = fs::read(&path).unwrap();
    let opened = |bytes: &[u8], phrase: &str| {
        fs::write(&path, bytes).unwrap();
        let error = unlock(&mut file(&folder), phrase).unwrap_err();
        // Whatever was wrong with it, it is left as it was.
        assert_eq!(fs::read(&path).unwrap(), bytes);
        match error {
            KeyError::Damaged { why, .. } => why,
            KeyError::WrongPassphrase { .. } => "wrong passphrase",
            error => panic!("{error:?}"),
        }
    };
    assert_eq!(opened(&whole, "correct horse"), "wrong passphrase");
    let header = whole
        .windows(4)
        .position(|window| window == b"\n---")
        .unwrap();
    let payload = header
        + whole[header + 1..]
            .iter()
            .position(|byte| *byte == b'\n')
            .unwrap()
        + 2;
    let changed = |at: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        bytes
    };
    let other = |at: usize| changed(at, if whole[at] == b'A' { b'B' } else { b'A' });
    assert_eq!(
        opened(&other(header + 6), PHRASE),
        "its beginning was changed"
    );
    assert_eq!(
        opened(&other(payload + 20), PHRASE),
        "a part of it was changed"
    );
    assert_eq!(
        opened(&changed(0, b'b'), PHRASE),
        "it does not begin as such a file does"
    );
    assert_eq!(
        opened(b"openai sk-1234567890\n", PHRASE),
        "it does not begin as such a file does"
    );
    let of_next = String::from_utf8_lossy(&whole[..21]).replace("v1", "v2");
    let of_next = [of_next.as_bytes(), &whole[21..]].concat();
    assert_eq!(opened(&of_next, PHRASE), "it is of another version of age");
    // Cut anywhere, it is damaged, and its passphrase is not blamed.
    for length in 0..whole.len() {
        let why = opened(&whole[..length], PHRASE);
        assert_ne!(why, "wrong passphrase", "{length}");
    }
}

#[test]
fn a_file_that_asks_for_too_much_work_or_is_of_a_newer_version_is_left_alone() {
    let folder = folder();
    let path = folder.path().join(SECRETS_FILE);
    let mut file = begun(&folder);
    let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
    let salt = text.split(' ').nth(2).unwrap().to_owned();
    let bytes = fs::read(&path).unwrap();
    let at = bytes
        .windows(salt.len())
        .position(|window| window == salt.as_bytes());
    let after = at.unwrap() + salt.len();
    let costly = [&bytes[..after], b" 21", &bytes[after + 2..]].concat();
    fs::write(&path, costly).unwrap();
    let refused = KeyError::Costly {
        path: path.clone(),
        work: 21,
    };
    assert_eq!(file.set(&name("exa"), &secret(KEY)), Err(refused));
    // Of the next version: the same file with another first line inside.
    let recipient = scrypt::Recipient::new(SecretString::from(PHRASE));
    let newer = age::encrypt(&recipient_of(recipient), b"longrein secrets 2\n").unwrap();
    fs::write(&path, &newer).unwrap();
    let refused = KeyError::Newer { path: path.clone() };
    assert_eq!(file.set(&name("exa"), &secret(KEY)), Err(refused));
    assert_eq!(fs::read(&path).unwrap(), newer);
}

fn recipient_of(mut recipient: scrypt::Recipient) -> scrypt::Recipient {
    recipient.set_work_factor(LITTLE_WORK);
    recipient
}

#[test]
fn what_another_process_changed_is_seen_and_kept() {
    let folder = folder();
    let mut one = begun(&folder);
    let mut other = file(&folder);
    unlock(&mut other, PHRASE).unwrap();
    other.set(&name("exa"), &secret("exa-12345678")).unwrap();
    one.set(&name("xai"), &secret("xai-12345678")).unwrap();
    assert_eq!(
        other.names(),
        Ok(vec![name("exa"), name("openai"), name("xai")])
    );
    // With another passphrase the one that is held opens nothing any more.
    let change = PassphraseAct::Change(Passphrase::new("battery staple"));
    other.passphrase(change).unwrap();
    let path = folder.path().join(SECRETS_FILE);
    let wrong = KeyError::WrongPassphrase { path: path.clone() };
    assert_eq!(one.get(&name("exa")), Err(wrong));
    assert_eq!(one.look(), Ok(Standing::Locked));
    let needed = KeyError::NeedsPassphrase { path };
    assert_eq!(one.get(&name("exa")), Err(needed));
    unlock(&mut one, "battery staple").unwrap();
    assert_eq!(one.get(&name("exa")), Ok(Some(secret("exa-12345678"))));
}

#[test]
fn many_writers_lose_nothing() {
    let folder = folder();
    drop(begun(&folder));
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let folder = &folder;
            scope.spawn(move || {
                let mut file = file(folder);
                unlock(&mut file, PHRASE).unwrap();
                for at in 0..5 {
                    let name = name(&format!("key-{writer}-{at}"));
                    file.set(&name, &secret(KEY)).unwrap();
                }
            });
        }
    });
    let mut file = file(&folder);
    unlock(&mut file, PHRASE).unwrap();
    assert_eq!(file.names().unwrap().len(), 21);
}

#[test]
fn what_a_killed_process_left_behind_is_in_nobodys_way() {
    let folder = folder();
    let mut file = begun(&folder);
    // It was killed between writing and moving.
    let fresh = folder.path().join(".secrets.age.new");
    fs::write(&fresh, b"half").unwrap();
    assert_eq!(file.get(&name("openai")), Ok(Some(secret(KEY))));
    file.set(&name("exa"), &secret("exa-12345678")).unwrap();
    assert!(!fresh.exists());
    assert_eq!(file.names().unwrap().len(), 2);
}

#[test]
fn nothing_is_written_when_nothing_changes() {
    let folder = folder();
    let mut file = begun(&folder);
    let path = folder.path().join(SECRETS_FILE);
    let before = fs::read(&path).unwrap();
    file.set(&name("openai"), &secret(KEY)).unwrap();
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_folder_that_is_not_there_is_told() {
    let folder = folder();
    let mut file = AgeFile::new(&folder.path().join("gone"));
    file.work = LITTLE_WORK;
    assert_eq!(file.look(), Ok(Standing::New));
    let error = begin(&mut file, PHRASE).unwrap_err();
    assert!(
        matches!(
            error,
            KeyError::File {
                deed: "written",
                ..
            }
        ),
        "{error}"
    );
}
