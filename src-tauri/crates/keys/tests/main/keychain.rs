//! A real gnome-keyring, on a bus of the test's own.

use expect_test::{Expect, expect};

use crate::session::{Session, Start};

fn check(session: &Session, script: &str, wanted: Expect) {
    wanted.assert_eq(&session.says(script));
}

#[test]
fn a_secret_is_kept_read_replaced_and_removed() {
    let Some(session) = Session::with_keychain(Start::Unlocked) else {
        return;
    };
    check(
        &session,
        "look
        get anthropic
        set anthropic sk-ant-first
        set mcp.exa.token größe und mehr
        get anthropic
        set anthropic sk-ant-second",
        expect![[r#"
            look: Ready
            get anthropic: none
            set anthropic sk-ant-first: done
            set mcp.exa.token größe und mehr: done
            get anthropic: sk-ant-first
            set anthropic sk-ant-second: done
        "#]],
    );
    // Another process finds it.
    check(
        &session,
        "get anthropic
        get mcp.exa.token
        names
        remove anthropic
        remove anthropic
        get anthropic
        names
        long openai",
        expect![[r#"
            get anthropic: sk-ant-second
            get mcp.exa.token: größe und mehr
            names: anthropic, mcp.exa.token
            remove anthropic: true
            remove anthropic: false
            get anthropic: none
            names: mcp.exa.token
            long openai: true
        "#]],
    );
}

#[test]
fn a_session_without_a_bus_is_told() {
    let session = Session::without_bus();
    check(
        &session,
        "look
        get anthropic
        set anthropic sk-ant-first",
        expect![[r#"
            look: Unavailable: The keychain can't be reached: this session has no D-Bus.
            get anthropic: Unavailable: The keychain can't be reached: this session has no D-Bus.
            set anthropic sk-ant-first: Unavailable: The keychain can't be reached: this session has no D-Bus.
        "#]],
    );
}

#[test]
fn a_bus_without_a_keychain_is_told() {
    let Some(session) = Session::with_bus() else {
        return;
    };
    check(
        &session,
        "look
        get anthropic
        set anthropic sk-ant-first",
        expect![[r#"
            look: Unavailable: The keychain can't be reached: none answers on this session's D-Bus.
            get anthropic: Unavailable: The keychain can't be reached: none answers on this session's D-Bus.
            set anthropic sk-ant-first: Unavailable: The keychain can't be reached: none answers on this session's D-Bus.
        "#]],
    );
}

#[test]
fn a_keychain_without_a_keyring_is_told() {
    let Some(session) = Session::with_keychain(Start::Locked) else {
        return;
    };
    check(
        &session,
        "look
        get anthropic
        set anthropic sk-ant-first",
        expect![[r#"
            look: Unavailable: The keychain has no default keyring that could take the secret.
            get anthropic: none
            set anthropic sk-ant-first: Unavailable: The keychain has no default keyring that could take the secret.
        "#]],
    );
}

#[test]
fn a_locked_keychain_is_told() {
    let Some(mut session) = Session::with_keychain(Start::Unlocked) else {
        return;
    };
    let set = "set anthropic sk-ant-first";
    assert_eq!(session.says(set), format!("{set}: done\n"));
    session.start_keychain(Start::Locked);
    check(
        &session,
        "look
        get anthropic
        get openai
        set anthropic sk-ant-second
        set openai sk-first
        remove anthropic
        names",
        expect![[r#"
            look: Locked
            get anthropic: Locked: The keychain asked to be unlocked and was not.
            get openai: none
            set anthropic sk-ant-second: Locked: The keychain asked to be unlocked and was not.
            set openai sk-first: Locked: The keychain asked to be unlocked and was not.
            remove anthropic: Locked: The keychain asked to be unlocked and was not.
            names: Locked: The keychain asked to be unlocked and was not.
        "#]],
    );
    // Nothing was lost by asking.
    session.start_keychain(Start::Unlocked);
    check(
        &session,
        "get anthropic",
        expect![[r#"
        get anthropic: sk-ant-first
    "#]],
    );
}

#[test]
fn a_keychain_that_was_restarted_or_started_late_is_found_again() {
    let Some(mut session) = Session::with_bus() else {
        return;
    };
    let mut worker = session.begin(
        "get anthropic
        pause
        set anthropic sk-ant-first
        pause
        get anthropic
        pause
        get anthropic
        pause
        look",
    );
    let mut said = worker.says();
    session.start_keychain(Start::Unlocked);
    worker.go_on();
    said += &worker.says();
    session.start_keychain(Start::Unlocked);
    worker.go_on();
    said += &worker.says();
    session.stop_keychain();
    worker.go_on();
    said += &worker.says();
    session.stop_bus();
    worker.go_on();
    said += &worker.says();
    expect![[r#"
        get anthropic: Unavailable: The keychain can't be reached: none answers on this session's D-Bus.
        set anthropic sk-ant-first: done
        get anthropic: sk-ant-first
        get anthropic: Unavailable: The keychain can't be reached: none answers on this session's D-Bus.
        look: Unavailable: The keychain can't be reached: this session has no D-Bus.
    "#]].assert_eq(&said);
}

#[test]
fn of_several_secrets_of_one_name_none_is_guessed() {
    let Some(session) = Session::with_keychain(Start::Unlocked) else {
        return;
    };
    check(
        &session,
        "set anthropic sk-ant-first
        twin anthropic sk-ant-first
        get anthropic
        twin anthropic sk-ant-other
        get anthropic
        names
        set anthropic sk-ant-second
        get anthropic
        twin anthropic sk-ant-other
        remove anthropic
        get anthropic",
        expect![[r#"
            set anthropic sk-ant-first: done
            twin anthropic sk-ant-first: done
            get anthropic: sk-ant-first
            twin anthropic sk-ant-other: done
            get anthropic: Damaged: The keychain has several secrets named anthropic, and they differ.
            names: anthropic
            set anthropic sk-ant-second: done
            get anthropic: sk-ant-second
            twin anthropic sk-ant-other: done
            remove anthropic: true
            get anthropic: none
        "#]],
    );
}
