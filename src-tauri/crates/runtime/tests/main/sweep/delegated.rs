//! Runs that give parts of their work to others.

use longrein_testkit::sim::{Agent, Scenario, calls, words};
use serde_json::json;

use super::scenarios::scenario;

/// Delegates two parts, of which each does something once, one asks the person, and both report.
pub(super) fn children() -> Scenario {
    let task = |title: &str| json!({"title": title, "brief": "Do your part."});
    Scenario {
        child_replies: vec![
            calls("write", json!({"path": "a.html", "n": 1})),
            calls("post", json!({"n": 2})),
            calls("finish", json!({"summary": "My part is done."})),
        ],
        ..scenario(
            "children",
            [
                calls("delegate", json!({"tasks": [task("One"), task("Other")]})),
                calls("once", json!({"n": 3})),
                words("Both parts are done."),
            ],
        )
    }
}

/// A fixed path: a plan, a helper for each of its items, and what the agent makes of it.
pub(super) fn staged() -> Scenario {
    let stages = json!([
        {"name": "plan", "instructions": "Plan.", "done_when": [{"plan": "made"}]},
        {"name": "parts", "instructions": "Do your part.", "each": "plan"},
        {"name": "whole", "instructions": "Put it together."},
    ]);
    Scenario {
        agent: Agent {
            stages: serde_json::from_value(stages).unwrap(),
            ..Agent::default()
        },
        verdicts: vec![false],
        child_replies: vec![
            calls("write", json!({"path": "a.html", "n": 1})),
            calls("post", json!({"n": 2})),
            calls("finish", json!({"summary": "My part is done."})),
        ],
        ..scenario(
            "staged",
            [
                calls("update_plan", json!({"items": ["One", "Other"]})),
                words("Planned."),
                calls("finish", json!({})),
                calls("once", json!({"n": 3})),
                calls("finish", json!({})),
            ],
        )
    }
}
