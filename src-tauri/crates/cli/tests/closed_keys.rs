//! Keys whose place is closed, damaged or left: what is said of it, and how it is opened.

use std::fs;

use longrein_testkit::provider::Setup;
use longrein_testkit::say;

use crate::keys::{given, passphrase_in};
use crate::support::{Home, Outcome, Provider};
use crate::terminal::Terminal;

const KEY: &str = "sk-0123456789-wxyz";
const PASSPHRASE: &str = "four words of it";
const CONFIG: &str = "[providers.anthropic]\n\n[providers.openai]\n\n[keys]\nstore = \"file\"\n";

/// A home whose encrypted file keeps a key of Anthropic's.
fn home_with_a_key() -> Home {
    let home = Home::new();
    home.configure(CONFIG);
    let passphrase = passphrase_in(&home);
    let mut set = home.command(&["keys", "set", "anthropic", "--stdin"]);
    set.env("LONGREIN_PASSPHRASE_FILE", &passphrase);
    let set = given(set, KEY);
    assert_eq!(set.status, 0, "{set}");
    home
}

/// A command to which this file gives the passphrase.
fn with_passphrase(home: &Home, words: &[&str], file: &str) -> Outcome {
    let mut command = home.command(words);
    command.env("LONGREIN_PASSPHRASE_FILE", file);
    given(command, "")
}

#[test]
fn a_closed_file_is_said_to_be_closed_and_variables_are_listed_beside_it() {
    let home = home_with_a_key();
    let mut command = home.command(&["keys"]);
    command.env("LONGREIN_OPENAI_API_KEY", KEY);
    let listed = given(command, "");
    assert_eq!(listed.status, 0, "{listed}");
    let line = |name: &str| {
        let line = listed.out.lines().find(|line| line.starts_with(name));
        line.unwrap_or_default().to_owned()
    };
    assert!(line("anthropic").contains("closed"), "{listed}");
    assert!(
        line("openai").contains("LONGREIN_OPENAI_API_KEY"),
        "{listed}"
    );
    assert!(
        listed.err.contains("closed") && listed.err.contains("LONGREIN_PASSPHRASE_FILE"),
        "{listed}"
    );
    let mut terminal = Terminal::start(home.command(&["keys"]));
    terminal.see("Passphrase of the file of secrets:");
    terminal.type_line(PASSPHRASE);
    terminal.see("…wxyz");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
}

#[test]
fn a_list_of_keys_fails_where_their_file_can_not_be_opened() {
    let home = home_with_a_key();
    let wrong = home.write("wrong", "not this one\n");
    let listed = with_passphrase(&home, &["keys"], &wrong);
    assert_eq!(listed.status, 1, "{listed}");
    assert!(listed.err.contains("does not open"), "{listed}");
    assert!(!listed.out.contains("none"), "{listed}");
    let listed = with_passphrase(&home, &["keys", "--json"], &wrong);
    assert_eq!(listed.status, 1, "{listed}");

    let nowhere = home.path().join("nowhere").display().to_string();
    let listed = with_passphrase(&home, &["keys"], &nowhere);
    assert_eq!(listed.status, 1, "{listed}");
    assert!(
        listed.err.contains(&nowhere) && listed.err.contains("LONGREIN_PASSPHRASE_FILE"),
        "{listed}"
    );
    assert!(!listed.err.contains("data folder"), "{listed}");

    fs::write(home.data().join("secrets.age"), "no such file").unwrap();
    let right = passphrase_in(&home).display().to_string();
    let listed = with_passphrase(&home, &["keys"], &right);
    assert_eq!(listed.status, 1, "{listed}");
    assert!(listed.err.contains("damaged"), "{listed}");
}

#[test]
fn without_a_terminal_the_variable_that_gives_a_passphrase_is_named() {
    let home = Home::new();
    for words in [
        &["keys", "passphrase"][..],
        &["keys", "store", "file", "--leave"],
    ] {
        let refused = given(home.command(words), "");
        assert_eq!(refused.status, 2, "{refused}");
        assert!(
            refused.err.contains("LONGREIN_PASSPHRASE_FILE") && !refused.err.contains("--stdin"),
            "{refused}"
        );
    }
}

#[test]
fn keys_that_stay_behind_are_counted() {
    let home = home_with_a_key();
    let right = passphrase_in(&home).display().to_string();
    let chosen = with_passphrase(&home, &["keys", "store", "memory"], &right);
    assert_eq!(chosen.status, 0, "{chosen}");
    assert!(
        chosen.err.contains("1 secret stays in the encrypted file"),
        "{chosen}"
    );
}

#[test]
fn a_closed_file_stops_no_run_on_a_server_that_takes_no_key() {
    let provider = Provider::start(Setup::scripted([say("Done.")]));
    let home = home_with_a_key();
    home.configure(&format!(
        "{}\n[keys]\nstore = \"file\"\n",
        provider.config()
    ));
    let ran = home.run(&["run", &home.agent(""), "Well?"]);
    assert_eq!(ran.status, 0, "{ran}");
}
