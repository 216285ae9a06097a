//! Every event that a run's log may hold. Named `noun.past_verb`, tagged by `type`, one struct
//! each. The envelope's names (`run`, `seq`, `at`, `type`, `v`) are used by no payload.

mod action;
mod checks;
mod children;
mod files;
mod model;
mod run;

use serde::{Deserialize, Serialize};

use crate::ids::{Millis, RunId};

pub use action::*;
pub use checks::*;
pub use children::*;
pub use files::*;
pub use model::*;
pub use run::*;

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
    /// The events before this one were copied from another run.
    RunForked = "run.forked";
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
    /// The model asks for tools that are not in the request; what they are is known from here on.
    ToolsFound = "tools.found";
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
    /// Another model takes over, in the order of the agent's list.
    ModelSwitched = "model.switched";
    /// The model refused an image or a document; from here on it is sent less of it.
    MediaReduced = "media.reduced";
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
    /// An action that runs came to a point that has to be known before it goes on.
    ActionProgressed = "action.progressed";
    /// An action ended.
    ActionFinished = "action.finished";
    /// A result is too long to be shown whole; the model is shown what it is made of, and reads on.
    ResultOffloaded = "result.offloaded";
    /// What became of a started action is not known; what the tool declares says how it is found out.
    ActionLost = "action.lost";
    /// The status tool was asked what became of an action.
    ActionQueried = "action.queried";
    /// An action may or may not have happened.
    ActionUncertain = "action.uncertain";
    /// The person, or the status tool, said what became of an action.
    ActionReconciled = "action.reconciled";
    /// The effect of an action was taken back.
    ActionCompensated = "action.compensated";
    /// An action left a command running beside the steps.
    JobStarted = "job.started";
    /// That command ended.
    JobFinished = "job.finished";
    /// A child was begun.
    ChildSpawned = "child.spawned";
    /// A child ended.
    ChildFinished = "child.finished";
    /// The model asks the person, or a server does while an action uses it.
    QuestionAsked = "question.asked";
    /// The person answered.
    QuestionAnswered = "question.answered";
    /// A server's question no longer matters.
    QuestionWithdrawn = "question.withdrawn";
    /// A server asked for what nobody is asked for.
    QuestionRefused = "question.refused";
    /// The rules beside the agent's own are now these.
    PolicyChanged = "policy.changed";
    /// The same action with the same result, again and again.
    LoopDetected = "loop.detected";
    /// Four fifths of a hard limit are used.
    BudgetWarned = "budget.warned";
    /// A person set hard limits anew.
    BudgetRaised = "budget.raised";
    /// A hard limit is reached.
    BudgetExceeded = "budget.exceeded";
    /// The next stage of the agent's work begins.
    StageEntered = "stage.entered";
    /// The plan changed.
    PlanUpdated = "plan.updated";
    /// The model keeps a note in its view, whatever is taken out of it.
    NotePinned = "note.pinned";
    /// It no longer does.
    NoteUnpinned = "note.unpinned";
    /// The model was given the instructions of a skill, which stay in its view from here on.
    SkillLoaded = "skill.loaded";
    /// The run read something that it may cite.
    SourceCaptured = "source.captured";
    /// The run delivers a file.
    ArtifactPublished = "artifact.published";
    /// What the workspace held when a step ended.
    SnapshotTaken = "snapshot.taken";
    /// The criteria are about to be checked.
    VerificationStarted = "verification.started";
    /// The criteria were checked.
    VerificationFinished = "verification.finished";
    /// A person has to accept the result.
    AcceptanceRequested = "acceptance.requested";
    /// The person accepted it, or did not.
    AcceptanceResolved = "acceptance.resolved";
    /// A request beside the steps is about to be sent.
    SideRequested = "side.requested";
    /// Its response came.
    SideResponded = "side.responded";
    /// No response came.
    SideFailed = "side.failed";
}
