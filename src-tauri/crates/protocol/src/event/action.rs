//! Actions, and what people say of them.

use serde::{Deserialize, Serialize};

use crate::agent::{Decision, PolicyRule};
use crate::block::{Origin, Trust};
use crate::body::{BlobHash, Body};
use crate::gate::{ActionFacts, Actor, Always, Check, StandingRule, Surface};
use crate::ids::{ActionId, Millis};
use crate::media::Media;
use crate::question::{Replied, ServerQuestion};
use crate::tool::{Effect, Repeat, ToolErrorClass};

/// Where a program called a tool.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Within {
    /// The action that runs the program.
    pub action: ActionId,
    /// Counts the calls of that program, from 1 in each of its lives.
    pub number: u32,
    /// How often the program had been begun anew when it made the call.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub life: u32,
}

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
    /// Who asked for it.
    #[serde(default, skip_serializing_if = "Actor::is_model")]
    pub by: Actor,
    /// The action that it takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<ActionId>,
    /// Which call of which program it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Box<Within>>,
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
    /// Of what kind that is.
    #[serde(
        default = "ToolErrorClass::of_a_call",
        skip_serializing_if = "ToolErrorClass::is_of_a_call"
    )]
    pub class: ToolErrorClass,
    /// Which call of which program it was; the program is told then, and not the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Box<Within>>,
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
    /// The eight checks, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// What they rest on.
    #[serde(default, skip_serializing_if = "ActionFacts::is_empty")]
    pub facts: ActionFacts,
}

/// See [`super::Payload::ApprovalRequested`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ApprovalRequested {
    /// The action.
    pub action: ActionId,
    /// Why a person is asked.
    pub why: String,
    /// What an approval will rest on: see [`ActionFacts::binding`].
    pub shown: BlobHash,
    /// The rules that "always" would make: exactly what they say is what they match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offers: Vec<PolicyRule>,
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
    /// Where it was answered.
    #[serde(default)]
    pub by: Surface,
    /// The arguments as the person edited them: from now on the effective ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Body>,
    /// What the approval rests on; for an edit, with the edited arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding: Option<BlobHash>,
    /// The rules that it makes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub always: Option<Always>,
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
    /// The names of the secrets that it is given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub credentials: Vec<String>,
}

/// See [`super::Payload::ActionProgressed`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ActionProgressed {
    /// The action.
    pub action: ActionId,
    /// What came next.
    pub what: Progress,
}

/// What an action came to while it runs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// Its command is about to be given to a box, whose agent lives this life. A command that an
    /// agent of the same life does not know never ran.
    Boxed {
        /// The life.
        life: String,
    },
    /// Its command asked for the network; what is allowed leaves after this.
    Requested(NetworkRequest),
    /// Such a request is over.
    Answered(NetworkAnswer),
    /// Its program was begun anew, and asks for what it asked for before: what came of that is what
    /// it is told.
    Replayed(ReplayedCall),
}

/// A call of a program that is answered from the record.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReplayedCall {
    /// What the call became when the program first made it.
    pub call: ActionId,
    /// The number of the call in the program's life of now.
    pub number: u32,
}

/// A request of a command to the network.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NetworkRequest {
    /// Counts the requests of the box, from 1.
    pub request: u64,
    /// Its method: `CONNECT` for everything that is encrypted.
    pub method: String,
    /// The host, as it was asked for.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The path, where it can be seen; never the query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Why it was refused; absent where it was allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// What came of a request that was allowed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NetworkAnswer {
    /// Which.
    pub request: u64,
    /// The address that was reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Bytes that the command sent.
    pub sent_bytes: u64,
    /// Bytes that it received.
    pub received_bytes: u64,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// See [`super::Payload::JobStarted`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JobStarted {
    /// The job's name: `J1`. No other one of the run has it.
    pub job: String,
    /// The action that left it running; it is also its command's id in the box.
    pub action: ActionId,
    /// What it is for, in the words of who started it.
    pub intent: String,
}

/// See [`super::Payload::JobFinished`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JobFinished {
    /// The job's name.
    pub job: String,
    /// How it ended, in a few words: `exit status 0`.
    pub outcome: String,
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
    /// What the model is shown, where that is less than the whole. Since there is
    /// `result.offloaded`, nothing writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Body>,
    /// The file beneath the workspace in which the tool itself left more than the result holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Images, documents and recordings that it returned, which the model is shown after the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<Media>,
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

