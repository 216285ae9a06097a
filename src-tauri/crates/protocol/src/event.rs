//! Every event that a run's log may hold. Named `noun.past_verb`, tagged by `type`, one struct
//! each. The envelope's names (`run`, `seq`, `at`, `type`, `v`) are used by no payload.

use serde::{Deserialize, Serialize};

use crate::agent::{AgentSpec, Decision};
use crate::block::{Block, ModelErrorClass, Origin, StopReason, Trust, Usage};
use crate::body::{BlobHash, Body};
use crate::ids::{ActionId, Millis, RunId, SourceId};
use crate::source::{Claim, CriterionResult, PlanItem, SourceMeta, TextRange};
use crate::tool::{Effect, Repeat, ToolErrorClass, ToolSpec};

/// One entry of a run's log.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Event {
    /// The run it belongs to.
    pub run: RunId,
    /// Its place in the run's log, from 1, without gap.
    pub seq: u32,
    /// When it was made, milliseconds since the epoch.
    pub at: Millis,
    /// What happened.
    #[serde(flatten)]
    pub payload: Payload,
}

/// The schema version that this harness writes for every type of event.
pub const SCHEMA_VERSION: u16 = 1;

macro_rules! payloads {
    ($($(#[$doc:meta])* $name:ident = $wire:literal;)*) => {
        /// What happened.
        #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
        #[serde(tag = "type")]
        pub enum Payload {
            $($(#[$doc])* #[serde(rename = $wire)] $name($name),)*
        }

        impl Payload {
            /// The name of the event's type.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$name(_) => $wire,)* }
            }

            /// Every type that this version knows.
            pub const NAMES: &'static [&'static str] = &[$($wire,)*];
        }

        $(impl From<$name> for Payload {
            fn from(payload: $name) -> Self { Self::$name(payload) }
        })*
    };
}

payloads! {
    /// The first event of a run.
    RunCreated = "run.created";
    /// A process took the run up again after another one had ended.
    RunResumed = "run.resumed";
    /// A person stopped the run before its next step.
    RunPaused = "run.paused";
    /// The run stopped by rule and waits for a person.
    RunHandedOff = "run.handed_off";
    /// A person ended the run for good.
    RunCancelled = "run.cancelled";
    /// The run came to its end.
    RunFinished = "run.finished";
    /// A person's input opened a turn.
    TurnStarted = "turn.started";
    /// A person said something while the run was going.
    TurnSteered = "turn.steered";
    /// The run handed back to the person.
    TurnFinished = "turn.finished";
    /// The tools that the model is given from here on.
    ToolsRevealed = "tools.revealed";
    /// A request was put together.
    ContextCompiled = "context.compiled";
    /// Older parts left the request.
    ContextCompacted = "context.compacted";
    /// A request is about to be sent.
    ModelRequested = "model.requested";
    /// The response came.
    ModelResponded = "model.responded";
    /// No response came, or none that can be used.
    ModelFailed = "model.failed";
    /// A request was in flight when its process ended.
    ModelAbandoned = "model.abandoned";
    /// The harness told the model something.
    NoticeGiven = "notice.given";
    /// The model asked for an action.
    ActionProposed = "action.proposed";
    /// What the model asked for can't be an action.
    ActionRejected = "action.rejected";
    /// The gate decided.
    ActionDecided = "action.decided";
    /// A person is asked.
    ApprovalRequested = "approval.requested";
    /// A person answered.
    ApprovalResolved = "approval.resolved";
    /// The question no longer matters.
    ApprovalWithdrawn = "approval.withdrawn";
    /// An action is about to happen.
    ActionStarted = "action.started";
    /// An action ended.
    ActionFinished = "action.finished";
    /// An action may or may not have happened.
    ActionUncertain = "action.uncertain";
    /// The person said what became of an uncertain action.
    ActionReconciled = "action.reconciled";
    /// The same action with the same result, again and again.
    LoopDetected = "loop.detected";
    /// A hard limit is reached.
    BudgetExceeded = "budget.exceeded";
    /// The plan changed.
    PlanUpdated = "plan.updated";
    /// The run read something that it may cite.
    SourceCaptured = "source.captured";
    /// The run delivers a file.
    ArtifactPublished = "artifact.published";
    /// The criteria are about to be checked.
    VerificationStarted = "verification.started";
    /// The criteria were checked.
    VerificationFinished = "verification.finished";
}

/// See [`Payload::RunCreated`].
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

/// See [`Payload::RunResumed`].
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

/// See [`Payload::RunPaused`].
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct RunPaused {}

/// See [`Payload::RunHandedOff`].
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

/// See [`Payload::RunCancelled`].
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct RunCancelled {}

/// See [`Payload::RunFinished`].
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

/// See [`Payload::TurnStarted`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TurnStarted {
    /// The person's words.
    pub input: Body,
    /// The first line of them, at most 120 characters.
    pub title: String,
}

/// See [`Payload::TurnSteered`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TurnSteered {
    /// The person's words.
    pub input: Body,
}

