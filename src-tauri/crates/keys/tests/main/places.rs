//! The encrypted file, as one process leaves it to another.

use expect_test::expect;

use crate::script::Worker;

#[test]
fn another_process_opens_the_file_with_its_passphrase() {
    let folder = tempfile::tempdir().unwrap();
    let says = |script: &str| Worker::begin(script, folder.path(), &[]).says();
    let said = says(
        "file
        look
        set openai sk-first
        begin short
        begin battery-staple
        set openai sk-first",
    ) + &says(
        "file
        look
        get openai
        unlock battery-stable
        unlock battery-staple
        get openai",
    ) + &says(
        "memory
        get openai",
    );
    let said = said.replace(&folder.path().display().to_string(), "FOLDER");
    expect![[r#"
        look: New
        set openai sk-first: NoFile: There is no file of secrets yet.
        begin short: Mistake: The passphrase is too short.
        begin battery-staple: done
        set openai sk-first: done
        look: Locked
        get openai: NeedsPassphrase: The file of secrets is closed: its passphrase is needed.
        unlock battery-stable: WrongPassphrase: This passphrase does not open FOLDER/secrets.age.
        unlock battery-staple: done
        get openai: sk-first
        get openai: none
    "#]]
    .assert_eq(&said);
}
