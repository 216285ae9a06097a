//! What a running action comes to before it ends: recorded and durable before anything follows.

use async_trait::async_trait;
use longrein_core::run::{Action, ActionStage, Phase};
use longrein_protocol::ActionId;
use longrein_protocol::event::{
    ActionProgressed, JobFinished, JobStarted, Payload, Progress, Within,
};
use tokio::sync::{mpsc, oneshot};

use crate::driver::{DriveError, Driver, Message};
use crate::mask;
use crate::ports::{Beside, CallEnd, Tells};
use crate::programs::Called;

/// A fact of a running action, or of what one left behind.
#[derive(Debug)]
pub(crate) struct Told {
    what: Fact,
    /// Answered once it is on disk, or with no.
    kept: oneshot::Sender<bool>,
}

#[derive(Debug)]
enum Fact {
    Progress(ActionProgressed),
    JobStarted(JobStarted),
    JobFinished(JobFinished),
}

impl Told {
    /// Nobody keeps it any more.
    pub(crate) fn refuse(self) {
        // Who asked may be gone as well.
        let _ = self.kept.send(false);
    }
}

impl Driver {
    /// What the tool of an action has beside its arguments.
    pub(crate) fn beside(&self, action: &Action) -> Beside {
        let world = &self.ports.world;
        let live = world.live_action(&self.run, &action.id);
        Beside {
            let_go: self.let_go.clone(),
            life: action.life.clone(),
            lives: action.lives,
            tells: std::sync::Arc::new(ToDriver {
                action: action.id.clone(),
                life: action.lives,
                sender: self.sender(),
            }),
            live: mask::live_action(&world.masker(), live),
            held: self.held.subscribe(),
        }
    }

    /// Keeps what was told, as long as the state allows it.
    pub(crate) async fn told(&mut self, told: Told) -> Result<(), DriveError> {
        let runs = |id: &ActionId| {
            let action = self.run.action(id);
            action.is_some_and(|action| action.stage == ActionStage::Started)
        };
        let allowed = match &told.what {
            Fact::Progress(progressed) => {
                runs(&progressed.action) || self.run.is_job(&progressed.action)
            }
            Fact::JobStarted(started) => {
                runs(&started.action) && self.run.jobs.iter().all(|job| job.name != started.job)
            }
            Fact::JobFinished(finished) => self.run.open_jobs().any(|job| job.name == finished.job),
        };
        if !allowed || self.run.phase == Phase::Cancelled {
            told.refuse();
            return Ok(());
        }
        let payload: Payload = match told.what {
            Fact::Progress(progressed) => progressed.into(),
            Fact::JobStarted(started) => started.into(),
            Fact::JobFinished(finished) => finished.into(),
        };
        self.record(payload)?;
        self.commit().await?;
        // Who asked may have been cancelled meanwhile.
        let _ = told.kept.send(true);
        Ok(())
    }
}

/// Tells a driver, as long as there is one.
struct ToDriver {
    action: ActionId,
    /// How often the action had been begun anew.
    life: u32,
    sender: mpsc::Sender<Message>,
}

impl ToDriver {
    async fn tell(&self, what: Fact) -> bool {
        let (kept, answer) = oneshot::channel();
        let told = Message::Told(Box::new(Told { what, kept }));
        self.sender.send(told).await.is_ok() && answer.await.unwrap_or(false)
    }
}

#[async_trait]
impl Tells for ToDriver {
    async fn progress(&self, what: Progress) -> bool {
        self.tell(Fact::Progress(ActionProgressed {
            action: self.action.clone(),
            what,
        }))
        .await
    }

    async fn job_started(&self, job: String, intent: String) -> bool {
        self.tell(Fact::JobStarted(JobStarted {
            job,
            action: self.action.clone(),
            intent,
        }))
        .await
    }

    async fn job_finished(&self, finished: JobFinished) -> bool {
        self.tell(Fact::JobFinished(finished)).await
    }

    async fn call(&self, number: u32, tool: String, arguments: String) -> Option<CallEnd> {
        let within = Within {
            action: self.action.clone(),
            number,
            life: self.life,
        };
        let (called, end) = Called::new(within, tool, arguments);
        let message = Message::Called(Box::new(called));
        self.sender.send(message).await.ok()?;
        end.await.ok()
    }
}
