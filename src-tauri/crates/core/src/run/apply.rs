//! Folding an event into the state. Total: it never fails.

use longrein_protocol::agent::Criterion;
use longrein_protocol::block::{Block, StopReason};
use longrein_protocol::event::{
    AcceptanceResolved, ArtifactPublished, ContextCompiled, Event, ModelFailed, ModelRequested,
    ModelResponded, Outcome, Payload, PolicyChanged, ResumeReason, RunCreated, RunFinished,
    RunHandedOff, RunResumed, SourceCaptured, ToolsRevealed, TurnStarted, VerificationFinished,
};
use longrein_protocol::gate::Actor;
use longrein_protocol::source::SourceRecord;
use longrein_protocol::view::KnotShape;
use longrein_protocol::{Millis, ToolErrorClass, ToolSpec};

use super::actions::harness_result;
use super::{
    Acceptance, ActionStage, Artifact, BYTES_PER_TOKEN, Item, Patience, PendingCall, Phase,
    Request, Reserve, Run, Summaries, Words, fragment_weight,
};

impl Run {
    /// Folds one event. An event that the state does not allow (which `check` would have refused)
    /// changes as little as it can.
    pub fn apply(&mut self, event: &Event) {
        self.seq = event.seq;
        self.last_at = event.at;
        let phase_before = self.phase.clone();
        self.apply_payload(event);
        if self.phase != phase_before {
            self.since = event.at;
        }
    }

    fn apply_payload(&mut self, event: &Event) {
        match &event.payload {
            Payload::RunCreated(created) => self.begin(event, created),
            Payload::RunForked(forked) => self.forked(forked),
            Payload::RunResumed(resumed) => self.resumed(resumed),
            Payload::RunPaused(_) => self.enter(Phase::Paused, KnotShape::Break),
            Payload::RunHandedOff(handed_off) => self.handed_off(handed_off),
            Payload::RunCancelled(_) => self.cancelled(),
            Payload::RunFinished(finished) => self.run_finished(finished),
            Payload::TurnStarted(turn) => self.turn_started(turn),
            Payload::TurnSteered(steered) => {
                self.forgive();
                self.given(&steered.attachments);
                self.say(Item::Person(Words {
                    body: steered.input.clone(),
                    media: steered.attachments.clone(),
                }));
            }
            Payload::TurnFinished(_) => self.claim = false,
            Payload::ToolsRevealed(revealed) => self.revealed(revealed),
            Payload::ToolsFound(found) => self.found(&found.tools),
            Payload::ContextCompiled(compiled) => self.compiled(compiled),
            Payload::ContextCompacted(compacted) => self.compacted(compacted),
            Payload::ResultOffloaded(offloaded) => self.offloaded(offloaded),
            Payload::ModelRequested(requested) => self.requested(requested),
            Payload::ModelResponded(responded) => self.responded(responded),
            Payload::ModelFailed(failed) => self.failed(event.at, failed),
            Payload::ModelAbandoned(_) => self.abandoned(),
            Payload::ModelSwitched(switched) => self.switched(switched),
            Payload::MediaReduced(reduced) => self.media_reduced(reduced),
            Payload::NoticeGiven(notice) => {
                self.bad_reply = None;
                self.checked = false;
                self.idle_told = self.idle;
                self.say(Item::Notice(notice.text.clone()));
            }
            Payload::LoopDetected(_) => self.loop_owed = None,
            Payload::BudgetWarned(warned) => self.warned.push(warned.limit),
            Payload::BudgetRaised(raised) => self.raised(raised),
            Payload::BudgetExceeded(exceeded) => self.exceeded = Some(exceeded.limit),
            Payload::PolicyChanged(changed) => self.policy_changed(changed),
            Payload::StageEntered(entered) => self.stage_entered(entered),
            Payload::PlanUpdated(plan) => self.planned(&plan.items),
            Payload::NotePinned(pinned) => self.note_pinned(&pinned.note),
            Payload::NoteUnpinned(unpinned) => {
                self.pins.retain(|note| note.number != unpinned.number);
            }
            Payload::SourceCaptured(source) => self.captured(source),
            Payload::SkillLoaded(loaded) => self.skill_loaded(loaded),
            Payload::ArtifactPublished(artifact) => self.published(artifact),
            Payload::SnapshotTaken(taken) => self.snapshot_taken(event.seq, taken),
            Payload::VerificationStarted(_) => self.checking = true,
            Payload::VerificationFinished(finished) => self.verified(finished),
            Payload::AcceptanceRequested(asked) => {
                self.acceptance = Acceptance::Asked(asked.text.clone());
                self.since = event.at;
                self.knot(KnotShape::Break);
            }
            Payload::AcceptanceResolved(resolved) => self.accepted(resolved),
            Payload::SideRequested(requested) => self.side_requested(requested),
            Payload::SideResponded(responded) => self.side_responded(responded),
            Payload::SideFailed(failed) => self.side_failed(event.at, failed),
            _ => self.apply_to_action(event),
        }
    }

