//! One action as a card: what it is, what the gate and the people said of it, what came of it.

use serde::{Deserialize, Serialize};

use crate::agent::Decision;
use crate::block::Trust;
use crate::gate::{Check, CheckName, Scope, Surface};
use crate::question::Choice;
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
    /// The model asks the person something by it, or a server does while it runs.
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
    /// What the model asks by it, or, while it runs, a server: then in words alone, with the form.
    pub question: Option<QuestionLine>,
    /// What servers asked while it ran, in order.
    pub server_questions: Vec<ServerQuestionLine>,
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

/// How far a server's question is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ServerQuestionState {
    /// It waits for the person.
    Open,
    /// The person answered.
    Answered,
    /// The person said no.
    Declined,
    /// The person gave no answer.
    Dismissed,
    /// It no longer matters.
    Withdrawn,
    /// Nobody was asked, since it asked for what nobody is asked for.
    Refused,
}

/// A question of a server: its words are untrusted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct ServerQuestionLine {
    /// Its number within the action, which goes back with the answer; 0 for one that was refused.
    pub number: u32,
    /// The server that asks.
    pub server: String,
    /// Its words; plain text.
    pub text: String,
    /// The page that it wants visited, whole; empty for a form. It is opened only when the person
    /// says so, and never looked at before.
    pub url: String,
    /// The host of that page.
    pub host: String,
    /// The fields of its form, in order; none for a page.
    pub fields: Vec<FieldLine>,
    /// How far it is.
    pub state: ServerQuestionState,
    /// The values that were given, as JSON; empty until they were.
    pub answer: String,
    /// Why it was withdrawn or refused; else empty.
    pub why: String,
}

/// A field of a server's form.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct FieldLine {
    /// Its key in the answer.
    pub name: String,
    /// What it is called.
    pub title: String,
    /// What it means; may be empty.
    pub description: String,
    /// What may be given: `a whole number, from 1 to 5`.
    pub hint: String,
    /// Whether the form can't be sent without it.
    pub required: bool,
    /// What is taken when nothing is given, as JSON; empty where there is nothing.
    pub default: String,
    /// What is given: what an answer holds as JSON.
    pub kind: FieldLineKind,
    /// What can be chosen; none where it is typed.
    pub choices: Vec<Choice>,
    /// How many of them may be taken: `from 1 to 3`; empty where any number may, or just one.
    pub how_many: String,
}

/// What is given in a field of a server's form.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum FieldLineKind {
    /// A string.
    Text,
    /// A string: an address of e-mail.
    Email,
    /// A string: a whole address.
    Uri,
    /// A string: a date.
    Date,
    /// A string: a date with a time.
    DateTime,
    /// A number.
    Number,
    /// A whole number.
    Whole,
    /// A boolean.
    YesNo,
    /// One of the choices' values.
    One,
    /// A list of the choices' values.
    Many,
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
