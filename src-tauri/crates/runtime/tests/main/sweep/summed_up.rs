//! The scenario of a conversation that grows over its window and is summed up.

use longrein_testkit::sim::{Agent, Scenario, calls, words};
use serde_json::json;

use super::scenarios::scenario;

/// Steps whose words fill a small window.
const STEPS: u32 = 14;

/// Works in words that only a summary can stand for, and is summed up on the way.
pub fn summed_up() -> Scenario {
    let step = |number| {
        let words = format!(
            "Step {number}: {}",
            "so it was, as far as I see. ".repeat(45)
        );
        let mut reply = calls("look", json!({"n": number}));
        reply.text = words;
        reply
    };
    Scenario {
        agent: Agent {
            window_tokens: 6_000,
            output_tokens: 1_000,
            ..Agent::default()
        },
        by_steps: true,
        ..scenario("summed up", (1..=STEPS).map(step).chain([words("Done.")]))
    }
}

/// The same where what the model says of the older part can't be used.
pub fn done_without() -> Scenario {
    Scenario {
        name: "done without a summary".to_owned(),
        summary: Some("I would rather not.".to_owned()),
        ..summed_up()
    }
}
