//! From a person's wish to the event that answers it. A wish that the state does not allow any
//! more is taken without an event: the one who asked sees the state.

use longrein_core::policy;
use longrein_core::run::{Acceptance, Action, ActionStage, Phase};
use longrein_protocol::block::Trust;
use longrein_protocol::event::{
    AcceptanceResolved, ActionReconciled, ActionUncertain, ApprovalResolved, ApprovalWithdrawn,
    BudgetRaised, HandoffReason, Limits, Outcome, PolicyChanged, QuestionAnswered, ResumeReason,
    RunCancelled, RunFinished, RunPaused, RunResumed, TurnStarted, TurnSteered, Verdict,
};
use longrein_protocol::gate::{Always, StandingRule, Surface};
use longrein_protocol::tool::{Effect, Repeat};
use longrein_protocol::wish::Wish;
use longrein_protocol::{ActionId, BlobHash, Body, Media};
use serde_json::Value;

use crate::driver::{DriveError, Driver};
use crate::effects::parse_arguments;

/// What a person says when they approve.
struct Approval {
    action: ActionId,
    seen: BlobHash,
    edit: Option<String>,
    always: Option<Always>,
    from: Surface,
}

/// What the driver still has to do after a wish.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum InboxAnswer {
    /// Nothing.
    Done,
    /// What is in flight has to end.
    EndEffects,
}

/// The most characters of a run's title.
const TITLE_CHARS: usize = 120;

impl Driver {
    pub(crate) fn pause(&mut self) -> Result<(), DriveError> {
        self.pause_no_longer();
        self.record(RunPaused {})
    }

    /// Whether somebody wishes something that was not read yet.
    pub(crate) async fn has_unread(&self) -> Result<bool, DriveError> {
        self.wishes(|_| true).await
    }

    /// Whether somebody wishes something of these kinds that was not read yet.
    pub(crate) async fn wishes(&self, is_it: fn(&Wish) -> bool) -> Result<bool, DriveError> {
        let Some(run) = self.run.id else {
            return Ok(false);
        };
        let rows = self.ports.log.wishes(run).await?;
        Ok(rows
            .iter()
            .any(|(row, wish)| !self.is_read(*row) && is_it(wish)))
    }

    fn is_read(&self, row: i64) -> bool {
        self.taken.contains(&row) || self.pauses.contains(&row)
    }

    /// The wish to pause was obeyed, or has nothing left to stop: it leaves the inbox.
    pub(crate) fn pause_no_longer(&mut self) {
        self.pause_wanted = false;
        self.taken.append(&mut self.pauses);
    }

    /// Answers what is new in the inbox, and says whether anything was.
    pub(crate) async fn read_inbox(&mut self) -> Result<bool, DriveError> {
        let Some(run) = self.run.id else {
            return Ok(false);
        };
        let mut any = false;
        for (row, wish) in self.ports.log.wishes(run).await? {
            if self.is_read(row) {
                continue;
            }
            any = true;
            let pauses = wish == Wish::Pause;
            self.taken.push(row);
            if self.answer(wish).await? == InboxAnswer::EndEffects {
                self.end_effects().await;
                self.cancel_children().await?;
            }
            // Until the run is paused, only the inbox knows that it is to be.
            if pauses && self.pause_wanted {
                self.taken.retain(|taken| *taken != row);
                self.pauses.push(row);
            }
        }
        Ok(any)
    }

    pub(crate) async fn answer(&mut self, wish: Wish) -> Result<InboxAnswer, DriveError> {
        match wish {
            Wish::Cancel => return self.cancel(),
            Wish::Pause => self.pause_wanted = self.run.phase == Phase::Going,
            Wish::Resume => self.go_on()?,
            Wish::Say { text } => self.say(text)?,
            Wish::Give { text, attachments } => self.give(text, attachments)?,
            Wish::Approve {
                action,
                seen,
                edit,
                always,
                from,
            } => {
                let approval = Approval {
                    action,
                    seen,
                    edit,
                    always,
                    from,
                };
                self.approve(approval).await?;
            }
            Wish::Deny {
                action,
                reason,
                from,
            } => self.deny(action, reason, from)?,
            Wish::Answer { action, text, from } => {
                if self.stands_at(&action, ActionStage::Questioned) {
                    self.answer_question(action, text, from)?;
                } else {
                    self.reply_in_words(action, &text, from)?;
                }
            }
            Wish::Reply {
                action,
                number,
                answer,
                from,
            } => self.reply(action, number, answer, from)?,
            Wish::Settle {
                action,
                verdict,
                result,
                from,
            } => {
                if self.stands_at(&action, ActionStage::Uncertain) {
                    self.settle(action, verdict, result, from)?;
                }
            }
            Wish::Accept {
                accepted,
                note,
                from,
            } => self.accept(accepted, note, from)?,
            Wish::Raise { limits, from } => self.raise(limits, from)?,
            Wish::Undo { action, .. } => {
                if self.run.phase != Phase::Cancelled {
                    self.undo(action).await?;
                }
            }
        }
        Ok(InboxAnswer::Done)
    }

