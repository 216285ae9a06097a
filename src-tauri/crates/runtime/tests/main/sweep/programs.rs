//! The scenarios of programs that call tools.

use longrein_protocol::agent::{Decision, PolicyRule};
use longrein_protocol::event::Limits;
use longrein_testkit::sim::{
    Act, Agent, Deed, Lands, Manner, OnHandoff, Person, Scenario, When, calls, words,
};
use serde_json::json;

use super::scenarios::scenario;

/// An hour.
const HOUR_MS: u32 = 3_600_000;

/// All of them.
pub fn all() -> Vec<Scenario> {
    vec![
        found_again(),
        lost(),
        lost_once(),
        of_each_kind(),
        asked(),
        asked_and_lost(),
        astray(),
        over_the_limit(),
        cancelled(),
        denied(),
    ]
}

fn program(name: &str, which: u32) -> Scenario {
    scenario(
        name,
        [
            calls("look", json!({"n": 9})).and("program", json!({ "n": which })),
            words("It has run."),
        ],
    )
}

/// A program that calls tools, two of which are never repeated.
fn found_again() -> Scenario {
    program("programs", 1)
}

/// The same, and its box is lost whenever the process is.
fn lost() -> Scenario {
    Scenario {
        loses_box: true,
        ..program("programs without their box", 1)
    }
}

/// Its box is lost while the process goes on, and a call is on its way.
fn lost_once() -> Scenario {
    let when = When::Event("action.started".to_owned(), 4);
    Scenario {
        manners: vec![Manner {
            tool: "once".to_owned(),
            call: 1,
            lands: Lands::AtEnd,
            takes_ms: 2_000,
            ..Manner::default()
        }],
        acts: vec![Act {
            when,
            does: Deed::LoseBox,
        }],
        ..program("programs whose box is lost", 1)
    }
}

/// A program that calls a tool of each kind of repeatability.
fn of_each_kind() -> Scenario {
    Scenario {
        loses_box: true,
        ..program("programs of each kind", 3)
    }
}

/// A program that calls what a person is asked about, who takes an hour; nobody stays for that.
fn asked() -> Scenario {
    Scenario {
        person: Person {
            thinks_ms: HOUR_MS,
            ..Person::default()
        },
        leaves: true,
        ..program("programs that ask", 2)
    }
}

/// The same, and its box is lost whenever the process is.
fn asked_and_lost() -> Scenario {
    Scenario {
        loses_box: true,
        name: "programs that ask without their box".to_owned(),
        ..asked()
    }
}

/// A program that calls something else each time that it is begun.
fn astray() -> Scenario {
    Scenario {
        loses_box: true,
        ..program("programs astray", 4)
    }
}

/// A program whose run comes to the end of its actions, and is given more; its box is lost whenever
/// the process is.
fn over_the_limit() -> Scenario {
    let actions = |count| Limits {
        actions: Some(count),
        ..Limits::default()
    };
    Scenario {
        loses_box: true,
        agent: Agent {
            limits: actions(4),
            ..Agent::default()
        },
        person: Person {
            handoffs: vec![OnHandoff::Raise(actions(40)); 3],
            ..Person::default()
        },
        ..program("programs over the limit", 1)
    }
}

/// A program whose run is cancelled while a call is on its way.
fn cancelled() -> Scenario {
    Scenario {
        manners: vec![Manner {
            tool: "once".to_owned(),
            call: 1,
            takes_ms: 30_000,
            ..Manner::default()
        }],
        acts: vec![Act {
            when: When::Event("action.started".to_owned(), 4),
            does: Deed::Cancel,
        }],
        ..program("programs cancelled", 1)
    }
}

/// A program that calls what a rule forbids, and goes on without it.
fn denied() -> Scenario {
    Scenario {
        loses_box: true,
        agent: Agent {
            rules: vec![PolicyRule {
                tool: Some("once".to_owned()),
                effect: None,
                args: std::collections::BTreeMap::new(),
                path: None,
                host: None,
                command: None,
                decision: Decision::Deny,
            }],
            ..Agent::default()
        },
        ..program("programs denied", 1)
    }
}
