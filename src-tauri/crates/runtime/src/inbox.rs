//! From a person's wish to the event that answers it. A wish that the state does not allow any
//! more is taken without an event: the one who asked sees the state.

use longrein_core::run::{ActionStage, Phase};
use longrein_protocol::Body;
use longrein_protocol::event::{
    ActionReconciled, ApprovalResolved, ResumeReason, RunCancelled, RunResumed, TurnStarted,
    TurnSteered,
};
use longrein_protocol::wish::Wish;

use crate::driver::{DriveError, Driver};
use crate::mask;

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
    pub(crate) fn answer(&mut self, wish: Wish) -> Result<InboxAnswer, DriveError> {
        match wish {
            Wish::Cancel => return self.cancel(),
            Wish::Pause => self.pause_wanted = self.run.phase == Phase::Going,
            Wish::Resume => self.go_on()?,
            Wish::Say { text } => self.say(text)?,
            Wish::Approve { action, seen } => {
                let asked = self.run.action(&action);
                if asked.is_some_and(|asked| {
                    asked.stage == ActionStage::Asked && asked.shown == Some(seen)
                }) {
                    let (approved, note, by) = (true, String::new(), "person".to_owned());
                    self.record(ApprovalResolved {
                        action,
                        approved,
                        note,
                        by,
                    })?;
                }
            }
            Wish::Deny { action, mut reason } => {
                mask::text(self.ports.world.secrets(), &mut reason);
                if self
                    .run
                    .action(&action)
                    .is_some_and(|asked| asked.stage == ActionStage::Asked)
                {
                    let by = "person".to_owned();
                    self.record(ApprovalResolved {
                        action,
                        approved: false,
                        note: reason,
                        by,
                    })?;
                }
            }
            Wish::Settle { action, verdict } => {
                if self
                    .run
                    .action(&action)
                    .is_some_and(|action| action.stage == ActionStage::Uncertain)
                {
                    self.record(ActionReconciled { action, verdict })?;
                    self.go_on()?;
                }
            }
        }
        Ok(InboxAnswer::Done)
    }

    fn cancel(&mut self) -> Result<InboxAnswer, DriveError> {
        if matches!(self.run.phase, Phase::Cancelled | Phase::Finished(_)) {
            return Ok(InboxAnswer::Done);
        }
        self.record(RunCancelled {})?;
        Ok(InboxAnswer::EndEffects)
    }

    fn go_on(&mut self) -> Result<(), DriveError> {
        self.pause_wanted = false;
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
    pub fn say(&mut self, mut text: String) -> Result<(), DriveError> {
        mask::text(self.ports.world.secrets(), &mut text);
        if self.run.phase == Phase::Cancelled {
            return Ok(());
        }
        let title = title(&text);
        let (input, blob) = Body::of(text);
        self.keep(blob);
        if self.run.phase == Phase::Going {
            return self.record(TurnSteered { input });
        }
        self.record(TurnStarted { input, title })
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
