//! Runs and turns.

use serde::{Deserialize, Serialize};

use crate::agent::AgentSpec;
use crate::body::{BlobHash, Body};
use crate::ids::RunId;

/// See [`super::Payload::RunCreated`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunCreated {
    /// The agent as it was then, defaults filled in.
    pub agent: AgentSpec,
    /// Its content hash.
    pub agent_hash: BlobHash,
    /// The model that is used, `provider/model`.
    pub model: String,
    /// The model's window in tokens.
    pub window_tokens: u32,
    /// The version of the harness.
    pub harness: String,
    /// The folder that the run works in.
    pub workspace: String,
    /// The run that this one is a child of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<RunId>,
}

/// See [`super::Payload::RunResumed`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunResumed {
    /// Why there is a new driver.
    pub why: ResumeReason,
}

/// Why a run is driven by a new process, or goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResumeReason {
    /// The process before ended without a word: what was in flight is in doubt.
    Interrupted,
    /// A person took the run over from a living process, which was ended first.
    TakenOver,
    /// A person said so, after a pause or a handoff.
    Asked,
}

/// See [`super::Payload::RunPaused`].
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct RunPaused {}

/// See [`super::Payload::RunHandedOff`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunHandedOff {
    /// The rule.
    pub reason: HandoffReason,
    /// What happened, in a sentence.
    pub message: String,
    /// What the person can do, in a sentence.
    pub remedy: String,
}

/// By which rule a run stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HandoffReason {
    /// The provider refuses the key or the model.
    ProviderRefused,
    /// The provider can't be reached, beyond the retries.
    ProviderDown,
    /// The request can't be made small enough.
    ContextFull,
    /// A hard limit is reached.
    Budget,
    /// The model goes round in circles.
    Loop,
    /// Empty or cut replies, again and again.
    NoReply,
    /// The criteria did not hold after the last attempt.
    Verification,
    /// An action may or may not have happened.
    Uncertain,
    /// The disk, a folder or a server is not as it has to be.
    Environment,
}

/// See [`super::Payload::RunCancelled`].
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct RunCancelled {}

/// See [`super::Payload::RunFinished`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunFinished {
    /// How it came out.
    pub outcome: Outcome,
    /// For `failed`: why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// How a run came out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Every criterion holds.
    Accepted,
    /// There were no criteria.
    Unverified,
    /// It can't go on.
    Failed,
}

/// See [`super::Payload::TurnStarted`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TurnStarted {
    /// The person's words.
    pub input: Body,
    /// The first line of them, at most 120 characters.
    pub title: String,
}

/// See [`super::Payload::TurnSteered`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TurnSteered {
    /// The person's words.
    pub input: Body,
}

/// See [`super::Payload::TurnFinished`].
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct TurnFinished {}

/// See [`super::Payload::LoopDetected`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LoopDetected {
    /// The tool.
    pub tool: String,
    /// How often the same action gave the same result.
    pub times: u32,
}

/// See [`super::Payload::BudgetExceeded`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct BudgetExceeded {
    /// `steps`, `tokens_in`, `tokens_out`, `working_minutes`, `actions`.
    pub limit: String,
    /// What is used, with what the next step would need.
    pub used: u32,
    /// The limit.
    pub of: u32,
}
