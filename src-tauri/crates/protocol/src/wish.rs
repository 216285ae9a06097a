//! What a person wants of a run that another process may drive: rows of the inbox.

use serde::{Deserialize, Serialize};

use crate::body::BlobHash;
use crate::event::{Limits, Verdict};
use crate::gate::{Always, Surface};
use crate::ids::ActionId;
use crate::media::Media;
use crate::question::Reply;

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
    /// A new input with images or documents, which are taken like words.
    Give {
        /// The person's words; may be empty.
        text: String,
        /// What they give; the bytes were stored with the wish.
        attachments: Vec<Media>,
    },
    /// Let an action start.
    Approve {
        /// Which one.
        action: ActionId,
        /// The hash of what the person saw.
        seen: BlobHash,
        /// The arguments as the person wants them: a JSON object. Absent: as they are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edit: Option<String>,
        /// The rules that the person makes with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        always: Option<Always>,
        /// Where they said so.
        #[serde(default)]
        from: Surface,
    },
    /// Refuse an action.
    Deny {
        /// Which one.
        action: ActionId,
        /// Told to the model.
        reason: String,
        /// Where they said so.
        #[serde(default)]
        from: Surface,
    },
    /// Answer the model's question.
    Answer {
        /// The action by which it asked.
        action: ActionId,
        /// The answer.
        text: String,
        /// Where they said so.
        #[serde(default)]
        from: Surface,
    },
    /// Answer a server's question.
    Reply {
        /// The action during which it asks.
        action: ActionId,
        /// The number of the question within the action.
        number: u32,
        /// What the person does about it.
        answer: Reply,
        /// Where they said so.
        #[serde(default)]
        from: Surface,
    },
    /// Say what became of an uncertain action.
    Settle {
        /// Which one.
        action: ActionId,
        /// What became of it.
        verdict: Verdict,
        /// Its result, where the person knows it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<String>,
        /// Where they said so.
        #[serde(default)]
        from: Surface,
    },
    /// Accept the result, or refuse it.
    Accept {
        /// Whether it is accepted.
        accepted: bool,
        /// Why; for a refusal what the model is told.
        #[serde(default)]
        note: String,
        /// Where they said so.
        #[serde(default)]
        from: Surface,
    },
    /// Set limits anew, and go on where one was reached.
    Raise {
        /// The new limits; what is absent stays.
        limits: Limits,
        /// Where they said so.
        #[serde(default)]
        from: Surface,
    },
    /// Take the effect of an action back, by the tool that its own tool names for that.
    Undo {
        /// Which one.
        action: ActionId,
        /// Where they said so.
        #[serde(default)]
        from: Surface,
    },
}
