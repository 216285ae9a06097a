//! What a person wants of a run that another process may drive: rows of the inbox.

use serde::{Deserialize, Serialize};

use crate::body::BlobHash;
use crate::event::Verdict;
use crate::ids::ActionId;

/// One wish. The driver takes it from the inbox and turns it into an event.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "wish", rename_all = "snake_case")]
pub enum Wish {
    /// End the run, and what it runs, for good.
    Cancel,
    /// Stop before the next step.
    Pause,
    /// Go on after a pause or a handoff.
    Resume,
    /// A new input: a new turn when the run is done, else it enters at the next step.
    Say {
        /// The person's words.
        text: String,
    },
    /// Let an action start.
    Approve {
        /// Which one.
        action: ActionId,
        /// The hash of the arguments that the person saw.
        seen: BlobHash,
    },
    /// Refuse an action.
    Deny {
        /// Which one.
        action: ActionId,
        /// Told to the model.
        reason: String,
    },
    /// Say what became of an uncertain action.
    Settle {
        /// Which one.
        action: ActionId,
        /// What became of it.
        verdict: Verdict,
    },
}
