//! What a run has found, delivered and checked.

use serde::{Deserialize, Serialize};

use super::Price;
use crate::block::{ModelErrorClass, Usage};
use crate::body::Body;
use crate::gate::Surface;
use crate::ids::{ActionId, Millis, SourceId};
use crate::source::{Claim, CriterionResult, Note, PlanItem, SourceMeta, TextRange};

/// See [`super::Payload::PlanUpdated`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PlanUpdated {
    /// The whole plan.
    pub items: Vec<PlanItem>,
}

/// See [`super::Payload::NotePinned`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NotePinned {
    /// What the model keeps in its view.
    pub note: Note,
}

/// See [`super::Payload::NoteUnpinned`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NoteUnpinned {
    /// The number of the note.
    pub number: u32,
}

/// See [`super::Payload::SourceCaptured`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SourceCaptured {
    /// The id; a second capture of one version of a document has the same.
    pub source: SourceId,
    /// The action that captured it.
    pub action: ActionId,
    /// What it is.
    pub meta: SourceMeta,
    /// The bytes as captured.
    pub bytes: Body,
    /// The text that was extracted from them.
    pub text: Body,
    /// The range that was shown to the model.
    pub range: TextRange,
}

/// See [`super::Payload::ArtifactPublished`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ArtifactPublished {
    /// The action that published it.
    pub action: ActionId,
    /// The path of the original beneath the workspace.
    pub path: String,
    /// Its title.
    pub title: String,
    /// Its media type.
    pub media_type: String,
    /// The file as the model wrote it.
    pub original: Body,
    /// The file with its citations rendered.
    pub rendered: Body,
    /// The path of the rendered copy beneath the workspace.
    pub rendered_path: String,
    /// The evidence ledger.
    pub ledger: Vec<Claim>,
}

/// See [`super::Payload::VerificationStarted`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct VerificationStarted {
    /// Counted from 1 within the turn.
    pub attempt: u32,
}

/// See [`super::Payload::VerificationFinished`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct VerificationFinished {
    /// Every criterion, in the order of the agent file.
    pub results: Vec<CriterionResult>,
}

/// See [`super::Payload::AcceptanceRequested`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct AcceptanceRequested {
    /// What the person is asked.
    pub text: String,
}

/// See [`super::Payload::AcceptanceResolved`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct AcceptanceResolved {
    /// Whether the person accepts.
    pub accepted: bool,
    /// Their words; for a refusal what the model is told.
    #[serde(default, skip_serializing_if = "Body::is_empty")]
    pub note: Body,
    /// Where they said so.
    #[serde(default)]
    pub by: Surface,
}

/// See [`super::Payload::SideRequested`]. A side request spends tokens and money and is no step.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SideRequested {
    /// What it is for.
    pub purpose: Purpose,
    /// `provider/model`.
    pub model: String,
    /// The bytes as sent.
    pub body: Body,
    /// Their SHA-256, in hexadecimal.
    pub body_sha256: String,
    /// Input tokens reserved.
    pub reserved_in: u32,
    /// Output tokens reserved, which is the limit that the request carries.
    pub reserved_out: u32,
    /// Money reserved, in millionths of a dollar; 0 where the price is not known.
    #[serde(default)]
    pub reserved_micro: u64,
    /// What the model's tokens cost, where it is another than the run's and that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// For a summary: the items of the conversation before this one are summarised.
    #[serde(default, skip_serializing_if = "is_none_at_all")]
    pub before: u32,
}

fn is_none_at_all(number: &u32) -> bool {
    *number == 0
}

/// What a side request is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// A criterion is judged.
    Judge,
    /// The older part of the conversation is summarised.
    Summary,
}

/// See [`super::Payload::SideResponded`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SideResponded {
    /// What the model said.
    pub text: Body,
    /// What it used.
    pub usage: Usage,
    /// Why the answer can't be used; empty where it can.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unusable: String,
    /// From sending to the last byte.
    pub latency_ms: u32,
}

/// See [`super::Payload::SideFailed`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SideFailed {
    /// What kind of fault it is.
    pub class: ModelErrorClass,
    /// What happened, in a sentence, without secrets.
    pub message: String,
    /// Whether the provider may have worked on it: what it cost is not known then, and its
    /// reservation stays counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cost_unknown: bool,
    /// When it may be asked again; absent when it is not to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Millis>,
    /// From sending to the fault.
    pub latency_ms: u32,
}
