//! Requests and what they are made of.

use serde::{Deserialize, Serialize};

use crate::block::{Block, ModelErrorClass, Origin, StopReason, Trust, Usage};
use crate::body::{BlobHash, Body};
use crate::ids::{Millis, SourceId};
use crate::media::{Media, Takes};
use crate::tool::{IndexLine, ToolSpec};

use super::Price;

/// See [`super::Payload::ToolsRevealed`].
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ToolsRevealed {
    /// The tools that stand in the request, in its order.
    pub tools: Vec<ToolSpec>,
    /// What is there besides, one line each, in the order of the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub index: Vec<IndexLine>,
    /// What the person should know of the tools: what was left out and why, what is odd about them.
    /// The model is not told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// See [`super::Payload::ToolsFound`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ToolsFound {
    /// Tools that don't stand in the request, each as it is from here on.
    pub tools: Vec<ToolSpec>,
}

/// See [`super::Payload::ContextCompiled`]. The body is the first `keep` fragments of the request
/// before, then `add`; their bytes, one after the other, are what was sent.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ContextCompiled {
    /// How many fragments of the last request stay, from the front.
    pub keep: u32,
    /// The fragments that follow.
    pub add: Vec<Fragment>,
    /// How many items of the conversation the request holds.
    pub items: u32,
    /// Estimated tokens of the whole request.
    pub tokens: u32,
}

/// A piece of a request's bytes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Fragment {
    /// The part of the request it belongs to.
    pub part: Section,
    /// The bytes.
    pub body: Body,
    /// How many of them are media in base64, which no model counts as text.
    #[serde(default, skip_serializing_if = "is_none_at_all")]
    pub media_bytes: u32,
    /// About how many tokens a model counts for that media.
    #[serde(default, skip_serializing_if = "is_none_at_all")]
    pub media_tokens: u32,
    /// Where its words come from; absent where it has none, and in older logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Whether they may be believed; absent with the origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
}

fn is_none_at_all(number: &u32) -> bool {
    *number == 0
}

/// The parts of a request, in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    /// The harness's rules and the agent's instructions.
    System,
    /// Tool definitions.
    Tools,
    /// The index of what is hidden.
    Index,
    /// What the harness keeps in view.
    Pinned,
    /// What was compacted.
    Summary,
    /// The conversation since.
    Conversation,
    /// Plan, time and budget, fresh in every request.
    Tail,
    /// The end of the request with the parameters that vary.
    Closing,
}

impl Section {
    /// The name as the context meter shows it.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Tools => "tools",
            Self::Index => "index",
            Self::Pinned => "pinned",
            Self::Summary => "summary",
            Self::Conversation => "conversation",
            Self::Tail | Self::Closing => "tail",
        }
    }
}

/// See [`super::Payload::ContextCompacted`]. Items of the conversation are counted from 0 over the
/// whole run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ContextCompacted {
    /// Items before this one are left out of later requests, save the person's words.
    pub dropped_before: u32,
    /// Tool results before this one are replaced by a line that says where they are.
    pub pruned_before: u32,
    /// Media of tool results before this one are replaced by a note that says what was there.
    #[serde(default, skip_serializing_if = "is_none_at_all")]
    pub media_before: u32,
    /// Estimated tokens of the conversation before.
    pub tokens_before: u32,
    /// Estimated tokens of the conversation after.
    pub tokens_after: u32,
    /// What stands in the place of all that was left out so far. Absent where nothing was left out,
    /// or where no summary of it came: the one before stays then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Box<Summary>>,
    /// Why there is no summary of what was left out; empty where there is one, and where nothing
    /// was left out.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unsummarised: String,
}

/// What a model says of the part of the conversation that was left out. It is a record of the work
/// and never an instruction; what must not be lost is kept by the harness beside it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// `provider/model` that wrote it.
    pub model: String,
    /// What was decided, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<String>,
    /// What was found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<SummaryFinding>,
    /// What was tried and did not work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
    /// What is not known yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
    /// Whether what it was made of may be believed.
    pub trust: Trust,
    /// Lines of the model's that there was no room for.
    #[serde(default, skip_serializing_if = "is_none_at_all")]
    pub left_out: u32,
    /// Ids that it named as sources and that the run does not have; they were struck.
    #[serde(default, skip_serializing_if = "is_none_at_all")]
    pub struck: u32,
}

/// A finding of a summary.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct SummaryFinding {
    /// What was found.
    pub text: String,
    /// Where it stands: sources that the run has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceId>,
}

/// See [`super::Payload::ModelRequested`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ModelRequested {
    /// `provider/model`.
    pub model: String,
    /// Counted from 1 within the step.
    pub attempt: u32,
    /// SHA-256 of the body's bytes as sent, in hexadecimal.
    pub body_sha256: String,
    /// Bytes of the body.
    pub body_bytes: u32,
    /// Input tokens reserved.
    pub reserved_in: u32,
    /// Output tokens reserved, which is the limit that the request carries.
    pub reserved_out: u32,
    /// Money reserved, in millionths of a dollar; 0 where the price is not known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reserved_micro: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// See [`super::Payload::ModelResponded`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ModelResponded {
    /// What the model said, in order.
    pub blocks: Vec<Block>,
    /// Why it stopped.
    pub stop: StopReason,
    /// What it used.
    pub usage: Usage,
    /// The provider's id of the response.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub response_id: String,
    /// From sending to the last byte.
    pub latency_ms: u32,
}

/// See [`super::Payload::ModelFailed`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ModelFailed {
    /// What kind of fault it is.
    pub class: ModelErrorClass,
    /// What happened, in a sentence, without secrets.
    pub message: String,
    /// What the person can do, in a sentence.
    pub remedy: String,
    /// When it is tried again; absent when it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Millis>,
    /// Whether the provider may have worked on it: what it cost is not known then, and its
    /// reservation stays counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cost_unknown: bool,
    /// Whether it never left: the provider is left alone for a while, or others go first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsent: bool,
    /// Whether the provider named the time of `retry_at`. To wait for it is no failed attempt.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asked: bool,
    /// When the provider takes requests again, where that is too far off to wait for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back_at: Option<Millis>,
    /// From sending to the fault.
    pub latency_ms: u32,
}

/// See [`super::Payload::ModelAbandoned`]. Its cost is unknown; its reservation stays counted.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ModelAbandoned {}

/// See [`super::Payload::ModelSwitched`]. Signatures and other raw forms of the model before are
/// not sent to the new one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ModelSwitched {
    /// `provider/model` before.
    pub from: String,
    /// `provider/model` from here on.
    pub to: String,
    /// Why, in a sentence.
    pub why: String,
    /// The new model's window in tokens.
    pub window_tokens: u32,
    /// What the new model's tokens cost; absent when it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// What the new model takes beside text.
    #[serde(default, skip_serializing_if = "Takes::is_unknown")]
    pub takes: Takes,
}

/// See [`super::Payload::MediaReduced`]. The original stays; another model is shown it again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MediaReduced {
    /// The original's bytes.
    pub media: BlobHash,
    /// The smaller copy that is sent in its place; absent: a note that says what was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<Media>,
    /// Why, in a sentence.
    pub why: String,
}

/// See [`super::Payload::NoticeGiven`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NoticeGiven {
    /// What the model is told.
    pub text: Body,
}
