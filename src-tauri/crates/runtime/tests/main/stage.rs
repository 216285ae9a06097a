//! A run on the log in memory, driven to its end.

use std::sync::Arc;

use longrein_core::run::Run;
use longrein_protocol::agent::AgentSpec;
use longrein_protocol::event::{ResumeReason, RunResumed};
use longrein_protocol::{Event, RunId};
use longrein_runtime::{DriveError, Driver, Ports, history};
use longrein_store::{Fence, LogError, MemoryLog};
use longrein_testkit::{SeededChance, TestClock, TestWorld};

/// A data folder in memory with one run.
pub struct Stage {
    pub log: Arc<MemoryLog>,
    pub world: Arc<TestWorld>,
    pub run: RunId,
    seed: u64,
}

impl Stage {
    pub fn new(world: TestWorld) -> Self {
        Self {
            log: Arc::new(MemoryLog::new()),
            world: Arc::new(world),
            run: RunId::from_parts(1, 7),
            seed: 1,
        }
    }

    pub fn ports(&mut self) -> Ports {
        self.seed += 1;
        Ports {
            log: self.log.clone(),
            clock: Arc::new(TestClock::default()),
            chance: Arc::new(SeededChance::new(self.seed)),
            world: self.world.clone(),
        }
    }

    /// A driver at the beginning of the run, with the question recorded.
    pub async fn begin(&mut self, agent: AgentSpec, question: &str) -> Result<Driver, DriveError> {
        let fence = self.fence().await?;
        let mut driver = Driver::new(self.ports(), fence, Run::default());
        driver.record(TestWorld::created(agent))?;
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

    /// Opens the log again, as another process, and drives the run on.
    pub async fn drive_on(&mut self) -> Result<Run, DriveError> {
        let past = history::load(&*self.log, self.run).await?;
        let fence = self.fence().await?;
        let going = past.run.phase == longrein_core::run::Phase::Going;
        let mut driver = Driver::new(self.ports(), fence, past.run);
        if going {
            driver.record(RunResumed {
                why: ResumeReason::Interrupted,
            })?;
        }
        driver.drive(false).await?;
        Ok(driver.run().clone())
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