/// See [`super::Payload::ResultOffloaded`]. The whole result stays where its action ended.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ResultOffloaded {
    /// The action whose result it is.
    pub action: ActionId,
    /// What the model is shown in its place: its size, what it is made of, its ends, and how the
    /// rest is read.
    pub shown: Body,
    /// The file beneath the workspace that holds it whole; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// See [`super::Payload::SkillLoaded`]. Its instructions are the result of the action.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SkillLoaded {
    /// The action that loaded it.
    pub action: ActionId,
    /// The skill's name.
    pub skill: String,
    /// What it was made of: the hash of its whole folder, 64 hexadecimal digits.
    pub hash: String,
    /// Where it lay, in words: `ships with Longrein`, `.agents/skills of the project`.
    pub place: String,
}

/// See [`super::Payload::ActionLost`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ActionLost {
    /// The action.
    pub action: ActionId,
    /// What happened.
    pub why: String,
    /// Whether what it began is gone for certain: a program is begun anew then.
    #[serde(default, skip_serializing_if = "is_false")]
    pub gone: bool,
}

/// See [`super::Payload::ActionQueried`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ActionQueried {
    /// The action.
    pub action: ActionId,
    /// Counted from 1.
    pub attempt: u32,
    /// What the status tool says.
    pub answer: StatusAnswer,
    /// Its words.
    pub said: Body,
    /// Whether its words may be believed.
    pub trust: Trust,
    /// When it is asked again; absent when it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_at: Option<Millis>,
}

/// What a status tool says of an action.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatusAnswer {
    /// It happened.
    Done,
    /// It did not happen and never will.
    NotDone,
    /// It can't say.
    Unknown,
}

/// See [`super::Payload::ActionCompensated`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ActionCompensated {
    /// The action whose effect was taken back.
    pub action: ActionId,
    /// The action that took it back.
    pub undone_by: ActionId,
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
    /// The result, where the person or the tool gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Body>,
    /// Whether the result may be believed.
    #[serde(default = "trusted")]
    pub trust: Trust,
    /// Where the person said so; absent when the status tool did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Surface>,
}

fn trusted() -> Trust {
    Trust::Trusted
}

/// What became of an action of which nobody knew.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It happened: the model is told so.
    Happened,
    /// It did not happen: the model is told so.
    NotHappened,
    /// It may be started once more.
    Retry,
}

/// See [`super::Payload::QuestionAsked`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct QuestionAsked {
    /// The action by which the model asks, or during which a server does.
    pub action: ActionId,
    /// The question; of a server, its words without control and hidden characters.
    pub question: Body,
    /// Answers that it offers; another may be given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Who else asks, and for what; absent where the model asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Box<ServerQuestion>>,
}

/// See [`super::Payload::QuestionAnswered`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct QuestionAnswered {
    /// The action by which the model asked, or during which a server did.
    pub action: ActionId,
    /// The person's answer; to a form, the values as JSON.
    pub answer: Body,
    /// Where it was answered.
    #[serde(default)]
    pub by: Surface,
    /// The number of the server's question; 0 where the model asked.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub number: u32,
    /// What the person does about a server's question; absent where the model asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replied: Option<Replied>,
}

/// See [`super::Payload::QuestionWithdrawn`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct QuestionWithdrawn {
    /// The action during which the server asked.
    pub action: ActionId,
    /// The number of the question.
    pub number: u32,
    /// Why it no longer matters.
    pub why: String,
}

/// See [`super::Payload::QuestionRefused`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct QuestionRefused {
    /// The action during which the server asked.
    pub action: ActionId,
    /// The server.
    pub server: String,
    /// Its words; untrusted, may be empty.
    pub question: Body,
    /// Why nobody is asked, in sentences.
    pub why: String,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn is_false(value: &bool) -> bool {
    !value
}

/// See [`super::Payload::PolicyChanged`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PolicyChanged {
    /// The hash of the rules that stand on disk.
    pub hash: BlobHash,
    /// All rules that are in force beside the agent's own, from here on.
    pub rules: Vec<StandingRule>,
    /// Who changed them, in words: `the policy file`, `an approval in the window`.
    pub by: String,
}