    fn apply_to_action(&mut self, event: &Event) {
        match &event.payload {
            Payload::ActionProposed(proposed) => self.proposed(proposed),
            Payload::ActionRejected(rejected) => self.rejected(rejected),
            Payload::ActionDecided(decided) => self.decided(decided),
            Payload::ApprovalRequested(requested) => self.asked(event.at, requested),
            Payload::ApprovalResolved(resolved) => self.answered(resolved),
            Payload::ApprovalWithdrawn(withdrawn) => {
                let result = harness_result(withdrawn.why.clone(), ToolErrorClass::Cancelled);
                self.close(&withdrawn.action, result);
            }
            Payload::ChildSpawned(spawned) => self.spawned(spawned),
            Payload::ChildFinished(finished) => self.child_finished(finished),
            Payload::QuestionAsked(asked) => self.questioned(event.at, asked),
            Payload::QuestionAnswered(answered) => self.question_answered(answered),
            Payload::QuestionWithdrawn(gone) => self.no_longer_asked(&gone.action, gone.number),
            Payload::QuestionRefused(refused) => self.question_refused(refused),
            Payload::ActionStarted(started) => self.started(event.at, started),
            Payload::ActionFinished(finished) => self.finished(finished),
            Payload::ActionLost(lost) => self.lost(lost),
            Payload::ActionQueried(queried) => self.queried(event.at, queried),
            Payload::ActionUncertain(uncertain) => self.uncertain(uncertain),
            Payload::ActionReconciled(reconciled) => self.reconciled(reconciled),
            // The action that took it back says all that the state needs.
            Payload::ActionCompensated(_) => {}
            _ => self.apply_to_running(&event.payload),
        }
    }

    fn begin(&mut self, event: &Event, created: &RunCreated) {
        self.id = Some(event.run);
        self.created_at = event.at;
        self.created = Some(Box::new(created.clone()));
        self.tools_owed = true;
        self.tainted = created.tainted;
        self.private_read = created.private;
        self.begin_limits();
    }

    fn run_finished(&mut self, finished: &RunFinished) {
        self.close_all("Not done: the person took the result as it is.");
        self.checking = false;
        self.acceptance = Acceptance::None;
        let knot = match finished.outcome {
            Outcome::Failed => KnotShape::Stop,
            Outcome::Accepted | Outcome::Unverified => KnotShape::End,
        };
        self.enter(Phase::Finished(finished.outcome), knot);
    }

    fn policy_changed(&mut self, changed: &PolicyChanged) {
        self.rules.clone_from(&changed.rules);
        self.policy_hash = Some(changed.hash);
    }

    fn enter(&mut self, phase: Phase, knot: KnotShape) {
        self.phase = phase;
        self.knot(knot);
    }

    fn found(&mut self, tools: &[ToolSpec]) {
        for tool in tools {
            self.found.retain(|known| known.name != tool.name);
            self.found.push(tool.clone());
        }
    }

    /// Other tools make a new front. Other lines of the index don't: the front stays until it is
    /// made anew for another reason.
    fn revealed(&mut self, revealed: &ToolsRevealed) {
        self.front_changed |= self.tools != revealed.tools;
        self.tools.clone_from(&revealed.tools);
        self.index.clone_from(&revealed.index);
        self.notes.clone_from(&revealed.notes);
        self.tools_owed = false;
    }

