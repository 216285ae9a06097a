//! "Always": rules that an approval makes, and that are listed and revoked in one place.

use longrein_testkit::provider::Setup;
use longrein_testkit::{Scripted, call, say};
use serde_json::json;

use crate::counting::{Counting, MARK};
use crate::support::of_type;
use crate::waiting::waiting;

/// One run's worth of replies, so often.
fn marking(runs: usize) -> Vec<Scripted> {
    let one = || [call(MARK, json!({"label": "one"})), say("Marked.")];
    (0..runs).flat_map(|_| one()).collect()
}

/// An agent that says nothing of the counting tool: it is asked by default.
fn agent(counting: &Counting) -> String {
    counting.home.agent("[tools]\nallow = [\"counter.*\"]\n")
}

#[test]
fn always_shows_what_it_matches_and_needs_a_yes_and_is_revoked_by_name() {
    let counting = Counting::new(false, Setup::scripted(marking(3)));
    let home = &counting.home;
    let agent = agent(&counting);
    assert_eq!(home.run(&["run", &agent, "Mark it."]).status, 3);
    let asked = waiting(home);
    let words = asked["always"][0]["matches"].as_str().unwrap().to_owned();
    let action = asked["action"].as_str().unwrap();

    let unsaid = home.run(&["approve", action, "--always", "agent"]);
    assert_eq!(unsaid.status, 2, "{unsaid}");
    assert!(
        unsaid.err.contains("--yes") && unsaid.err.contains(&words),
        "{unsaid}"
    );
    assert_eq!(counting.marks(), 0, "nothing was approved");
    assert!(home.run(&["rules", "--json"]).json().is_empty());

    let said = home.run(&["approve", action, "--always", "agent", "--yes"]);
    assert_eq!(said.status, 0, "{said}");
    assert!(
        said.err.contains("in every run of the agent test"),
        "{said}"
    );
    let rules = home.run(&["rules", "--json"]).json();
    assert_eq!(rules.len(), 1, "{rules:?}");
    assert_eq!(rules[0]["matches"], words);
    assert_eq!(
        (&rules[0]["agent"], &rules[0]["scope"]),
        (&json!("test"), &json!("agent"))
    );

    let second = home.run(&["run", &agent, "Mark it again."]);
    assert_eq!(
        (second.status, counting.marks()),
        (0, 2),
        "not asked: {second}"
    );
    let id = rules[0]["id"].as_str().unwrap();
    let listed = home.run(&["rules"]);
    assert!(
        listed.out.contains(id) && listed.out.contains(&words),
        "{listed}"
    );
    let revoked = home.run(&["rules", "revoke", id]);
    assert_eq!(revoked.status, 0, "{revoked}");
    let third = home.run(&["run", &agent, "And again."]);
    assert_eq!(
        (third.status, counting.marks()),
        (3, 2),
        "asked again: {third}"
    );
    let unknown = home.run(&["rules", "revoke", "no-such-rule"]);
    assert_eq!(unknown.status, 2, "{unknown}");
}

#[test]
fn a_rule_holds_after_untrusted_text_only_where_that_was_said_and_for_one_run() {
    let script = vec![
        call(MARK, json!({"label": "one"})),
        call(MARK, json!({"label": "two"})),
        call(MARK, json!({"label": "three"})),
        say("Marked."),
    ];
    let counting = Counting::new(false, Setup::scripted(script));
    let home = &counting.home;
    let run = home.run(&["run", &agent(&counting), "Mark them."]).run_id();
    let action = || waiting(home)["action"].as_str().unwrap().to_owned();
    let wrong = home.run(&[
        "approve",
        &action(),
        "--always",
        "agent",
        "--even-after-untrusted",
        "--yes",
    ]);
    assert_eq!(wrong.status, 2, "{wrong}");
    assert!(wrong.err.contains("--always run"), "{wrong}");
    assert_eq!(counting.marks(), 0);

    // What the tool answered is untrusted, so that the second one is asked all the same.
    let first = home.run(&["approve", &action(), "--always", "run", "--yes"]);
    assert_eq!((first.status, counting.marks()), (3, 1), "{first}");
    let asked = action();
    let words = [
        "approve",
        &asked,
        "--always",
        "run",
        "--even-after-untrusted",
        "--yes",
    ];
    let second = home.run(&words);
    assert_eq!((second.status, counting.marks()), (0, 3), "{second}");
    let events = home.events(&run);
    assert_eq!(of_type(&events, "approval.requested").len(), 2);
    let shown = home.run(&["show", &run]);
    assert!(shown.out.contains("after untrusted text too"), "{shown}");
    assert!(
        home.run(&["rules", "--json"]).json().is_empty(),
        "it is in no file"
    );
}
