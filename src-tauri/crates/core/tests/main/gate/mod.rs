//! The gate: its eight checks as a table, what "always" makes, and what no trick gets past.

mod binding;
mod bounds;
mod boxed;
mod offered;
mod red_team;
mod standing;
mod table;
mod world;

use longrein_core::policy::is_granted;
use longrein_protocol::agent::Decision;
use longrein_protocol::gate::CheckName;
use serde_json::json;

use self::world::{decided, rule, run_with};

#[test]
fn all_eight_checks_are_recorded_in_their_order_whatever_they_say() {
    for (tool, arguments) in [
        ("look", json!({})),
        ("other.tool", json!([])),
        ("ch.post", json!({})),
    ] {
        let decided = decided(&run_with(&[]), tool, arguments);
        let names: Vec<CheckName> = decided.checks.iter().map(|check| check.check).collect();
        assert_eq!(
            names,
            [
                CheckName::Granted,
                CheckName::Schema,
                CheckName::Effect,
                CheckName::Secrets,
                CheckName::Reach,
                CheckName::Budget,
                CheckName::Rules,
                CheckName::Taint,
            ],
            "{tool}"
        );
        let strictest = decided.checks.iter().map(|check| check.decision).max();
        assert_eq!(Some(decided.decision), strictest, "{tool}");
        assert!(!decided.why.is_empty(), "{tool}");
        let silent = decided
            .checks
            .iter()
            .find(|check| check.decision != Decision::Allow && check.facts.is_empty());
        assert_eq!(silent, None, "{tool}: a check says no without a reason");
    }
}

#[test]
fn a_spent_limit_denies_new_actions_but_not_those_that_started() {
    let mut run = run_with(&[]);
    run.limits.actions = Some(3);
    run.used.actions = 3;
    let mut action = world::action(&run, "look", &json!({}));
    let first = world::decide_action(&run, &action, &json!({}));
    assert_eq!(first.decision, Decision::Deny);
    assert!(first.why.contains("limit of 3 actions"), "{}", first.why);
    action.attempt = 1;
    let again = world::decide_action(&run, &action, &json!({}));
    assert_eq!(again.decision, Decision::Allow, "{}", again.why);
    run.limits.actions = Some(4);
    action.attempt = 0;
    let raised = world::decide_action(&run, &action, &json!({}));
    assert_eq!(raised.decision, Decision::Allow, "{}", raised.why);
}

#[test]
fn a_secret_that_is_not_granted_or_no_longer_good_denies() {
    let run = run_with(&[rule(r#"allow: tool = "vault.read""#)]);
    let secret = |granted, expired| {
        let facts = vec![longrein_protocol::gate::SecretFact {
            secret: "exa".to_owned(),
            granted,
            expired,
        }];
        let looked = longrein_core::policy::Looked {
            secrets: facts,
            ..Default::default()
        };
        world::decided_with(&run, "vault.read", json!({}), looked)
    };
    let rows = [
        (secret(true, false), Decision::Allow, "it is given exa"),
        (secret(false, false), Decision::Deny, "not granted to vault"),
        (secret(true, true), Decision::Deny, "has expired"),
        (
            decided(&run, "vault.read", json!({})),
            Decision::Deny,
            "could not be looked up",
        ),
    ];
    for (decided, expected, words) in rows {
        let check = &decided.checks[3];
        assert_eq!((decided.decision, check.decision), (expected, expected));
        assert!(check.facts.contains(words), "{}", check.facts);
    }
}

#[test]
fn grants_cover_what_they_name_and_nothing_else() {
    let rows: &[(&[&str], &str, bool)] = &[
        (&["files"], "read_file", true),
        (&["files"], "search_library", false),
        (&["exa.*"], "exa.search", true),
        (&["exa.*"], "exact.search", false),
        (&["exa.*"], "exa", false),
        (&["exa.search"], "exa.search2", false),
        (&["*"], "read_file", false),
        (&[], "finish", true),
        (&[], "update_plan", true),
        (&[], "ask_person", true),
        (&[], "write_file", false),
    ];
    for (allow, tool, expected) in rows {
        let allow: Vec<String> = allow.iter().map(ToString::to_string).collect();
        assert_eq!(
            is_granted(&allow, tool, None),
            *expected,
            "{allow:?} {tool}"
        );
    }
}

#[test]
fn an_effect_that_is_declared_worse_later_counts() {
    let mut run = run_with(&[]);
    let action = world::action(&run, "look", &json!({}));
    for tool in &mut run.tools {
        tool.effect = longrein_protocol::Effect::Irreversible;
    }
    let decided = world::decide_action(&run, &action, &json!({}));
    assert_eq!(decided.decision, Decision::Ask, "{}", decided.why);
}
