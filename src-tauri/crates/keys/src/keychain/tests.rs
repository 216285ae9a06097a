//! What is done with the entries of a keychain, shown on the library's stand-in for one.

use keyring_core::mock;
use std::cell::Cell;

use super::*;

/// A keychain whose entries take this many bytes, and what is behind it.
fn keychain(entry_max_bytes: Option<usize>) -> (Keychain, Arc<mock::Store>) {
    let store = mock::Store::new().unwrap();
    let opened = store.clone();
    let keychain = Keychain {
        open: Box::new(move || Ok(opened.clone() as Arc<CredentialStore>)),
        modifiers: |_| None,
        entry_max_bytes,
        store: None,
    };
    (keychain, store)
}

fn name(text: &str) -> SecretName {
    SecretName::new(text).unwrap()
}

fn secret(text: &str) -> SecretText {
    SecretText::exact(text)
}

/// Every entry that has a value, with it.
fn kept(store: &Arc<mock::Store>) -> Vec<(String, String)> {
    let all = keyring_core::api::CredentialStoreApi::search(&**store, &HashMap::new());
    let mut kept: Vec<(String, String)> = all
        .unwrap()
        .iter()
        .filter_map(|entry| {
            let (service, account) = entry.get_specifiers()?;
            assert_eq!(service, SERVICE);
            Some((
                account,
                String::from_utf8(entry.get_secret().ok()?).unwrap(),
            ))
        })
        .collect();
    kept.sort();
    kept
}

/// Lets the next use of an account fail.
fn fail_next(store: &Arc<mock::Store>, account: &str, error: Error) {
    let store: Arc<CredentialStore> = store.clone();
    let entry = store.build(SERVICE, account, None).unwrap();
    let credential = entry.as_any().downcast_ref::<mock::Cred>().unwrap();
    credential.set_error(error);
}

#[test]
fn a_secret_is_one_entry_under_its_name() {
    let (mut keychain, store) = keychain(None);
    let long = "k".repeat(10_000);
    keychain.set(&name("exa"), &secret(&long)).unwrap();
    assert_eq!(kept(&store), [("exa".to_owned(), long)]);
}

#[test]
fn a_long_secret_is_kept_in_parts_where_entries_are_short() {
    let (mut keychain, store) = keychain(Some(10));
    let exa = name("exa");
    keychain
        .set(&exa, &secret("0123456789abcdefghij-"))
        .unwrap();
    let accounts: Vec<String> = kept(&store)
        .into_iter()
        .map(|(account, _)| account)
        .collect();
    assert_eq!(accounts, ["exa", "exa/0.0", "exa/0.1", "exa/0.2"]);
    assert_eq!(
        keychain.get(&exa).unwrap(),
        Some(secret("0123456789abcdefghij-"))
    );
    assert_eq!(keychain.names(), Ok(vec![exa.clone()]));
    // The next ones go beside them, and then they go.
    keychain.set(&exa, &secret("größer als zehn")).unwrap();
    let accounts: Vec<String> = kept(&store)
        .into_iter()
        .map(|(account, _)| account)
        .collect();
    assert_eq!(accounts, ["exa", "exa/1.0", "exa/1.1"]);
    assert_eq!(keychain.get(&exa).unwrap(), Some(secret("größer als zehn")));
    keychain.set(&exa, &secret("short")).unwrap();
    assert_eq!(kept(&store), [("exa".to_owned(), "short".to_owned())]);
    keychain.set(&exa, &secret("0123456789abcdef")).unwrap();
    assert!(keychain.remove(&exa).unwrap());
    assert_eq!(kept(&store), []);
    assert!(!keychain.remove(&exa).unwrap());
}

