//! The laws of the fold, held against a whole log.

use longrein_core::run::Run;
use longrein_protocol::{Event, Millis};

use super::laws::{Law, Violation};

/// Times at which it is asked what is next.
const ASKED_AT: [Millis; 2] = [0, Millis::MAX / 2];

/// Folds a log in one go, in two pieces for each of `cuts`, and by way of JSON.
///
/// # Errors
/// The violation.
pub fn hold(events: &[Event], cuts: impl IntoIterator<Item = usize>) -> Result<Run, Violation> {
    let whole = Run::fold(events);
    for cut in cuts {
        let cut = cut.min(events.len());
        let mut pieces = Run::fold(&events[..cut]);
        let again = Run::fold(&events[..cut]);
        if ASKED_AT
            .iter()
            .any(|now| pieces.next(*now) != again.next(*now))
        {
            return Err(violation(cut, "what is next does not follow from the log"));
        }
        for event in &events[cut..] {
            let text = serde_json::to_string(event);
            let read = text.and_then(|text| serde_json::from_str::<Event>(&text));
            match read {
                Ok(read) => pieces.apply(&read),
                Err(error) => return Err(violation(cut, &error.to_string())),
            }
        }
        if pieces != whole {
            return Err(violation(cut, "folding in pieces gives another state"));
        }
    }
    Ok(whole)
}

fn violation(cut: usize, how: &str) -> Violation {
    Violation {
        law: Law::Fold,
        how: format!("cut at event {cut}: {how}"),
    }
}
