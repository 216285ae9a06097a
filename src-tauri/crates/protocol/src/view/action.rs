//! One action as a card: what it is, what the gate and the people said of it, what came of it.

use serde::{Deserialize, Serialize};

use crate::agent::Decision;
use crate::block::Trust;
use crate::gate::{Check, CheckName, Scope, Surface};
use crate::tool::{Effect, ToolErrorClass};

/// The state of an action, in the words that the person reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ActionState {
    /// Asked for, not decided.
    Proposed,
    /// The arguments do not satisfy the schema.
    Rejected,
    /// A person has to answer.
    Asked,
    /// The model asks the person something by it.
    AsksYou,
    /// Allowed, not started.
    Allowed,
    /// Refused by policy or a person.
    Denied,
    /// It was asked, and the question no longer matters.
    Withdrawn,
    /// It runs.
    Started,
    /// It ended well.
    Succeeded,
    /// It ended badly.
    Failed,
    /// It ran when its process ended: it is being found out what became of it.
    FindingOut,
    /// It may or may not have happened, and a person has to say which.
    Uncertain,
    /// It may or may not have happened, and the run went on or ended without anybody's word.
    Unknown,
}

/// One action as a card.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct ActionRow {
    /// The action's id.
    pub action: String,
    /// The tool.
    pub tool: String,
    /// Whether the person asked for it, and not the model.
    pub by_person: bool,
    /// The action that it takes back; empty for every other.
    pub undoes: String,
    /// The run that it delegates to; empty for every other.
    pub child: String,
    /// The arguments in a few words: `“recall of disk indexes”`.
    pub brief: String,
    /// The arguments that count, as JSON, indented; cut after 8 KB.
    pub arguments: String,
    /// How many bytes of them were cut.
    pub hidden_bytes: u32,
    /// The arguments as the model proposed them, where a person edited them since; else empty.
    pub proposed: String,
    /// What it may do.
    pub effect: Effect,
    /// How far it is.
    pub state: ActionState,
    /// The decision in a sentence, with the rule.
    pub decision: String,
    /// The eight checks of the gate, in order; none before it was decided.
    pub checks: Vec<Check>,
    /// The check that decided; `None` where all simply said yes.
    pub decided_by: Option<CheckName>,
    /// What an answer rests on; empty unless it is asked. It goes back with the answer.
    pub seen: String,
    /// The rules that “always” would make; none unless it is asked.
    pub offers: Vec<RuleOffer>,
    /// What it is shown with, beside its arguments: the review of a skill that nobody has looked
    /// at, or that has changed. Plain text; empty unless it is asked.
    pub review: String,
    /// What the model asks by it.
    pub question: Option<QuestionLine>,
    /// What people said of it, in order.
    pub said: Vec<SaidLine>,
    /// The result as the model was shown it; cut after 8 KB.
    pub result: String,
    /// The result in a few words: `8 passages of 3 documents`.
    pub outcome: String,
    /// The class of the error, when it failed.
    pub error: Option<ToolErrorClass>,
    /// Whether the result is untrusted text.
    pub trust: Trust,
    /// Sources that it captured: `S1`, `S4`.
    pub sources: Vec<String>,
    /// How long it took; `None` until it ended.
    pub latency_ms: Option<u32>,
    /// How often it was started.
    pub attempt: u32,
    /// Whether its effect can be taken back now.
    pub undo: bool,
    /// Whether its effect was taken back.
    pub undone: bool,
}

/// A rule that an approval may make.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct RuleOffer {
    /// Exactly what it matches.
    pub words: String,
    /// The rule as JSON. It goes back as it is, so that what is made is what was shown.
    pub rule: String,
}

/// A question of the model.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct QuestionLine {
    /// Plain text.
    pub text: String,
    /// Answers that it offers; another may be given.
    pub options: Vec<String>,
    /// The answer; `None` until there is one.
    pub answer: Option<String>,
}

/// Something that a person, or a status tool, said of an action or a result.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct SaidLine {
    /// What was said: `approved with other arguments`.
    pub words: String,
    /// Their own words with it; may be empty.
    pub note: String,
    /// Where a person said so; `None` when no person did.
    pub from: Option<Surface>,
    /// When (milliseconds since the epoch).
    #[cfg_attr(feature = "bindings", specta(type = i32))]
    pub at: i64,
}

/// A rule that is in force beside those of the agent's file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct RuleLine {
    /// Its name, by which it is revoked.
    pub id: String,
    /// How far it reaches.
    pub scope: Scope,
    /// The agent that it is for; empty unless it is for one.
    pub agent: String,
    /// Exactly what it matches.
    pub words: String,
    /// What it decides.
    pub decision: Decision,
    /// Whether it also holds after the run has read untrusted text.
    pub tainted: bool,
}