#[test]
fn a_long_secret_is_replaced_whole_or_not_at_all() {
    let (old, new) = ("0123456789abcdef", "fedcba9876543210");
    for account in ["exa/1.0", "exa/1.1", "exa"] {
        let (mut keychain, store) = keychain(Some(10));
        let exa = name("exa");
        keychain.set(&exa, &secret(old)).unwrap();
        let refused = Error::NoStorageAccess("no".into());
        fail_next(&store, account, refused);
        assert!(keychain.set(&exa, &secret(new)).is_err(), "{account}");
        assert_eq!(keychain.get(&exa).unwrap(), Some(secret(old)), "{account}");
        keychain.set(&exa, &secret(new)).unwrap();
        assert_eq!(keychain.get(&exa).unwrap(), Some(secret(new)));
        assert!(keychain.remove(&exa).unwrap());
        assert_eq!(kept(&store), []);
    }
}

#[test]
fn parts_that_do_not_belong_together_are_no_secret() {
    let (mut keychain, store) = keychain(Some(10));
    let exa = name("exa");
    keychain.set(&exa, &secret("0123456789abcdef")).unwrap();
    let opened: Arc<CredentialStore> = store.clone();
    let part = opened.build(SERVICE, "exa/0.1", None).unwrap();
    let damaged = Err(KeyError::DamagedEntry { name: exa.clone() });
    part.set_secret(b"abcdeF").unwrap();
    assert_eq!(keychain.get(&exa), damaged);
    part.delete_credential().unwrap();
    assert_eq!(keychain.get(&exa), damaged);
    let index = opened.build(SERVICE, "exa", None).unwrap();
    index
        .set_secret("\u{1}longrein parts 7 1 x".as_bytes())
        .unwrap();
    assert_eq!(keychain.get(&exa), damaged);
    index.set_secret(b"\xff\xfe").unwrap();
    assert_eq!(keychain.get(&exa), damaged);
    // Setting it again is the remedy.
    keychain.set(&exa, &secret("fresh")).unwrap();
    assert_eq!(keychain.get(&exa), Ok(Some(secret("fresh"))));
}

#[test]
fn a_keychain_that_was_restarted_is_asked_once_more() {
    let (mut keychain, store) = keychain(None);
    let exa = name("exa");
    keychain.set(&exa, &secret("kept-secret")).unwrap();
    fail_next(&store, "exa", Error::PlatformFailure("no session".into()));
    assert_eq!(keychain.get(&exa), Ok(Some(secret("kept-secret"))));
    // What fails at once, or is no matter of a session, is not tried again.
    keychain.store = None;
    fail_next(&store, "exa", Error::PlatformFailure("no session.".into()));
    let failed = KeyError::Failed {
        whose: WHOSE,
        cause: "no session".to_owned(),
    };
    assert_eq!(keychain.get(&exa), Err(failed));
    fail_next(&store, "exa", Error::NoStorageAccess("not you".into()));
    assert_eq!(
        keychain.get(&exa),
        Err(KeyError::Denied {
            cause: "not you".to_owned()
        })
    );
}

#[test]
fn a_keychain_that_could_not_be_opened_is_tried_again() {
    let store = mock::Store::new().unwrap();
    let tried = Cell::new(0);
    let mut keychain = Keychain {
        open: Box::new(move || {
            tried.set(tried.get() + 1);
            match tried.get() {
                1 => Err(Error::NoDefaultStore),
                _ => Ok(store.clone() as Arc<CredentialStore>),
            }
        }),
        modifiers: |_| None,
        entry_max_bytes: None,
        store: None,
    };
    assert_eq!(keychain.get(&name("exa")), Err(KeyError::Unsupported));
    assert_eq!(keychain.get(&name("exa")), Ok(None));
}

#[test]
fn no_word_of_a_failure_repeats_what_was_kept() {
    let (mut keychain, store) = keychain(None);
    let errors = [
        Error::BadEncoding(b"kept-secret".to_vec()),
        Error::BadDataFormat(b"kept-secret".to_vec(), "kept-secret".into()),
        Error::BadStoreFormat("kept-secret".to_owned()),
        Error::Invalid("secret".to_owned(), "kept-secret".to_owned()),
    ];
    for error in errors {
        fail_next(&store, "exa", error);
        let error = keychain.get(&name("exa")).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("kept"), "{error}");
    }
}