    fn resumed(&mut self, resumed: &RunResumed) {
        if resumed.why == ResumeReason::Asked {
            if !matches!(self.phase, Phase::Finished(_) | Phase::Cancelled) {
                self.phase = Phase::Going;
            }
            self.exceeded = None;
            self.verifications = 0;
            self.bad_replies = 0;
            self.leave_helpers();
            self.forgive();
            if matches!(self.request, Request::Failed { .. }) {
                self.request = Request::None;
            }
            return;
        }
        self.request = match self.request {
            Request::InFlight { .. } => Request::Lost,
            Request::Compiled => Request::None,
            ref other => other.clone(),
        };
        self.checking = false;
        self.lose_side();
        for action in &mut self.actions {
            // A delegation is not started again: its children are taken up where they stand.
            let delegates = self.children.iter().any(|child| child.action == action.id);
            if action.stage == ActionStage::Started && !delegates {
                action.stage = ActionStage::Lost;
            }
        }
        self.splices += 1;
        self.knot(KnotShape::Splice);
    }

    fn handed_off(&mut self, handed_off: &RunHandedOff) {
        self.phase = Phase::HandedOff {
            reason: handed_off.reason,
            message: handed_off.message.clone(),
            remedy: handed_off.remedy.clone(),
        };
        self.bad_reply = None;
        self.checked = false;
        self.knot(KnotShape::Break);
    }

    fn cancelled(&mut self) {
        self.phase = Phase::Cancelled;
        self.checking = false;
        self.acceptance = Acceptance::None;
        self.close_all("The person cancelled the run before this action ended.");
        self.request = Request::None;
        self.knot(KnotShape::Stop);
    }

    fn turn_started(&mut self, turn: &TurnStarted) {
        if self.turns == 0 {
            self.title.clone_from(&turn.title);
        }
        self.turns += 1;
        self.summaries = Summaries::default();
        self.close_open("Not done: the person went on with a new input.");
        self.leave_helpers();
        self.phase = Phase::Going;
        self.request = Request::None;
        self.claim = false;
        self.checked = false;
        self.verifications = 0;
        self.bad_replies = 0;
        self.bad_reply = None;
        self.checking = false;
        self.acceptance = Acceptance::None;
        self.forgive();
        self.exceeded = None;
        self.given(&turn.attachments);
        self.say(Item::Person(Words {
            body: turn.input.clone(),
            media: turn.attachments.clone(),
        }));
        self.knot(KnotShape::Person);
    }

    fn compiled(&mut self, compiled: &ContextCompiled) {
        self.fragments.truncate(compiled.keep as usize);
        self.fragments.extend(compiled.add.iter().cloned());
        self.compiled_items = compiled.items;
        self.front_changed = false;
        self.body_bytes = self
            .fragments
            .iter()
            .map(|fragment| fragment.body.len() as u32)
            .sum();
        self.body_weight = self.fragments.iter().map(fragment_weight).sum();
        self.request = Request::Compiled;
        self.patience = Patience::default();
    }

    fn requested(&mut self, requested: &ModelRequested) {
        if requested.attempt == 1 {
            self.used.steps += 1;
        }
        self.reserved = Reserve {
            tokens_in: requested.reserved_in,
            tokens_out: requested.reserved_out,
            money_micro: requested.reserved_micro,
        };
        self.hold(self.reserved);
        self.output_reserved = requested.reserved_out;
        self.request = Request::InFlight {
            attempt: requested.attempt,
        };
    }

    pub(super) fn settle(&mut self) {
        let reserved = std::mem::take(&mut self.reserved);
        self.release(reserved);
    }

    fn responded(&mut self, responded: &ModelResponded) {
        self.settle();
        self.request = Request::None;
        self.accepted_items = self.compiled_items;
        self.summaries = Summaries::default();
        self.checked = false;
        let usage = responded.usage;
        self.spend(usage, responded.latency_ms);
        if !usage.estimated && self.body_weight > 0 && usage.input > 0 {
            let estimate = f64::from(self.body_weight) / BYTES_PER_TOKEN as f64;
            self.ratio_last = f64::from(usage.input) / estimate;
            self.ratio_worst = self.ratio_worst.max(self.ratio_last);
        }
        self.pending = responded.blocks.iter().filter_map(pending_call).collect();
        let says_something = responded.blocks.iter().any(has_words);
        if !self.pending.is_empty() || says_something {
            self.push(Item::Assistant(responded.blocks.clone()));
        }
        if !self.pending.is_empty() {
            self.bad_replies = 0;
            return;
        }
        self.knot(KnotShape::Ring);
        // A helper that owes a finding in a form does not report by words.
        let owes_finding = self.agent().is_some_and(|agent| agent.finding.is_some());
        if responded.stop == StopReason::End && says_something && !owes_finding {
            self.claim = true;
            self.bad_replies = 0;
        } else {
            self.bad_reply = Some(responded.stop);
            self.bad_replies += 1;
        }
        self.settle_step();
    }

