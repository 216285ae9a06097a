//! From an event to rows. Every type of event is named here, so that a new one draws something
//! or is left out by a decision.

use longrein_protocol::Body;
use longrein_protocol::block::Block;
use longrein_protocol::event::{
    Digest, Event, MediaReduced, ModelFailed, ModelResponded, ModelSwitched, Payload, ResumeReason,
    RunFinished, RunForked, RunHandedOff, RunResumed, StageEntered, VerificationFinished,
};
use longrein_protocol::tool::Effect;
use longrein_protocol::view::{Knot, KnotShape, KnotTone, Row, RowContent, RunState};

use super::{View, words};
use crate::compile::Content;
use crate::run::{ActionStage, Request};

/// The body of a block that a row shows.
pub fn shown_body(block: &Block) -> Option<&Body> {
    match block {
        Block::Text { text, .. } | Block::Thinking { text, .. } => Some(text),
        Block::ToolUse { .. } => None,
    }
}

impl View {
    pub(super) fn fold_rows(&mut self, event: &Event, content: &Content<'_>) -> Vec<String> {
        match &event.payload {
            Payload::TurnStarted(turn) => {
                let text = words::with_media(content(&turn.input), &turn.attachments);
                self.turn(event, &text)
            }
            Payload::TurnSteered(steered) => {
                let text = words::with_media(content(&steered.input), &steered.attachments);
                self.person(event, &text)
            }
            Payload::ModelResponded(responded) => self.answer(event, responded, content),
            Payload::ModelFailed(failed) => self.trouble(event, failed),
            Payload::ModelSwitched(switched) => self.switched(event, switched),
            Payload::MediaReduced(reduced) => self.reduced(event, reduced),
            Payload::NoticeGiven(notice) => self.notice(event, content(&notice.text)),
            Payload::ContextCompacted(compacted) => self.compacted(event, compacted),
            Payload::VerificationFinished(finished) => self.verified(event, finished),
            Payload::AcceptanceRequested(asked) => self.acceptance_asked(event, asked),
            Payload::AcceptanceResolved(said) => self.acceptance_resolved(event, said, content),
            Payload::PolicyChanged(changed) => self.rules_changed(event, changed),
            Payload::BudgetWarned(warned) => self.budget_warned(event, warned),
            Payload::BudgetRaised(raised) => self.budget_raised(event, raised),
            Payload::SideRequested(requested) => self.side_requested(event, requested),
            Payload::SideResponded(responded) => self.side_responded(responded, content),
            Payload::SideFailed(failed) => self.side_failed(failed),
            Payload::RunForked(forked) => self.forked(event, forked, content),
            Payload::RunResumed(resumed) => self.resumed(event, resumed),
            Payload::RunPaused(_) => self.paused(event),
            Payload::RunHandedOff(handed_off) => self.handed_off(event, handed_off),
            Payload::RunCancelled(_) => self.cancelled(event),
            Payload::RunFinished(finished) => self.run_finished(event, finished),
            Payload::ActionProposed(proposed) => self.proposed(event, proposed, content),
            Payload::ActionRejected(rejected) => self.rejected(event, rejected, content),
            Payload::ActionDecided(decided) => self.decided(decided, content),
            Payload::ApprovalRequested(asked) => self.asked(asked),
            Payload::ApprovalResolved(said) => self.approval_answered(event, said, content),
            Payload::ApprovalWithdrawn(withdrawn) => self.withdrawn(withdrawn),
            Payload::QuestionAsked(asked) => self.question(asked, content),
            Payload::QuestionAnswered(said) => self.question_answered(event, said, content),
            Payload::QuestionWithdrawn(withdrawn) => self.question_withdrawn(withdrawn),
            Payload::QuestionRefused(refused) => self.question_refused(refused, content),
            Payload::ActionStarted(started) => self.started(started),
            Payload::ActionProgressed(progressed) => self.progressed(event, progressed),
            Payload::JobStarted(_) | Payload::JobFinished(_) => self.job(event),
            Payload::ActionFinished(finished) => self.finished(finished, content),
            Payload::ResultOffloaded(offloaded) => self.offloaded(offloaded, content),
            Payload::ActionLost(lost) => self.lost(lost),
            Payload::ActionQueried(queried) => self.queried(queried),
            Payload::ActionUncertain(uncertain) => self.uncertain(uncertain),
            Payload::ActionReconciled(said) => self.reconciled(event, said, content),
            Payload::ActionCompensated(compensated) => self.compensated(event, compensated),
            Payload::ChildSpawned(spawned) => self.child_spawned(spawned),
            Payload::ChildFinished(finished) => self.child_finished(finished, content),
            Payload::SourceCaptured(captured) => self.captured(captured),
            Payload::SnapshotTaken(taken) => self.files_changed(event, taken),
            Payload::StageEntered(entered) => self.stage_entered(event, entered),
            Payload::RunCreated(_) | Payload::PlanUpdated(_) | Payload::ToolsFound(_) => Vec::new(),
            Payload::ArtifactPublished(_) | Payload::ContextCompiled(_) => Vec::new(),
            Payload::ToolsRevealed(revealed) => self.noted(event, &revealed.notes),
            // What these begin is drawn when it ends; until then the panel says that it works.
            Payload::ModelRequested(_) | Payload::VerificationStarted(_) => Vec::new(),
            // A splice says it, or the notice or the handoff that follows.
            Payload::ModelAbandoned(_) | Payload::LoopDetected(_) => Vec::new(),
            Payload::BudgetExceeded(_) => Vec::new(),
            Payload::NotePinned(_) | Payload::NoteUnpinned(_) => Vec::new(),
            // The end of the run, the person's next words or the action's card say it.
            Payload::TurnFinished(_) | Payload::SkillLoaded(_) => Vec::new(),
        }
    }

