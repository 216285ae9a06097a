//! Runs and turns.

use serde::{Deserialize, Serialize};

use crate::agent::AgentSpec;
use crate::body::{BlobHash, Body};
use crate::gate::Surface;
use crate::ids::{ActionId, RunId};
use crate::media::{Media, Takes};

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
    /// The folder of the project that it was begun in, where skills of the project lie; absent
    /// where it was begun in none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// What the model's tokens cost; absent when it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// What the model takes beside text.
    #[serde(default, skip_serializing_if = "Takes::is_unknown")]
    pub takes: Takes,
    /// Whether the run begins with untrusted text: its parent had read some.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tainted: bool,
    /// Whether it begins with something of the person's own: its parent had read some.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
    /// How deep below the root of its tree; the root is 0.
    #[serde(default, skip_serializing_if = "is_root")]
    pub depth: u32,
    /// The run that this one is a child of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<RunId>,
    /// The first run of the tree, for a child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<RunId>,
    /// The folder of the run above it, where it begins with a copy of the files there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copies: Option<String>,
}

fn is_root(depth: &u32) -> bool {
    *depth == 0
}

/// What a model's tokens cost, in millionths of a dollar for a million tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Price {
    /// Input tokens.
    pub input: u64,
    /// Input tokens that came from the provider's cache; absent: as other input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
    /// Output tokens.
    pub output: u64,
}

impl Price {
    /// The cost of so many tokens, rounded up, in millionths of a dollar.
    pub fn of(&self, input: u32, cached: u32, output: u32) -> u64 {
        const TOKENS: u128 = 1_000_000;
        let cached = u128::from(cached.min(input));
        let fresh = u128::from(input) - cached;
        let cached_price = u128::from(self.cached.unwrap_or(self.input));
        let parts = fresh * u128::from(self.input)
            + cached * cached_price
            + u128::from(output) * u128::from(self.output);
        u64::try_from(parts.div_ceil(TOKENS)).unwrap_or(u64::MAX)
    }
}

/// See [`super::Payload::RunForked`]. What was open there is not carried: the original keeps it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunForked {
    /// The original.
    pub from_run: RunId,
    /// The last event that was copied.
    pub from_seq: u32,
    /// The folder that the fork works in.
    pub workspace: String,
    /// The agent from here on; absent: as it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Box<AgentSpec>>,
    /// The model from here on; absent: as it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What the model's tokens cost from here on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// What the model takes beside text from here on.
    #[serde(default, skip_serializing_if = "Takes::is_unknown")]
    pub takes: Takes,
    /// Results that are others from here on, as the person who made the fork says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<ChangedResult>,
}

/// A result that a person changed for a fork. What the action did is as it was; the model is told
/// this instead.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ChangedResult {
    /// The action.
    pub action: ActionId,
    /// What it is said to have returned.
    pub result: Body,
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
    /// Where the work stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
}

/// Where the work stands when a run hands off.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Digest {
    /// What was done: items of the plan, delivered files.
    pub done: Vec<String>,
    /// What is open: items of the plan, actions that wait, criteria that do not hold.
    pub open: Vec<String>,
    /// What it would cost to go on, in words.
    pub cost: String,
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
    /// Step after step changes nothing.
    NoProgress,
    /// Policy refuses one action after the other.
    Denied,
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
    /// Where a person ended it; absent when it ended by rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Surface>,
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
    /// What the person gave with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Media>,
}

/// See [`super::Payload::TurnSteered`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TurnSteered {
    /// The person's words.
    pub input: Body,
    /// What the person gave with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Media>,
}

/// See [`super::Payload::TurnFinished`].
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct TurnFinished {}

/// See [`super::Payload::LoopDetected`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LoopDetected {
    /// The tools of the cycle, joined by `, `; mostly one.
    pub tool: String,
    /// How often the same actions gave the same results.
    pub times: u32,
}

/// See [`super::Payload::BudgetExceeded`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct BudgetExceeded {
    /// Which one.
    pub limit: Limit,
    /// What is used, with what the next step would need.
    pub used: u64,
    /// The limit.
    pub of: u64,
}

/// See [`super::Payload::BudgetWarned`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct BudgetWarned {
    /// Which one.
    pub limit: Limit,
    /// What is used.
    pub used: u64,
    /// The limit.
    pub of: u64,
}

/// See [`super::Payload::BudgetRaised`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct BudgetRaised {
    /// The new limits; what is absent stays.
    pub limits: Limits,
    /// Where the person said so.
    #[serde(default)]
    pub by: Surface,
}

/// A hard limit of a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Model requests.
    Steps,
    /// Input tokens.
    TokensIn,
    /// Output tokens.
    TokensOut,
    /// Minutes of work.
    WorkingMinutes,
    /// Actions started.
    Actions,
    /// Millionths of a dollar.
    Money,
}

/// Limits that a person sets anew.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(default)]
pub struct Limits {
    /// Model requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
    /// Input tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_in: Option<u32>,
    /// Output tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_out: Option<u32>,
    /// Minutes of work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_minutes: Option<u32>,
    /// Actions started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions: Option<u32>,
    /// Millionths of a dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", specta(type = Option<u32>))]
    pub money_micro: Option<u64>,
}

/// See [`super::Payload::StageEntered`]. What the model is told of it follows from the agent.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StageEntered {
    /// Its place in the agent's path, from 1.
    pub stage: u32,
    /// Its name.
    pub name: String,
}