/// See [`Payload::TurnFinished`].
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct TurnFinished {}

/// See [`Payload::ToolsRevealed`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ToolsRevealed {
    /// All tools, in the order in which the request lists them.
    pub tools: Vec<ToolSpec>,
}

/// See [`Payload::ContextCompiled`]. The body is the first `keep` fragments of the request
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

/// See [`Payload::ContextCompacted`]. Items of the conversation are counted from 0 over the
/// whole run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ContextCompacted {
    /// Items before this one are left out of later requests, save the person's words.
    pub dropped_before: u32,
    /// Tool results before this one are replaced by a line that says where they are.
    pub pruned_before: u32,
    /// Estimated tokens of the conversation before.
    pub tokens_before: u32,
    /// Estimated tokens of the conversation after.
    pub tokens_after: u32,
}

/// See [`Payload::ModelRequested`].
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
}

/// See [`Payload::ModelResponded`].
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

/// See [`Payload::ModelFailed`].
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
    /// From sending to the fault.
    pub latency_ms: u32,
}

/// See [`Payload::ModelAbandoned`]. Its cost is unknown; its reservation stays counted.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ModelAbandoned {}

/// See [`Payload::NoticeGiven`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NoticeGiven {
    /// What the model is told.
    pub text: Body,
}

/// See [`Payload::ActionProposed`].
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

/// See [`Payload::ActionRejected`]. The model is told.
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

/// See [`Payload::ActionDecided`].
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

/// See [`Payload::ApprovalRequested`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ApprovalRequested {
    /// The action.
    pub action: ActionId,
    /// Why a person is asked.
    pub why: String,
    /// The hash of what the person will see: tool definition and arguments.
    pub shown: BlobHash,
}

/// See [`Payload::ApprovalResolved`].
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

/// See [`Payload::ApprovalWithdrawn`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ApprovalWithdrawn {
    /// The action.
    pub action: ActionId,
    /// Why it no longer matters.
    pub why: String,
}

/// See [`Payload::ActionStarted`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ActionStarted {
    /// The action.
    pub action: ActionId,
    /// The same for every attempt.
    pub key: String,
    /// Counted from 1.
    pub attempt: u32,
}

/// See [`Payload::ActionFinished`].
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

/// See [`Payload::ActionUncertain`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ActionUncertain {
    /// The action.
    pub action: ActionId,
    /// Why nobody knows.
    pub why: String,
}

/// See [`Payload::ActionReconciled`].
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

/// See [`Payload::LoopDetected`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LoopDetected {
    /// The tool.
    pub tool: String,
    /// How often the same action gave the same result.
    pub times: u32,
}

/// See [`Payload::BudgetExceeded`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct BudgetExceeded {
    /// `steps`, `tokens_in`, `tokens_out`, `working_minutes`, `actions`.
    pub limit: String,
    /// What is used, with what the next step would need.
    pub used: u32,
    /// The limit.
    pub of: u32,
}

/// See [`Payload::PlanUpdated`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PlanUpdated {
    /// The whole plan.
    pub items: Vec<PlanItem>,
}

/// See [`Payload::SourceCaptured`].
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

/// See [`Payload::ArtifactPublished`].
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

/// See [`Payload::VerificationStarted`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct VerificationStarted {
    /// Counted from 1 within the turn.
    pub attempt: u32,
}

/// See [`Payload::VerificationFinished`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct VerificationFinished {
    /// Every criterion, in the order of the agent file.
    pub results: Vec<CriterionResult>,
}