    fn deny(
        &mut self,
        action: ActionId,
        mut reason: String,
        from: Surface,
    ) -> Result<(), DriveError> {
        self.ports.world.masker().text(&mut reason);
        if !self.stands_at(&action, ActionStage::Asked) {
            return Ok(());
        }
        self.record(ApprovalResolved {
            action,
            approved: false,
            note: reason,
            by: from,
            arguments: None,
            binding: None,
            always: None,
        })
    }

    fn settle(
        &mut self,
        action: ActionId,
        verdict: Verdict,
        result: Option<String>,
        from: Surface,
    ) -> Result<(), DriveError> {
        let result = result.map(|text| self.body(text));
        self.record(ActionReconciled {
            action,
            verdict,
            result,
            trust: Trust::Trusted,
            by: Some(from),
        })?;
        self.go_on()
    }

    fn raise(&mut self, limits: Limits, from: Surface) -> Result<(), DriveError> {
        if self.run.phase != Phase::Cancelled {
            self.record(BudgetRaised { limits, by: from })?;
        }
        let budget = HandoffReason::Budget;
        match self.run.phase {
            Phase::HandedOff { reason, .. } if reason == budget => self.go_on(),
            _ => Ok(()),
        }
    }

    fn stands_at(&self, action: &ActionId, stage: ActionStage) -> bool {
        let found = self.run.action(action);
        found.is_some_and(|found| found.stage == stage)
    }

    /// A person's words as a body, with known secrets masked.
    fn body(&mut self, mut text: String) -> Body {
        self.ports.world.masker().text(&mut text);
        self.meet_person(&text);
        let (body, blob) = Body::of(text);
        self.keep(blob);
        body
    }

    async fn approve(&mut self, approval: Approval) -> Result<(), DriveError> {
        let Approval {
            action: id,
            seen,
            edit,
            always,
            from,
        } = approval;
        let Some(action) = self.run.action(&id).cloned() else {
            return Ok(());
        };
        if action.stage != ActionStage::Asked || action.shown != Some(seen) {
            return Ok(());
        }
        let mut arguments = None;
        let mut binding = Some(seen);
        if let Some(mut text) = edit {
            self.ports.world.masker().text(&mut text);
            let Some(value) = self.sound_edit(&action, &text).await? else {
                return Ok(());
            };
            let (body, blob) = Body::of(text);
            self.keep(blob);
            let facts = self.facts(&action, &value).await?;
            let spec = self.run.tool(&action.tool);
            binding = spec.map(|spec| policy::binding(spec, body.hash(), &facts));
            arguments = Some(body);
        }
        let mut made = None;
        if let Some(always) = &always {
            match self.ports.world.remember(&self.run, always).await {
                Ok(rules) => made = Some(rules),
                Err(unavailable) if self.run.phase == Phase::Going => {
                    return self.hand_off(unavailable);
                }
                // It stands still already, and says why; the question stays open.
                Err(_) => return Ok(()),
            }
        }
        self.record(ApprovalResolved {
            action: id,
            approved: true,
            note: String::new(),
            by: from,
            arguments,
            binding,
            always,
        })?;
        if let Some(made) = made {
            self.add_rules(made, from)?;
        }
        // What stood still for something that is mended by now goes on with the answer.
        match self.run.phase {
            Phase::HandedOff { .. } => self.go_on(),
            _ => Ok(()),
        }
    }

    fn add_rules(&mut self, made: Vec<StandingRule>, from: Surface) -> Result<(), DriveError> {
        let mut rules = self.run.rules.clone();
        for rule in made {
            rules.retain(|old| old.id != rule.id);
            rules.push(rule);
        }
        let none = || BlobHash::of(b"");
        self.record(PolicyChanged {
            hash: self.run.policy_hash.unwrap_or_else(none),
            rules,
            by: format!("an approval in {}", from.in_words()),
        })
    }

    /// The edited arguments, when they satisfy the tool's schema.
    async fn sound_edit(
        &mut self,
        action: &Action,
        text: &str,
    ) -> Result<Option<Value>, DriveError> {
        if self.tools.is_none() {
            self.reveal(|wish| *wish == Wish::Cancel).await?;
        }
        let Some(tools) = &self.tools else {
            return Ok(None);
        };
        let value = parse_arguments(text).ok();
        Ok(value.filter(|value| tools.check(&action.tool, value).is_ok()))
    }

    fn answer_question(
        &mut self,
        action: ActionId,
        text: String,
        from: Surface,
    ) -> Result<(), DriveError> {
        let answer = self.body(text);
        self.record(QuestionAnswered {
            action,
            answer,
            by: from,
            number: 0,
            replied: None,
        })
    }

