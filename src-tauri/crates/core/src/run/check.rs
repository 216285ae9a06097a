//! Which event a state allows. Every append passes here first.

use longrein_protocol::event::{Event, Payload, ResumeReason};
use longrein_protocol::{ActionId, RunId};

use super::{Action, ActionStage, Phase, Request, Run};

/// An event that the state does not allow. It is refused before it is written.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum Illegal {
    /// It does not follow the last event.
    #[error("event {given} does not follow event {last}")]
    Sequence {
        /// The last event.
        last: u32,
        /// The event that was given.
        given: u32,
    },
    /// It belongs to another run.
    #[error("the event belongs to run {0}")]
    OtherRun(RunId),
    /// The run's state does not allow it.
    #[error("{event} is not possible while the run is {state}")]
    State {
        /// The type of the event.
        event: &'static str,
        /// The state, in words.
        state: String,
    },
    /// The action's state does not allow it.
    #[error("{event} is not possible for action {action}, which is {state}")]
    Action {
        /// The type of the event.
        event: &'static str,
        /// The action.
        action: ActionId,
        /// Its state, in words.
        state: String,
    },
}

impl Run {
    /// Whether `event` may follow.
    ///
    /// # Errors
    /// [`Illegal`], which names the event and the state that forbids it.
    pub fn check(&self, event: &Event) -> Result<(), Illegal> {
        if event.seq != self.seq + 1 {
            return Err(Illegal::Sequence {
                last: self.seq,
                given: event.seq,
            });
        }
        match self.id {
            Some(id) if id != event.run => return Err(Illegal::OtherRun(event.run)),
            _ => {}
        }
        let allowed = self.allows(&event.payload)?;
        if allowed {
            return Ok(());
        }
        Err(Illegal::State {
            event: event.payload.name(),
            state: format!("{:?}, {:?}", self.phase, self.request),
        })
    }

    fn allows(&self, payload: &Payload) -> Result<bool, Illegal> {
        use ActionStage::{Allowed, Asked, Lost, Proposed, Started, ToAsk, Uncertain};
        let name = payload.name();
        let going = self.phase == Phase::Going;
        let stages = |id: &ActionId, allowed: &[ActionStage]| self.has_stage(name, id, allowed);
        Ok(match payload {
            Payload::RunCreated(_) => self.seq == 0,
            _ if self.seq == 0 => false,
            Payload::RunResumed(resumed) => match resumed.why {
                ResumeReason::Asked => {
                    matches!(self.phase, Phase::Paused | Phase::HandedOff { .. })
                }
                ResumeReason::Interrupted | ResumeReason::TakenOver => true,
            },
            Payload::RunPaused(_) | Payload::RunHandedOff(_) | Payload::RunFinished(_) => going,
            Payload::RunCancelled(_) => {
                !matches!(self.phase, Phase::Cancelled | Phase::Finished(_))
            }
            Payload::TurnStarted(_) => !matches!(self.phase, Phase::Cancelled),
            Payload::TurnSteered(_) => going,
            Payload::TurnFinished(_) | Payload::ToolsRevealed(_) | Payload::NoticeGiven(_) => going,
            Payload::ContextCompiled(_) | Payload::ContextCompacted(_) => {
                going && !self.in_flight()
            }
            Payload::ModelRequested(requested) => {
                let follows = match self.request {
                    Request::Compiled => 1,
                    Request::Failed { attempt, .. } => attempt + 1,
                    _ => 0,
                };
                going && requested.attempt == follows
            }
            Payload::ModelResponded(_) | Payload::ModelFailed(_) => self.in_flight(),
            Payload::ModelAbandoned(_) => self.request == Request::Lost || self.in_flight(),
            Payload::ActionProposed(proposed) => going && self.proposes(&proposed.call),
            Payload::ActionRejected(rejected) => going && self.proposes(&rejected.call),
            // An approved action may be asked for again when its checks change before it starts.
            Payload::ActionDecided(decided) => {
                going && stages(&decided.action, &[Proposed, Allowed, Lost])?
            }
            Payload::ApprovalRequested(asked) => going && stages(&asked.action, &[ToAsk])?,
            Payload::ApprovalResolved(resolved) => stages(&resolved.action, &[Asked])?,
            Payload::ApprovalWithdrawn(withdrawn) => stages(&withdrawn.action, &[Asked])?,
            Payload::ActionStarted(started) => {
                let follows = self
                    .action(&started.action)
                    .is_some_and(|action| started.attempt == action.attempt + 1);
                going && follows && stages(&started.action, &[Allowed, Lost])?
            }
            Payload::ActionFinished(finished) => stages(&finished.action, &[Started, Allowed])?,
            Payload::ActionUncertain(uncertain) => stages(&uncertain.action, &[Started, Lost])?,
            Payload::ActionReconciled(reconciled) => stages(&reconciled.action, &[Uncertain])?,
            Payload::SourceCaptured(source) => stages(&source.action, &[Started])?,
            Payload::ArtifactPublished(artifact) => stages(&artifact.action, &[Started])?,
            Payload::LoopDetected(_) | Payload::BudgetExceeded(_) => going,
            Payload::PlanUpdated(_) => going,
            Payload::VerificationStarted(_) | Payload::VerificationFinished(_) => going,
        })
    }

    fn in_flight(&self) -> bool {
        matches!(self.request, Request::InFlight { .. })
    }

    fn proposes(&self, call: &str) -> bool {
        self.pending
            .front()
            .is_some_and(|pending| pending.call == call)
    }

    fn has_stage(
        &self,
        event: &'static str,
        id: &ActionId,
        allowed: &[ActionStage],
    ) -> Result<bool, Illegal> {
        let state = match self.action(id) {
            Some(Action { stage, .. }) if allowed.contains(stage) => return Ok(true),
            Some(action) => format!("{:?}", action.stage),
            None => "not open".to_owned(),
        };
        Err(Illegal::Action {
            event,
            action: id.clone(),
            state,
        })
    }
}