    pub(super) fn plain(
        &mut self,
        event: &Event,
        content: RowContent,
        knot: Option<Knot>,
    ) -> Vec<String> {
        let step = self.step;
        self.insert(Row {
            key: key_of(event),
            seq: event.seq,
            at: event.at,
            step,
            content,
            knot,
        })
    }

    /// A new turn closes what the one before left open.
    fn turn(&mut self, event: &Event, text: &str) -> Vec<String> {
        let mut keys = self.close_open_rows("you went on");
        keys.extend(self.person(event, text));
        keys
    }

    fn person(&mut self, event: &Event, text: &str) -> Vec<String> {
        let knot = new_knot(KnotShape::Person, KnotTone::Plain, text, "you");
        let content = RowContent::Question {
            text: text.to_owned(),
        };
        self.plain(event, content, Some(knot))
    }

    fn switched(&mut self, event: &Event, switched: &ModelSwitched) -> Vec<String> {
        let words = words::switched(&switched.from, &switched.to, &switched.why);
        self.notice(event, words)
    }

    /// What runs beside the steps began or ended.
    fn job(&mut self, event: &Event) -> Vec<String> {
        match &event.payload {
            Payload::JobStarted(started) => self.notice(event, words::job_started(started)),
            Payload::JobFinished(finished) => self.notice(event, words::job_finished(finished)),
            _ => Vec::new(),
        }
    }

    fn notice(&mut self, event: &Event, text: String) -> Vec<String> {
        self.plain(event, RowContent::Notice { text }, None)
    }

    /// What the person should know of the tools, as far as no row says it yet.
    fn noted(&mut self, event: &Event, notes: &[String]) -> Vec<String> {
        let told = std::mem::replace(&mut self.notes, notes.to_vec());
        let new: Vec<&str> = notes
            .iter()
            .filter(|note| !told.contains(note))
            .map(String::as_str)
            .collect();
        match new.is_empty() {
            true => Vec::new(),
            false => self.notice(event, new.join("\n")),
        }
    }

    fn reduced(&mut self, event: &Event, reduced: &MediaReduced) -> Vec<String> {
        let shown = self.run().conversation.shown_media();
        let refused = shown
            .map(|(_, media)| media)
            .find(|media| media.hash() == reduced.media);
        let text = words::reduced(refused, reduced.copy.as_ref());
        self.notice(event, text)
    }

    fn answer(
        &mut self,
        event: &Event,
        responded: &ModelResponded,
        content: &Content<'_>,
    ) -> Vec<String> {
        let (mut text, mut thinking) = (String::new(), String::new());
        let mut asks = false;
        for block in &responded.blocks {
            match block {
                Block::Text { text: more, .. } => text.push_str(&content(more)),
                Block::Thinking { text: more, .. } => thinking.push_str(&content(more)),
                Block::ToolUse { .. } => asks = true,
            }
        }
        if text.is_empty() && thinking.is_empty() {
            return Vec::new();
        }
        let detail = format!("step {} · {} tokens", self.step, responded.usage.output);
        let knot = (!asks && !text.is_empty())
            .then(|| new_knot(KnotShape::Ring, KnotTone::Plain, &text, &detail));
        self.plain(event, RowContent::Answer { text, thinking }, knot)
    }

    fn trouble(&mut self, event: &Event, failed: &ModelFailed) -> Vec<String> {
        let retrying = failed.retry_at.is_some();
        let content = RowContent::ModelTrouble {
            text: failed.message.clone(),
            retrying,
        };
        let detail = if retrying {
            "trying again"
        } else {
            "not tried again"
        };
        let knot = new_knot(
            KnotShape::Ring,
            KnotTone::Bad,
            "Model request failed",
            detail,
        );
        self.plain(event, content, Some(knot))
    }

    fn verified(&mut self, event: &Event, finished: &VerificationFinished) -> Vec<String> {
        let results = &finished.results;
        let held = results.iter().filter(|result| result.holds).count();
        let waits = results.iter().filter(|result| result.waits).count();
        let accepted = held == results.len();
        // What only a person can say is no failure of the rest.
        let tone = match (accepted, held + waits == results.len()) {
            (true, _) => KnotTone::Good,
            (false, true) => KnotTone::Plain,
            (false, false) => KnotTone::Bad,
        };
        let detail = format!("{held} of {} hold", results.len());
        let content = RowContent::Verification {
            results: results.clone(),
            accepted,
        };
        let knot = new_knot(KnotShape::Ring, tone, "Checked", &detail);
        self.plain(event, content, Some(knot))
    }

