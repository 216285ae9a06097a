//! What is told of a request.

use longrein_protocol::block::Trust;
use serde::{Deserialize, Serialize};

use super::answer::AnswerRecord;

/// What a request is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum RequestKind {
    /// The next step of the run.
    Step,
    /// A criterion is judged.
    Judge,
    /// The older part of the conversation is summed up.
    Summary,
}

/// A request, with what came back.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct RequestRecord {
    /// The event that announced it: by it its bytes are asked for.
    pub seq: u32,
    /// When that was (milliseconds since the epoch).
    #[cfg_attr(feature = "bindings", specta(type = i32))]
    pub at: i64,
    /// What it is for.
    pub kind: RequestKind,
    /// Its number among the requests of steps, from 1; 0 for one beside them.
    pub number: u32,
    /// Which attempt of it this is, from 1.
    pub attempt: u32,
    /// The step.
    pub step: u32,
    /// The provider.
    pub provider: String,
    /// The model, without its provider.
    pub model: String,
    /// SHA-256 of the bytes as they were sent, in hexadecimal.
    pub sha256: String,
    /// How many bytes were sent.
    pub bytes: u32,
    /// Whether the log gives back exactly those bytes.
    pub exact: bool,
    /// Estimated tokens of all of it.
    pub tokens: u32,
    /// Of these, those of pieces that the request before did not have.
    pub new_tokens: u32,
    /// The most output tokens that were asked for.
    pub limit_tokens: u32,
    /// The parts, in order; empty for a request beside the steps, whose bytes say it all.
    pub sections: Vec<RequestSection>,
    /// Pieces of the request before that this one does not have.
    pub dropped: Vec<RequestBlock>,
    /// Pieces at the front that are not described, since there are too many.
    pub left_out: u32,
    /// The event that announced the request before; `None` for the first.
    pub before: Option<u32>,
    /// What came back; `None` while nothing did.
    pub answer: Option<AnswerRecord>,
}

/// A part of a request.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct RequestSection {
    /// `system`, `tools`, `index`, `pinned`, `summary`, `conversation`, `tail`.
    pub section: String,
    /// Estimated tokens.
    pub tokens: u32,
    /// Bytes.
    pub bytes: u32,
    /// Its pieces, in order.
    pub blocks: Vec<RequestBlock>,
}

/// A piece of a request.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct RequestBlock {
    /// Its place in its request, from 0: by it its whole text is asked for.
    pub place: u32,
    /// The part that it belongs to.
    pub section: String,
    /// Whose words it has: `you`, `the tool web_fetch (example.org)`; empty where it has none.
    pub origin: String,
    /// Whether they may be believed; `None` where it has no words.
    pub trust: Option<Trust>,
    /// Estimated tokens.
    pub tokens: u32,
    /// Bytes.
    pub bytes: u32,
    /// Whether the request before did not have it.
    pub is_new: bool,
    /// What it says, without the marks of the format; where that is nothing, its bytes. Cut.
    pub words: String,
    /// How many bytes of that were cut.
    pub hidden_bytes: u32,
}

impl RequestRecord {
    pub(super) fn sent(self, sha256: &str, bytes: u32) -> Self {
        Self {
            sha256: sha256.to_owned(),
            bytes,
            ..self
        }
    }
}
