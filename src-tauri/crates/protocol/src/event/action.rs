//! Actions, and what people say of them.

use serde::{Deserialize, Serialize};

use crate::agent::Decision;
use crate::block::{Origin, Trust};
use crate::body::{BlobHash, Body};
use crate::ids::ActionId;
use crate::tool::{Effect, Repeat, ToolErrorClass};

/// See [`super::Payload::ActionProposed`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ActionProposed {
    /// The action.
    pub action: ActionId,
    /// The provider's id of the call.
    pub call: String,
    /// The tool's inner name.
    pub tool: String,
    /// The arguments as JSON.
    pub arguments: Body,
    /// What it may do.
    pub effect: Effect,
    /// Whether it may be started again.
    pub repeat: Repeat,
}

/// See [`super::Payload::ActionRejected`]. The model is told.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ActionRejected {
    /// The action.
    pub action: ActionId,
    /// The provider's id of the call.
    pub call: String,
    /// The tool as the model named it.
    pub tool: String,
    /// The arguments as the model wrote them.
    pub arguments: Body,
    /// What is wrong with them, with the place.
    pub error: String,
}

/// See [`super::Payload::ActionDecided`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ActionDecided {
    /// The action.
    pub action: ActionId,
    /// What the gate says.
    pub decision: Decision,
    /// The check or rule that decided, in words.
    pub why: String,
    /// Every check whose answer is not simply yes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
}

/// One check of the gate.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Check {
    /// `granted`, `schema`, `effect`, `secrets`, `reach`, `budget`, `rules`, `taint`.
    pub check: String,
    /// What it says.
    pub decision: Decision,
    /// The facts, in words.
    pub facts: String,
}

/// See [`super::Payload::ApprovalRequested`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ApprovalRequested {
    /// The action.
    pub action: ActionId,
    /// Why a person is asked.
    pub why: String,
    /// The hash of what the person will see: tool definition and arguments.
    pub shown: BlobHash,
}

/// See [`super::Payload::ApprovalResolved`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ApprovalResolved {
    /// The action.
    pub action: ActionId,
    /// Whether it may start.
    pub approved: bool,
    /// A note; for a denial the reason that the model is told.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The surface it was answered from: `window`, `command`, `api`.
    pub by: String,
}

/// See [`super::Payload::ApprovalWithdrawn`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ApprovalWithdrawn {
    /// The action.
    pub action: ActionId,
    /// Why it no longer matters.
    pub why: String,
}

/// See [`super::Payload::ActionStarted`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ActionStarted {
    /// The action.
    pub action: ActionId,
    /// The same for every attempt.
    pub key: String,
    /// Counted from 1.
    pub attempt: u32,
}

/// See [`super::Payload::ActionFinished`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ActionFinished {
    /// The action.
    pub action: ActionId,
    /// The class of the error; absent when it ended well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolErrorClass>,
    /// The whole result as text.
    pub result: Body,
    /// What the model is shown, where that is less than the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Body>,
    /// The result in a few words, for the person.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub outcome: String,
    /// Where the result comes from.
    pub origin: Origin,
    /// Whether it may be believed.
    pub trust: Trust,
    /// What shows that it happened: an external id, a version, an exit status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
    /// How long it took.
    pub latency_ms: u32,
}

/// See [`super::Payload::ActionUncertain`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ActionUncertain {
    /// The action.
    pub action: ActionId,
    /// Why nobody knows.
    pub why: String,
}

/// See [`super::Payload::ActionReconciled`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ActionReconciled {
    /// The action.
    pub action: ActionId,
    /// What became of it.
    pub verdict: Verdict,
}

/// What became of an action of which nobody knew.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It happened: the model is told so.
    Happened,
    /// It did not happen: the model is told so.
    NotHappened,
    /// It may be started once more.
    Retry,
}
