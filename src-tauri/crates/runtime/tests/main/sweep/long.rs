//! Runs with results that are too long to be shown.

use longrein_testkit::sim::{Scenario, calls, words};
use serde_json::json;

use super::scenarios::scenario;

/// Results that are over the limit by themselves, and together, beside what changes files.
pub(super) fn results() -> Scenario {
    let long = |letters: u32| json!({"letters": letters});
    scenario(
        "long results",
        [
            calls("look", long(60_000)).and("page", long(9_000)),
            calls("write", json!({"path": "a.html", "n": 1})).and("look", long(20_000)),
            calls("once", json!({"n": 2})),
            words("All read."),
        ],
    )
}
