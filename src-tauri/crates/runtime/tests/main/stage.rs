//! A run on the log in memory, driven to its end.

use std::sync::Arc;

use longrein_core::run::{Action, Phase, Run};
use longrein_protocol::agent::AgentSpec;
use longrein_protocol::event::{HandoffReason, Payload, Price, ResumeReason, RunResumed};
use longrein_protocol::gate::{Always, Scope, Surface};
use longrein_protocol::wish::Wish;
use longrein_protocol::{Event, RunId};
use longrein_runtime::{DriveError, Driver, Ports, history};
use longrein_store::{Fence, LogError, MemoryLog};
use longrein_testkit::{SeededChance, TestClock, TestWorld};
use serde_json::Value;

/// A data folder in memory with one run.
pub struct Stage {
    pub log: Arc<MemoryLog>,
    pub world: Arc<TestWorld>,
    pub run: RunId,
    /// What the model's tokens cost.
    pub price: Option<Price>,
    seed: u64,
    /// One clock for all processes, one after the other.
    clock: Arc<TestClock>,
}

impl Stage {
    pub fn new(world: TestWorld) -> Self {
        Self {
            log: Arc::new(MemoryLog::new()),
            world: Arc::new(world),
            run: RunId::from_parts(1, 7),
            price: None,
            seed: 1,
            clock: Arc::default(),
        }
    }

    pub fn ports(&mut self) -> Ports {
        self.seed += 1;
        Ports {
            log: self.log.clone(),
            clock: self.clock.clone(),
            chance: Arc::new(SeededChance::new(self.seed)),
            world: self.world.clone(),
        }
    }

    /// A driver at the beginning of the run, with the question recorded.
    pub async fn begin(&mut self, agent: AgentSpec, question: &str) -> Result<Driver, DriveError> {
        let fence = self.fence().await?;
        let mut driver = Driver::new(self.ports(), fence, Run::default());
        driver.record(TestWorld::created_at_price(agent, self.price))?;
        driver.say(question.to_owned())?;
        driver.commit().await?;
        Ok(driver)
    }

    /// Drives a new run until it stops or waits for a person.
    pub async fn drive(&mut self, agent: AgentSpec, question: &str) -> Result<Run, DriveError> {
        let mut driver = self.begin(agent, question).await?;
        driver.drive(false).await?;
        Ok(driver.run().clone())
    }

    /// A driver for the run as the log has it, as another process would make one.
    pub async fn take_up(&mut self) -> Result<Driver, DriveError> {
        let past = history::load(&*self.log, self.run).await?;
        let fence = self.fence().await?;
        let underway = past.run.is_underway();
        let mut driver = Driver::new(self.ports(), fence, past.run);
        if underway {
            driver.record(RunResumed {
                why: ResumeReason::Interrupted,
            })?;
        }
        Ok(driver)
    }

    /// Takes the run up, and drives it on.
    pub async fn drive_on(&mut self) -> Result<Run, DriveError> {
        let mut driver = self.take_up().await?;
        driver.drive(false).await?;
        Ok(driver.run().clone())
    }

    /// Puts a wish into the inbox.
    pub async fn wish(&self, wish: Wish) {
        self.log.post_wish(self.run, wish, 1).await.unwrap();
    }

    /// Puts a wish into the inbox, and drives the run on.
    pub async fn on_wish(&mut self, wish: Wish) -> Run {
        self.wish(wish).await;
        self.drive_on().await.unwrap()
    }

    pub fn reopen(&mut self) {
        self.log = Arc::new(self.log.reopen());
    }

    async fn fence(&self) -> Result<Fence, LogError> {
        self.log.take_fence(self.run).await
    }

    pub fn events(&self) -> Vec<Event> {
        self.log.durable(self.run)
    }

    /// The types of the durable events, one per line, repeats counted.
    pub fn story(&self) -> String {
        story(&self.events())
    }
}

pub fn story(events: &[Event]) -> String {
    let names: Vec<&str> = events.iter().map(|event| event.payload.name()).collect();
    names.join("\n")
}

pub fn count(events: &[Event], name: &str) -> usize {
    events
        .iter()
        .filter(|event| event.payload.name() == name)
        .count()
}

/// Yes, to what a person was asked.
pub fn approve(action: &Action) -> Wish {
    approve_with(action, None, None)
}

/// Yes, with an edit, or with rules.
pub fn approve_with(action: &Action, edit: Option<Value>, always: Option<Always>) -> Wish {
    Wish::Approve {
        action: action.id.clone(),
        seen: action.shown.unwrap(),
        edit: edit.map(|edit| edit.to_string()),
        always,
        from: Surface::Window,
    }
}

/// The rules that were offered for an action, for this run.
pub fn always(stage: &Stage, tainted: bool) -> Always {
    let events = stage.events().into_iter().rev();
    let offers = events.filter_map(|event| match event.payload {
        Payload::ApprovalRequested(asked) => Some(asked.offers),
        _ => None,
    });
    Always {
        scope: Scope::Run,
        rules: offers.into_iter().next().unwrap(),
        tainted,
    }
}

/// By which rule a run was handed over.
pub fn handed_off(run: &Run) -> Option<HandoffReason> {
    match run.phase {
        Phase::HandedOff { reason, .. } => Some(reason),
        _ => None,
    }
}