    /// A person accepts the result, or sends it back with words that the model reads in full.
    fn accept(&mut self, accepted: bool, note: String, from: Surface) -> Result<(), DriveError> {
        if self.run.acceptance != Acceptance::None {
            let said = !note.trim().is_empty();
            let note = self.body(note);
            self.record(AcceptanceResolved {
                accepted,
                note: note.clone(),
                by: from,
            })?;
            if !accepted && said {
                self.record(TurnSteered {
                    input: note,
                    attachments: Vec::new(),
                })?;
            }
            return Ok(());
        }
        if accepted && matches!(self.run.phase, Phase::HandedOff { .. }) {
            self.withdraw("the person took the result as it is")?;
            self.record(RunFinished {
                outcome: Outcome::Unverified,
                message: format!("Taken as it is, in {}.", from.in_words()),
                by: Some(from),
            })?;
        }
        Ok(())
    }

    /// Withdraws what a person is still asked, because it no longer matters.
    fn withdraw(&mut self, why: &str) -> Result<(), DriveError> {
        let asked = |action: &&Action| action.stage == ActionStage::Asked;
        let asked = self.run.actions.iter().filter(asked);
        let ids: Vec<ActionId> = asked.map(|action| action.id.clone()).collect();
        ids.into_iter().try_for_each(|action| {
            self.record(ApprovalWithdrawn {
                action,
                why: format!("Withdrawn: {why}."),
            })
        })
    }

    pub(crate) fn cancel(&mut self) -> Result<InboxAnswer, DriveError> {
        if matches!(self.run.phase, Phase::Cancelled | Phase::Finished(_)) {
            return Ok(InboxAnswer::Done);
        }
        self.withdraw("the run was cancelled")?;
        self.withdraw_questions(None, "The run was cancelled.")?;
        self.leave_in_doubt()?;
        self.record(RunCancelled {})?;
        Ok(InboxAnswer::EndEffects)
    }

    /// Says of what a cancelled run leaves behind half way that nobody knows whether it happened.
    fn leave_in_doubt(&mut self) -> Result<(), DriveError> {
        let begun = |action: &&Action| {
            let stage = matches!(action.stage, ActionStage::Started | ActionStage::Lost);
            let safe = action.effect == Effect::Read || action.repeat == Repeat::Repeatable;
            stage && !safe
        };
        let begun = self.run.actions.iter().filter(begun);
        let ids: Vec<ActionId> = begun.map(|action| action.id.clone()).collect();
        ids.into_iter().try_for_each(|action| {
            self.record(ActionUncertain {
                action,
                why: "The run was cancelled while it ran.".to_owned(),
            })
        })
    }

    fn go_on(&mut self) -> Result<(), DriveError> {
        self.pause_no_longer();
        match self.run.phase {
            Phase::Paused | Phase::HandedOff { .. } => self.record(RunResumed {
                why: ResumeReason::Asked,
            }),
            _ => Ok(()),
        }
    }

    /// A person's words: they steer a turn that is going, and open one where none is.
    ///
    /// # Errors
    /// [`DriveError::Illegal`] when the run is cancelled.
    pub fn say(&mut self, text: String) -> Result<(), DriveError> {
        self.give(text, Vec::new())
    }

    /// A person's words, with images and documents whose bytes are stored or kept for the next
    /// commit.
    ///
    /// # Errors
    /// [`DriveError::Illegal`] when the run is cancelled.
    pub fn give(&mut self, mut text: String, attachments: Vec<Media>) -> Result<(), DriveError> {
        self.ports.world.masker().text(&mut text);
        if self.run.phase == Phase::Cancelled {
            return Ok(());
        }
        if let Some(question) = self.only_question().filter(|_| attachments.is_empty()) {
            return self.answer_question(question, text, Surface::Command);
        }
        self.meet_person(&text);
        let named = |first: &Media| first.name.clone();
        let title = match text.trim() {
            "" => attachments.first().map(named).unwrap_or_default(),
            text => title(text),
        };
        let (input, blob) = Body::of(text);
        self.keep(blob);
        if self.run.phase == Phase::Going {
            return self.record(TurnSteered { input, attachments });
        }
        self.withdraw("the person went on with a new input")?;
        self.record(TurnStarted {
            input,
            title,
            attachments,
        })
    }

    /// Opens the first turn of a child, with a title of its own.
    pub(crate) fn open_with(&mut self, title: String, brief: String) -> Result<(), DriveError> {
        let input = self.body(brief);
        let title = self::title(&title);
        self.record(TurnStarted {
            input,
            title,
            attachments: Vec::new(),
        })
    }

    /// The question that words without an address answer: the only one that is open.
    fn only_question(&self) -> Option<ActionId> {
        if self.run.phase != Phase::Going {
            return None;
        }
        let open = |action: &&Action| action.stage == ActionStage::Questioned;
        let mut open = self.run.actions.iter().filter(open);
        let first = open.next()?;
        open.next().is_none().then(|| first.id.clone())
    }
}

/// The first line, cut to [`TITLE_CHARS`].
fn title(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default().trim();
    match line.char_indices().nth(TITLE_CHARS) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line.to_owned(),
    }
}
