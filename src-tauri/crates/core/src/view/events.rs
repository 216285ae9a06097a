//! An event in a few words, for lists of every event of a run.

use longrein_protocol::ActionId;
use longrein_protocol::block::Origin;
use longrein_protocol::event::Payload;

/// What happened, in a few words. The row that an event makes or changes says more.
pub fn event_words(payload: &Payload) -> &'static str {
    match payload {
        Payload::RunCreated(_) => "The run begins",
        Payload::RunForked(_) => "Forked from another run",
        Payload::RunResumed(_) => "Taken up again",
        Payload::RunPaused(_) => "Paused",
        Payload::RunHandedOff(_) => "Handed off",
        Payload::RunCancelled(_) => "Cancelled",
        Payload::RunFinished(_) => "The run ends",
        Payload::TurnStarted(_) => "You begin a turn",
        Payload::TurnSteered(_) => "You say something",
        Payload::TurnFinished(_) => "The turn ends",
        Payload::ToolsRevealed(_) => "The model is given its tools",
        Payload::ToolsFound(_) => "A tool is found",
        Payload::ContextCompiled(_) => "A request is put together",
        Payload::ContextCompacted(_) => "Older parts leave the request",
        Payload::ModelRequested(_) => "The model is asked",
        Payload::ModelResponded(_) => "The model answers",
        Payload::ModelFailed(_) => "The model does not answer",
        Payload::ModelAbandoned(_) => "A request is lost",
        Payload::ModelSwitched(_) => "Another model takes over",
        Payload::MediaReduced(_) => "The model is sent less of an image or a document",
        Payload::NoticeGiven(_) => "The harness tells the model something",
        Payload::ActionProposed(_) => "An action is asked for",
        Payload::ActionRejected(_) => "An action is not understood",
        Payload::ActionDecided(_) => "The policy decides",
        Payload::ApprovalRequested(_) => "You are asked",
        Payload::ApprovalResolved(_) => "You answer",
        Payload::ApprovalWithdrawn(_) => "You are no longer asked",
        Payload::ActionStarted(_) => "An action starts",
        Payload::ActionProgressed(_) => "An action goes on",
        Payload::ActionFinished(_) => "An action ends",
        Payload::ResultOffloaded(_) => "A long result is shown by what it is made of",
        Payload::ActionLost(_) => "An action is lost",
        Payload::ActionQueried(_) => "It is asked what became of an action",
        Payload::ActionUncertain(_) => "An action may or may not have happened",
        Payload::ActionReconciled(_) => "It is said what became of an action",
        Payload::ActionCompensated(_) => "An action is taken back",
        Payload::JobStarted(_) => "A command goes on beside the steps",
        Payload::JobFinished(_) => "That command ends",
        Payload::ChildSpawned(_) => "A child begins",
        Payload::ChildFinished(_) => "A child ends",
        Payload::QuestionAsked(_) => "A question for you",
        Payload::QuestionAnswered(_) => "You answer a question",
        Payload::QuestionWithdrawn(_) => "A question no longer matters",
        Payload::QuestionRefused(_) => "A question is refused",
        Payload::PolicyChanged(_) => "The rules change",
        Payload::LoopDetected(_) => "The same again and again",
        Payload::BudgetWarned(_) => "A limit comes near",
        Payload::BudgetRaised(_) => "Limits are set anew",
        Payload::BudgetExceeded(_) => "A limit is reached",
        Payload::StageEntered(_) => "The next stage begins",
        Payload::PlanUpdated(_) => "The plan changes",
        Payload::NotePinned(_) => "A note is kept in view",
        Payload::NoteUnpinned(_) => "A note is let go",
        Payload::SkillLoaded(_) => "A skill is given",
        Payload::SourceCaptured(_) => "A source is captured",
        Payload::ArtifactPublished(_) => "A file is delivered",
        Payload::SnapshotTaken(_) => "The files are recorded",
        Payload::VerificationStarted(_) => "The criteria are checked",
        Payload::VerificationFinished(_) => "The check is over",
        Payload::AcceptanceRequested(_) => "You are asked to accept the result",
        Payload::AcceptanceResolved(_) => "You say whether you accept",
        Payload::SideRequested(_) => "A model is asked beside the steps",
        Payload::SideResponded(_) => "It answers",
        Payload::SideFailed(_) => "It does not answer",
    }
}

/// The action that an event is about; `None` for an event about none.
pub fn event_action(payload: &Payload) -> Option<&ActionId> {
    Some(match payload {
        Payload::ActionProposed(event) => &event.action,
        Payload::ActionRejected(event) => &event.action,
        Payload::ActionDecided(event) => &event.action,
        Payload::ApprovalRequested(event) => &event.action,
        Payload::ApprovalResolved(event) => &event.action,
        Payload::ApprovalWithdrawn(event) => &event.action,
        Payload::ActionStarted(event) => &event.action,
        Payload::ActionProgressed(event) => &event.action,
        Payload::ActionFinished(event) => &event.action,
        Payload::ResultOffloaded(event) => &event.action,
        Payload::ActionLost(event) => &event.action,
        Payload::ActionQueried(event) => &event.action,
        Payload::ActionUncertain(event) => &event.action,
        Payload::ActionReconciled(event) => &event.action,
        Payload::ActionCompensated(event) => &event.action,
        Payload::JobStarted(event) => &event.action,
        Payload::ChildSpawned(event) => &event.action,
        Payload::ChildFinished(event) => &event.action,
        Payload::QuestionAsked(event) => &event.action,
        Payload::QuestionAnswered(event) => &event.action,
        Payload::QuestionWithdrawn(event) => &event.action,
        Payload::QuestionRefused(event) => &event.action,
        Payload::SkillLoaded(event) => &event.action,
        Payload::SourceCaptured(event) => &event.action,
        Payload::ArtifactPublished(event) => &event.action,
        _ => return None,
    })
}

/// Whose words something has, in words.
pub fn origin_words(origin: &Origin) -> String {
    match origin {
        Origin::Person => "you".to_owned(),
        Origin::AgentFile => "the agent's file".to_owned(),
        Origin::Harness => "Longrein".to_owned(),
        Origin::Model => "the model".to_owned(),
        Origin::Skill { skill } => format!("the skill {skill}"),
        Origin::Tool { tool, place: None } => format!("the tool {tool}"),
        Origin::Tool {
            tool,
            place: Some(place),
        } => format!("the tool {tool} ({place})"),
    }
}
