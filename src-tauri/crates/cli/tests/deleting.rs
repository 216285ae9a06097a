//! Deleting runs for good, and what takes space.

use std::fs;
use std::path::Path;

use longrein_testkit::provider::Setup;
use longrein_testkit::reply::{call, say};
use serde_json::{Value, json};

use crate::support::{Home, Outcome, Provider};

const AGENT: &str = "[tools]\nallow = [\"files\"]\n";

/// A text that is too long to stand in an event.
fn long(word: &str) -> String {
    format!("{word} ").repeat(400)
}

/// Two runs: the first says much that the second does not.
fn two_runs() -> (Home, String, String) {
    let script = vec![
        call(
            "write_file",
            json!({"path": "a.txt", "content": long("zanzibar")}),
        ),
        call("read_file", json!({"path": "a.txt"})),
        say(&long("quagmire")),
        call("write_file", json!({"path": "b.txt", "content": "kept"})),
        say("Done."),
    ];
    let provider = Provider::start(Setup::scripted(script));
    let home = Home::with(&provider);
    let mut runs = Vec::new();
    for question in ["First?", "Second?"] {
        let run = home.run(&["run", &home.agent(AGENT), question]);
        assert_eq!(run.status, 0, "{run}");
        runs.push(home.runs()[0]["run"].as_str().unwrap().to_owned());
    }
    let second = runs.pop().unwrap();
    (home, runs.pop().unwrap(), second)
}

fn good(outcome: Outcome) -> Outcome {
    assert_eq!(outcome.status, 0, "{outcome}");
    outcome
}

/// Whether any file beneath a folder holds these bytes.
fn holds(folder: &Path, words: &[u8]) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => holds(&path, words),
            false => fs::read(path)
                .unwrap()
                .windows(words.len())
                .any(|part| part == words),
        }
    })
}

fn checked(home: &Home) -> Value {
    good(home.run(&["log", "check", "--json"]))
        .json()
        .pop()
        .unwrap()
}

#[test]
fn a_deleted_run_leaves_nothing_behind_and_others_stay_whole() {
    let (home, first, second) = two_runs();
    assert_eq!(
        good(home.run(&["search", "quagmire", "--json"]))
            .json()
            .len(),
        1
    );
    let before = checked(&home);
    let refused = home.run(&["delete", &first]);
    assert_eq!(refused.status, 2, "{refused}");
    let deleted = &good(home.run(&["delete", &first, "--yes", "--json"])).json()[0];
    assert_eq!(deleted["runs"], json!([first]));
    assert!(deleted["contents"].as_u64().unwrap() > 2, "{deleted}");
    let after = checked(&home);
    assert_eq!((&after["runs"], &after["whole"]), (&json!(1), &json!(true)));
    assert!(after["blobs"].as_u64() < before["blobs"].as_u64());
    assert_eq!(home.run(&["show", &first]).status, 2);
    assert_eq!(home.only_run(), second);
    assert!(
        good(home.run(&["search", "quagmire", "--json"]))
            .json()
            .is_empty()
    );
    assert!(!home.path().join("data.work").join(&first).exists());
    assert!(home.path().join("data.work").join(&second).exists());
    // Its question stood in the rows themselves.
    assert!(!holds(&home.path().join("data"), b"First?"));
    assert!(holds(&home.path().join("data"), b"Second?"));
    home.assert_whole();
}

#[test]
fn a_fork_keeps_what_it_shares_with_a_run_that_is_deleted() {
    let (home, first, _) = two_runs();
    let forked = good(home.run(&["fork", &first, "--json"]));
    let forked = forked.json()[0]["run"].as_str().unwrap().to_owned();
    let deleted = &good(home.run(&["delete", &first, "--yes", "--json"])).json()[0];
    assert_eq!(deleted["contents"], 0, "{deleted}");
    let shown = good(home.run(&["show", &forked]));
    assert!(shown.out.contains("quagmire"), "{shown}");
    let laid_out = home.path().join("old");
    good(home.run(&["files", &forked, "--restore", laid_out.to_str().unwrap()]));
    assert!(
        fs::read_to_string(laid_out.join("a.txt"))
            .unwrap()
            .contains("zanzibar")
    );
    home.assert_whole();
}

#[test]
fn what_takes_space_is_told_for_all_and_for_each_run() {
    let (home, first, second) = two_runs();
    let told = &good(home.run(&["storage", "--json"])).json()[0];
    let bytes = |value: &Value| value.as_u64().unwrap();
    let parts = ["log", "files", "workspaces", "indexes"].map(|part| bytes(&told[part]));
    assert_eq!(bytes(&told["total"]), parts.iter().sum::<u64>());
    assert!(parts[..3].iter().all(|part| *part > 0), "{told}");
    let runs = told["runs"].as_array().unwrap();
    let of = |run: &str| runs.iter().find(|told| told["run"] == run).unwrap();
    assert!(bytes(&of(&first)["workspace"]) > bytes(&of(&second)["workspace"]));
    assert!(bytes(&of(&first)["log"]) > 0);
    let freed = &good(home.run(&["gc", "--json"])).json()[0];
    // All of it is referred to, and young.
    assert_eq!(freed["files"], 0, "{freed}");
    let shown = good(home.run(&["storage", "--limit", "1"]));
    assert!(shown.out.contains("and 1 more"), "{shown}");
}
