//! What a run has found, delivered and checked.

use serde::{Deserialize, Serialize};

use crate::body::Body;
use crate::ids::{ActionId, SourceId};
use crate::source::{Claim, CriterionResult, PlanItem, SourceMeta, TextRange};

/// See [`super::Payload::PlanUpdated`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PlanUpdated {
    /// The whole plan.
    pub items: Vec<PlanItem>,
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
