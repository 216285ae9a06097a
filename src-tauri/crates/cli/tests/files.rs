//! A run's files as they were, step by step: listed, compared, laid out, forked from.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use longrein_testkit::provider::Setup;
use longrein_testkit::reply::{Scripted, call, say};
use serde_json::{Value, json};

use crate::support::{Home, Outcome, Provider, of_type};

const AGENT: &str = "[tools]\nallow = [\"files\"]\n";

fn write(path: &str, content: &str) -> Scripted {
    call("write_file", json!({"path": path, "content": content}))
}

/// A run that writes a file, looks, writes it anew, and adds another one.
fn written() -> (Home, String, Vec<u32>) {
    let script = vec![
        write("a.txt", "one\ntwo\nthree\n"),
        call("list_files", json!({})),
        write("a.txt", "one\n2\nthree\n"),
        write("notes/b.txt", "more\n"),
        say("Done."),
    ];
    let provider = Provider::start(Setup::scripted(script));
    let home = Home::with(&provider);
    let run = home.run(&["run", &home.agent(AGENT), "Write."]);
    assert_eq!(run.status, 0, "{run}");
    let run = home.only_run();
    let events = home.events(&run);
    let taken = of_type(&events, "snapshot.taken");
    let seqs = taken
        .iter()
        .map(|taken| u32::try_from(taken["seq"].as_u64().unwrap()).unwrap())
        .collect();
    (home, run, seqs)
}

fn good(outcome: Outcome) -> Outcome {
    assert_eq!(outcome.status, 0, "{outcome}");
    outcome
}

fn text(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn files_are_recorded_after_each_step_that_changed_them_and_after_no_other() {
    let (home, run, seqs) = written();
    assert_eq!(seqs.len(), 3, "{seqs:?}");
    let listed = good(home.run(&["files", &run]));
    assert!(
        listed.out.contains("a.txt") && listed.out.contains("notes/b.txt"),
        "{listed}"
    );
    let first = good(home.run(&["files", &run, "--at", &seqs[0].to_string(), "--json"])).json();
    let paths: Vec<&Value> = first.iter().map(|entry| &entry["path"]).collect();
    assert_eq!(paths, ["a.txt"]);
    assert_eq!(first[0]["bytes"], 14);
    let before = good(home.run(&["files", &run, "--at", "1"]));
    assert!(before.out.contains("nothing was recorded"), "{before}");
    let shown = home.run(&["show", &run]);
    assert!(
        shown.out.contains("files · 1 file changed: a.txt"),
        "{shown}"
    );
    let beyond = home.run(&["files", &run, "--at", "9999"]);
    assert_eq!(beyond.status, 2, "{beyond}");
}

#[test]
fn what_differs_between_two_events_is_shown_line_by_line() {
    let (home, run, seqs) = written();
    let (from, to) = (seqs[0].to_string(), seqs[2].to_string());
    let differs = good(home.run(&["diff", &run, &from, &to]));
    for line in ["changed a.txt", "-two", "+2", "added notes/b.txt", "+more"] {
        assert!(differs.out.contains(line), "{line}: {differs}");
    }
    let lines = good(home.run(&["diff", &run, &from, &to, "--json"])).json();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(lines[0]["shown"], "lines");
    assert_eq!(lines[1]["before"], Value::Null);
    let same = good(home.run(&["diff", &run, &to, &to]));
    assert!(same.out.contains("Nothing differs."), "{same}");
}

#[test]
fn the_files_of_an_event_are_laid_out_in_a_new_folder_and_nowhere_else() {
    let (home, run, seqs) = written();
    let (old, at) = (home.path().join("old"), seqs[0].to_string());
    let words = [
        "files",
        &run,
        "--at",
        &at,
        "--restore",
        old.to_str().unwrap(),
    ];
    good(home.run(&words));
    assert_eq!(text(old.join("a.txt")), "one\ntwo\nthree\n");
    assert!(!old.join("notes").exists());
    fs::write(old.join("a.txt"), "mine").unwrap();
    let again = home.run(&words);
    assert_eq!(again.status, 1, "{again}");
    assert_eq!(text(old.join("a.txt")), "mine");
}

#[test]
fn a_fork_begins_with_the_files_of_its_event_and_without_links_that_lead_out_being_followed() {
    let (home, run, seqs) = written();
    let fork = |at: &[&str]| {
        let words: Vec<&str> = ["fork", &run].iter().chain(at).copied().collect();
        let forked = good(home.run(&[&words[..], &["--json"]].concat()));
        let forked = forked.json()[0]["run"].as_str().unwrap().to_owned();
        home.path().join("data.work").join(forked)
    };
    let early = fork(&["--at", &seqs[0].to_string()]);
    assert_eq!(text(early.join("a.txt")), "one\ntwo\nthree\n");
    assert!(!early.join("notes").exists());

    // What lies there now goes along with a fork of the run as it stands; a link as a link.
    let workspace = home.path().join("data.work").join(&run);
    home.write("outside.txt", "not the run's");
    symlink(home.path().join("outside.txt"), workspace.join("link")).unwrap();
    fs::write(workspace.join("mine.txt"), "by hand").unwrap();
    let late = fork(&[]);
    assert_eq!(text(late.join("mine.txt")), "by hand");
    assert!(late.join("link").symlink_metadata().unwrap().is_symlink());
    assert_eq!(text(workspace.join("a.txt")), "one\n2\nthree\n");
    home.assert_whole();
}
