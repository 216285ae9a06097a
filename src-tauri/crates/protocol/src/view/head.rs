//! The panel of one run.

use serde::{Deserialize, Serialize};

use super::{RuleLine, RunState};
use crate::event::{Digest, Limit};
use crate::source::{Claim, CriterionResult, Note, PlanItem, PlanState, SourceMeta};

/// The panel of one run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct RunHead {
    /// The run.
    pub run: String,
    /// The run that this one is a child of; empty for every other.
    pub parent: String,
    /// The first line of the question.
    pub title: String,
    /// The agent's name.
    pub agent: String,
    /// The model, `provider/model`.
    pub model: String,
    /// Whether the model is the demonstration stand-in, to be labelled so.
    pub demo: bool,
    /// What it is doing.
    pub state: RunState,
    /// What it waits for or why it stopped, in a sentence; empty while it works.
    pub reason: String,
    /// What the person can do about it; empty when nothing is needed.
    pub remedy: String,
    /// Since when it is in this state (milliseconds since the epoch).
    #[cfg_attr(feature = "bindings", specta(type = i32))]
    pub since: i64,
    /// When it was created.
    #[cfg_attr(feature = "bindings", specta(type = i32))]
    pub created_at: i64,
    /// Steps taken, and the limit.
    pub steps: Meter,
    /// Input tokens.
    pub tokens_in: Meter,
    /// Output tokens.
    pub tokens_out: Meter,
    /// Working time in seconds.
    pub working_seconds: Meter,
    /// Actions started.
    pub actions: Meter,
    /// Money.
    pub money: Money,
    /// Hard limits of which four fifths are used.
    pub warned: Vec<Limit>,
    /// The hard limit at which it stopped, while it stands there.
    pub reached: Option<ReachedLimit>,
    /// The plan.
    pub plan: Vec<PlanItem>,
    /// What the model keeps in its view.
    pub notes: Vec<Note>,
    /// What the last request was made of.
    pub context: Vec<ContextPart>,
    /// The model's window in tokens; 0 when unknown.
    pub window_tokens: u32,
    /// Sources captured so far.
    pub sources: Vec<SourceLine>,
    /// The stages of the agent's path, in their order.
    pub stages: Vec<StageLine>,
    /// Files delivered.
    pub artifacts: Vec<ArtifactLine>,
    /// The criteria, with the last result where one was checked.
    pub done_when: Vec<CriterionResult>,
    /// Whether the criteria were checked at least once.
    pub verified: bool,
    /// What the person is asked to accept, while they are.
    pub acceptance: Option<String>,
    /// Where the work stands, while it is handed off.
    pub digest: Option<Digest>,
    /// The rules in force beside those of the agent's file.
    pub rules: Vec<RuleLine>,
    /// Whether untrusted text was read.
    pub tainted: bool,
}

/// Something that is counted against a limit.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Meter {
    /// How much is known to be used.
    pub used: u32,
    /// How much more is held in reserve, for a request that is on its way, or was lost so that
    /// nobody knows what it used.
    pub held: u32,
    /// The hard limit; `None` when there is none.
    pub limit: Option<u32>,
}

/// What was spent, in millionths of a dollar.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Money {
    /// How much, as far as it is known.
    #[cfg_attr(feature = "bindings", specta(type = u32))]
    pub used_micro: u64,
    /// How much more is held in reserve.
    #[cfg_attr(feature = "bindings", specta(type = u32))]
    pub held_micro: u64,
    /// The hard limit; `None` when there is none.
    #[cfg_attr(feature = "bindings", specta(type = Option<u32>))]
    pub limit_micro: Option<u64>,
    /// Whether the model's price is known.
    pub known: bool,
    /// Whether some of it is our own estimate by the price: the provider does not say what it
    /// charges.
    #[serde(default)]
    pub estimated: bool,
}

/// A hard limit that stopped a run. Working time is in minutes, money in millionths of a dollar.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct ReachedLimit {
    /// Which one.
    pub limit: Limit,
    /// What is used, with what the next step would need.
    #[cfg_attr(feature = "bindings", specta(type = u32))]
    pub used: u64,
    /// The limit.
    #[cfg_attr(feature = "bindings", specta(type = u32))]
    pub of: u64,
    /// A new limit that would let the work go on for a good while.
    #[cfg_attr(feature = "bindings", specta(type = u32))]
    pub suggested: u64,
}

/// A part of the request, for the context meter.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct ContextPart {
    /// `system`, `tools`, `index`, `pinned`, `summary`, `conversation`, `tail`.
    pub section: String,
    /// Estimated tokens.
    pub tokens: u32,
}

/// A stage in the panel.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct StageLine {
    /// Its name.
    pub name: String,
    /// How far it is.
    pub state: PlanState,
}

/// A source in the panel.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct SourceLine {
    /// `S12`.
    pub id: String,
    /// What it is.
    pub meta: SourceMeta,
    /// How many passages were shown to the model.
    pub passages: u32,
}

/// A delivered file in the panel.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct ArtifactLine {
    /// The path beneath the workspace.
    pub path: String,
    /// Its title.
    pub title: String,
    /// Its media type.
    pub media_type: String,
    /// The size of the rendered file in bytes.
    pub bytes: u32,
    /// The evidence ledger.
    pub ledger: Vec<Claim>,
}
