//! Which event a state allows. Every append passes here first.

use longrein_protocol::event::{ActionProgressed, Event, Payload, Progress, ResumeReason, Within};
use longrein_protocol::gate::Actor;
use longrein_protocol::{ActionId, RunId};

use super::{Acceptance, Action, ActionStage, OpenQuestion, Phase, Request, Run};

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
        let going = self.phase == Phase::Going;
        let ended = matches!(self.phase, Phase::Cancelled | Phase::Finished(_));
        Ok(match payload {
            Payload::RunCreated(_) => self.seq == 0,
            _ if self.seq == 0 => false,
            Payload::RunResumed(resumed) => match resumed.why {
                ResumeReason::Asked => {
                    matches!(self.phase, Phase::Paused | Phase::HandedOff { .. })
                }
                ResumeReason::Interrupted | ResumeReason::TakenOver => true,
            },
            Payload::RunForked(forked) => {
                let mut results = forked.results.iter();
                self.seq == forked.from_seq
                    && results.all(|changed| self.has_in_view(&changed.action))
            }
            Payload::RunPaused(_) | Payload::RunHandedOff(_) => going,
            // A person may take the result of a run that was handed to them as it is.
            Payload::RunFinished(finished) => {
                let handed_off = matches!(self.phase, Phase::HandedOff { .. });
                going || (finished.by.is_some() && handed_off)
            }
            Payload::RunCancelled(_) => !ended,
            Payload::TurnStarted(_) | Payload::PolicyChanged(_) | Payload::BudgetRaised(_) => {
                self.phase != Phase::Cancelled
            }
            Payload::TurnSteered(_) => going,
            Payload::TurnFinished(_)
            | Payload::ToolsRevealed(_)
            | Payload::ToolsFound(_)
            | Payload::NoticeGiven(_) => going,
            Payload::ContextCompiled(_) | Payload::ContextCompacted(_) => {
                going && !self.in_flight()
            }
            Payload::ResultOffloaded(offloaded) => {
                going && !self.in_flight() && self.unsent_result(&offloaded.action).is_some()
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
            Payload::ModelSwitched(_) | Payload::MediaReduced(_) => going && !self.in_flight(),
            Payload::ModelAbandoned(_) => self.request == Request::Lost || self.in_flight(),
            Payload::LoopDetected(_) | Payload::BudgetExceeded(_) | Payload::BudgetWarned(_) => {
                going
            }
            Payload::PlanUpdated(_) | Payload::NotePinned(_) | Payload::NoteUnpinned(_) => going,
            Payload::StageEntered(entered) => {
                let follows = entered.stage == self.stage_number + 1;
                going && follows && entered.stage as usize <= self.stages().len()
            }
            Payload::SnapshotTaken(taken) => going && self.allows_snapshot(taken),
            Payload::VerificationStarted(_) => going && !self.checking,
            Payload::VerificationFinished(_) => going && self.checking,
            Payload::AcceptanceRequested(_) => going && self.acceptance == Acceptance::None,
            Payload::AcceptanceResolved(_) => self.acceptance != Acceptance::None,
            Payload::SideRequested(_) => going && self.side.is_none(),
            Payload::SideResponded(_) | Payload::SideFailed(_) => self.side.is_some(),
            _ => self.action_allows(payload, going)?,
        })
    }

    fn action_allows(&self, payload: &Payload, going: bool) -> Result<bool, Illegal> {
        use ActionStage::{Allowed, Asked, Lost, Proposed, Started, ToAsk, Uncertain};
        let name = payload.name();
        let stages = |id: &ActionId, allowed: &[ActionStage]| self.has_stage(name, id, allowed);
        let acts = |id: &ActionId| self.acts(id, going);
        Ok(match payload {
            Payload::ActionProposed(proposed) => match proposed.by {
                Actor::Model => going && self.proposes(&proposed.call),
                Actor::Harness => going && self.owes_helpers(&proposed.call),
                Actor::Person => self.phase != Phase::Cancelled,
                Actor::Program => {
                    let within = proposed.within.as_ref();
                    going && within.is_some_and(|within| self.calls(within))
                }
            },
            Payload::ActionRejected(rejected) => match &rejected.within {
                None => {
                    going && (self.proposes(&rejected.call) || self.owes_helpers(&rejected.call))
                }
                Some(within) => going && self.calls(within),
            },
            // An approved action may be asked for again when its checks change before it starts.
            Payload::ActionDecided(decided) => {
                acts(&decided.action) && stages(&decided.action, &[Proposed, Allowed, Lost])?
            }
            Payload::ApprovalRequested(asked) => {
                acts(&asked.action) && stages(&asked.action, &[ToAsk])?
            }
            Payload::ApprovalResolved(resolved) => stages(&resolved.action, &[Asked])?,
            Payload::ApprovalWithdrawn(withdrawn) => stages(&withdrawn.action, &[Asked])?,
            Payload::ChildSpawned(spawned) => going && stages(&spawned.action, &[Started])?,
            Payload::ChildFinished(finished) => self
                .open_children()
                .any(|child| child.run == finished.child),
            Payload::QuestionAsked(_)
            | Payload::QuestionAnswered(_)
            | Payload::QuestionWithdrawn(_)
            | Payload::QuestionRefused(_) => self.question_allows(payload, going)?,
            Payload::ActionStarted(started) => {
                let follows = self
                    .action(&started.action)
                    .is_some_and(|action| started.attempt == action.attempt + 1);
                acts(&started.action) && follows && stages(&started.action, &[Allowed, Lost])?
            }
            Payload::ActionProgressed(progressed) => self.progress_allows(progressed)?,
            Payload::JobStarted(started) => {
                let is_new = self.jobs.iter().all(|job| job.name != started.job);
                is_new && stages(&started.action, &[Started])?
            }
            Payload::JobFinished(finished) => self.open_jobs().any(|job| job.name == finished.job),
            Payload::ActionFinished(finished) => {
                stages(&finished.action, &[Started, Allowed, Lost])?
            }
            Payload::ActionLost(lost) => stages(&lost.action, &[Started])?,
            Payload::ActionQueried(queried) => stages(&queried.action, &[Lost])?,
            Payload::ActionUncertain(uncertain) => stages(&uncertain.action, &[Started, Lost])?,
            Payload::ActionReconciled(reconciled) => {
                stages(&reconciled.action, &[Uncertain, Lost])?
            }
            Payload::SourceCaptured(source) => stages(&source.action, &[Started])?,
            Payload::SkillLoaded(loaded) => stages(&loaded.action, &[Started])?,
            Payload::ArtifactPublished(artifact) => stages(&artifact.action, &[Started])?,
            Payload::ActionCompensated(_) => true,
            _ => false,
        })
    }

    fn progress_allows(&self, progressed: &ActionProgressed) -> Result<bool, Illegal> {
        if self.is_job(&progressed.action) {
            return Ok(!matches!(progressed.what, Progress::Replayed(_)));
        }
        self.has_stage(
            "action.progressed",
            &progressed.action,
            &[ActionStage::Started],
        )?;
        let Progress::Replayed(replayed) = &progressed.what else {
            return Ok(true);
        };
        let is_left = |call: &Action| call.is_within(&progressed.action) && self.is_of_before(call);
        Ok(self.action(&replayed.call).is_some_and(is_left))
    }

    /// What a person asks for is done in whatever state the run is, save a cancelled one.
    fn acts(&self, id: &ActionId, going: bool) -> bool {
        let person = self
            .action(id)
            .is_some_and(|action| action.by == Actor::Person);
        going || (person && self.phase != Phase::Cancelled)
    }

    fn question_allows(&self, payload: &Payload, going: bool) -> Result<bool, Illegal> {
        use ActionStage::{Allowed, Questioned, Started};
        let name = payload.name();
        let stages = |id: &ActionId, allowed: &[ActionStage]| self.has_stage(name, id, allowed);
        let acts = |id: &ActionId| self.acts(id, going);
        Ok(match payload {
            Payload::QuestionAsked(asked) => match &asked.by {
                None => going && stages(&asked.action, &[Allowed])?,
                Some(question) => {
                    let follows = self
                        .action(&asked.action)
                        .is_some_and(|action| question.number == action.asked + 1);
                    acts(&asked.action) && follows && stages(&asked.action, &[Started])?
                }
            },
            Payload::QuestionAnswered(answered) if answered.number == 0 => {
                stages(&answered.action, &[Questioned])?
            }
            Payload::QuestionAnswered(answered) => self
                .action(&answered.action)
                .is_some_and(|action| action.open_question(answered.number).is_some()),
            Payload::QuestionWithdrawn(withdrawn) => {
                let asks = |open: &OpenQuestion| open.question.number == withdrawn.number;
                self.action(&withdrawn.action)
                    .is_some_and(|action| action.questions.iter().any(asks))
            }
            Payload::QuestionRefused(refused) => {
                acts(&refused.action) && stages(&refused.action, &[Started])?
            }
            _ => false,
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

    /// Whether a program runs that may make this call, and has not made it before.
    fn calls(&self, within: &Within) -> bool {
        let runs =
            |action: &Action| action.stage == ActionStage::Started && action.lives == within.life;
        self.action(&within.action).is_some_and(runs) && self.call_within(within).is_none()
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
