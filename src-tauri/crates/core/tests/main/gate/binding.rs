//! What an approval holds for, and what it never does.

use longrein_core::policy::{Looked, binding, decide};
use longrein_core::run::Run;
use longrein_protocol::agent::Decision;
use longrein_protocol::event::ActionDecided;
use longrein_protocol::gate::{Actor, PathFact};
use longrein_protocol::{BlobHash, Body};
use serde_json::{Value, json};

use super::world::{action, facts_of, rule, run_with};

fn file(real: &str, content: &str) -> Looked {
    Looked {
        paths: vec![PathFact {
            argument: "file".to_owned(),
            real: Some(real.to_owned()),
            content: Some(BlobHash::of(content.as_bytes())),
        }],
        ..Looked::default()
    }
}

/// Decides `up.load` with an approval of what was shown before.
fn again(run: &Run, arguments: &Value, looked: Looked, shown: Option<BlobHash>) -> ActionDecided {
    let mut action = action(run, "up.load", arguments);
    action.approved = shown;
    let facts = facts_of(run, "up.load", arguments, looked);
    decide(run, &action, arguments, facts)
}

#[test]
fn an_approval_holds_for_the_very_thing_that_was_shown_and_nothing_else() {
    let run = run_with(&[]);
    let arguments = json!({"file": "out/page.html", "title": "A page"});
    let asked = again(&run, &arguments, file("out/page.html", "one"), None);
    assert_eq!(asked.decision, Decision::Ask);
    let shown = asked.facts.binding;
    assert!(shown.is_some());

    let same = again(&run, &arguments, file("out/page.html", "one"), shown);
    assert_eq!(same.decision, Decision::Allow);
    assert_eq!(same.why, "you approved it");
    assert_eq!(same.facts.binding, shown);
    // The checks themselves still say what they found.
    assert!(
        same.checks
            .iter()
            .any(|check| check.decision == Decision::Ask)
    );

    let edited = json!({"file": "out/page.html", "title": "Another page"});
    let mut renamed = run.clone();
    let tool = renamed.tools.iter_mut().find(|tool| tool.name == "up.load");
    tool.expect("the tool").description = "Another tool.".to_owned();
    let others = [
        again(&run, &edited, file("out/page.html", "one"), shown),
        again(&run, &arguments, file("out/page.html", "two"), shown),
        again(&run, &arguments, file("notes/secret.md", "one"), shown),
        again(&renamed, &arguments, file("out/page.html", "one"), shown),
        again(
            &run,
            &arguments,
            file("out/page.html", "one"),
            Some(BlobHash([7; 32])),
        ),
    ];
    for other in others {
        assert_eq!(other.decision, Decision::Ask);
        assert!(
            other.why.starts_with("since you approved it"),
            "{}",
            other.why
        );
    }
}

#[test]
fn an_approval_of_a_servers_tool_does_not_hold_for_another_servers() {
    let run = run_with(&[]);
    let spec = run.tool("up.load").expect("the tool").clone();
    let mut other = spec.clone();
    other.name = "down.load".to_owned();
    let arguments = Body::Text("{}".to_owned()).hash();
    let facts = longrein_protocol::gate::ActionFacts::default();
    assert_ne!(
        binding(&spec, arguments, &facts),
        binding(&other, arguments, &facts)
    );
}

#[test]
fn an_approval_never_undoes_a_denial() {
    let arguments = json!({"file": "out/page.html"});
    let asked = again(&run_with(&[]), &arguments, Looked::default(), None);
    let denying = run_with(&[rule(r#"deny: path = "out/**""#)]);
    let denied = again(&denying, &arguments, Looked::default(), asked.facts.binding);
    assert_eq!(denied.decision, Decision::Deny);
    assert!(
        denied.why.contains("out and what is in it"),
        "{}",
        denied.why
    );
}

#[test]
fn what_a_person_asks_for_is_approved_but_denials_hold() {
    let arguments = json!({"file": "out/page.html"});
    for (rules, expected) in [
        (vec![], Decision::Allow),
        (vec![rule(r#"deny: tool = "up.load""#)], Decision::Deny),
    ] {
        let mut run = run_with(&rules);
        run.tainted = true;
        let mut undo = action(&run, "up.load", &arguments);
        undo.by = Actor::Person;
        let facts = facts_of(&run, "up.load", &arguments, Looked::default());
        let decided = decide(&run, &undo, &arguments, facts);
        assert_eq!(decided.decision, expected, "{}", decided.why);
    }
}

#[test]
fn a_decision_that_rests_on_nobody_binds_nothing() {
    let run = run_with(&[rule(r#"allow: tool = "up.load""#)]);
    let decided = again(
        &run,
        &json!({"file": "out/page.html"}),
        Looked::default(),
        None,
    );
    assert_eq!(decided.decision, Decision::Allow);
    assert_eq!(decided.facts.binding, None);
}
