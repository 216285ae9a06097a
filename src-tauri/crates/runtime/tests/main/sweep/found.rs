//! The scenario of tools that the model has to look for.

use longrein_testkit::sim::{Person, Scenario, calls, words};
use serde_json::json;

use super::scenarios::scenario;

/// Calls tools that don't stand in the request: one that reads, one that a person is asked about.
pub fn found() -> Scenario {
    Scenario {
        hides: true,
        person: Person {
            thinks_ms: 1_000,
            ..Person::default()
        },
        ..scenario(
            "found",
            [
                calls("find_tools", json!({"query": "send"})),
                calls(
                    "call_tool",
                    json!({"name": "far.look", "arguments": {"n": 1}}),
                )
                .and("call_tool", json!({"name": "far.sand", "arguments": {}})),
                calls(
                    "call_tool",
                    json!({"name": "far__send", "arguments": {"n": 2}}),
                )
                .and("far__send", json!({"n": 3})),
                words("Sent."),
            ],
        )
    }
}
