//! Actions that are too large to be looked at are asked, quickly, and harm nothing.

use longrein_protocol::agent::Decision;
use serde_json::{Value, json};

use super::world::{decided, rule, run_with};

/// The gate asks about a command, and says so in these words.
fn asks(command: String, words: &str) {
    let run = run_with(&[rule(r#"allow: tool = "sh""#)]);
    let start = command.chars().take(40).collect::<String>();
    let decided = decided(&run, "sh", json!({ "command": command }));
    assert_eq!(decided.decision, Decision::Ask, "{start}");
    assert!(decided.why.contains(words), "{start}: {}", decided.why);
    let recorded = serde_json::to_string(&decided).unwrap().len();
    assert!(
        recorded < 128 * 1024,
        "{start}: {recorded} bytes are recorded"
    );
}

#[test]
fn a_command_is_read_up_to_a_length() {
    asks(
        format!("echo {}", "x".repeat(70_000)),
        "more than 65536 bytes",
    );
    let inner = "x".repeat(20_000);
    asks(
        format!("sh -c 'echo {inner}'; ").repeat(2),
        "more than 65536 bytes",
    );
}

#[test]
fn only_so_many_commands_are_looked_at() {
    let many: Vec<String> = (0..300).map(|at| format!("echo {at}")).collect();
    asks(many.join("; "), "more commands than are looked at");
    let long: Vec<String> = (0..200)
        .map(|at| format!("echo {at} {}", "y".repeat(250)))
        .collect();
    asks(long.join("; "), "more commands than are looked at");
}

#[test]
fn a_command_is_followed_down_to_a_depth() {
    for (open, close) in [
        ("$(", ")"),
        ("(", ")"),
        ("{ ", ";}"),
        ("\"$(", ")\""),
        ("${x:-", "}"),
    ] {
        let command = format!("echo {}ls{}", open.repeat(3_000), close.repeat(3_000));
        asks(command, "");
    }
    asks("if true; then ".repeat(3_000), "");
    asks(format!("{}ls", "! ".repeat(20_000)), "");
    asks("<<A ".repeat(9_000), "");
    asks("`".repeat(9_001), "");
}

#[test]
fn only_so_many_addresses_are_looked_at_and_none_that_is_too_long() {
    let run = run_with(&[rule(r#"allow: tool = "hook.send""#)]);
    let many: Vec<String> = (0..100)
        .map(|at| format!("https://h{at}.example.org/"))
        .collect();
    let sent = decided(
        &run,
        "hook.send",
        json!({"url": "https://a.org/", "text": many.join(" ")}),
    );
    assert_eq!(sent.decision, Decision::Ask);
    assert!(sent.why.contains("more than 64 addresses"), "{}", sent.why);
    assert_eq!(sent.facts.urls.len(), 64);

    let long = format!("https://a.org/{}", "x".repeat(5_000));
    let sent = decided(&run, "hook.send", json!({ "url": long }));
    assert_eq!(sent.decision, Decision::Ask);
    assert!(
        sent.why.contains("too long to be looked at"),
        "{}",
        sent.why
    );
}

#[test]
fn arguments_are_looked_through_down_to_a_depth() {
    let run = run_with(&[rule(r#"allow: tool = "hook.send""#)]);
    let nested = (0..100).fold(json!("https://evil.com/"), |inner, _| json!([inner]));
    let sent = decided(&run, "hook.send", json!({ "more": nested }));
    assert_eq!(sent.decision, Decision::Ask);
    assert!(sent.why.contains("nested too deeply"), "{}", sent.why);
}

#[test]
fn an_address_is_found_wherever_it_stands() {
    let run = run_with(&[rule(r#"deny: host = "evil.com""#)]);
    let places: [Value; 4] = [
        json!({"a": {"b": ["see https://evil.com/x"]}}),
        json!({"a": {"http://evil.com": 1}}),
        json!({"url": ["https://a.org/", "evil.com/x"]}),
        json!({"url": null, "text": "(wss://evil.com)"}),
    ];
    for arguments in places {
        let sent = decided(&run, "hook.send", arguments.clone());
        assert_eq!(sent.decision, Decision::Deny, "{arguments}");
    }
}

/// Numbers that look random and are the same every time.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % below
    }
}

/// What texts are put together of.
const PIECES: &[&str] = &[
    "git",
    "push",
    " ",
    " ",
    "\n",
    "'",
    "\"",
    "`",
    "$",
    "$(",
    ")",
    "(",
    "{",
    "}",
    "${",
    "<<",
    "<<-",
    "END",
    "|",
    "&",
    ";",
    "&&",
    ">",
    "<",
    "\\",
    "#",
    "=",
    "[[",
    "]]",
    "[",
    "]",
    "é",
    "字",
    "\u{200b}",
    "\u{202e}",
    "$'",
    "\\x41",
    "https://",
    "http:",
    "//",
    "@",
    "evil.com",
    ":80",
    "%",
    "-c",
    "sh",
    "env",
    "xargs",
    "~",
    "*",
    "?",
    "!",
    "((",
    "1",
    "\t",
    "\u{fffc}",
    "\u{1f600}",
];

#[test]
fn whatever_stands_in_the_arguments_is_decided_and_always_alike() {
    let run = run_with(&[
        rule(r#"allow: tool = "sh", command = "git""#),
        rule(r#"deny: host = "evil.com""#),
        rule(r#"deny: command = "git push""#),
    ]);
    let mut numbers = Numbers(7);
    for _ in 0..1_500 {
        let length = 1 + numbers.next(16);
        let text: String = (0..length)
            .map(|_| PIECES[numbers.next(PIECES.len())])
            .collect();
        for (tool, arguments) in [
            ("sh", json!({ "command": text })),
            ("hook.send", json!({ "url": text, "text": text })),
            ("up.load", json!({ "file": text })),
        ] {
            let first = decided(&run, tool, arguments.clone());
            assert_eq!(first, decided(&run, tool, arguments), "{text:?}");
            assert!(!first.why.is_empty(), "{text:?}");
        }
    }
}
