//! Servers from the command line: added, looked at, approved again when they say something else.

use std::fs;
#[cfg(target_os = "linux")]
use std::process::Command;

use crate::support::{Home, Outcome, in_repository};

const OK: i32 = 0;
const USAGE: i32 = 2;
const PARKED: i32 = 3;

fn counter(home: &Home, options: &[&str]) -> Outcome {
    let script = in_repository("tests/fixtures/counter/counter.py");
    let marks = home.path().join("marks");
    let mut words = vec![
        "mcp",
        "add",
        "counter",
        "--",
        "python3",
        script.to_str().unwrap(),
        marks.to_str().unwrap(),
    ];
    words.extend(options);
    home.run(&words)
}

#[test]
fn a_server_is_added_looked_at_and_removed() {
    let home = Home::new();
    assert_eq!(counter(&home, &[]).status, OK);
    let listed = home.run(&["--json", "mcp", "list"]).json();
    assert_eq!(listed[0]["server"], "counter");
    assert_eq!(listed[0]["trusted"], false);
    let looked = home.run(&["--json", "mcp", "test", "counter"]);
    assert_eq!(looked.status, OK);
    let looked = &looked.json()[0];
    assert_eq!(looked["tools"][0]["name"], "counter.mark");
    assert_eq!(looked["tools"][0]["effect"], "irreversible");
    assert_eq!(home.run(&["mcp", "remove", "counter"]).status, OK);
    assert!(home.run(&["--json", "mcp", "list"]).json().is_empty());
    assert_eq!(home.run(&["mcp", "test", "counter"]).status, USAGE);
}

#[test]
fn what_a_server_says_of_its_tools_is_approved_again_when_it_changes() {
    let home = Home::new();
    counter(&home, &[]);
    assert_eq!(home.run(&["mcp", "test", "counter"]).status, OK);
    // The same name says something else of its tools from now on.
    assert_eq!(counter(&home, &["--read-only"]).status, OK);
    let changed = home.run(&["mcp", "test", "counter"]);
    assert_eq!(changed.status, PARKED);
    assert!(changed.out.contains("readOnlyHint"), "{}", changed.out);
    assert!(
        changed.err.contains("mcp approve counter"),
        "{}",
        changed.err
    );
    let unasked = home.run(&["mcp", "approve", "counter"]);
    assert_eq!(
        unasked.status, USAGE,
        "nobody is there to read it: {unasked}"
    );
    assert_eq!(home.run(&["mcp", "test", "counter"]).status, PARKED);
    let approved = home.run(&["mcp", "approve", "counter", "--yes"]);
    assert_eq!(approved.status, OK, "{approved}");
    assert_eq!(home.run(&["mcp", "test", "counter"]).status, OK);
}

#[test]
fn one_that_is_known_by_name_needs_nothing_else_and_no_secret_is_written() {
    let home = Home::new();
    assert_eq!(home.run(&["mcp", "add", "exa", "--key", "exa"]).status, OK);
    let config = fs::read_to_string(home.data().join("config.toml")).unwrap();
    assert!(
        config.contains("url = \"https://mcp.exa.ai/mcp\""),
        "{config}"
    );
    assert!(config.contains("x-api-key = \"secret:exa\""), "{config}");
    let refused = home.run(&[
        "mcp",
        "add",
        "lab",
        "--url",
        "https://lab.example/mcp",
        "--header",
        "Authorization=Bearer sk-12345",
    ]);
    assert_eq!(refused.status, USAGE);
    let after = fs::read_to_string(home.data().join("config.toml")).unwrap();
    assert_eq!(after, config);
    let unknown = home.run(&["mcp", "add", "nobody-knows-it"]);
    assert_eq!(unknown.status, USAGE);
}

/// Whoever starts the command may hold files and sockets open that are nobody's else.
#[cfg(target_os = "linux")]
#[test]
fn a_server_gets_nothing_that_was_open_when_the_command_was_started() {
    let home = Home::new();
    let seen = home.path().join("seen");
    let script = in_repository("tests/fixtures/counter/counter.py");
    let words = format!(
        "set -- /proc/self/fd/*; echo \"$*\" > '{}'; exec python3 '{}' marks",
        seen.display(),
        script.display()
    );
    let added = home.run(&["mcp", "add", "counter", "--", "sh", "-c", &words]);
    assert_eq!(added.status, OK, "{added}");
    let inner = home.command(&["mcp", "test", "counter"]);
    let mut outer = Command::new("sh");
    outer
        .args(["-c", "exec 7</dev/null 8</etc/passwd; exec \"$0\" \"$@\""])
        .arg(inner.get_program())
        .args(inner.get_args())
        .current_dir(home.path());
    for (name, value) in inner.get_envs() {
        outer.env(name, value.unwrap_or_default());
    }
    let tested = outer.output().unwrap();
    assert!(tested.status.success(), "{tested:?}");
    let seen = fs::read_to_string(seen).unwrap();
    assert!(seen.contains("/fd/0"), "{seen}");
    assert!(!seen.contains("/fd/7") && !seen.contains("/fd/8"), "{seen}");
}