    /// The step is made again; what the lost request used stays reserved, since nobody knows it.
    fn abandoned(&mut self) {
        self.used.steps -= u32::from(self.used.steps > 0);
        self.reserved = Reserve::default();
        self.request = Request::None;
        self.settle_step();
    }

    fn failed(&mut self, at: Millis, failed: &ModelFailed) {
        if failed.cost_unknown {
            self.reserved = Reserve::default();
        } else {
            self.settle();
        }
        self.used.working_ms = self.used.working_ms.saturating_add(failed.latency_ms);
        let attempt = match self.request {
            Request::InFlight { attempt } => attempt,
            _ => 1,
        };
        self.patience.tried(at, failed);
        self.request = Request::Failed {
            attempt,
            class: failed.class,
            failed_at: at,
            retry_at: failed.retry_at,
            message: failed.message.clone(),
            remedy: failed.remedy.clone(),
        };
    }

    fn captured(&mut self, captured: &SourceCaptured) {
        self.private_read |= captured.meta.private;
        if let Some(record) = self
            .sources
            .iter_mut()
            .find(|record| record.id == captured.source)
        {
            if !record.shown.contains(&captured.range) {
                record.shown.push(captured.range);
                self.progressed = true;
            }
            return;
        }
        self.progressed = true;
        self.sources.push(SourceRecord {
            id: captured.source,
            meta: captured.meta.clone(),
            bytes: captured.bytes.clone(),
            text: captured.text.clone(),
            shown: vec![captured.range],
        });
    }

    fn published(&mut self, published: &ArtifactPublished) {
        self.progressed = true;
        self.artifacts
            .retain(|artifact| artifact.path != published.path);
        self.artifacts.push(Artifact {
            path: published.path.clone(),
            media_type: published.media_type.clone(),
            original: published.original.clone(),
        });
    }

    fn verified(&mut self, finished: &VerificationFinished) {
        // The difference may repeat what a tool or a judge said.
        let outside =
            |criterion: &Criterion| matches!(criterion, Criterion::Tool(_) | Criterion::Judge(_));
        self.tainted |= self.criteria().iter().any(outside);
        self.verifications += 1;
        self.results.clone_from(&finished.results);
        self.checked = true;
        self.checking = false;
        self.knot(KnotShape::Ring);
    }

    /// What a person accepts holds; what they send back is checked anew when it comes again, and
    /// does not count as an attempt of the model's.
    fn accepted(&mut self, resolved: &AcceptanceResolved) {
        self.acceptance = Acceptance::None;
        for result in self.results.iter_mut().filter(|result| result.waits) {
            result.waits = false;
            result.holds = resolved.accepted;
            let (word, off) = if resolved.accepted {
                ("accepted", None)
            } else {
                let off = "The person did not accept the result. Read what they say.";
                ("sent back", Some(off.to_owned()))
            };
            result.evidence = format!("{word} in {}", resolved.by.in_words());
            result.difference = off.into_iter().collect();
        }
        if !resolved.accepted {
            self.verifications = 0;
        }
    }

    /// Adds words that come from outside a step: behind the step when one is open.
    pub(super) fn say(&mut self, item: Item) {
        if self.step_is_open() {
            self.waiting_items.push(item);
        } else {
            self.push(item);
        }
        self.claim = false;
        if self.request == Request::Compiled {
            self.request = Request::None;
        }
    }

    pub(super) fn push(&mut self, item: Item) {
        self.conversation.bytes += item.bytes();
        self.conversation.items.push_back(item);
    }
}

fn pending_call(block: &Block) -> Option<PendingCall> {
    match block {
        Block::ToolUse {
            id,
            name,
            arguments,
            ..
        } => Some(PendingCall {
            call: id.clone(),
            name: name.clone(),
            arguments: arguments.clone(),
            by: Actor::Model,
        }),
        Block::Text { .. } | Block::Thinking { .. } => None,
    }
}

fn has_words(block: &Block) -> bool {
    matches!(block, Block::Text { text, .. } if !text.is_empty())
}
