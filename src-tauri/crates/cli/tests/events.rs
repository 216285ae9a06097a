//! What the events of a run say, as scripts read them.

use serde_json::Value;

use crate::support::{Home, of_type};

#[test]
fn every_effect_has_an_intent_before_it_and_a_receipt_after_it() {
    let home = Home::new();
    let events = home.run(&["demo", "--json"]).json();
    let place = |kind: &str, action: &Value| {
        let is_it = |event: &Value| event["type"] == kind && event["action"] == *action;
        events
            .iter()
            .position(is_it)
            .unwrap_or_else(|| panic!("{action} has no {kind}"))
    };
    let proposed = of_type(&events, "action.proposed");
    assert!(proposed.len() > 5);
    for proposed in proposed {
        let action = &proposed["action"];
        let decided = place("action.decided", action);
        let finished = place("action.finished", action);
        assert!(decided < finished, "{action}");
        if proposed["tool"] != "finish" {
            let started = place("action.started", action);
            assert!(decided < started && started < finished, "{action}");
        }
    }
    let count = |kind: &str| of_type(&events, kind).len();
    assert_eq!(count("model.requested"), count("model.responded"));
}