    fn resumed(&mut self, event: &Event, resumed: &RunResumed) -> Vec<String> {
        let lost = self
            .run()
            .actions
            .iter()
            .filter(|action| action.stage == ActionStage::Lost);
        let repeatable = lost
            .clone()
            .all(|action| action.repeat.is_safe() || action.effect == Effect::Read);
        let request = self.run().request == Request::Lost;
        let text = words::resumed(resumed.why, request, lost.count(), repeatable);
        if resumed.why == ResumeReason::Asked {
            return self.plain(event, RowContent::Notice { text }, None);
        }
        let mut keys = self.side_lost();
        let knot = new_knot(KnotShape::Splice, KnotTone::Bad, "Spliced", &text);
        keys.extend(self.plain(event, RowContent::Splice { text }, Some(knot)));
        keys
    }

    fn forked(&mut self, event: &Event, forked: &RunForked, content: &Content<'_>) -> Vec<String> {
        let mut keys = self.close_open_rows("the original keeps it");
        for changed in &forked.results {
            keys.extend(self.result_changed(event, changed, &content(&changed.result)));
        }
        self.rules.clone_from(&self.run.rules);
        let text = format!(
            "Forked here from run {}, after its event {}. What was open there stays there.",
            forked.from_run, forked.from_seq
        );
        // A fork waits until a person has it go on.
        let detail = "resume it when you like";
        let knot = new_knot(KnotShape::Break, KnotTone::Waiting, "Forked", detail);
        keys.extend(self.plain(event, RowContent::Notice { text }, Some(knot)));
        keys
    }

    fn stage_entered(&mut self, event: &Event, entered: &StageEntered) -> Vec<String> {
        let (number, of) = (entered.stage, self.run().stages().len());
        let label = format!("Stage {number} of {of}: {}", entered.name);
        let detail = "the stage before is done";
        let detail = if number == 1 { "the first" } else { detail };
        let knot = new_knot(KnotShape::Square, KnotTone::Plain, &label, detail);
        self.plain(event, RowContent::Notice { text: label }, Some(knot))
    }

    fn paused(&mut self, event: &Event) -> Vec<String> {
        let (text, remedy) = ("Paused by you.", "Resume it when you like.");
        self.stop(event, RunState::Paused, text, remedy, None)
    }

    fn handed_off(&mut self, event: &Event, handed_off: &RunHandedOff) -> Vec<String> {
        let (text, remedy) = (&handed_off.message, &handed_off.remedy);
        let digest = handed_off.digest.clone();
        self.stop(event, RunState::HandedOff, text, remedy, digest)
    }

    fn cancelled(&mut self, event: &Event) -> Vec<String> {
        let mut keys = self.close_open_rows("the run ended");
        keys.extend(self.stop(event, RunState::Cancelled, "Cancelled by you.", "", None));
        keys
    }

    fn run_finished(&mut self, event: &Event, finished: &RunFinished) -> Vec<String> {
        let mut keys = self.close_open_rows("the run ended");
        let (state, _, remedy) = self.run().standing();
        let text = match finished.message.as_str() {
            "" => words::outcome(finished.outcome),
            message => message,
        };
        keys.extend(self.stop(event, state, text, &remedy, None));
        keys
    }

    fn stop(
        &mut self,
        event: &Event,
        state: RunState,
        text: &str,
        remedy: &str,
        digest: Option<Digest>,
    ) -> Vec<String> {
        let (shape, tone, label) = match state {
            RunState::Accepted => (KnotShape::End, KnotTone::Good, "Accepted"),
            RunState::Unverified => (KnotShape::End, KnotTone::Plain, "Finished"),
            RunState::Paused => (KnotShape::Break, KnotTone::Waiting, "Paused"),
            RunState::HandedOff => (KnotShape::Break, KnotTone::Waiting, "Handed off"),
            RunState::Cancelled => (KnotShape::Stop, KnotTone::Plain, "Cancelled"),
            _ => (KnotShape::Stop, KnotTone::Bad, "Failed"),
        };
        let content = RowContent::Stop {
            state,
            text: text.to_owned(),
            remedy: remedy.to_owned(),
            digest,
        };
        let knot = new_knot(shape, tone, label, text);
        self.plain(event, content, Some(knot))
    }
}

/// The key of a row that an event makes.
pub(super) fn key_of(event: &Event) -> String {
    format!("e{}", event.seq)
}

pub(super) fn new_knot(shape: KnotShape, tone: KnotTone, label: &str, detail: &str) -> Knot {
    Knot {
        shape,
        tone,
        label: words::brief(label),
        detail: words::brief(detail),
    }
}
