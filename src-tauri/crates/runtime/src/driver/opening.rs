//! Opening the tools of a run, which may take minutes: a server starts, or an image is built.

use std::sync::Arc;

use longrein_protocol::event::ToolsRevealed;
use longrein_protocol::wish::Wish;

use super::{DriveError, Driver, MAILBOX_MESSAGES, Message};
use crate::world::{ToolBox, Unavailable};

impl Driver {
    /// Opens the tools; what the model is given is recorded when it is not what it had before. A
    /// wish of these kinds is not let wait for it: then there are none, and the wish is read next.
    pub(crate) async fn reveal(&mut self, interrupts: fn(&Wish) -> bool) -> Result<(), DriveError> {
        let Some(opened) = self.opened(interrupts).await? else {
            return Ok(());
        };
        match opened {
            Ok(mut opened) => {
                if let Some(finding) = self.run.agent().and_then(|agent| agent.finding.clone())
                    && let Err(error) = opened.with_finding(&finding)
                {
                    return self.hand_off(Unavailable {
                        message: format!("What is to be reported can't be checked: {error}."),
                        remedy: "Have the work delegated anew.".to_owned(),
                    });
                }
                let (tools, index) = (opened.specs(), opened.index().to_vec());
                let mut notes = opened.notes().to_vec();
                let masker = self.ports.world.masker();
                for note in &mut notes {
                    masker.text(note);
                }
                self.tools = Some(Arc::new(opened));
                // What was decided before was decided of tools as they were.
                self.fresh.clear();
                let run = &self.run;
                let is_known = tools == run.tools && index == run.index && notes == run.notes;
                if self.run.tools_owed || !is_known {
                    self.record(ToolsRevealed {
                        tools,
                        index,
                        notes,
                    })?;
                }
                self.found_anew()
            }
            Err(unavailable) => self.hand_off(unavailable),
        }
    }

    /// Opens the tools, which may take minutes: a server starts, or an image is built. What comes
    /// meanwhile waits. `None` where a wish came that does not.
    async fn opened(
        &mut self,
        interrupts: fn(&Wish) -> bool,
    ) -> Result<Option<Result<ToolBox, Unavailable>>, DriveError> {
        if self.wishes(interrupts).await? {
            self.put_off.push_back(Message::Wake);
            return Ok(None);
        }
        let mut opening = self.ports.world.open_tools(&self.run);
        loop {
            let message = tokio::select! {
                biased;
                opened = &mut opening => return Ok(Some(opened)),
                message = self.mailbox.recv(), if self.put_off.len() < MAILBOX_MESSAGES => message,
            };
            let Some(message) = message else { continue };
            let ends = match &message {
                Message::CancelRun => true,
                Message::Wake => self.wishes(interrupts).await?,
                _ => false,
            };
            self.put_off.push_back(message);
            if ends {
                return Ok(None);
            }
        }
    }
}
