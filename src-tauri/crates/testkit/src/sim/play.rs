//! One play of a scenario: process after process, until nothing is owed any more.

use std::sync::Arc;
use std::time::Duration;

use longrein_core::run::Run;
use longrein_protocol::event::{ResumeReason, RunResumed};
use longrein_protocol::wish::Wish;
use longrein_protocol::{Event, Payload, RunId};
use longrein_runtime::ports::Clock;
use longrein_runtime::{DriveError, Driver, Ports, history, verify};
use longrein_store::{Log, MemoryLog};
use tokio::runtime::Builder;

use super::clock::SimClock;
use super::ending::Ending;
use super::fold;
use super::laws::{Law, Violation};
use super::log::SimLog;
use super::outside::Outside;
use super::person::Person;
use super::scenario::{DiskFault, FaultWhat, Scenario};
use super::world::SimWorld;
use crate::world::{SeededChance, TestWorld};

/// The most processes of one play.
const PROCESSES: u32 = 400;
/// The most times that one process drives the run to a stop.
const DRIVES: u32 = 200;
/// The most appends of one play.
const APPENDS: u32 = 4_000;
/// The time between the end of a process and the beginning of the next.
const DOWN_MS: u64 = 1_000;
/// The window of the model, where the scenario does not say.
const WINDOW_TOKENS: u32 = 200_000;
/// At how many places the log is cut in two for the laws of the fold.
const CUTS: usize = 3;

/// How a play went.
#[derive(Debug)]
pub struct Played {
    /// The law that was broken, if any.
    pub violation: Option<Violation>,
    /// How the run ended.
    pub ending: Ending,
    /// How many appends there were.
    pub appends: u32,
    /// How many processes it took.
    pub processes: u32,
    /// Whether anything was uncertain on the way.
    pub uncertain: bool,
    /// The durable events, in order.
    pub events: Vec<Event>,
}

impl Played {
    /// The types of the durable events, one in a line.
    pub fn story(&self) -> String {
        let names: Vec<&str> = self
            .events
            .iter()
            .map(|event| event.payload.name())
            .collect();
        names.join("\n")
    }
}

/// How a process ended.
enum End {
    /// It was killed, or the disk refused it; another one takes over.
    Gone,
    /// Nothing is owed any more, and nobody does anything.
    Rest,
    /// The driver itself is at fault.
    Fault(Violation),
}

struct Play {
    outside: Arc<Outside>,
    disk: Arc<MemoryLog>,
    run: RunId,
    now_ms: u64,
    processes: u32,
}

/// Plays a scenario to its end.
pub fn play(scenario: &Scenario) -> Played {
    play_blind(scenario, None)
}

/// Plays a scenario, and does not see one law broken.
pub fn play_blind(scenario: &Scenario, blind_to: Option<Law>) -> Played {
    let mut play = Play {
        outside: Arc::new(Outside::new(scenario.clone(), blind_to)),
        disk: Arc::new(MemoryLog::new()),
        run: RunId::from_parts(1, u128::from(scenario.seed) + 1),
        now_ms: 0,
        processes: 0,
    };
    play.play_out();
    play.told()
}

impl Play {
    fn play_out(&mut self) {
        loop {
            self.processes += 1;
            let end = self.process();
            let mut state = self.outside.state();
            let over = self.processes >= PROCESSES || state.appends >= APPENDS;
            match end {
                End::Fault(violation) => return state.laws.broken(violation.law, violation.how),
                End::Rest => return,
                End::Gone if over => {
                    return state.laws.broken(Law::NeverStuck, "it goes on without end");
                }
                End::Gone if state.laws.violation.is_some() => return,
                End::Gone => {}
            }
        }
    }

    /// One process from its beginning to its end. Whatever it still runs ends with it.
    fn process(&mut self) -> End {
        self.now_ms += DOWN_MS;
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("an executor without I/O needs nothing of the system");
        let (end, now_ms) = runtime.block_on(async {
            let jumps = &self.outside.scenario.jumps;
            let clock = Arc::new(SimClock::new(self.now_ms, jumps));
            let end = self.lives(&clock).await;
            (end, clock.monotonic_ms())
        });
        self.now_ms = now_ms;
        end
    }

    async fn lives(&self, clock: &Arc<SimClock>) -> End {
        let disk = Arc::new(self.disk.reopen());
        let log = Arc::new(SimLog {
            disk: disk.clone(),
            outside: self.outside.clone(),
            clock: clock.clone(),
        });
        {
            let mut state = self.outside.state();
            state.process_begins(clock.monotonic_ms());
            if self.outside.scenario.loses_box && self.processes > 1 {
                state.boxed.lose();
            }
            state.land_due(clock.monotonic_ms());
        }
        let seed = self.outside.scenario.seed * 1_000 + u64::from(self.processes);
        let world = SimWorld {
            outside: self.outside.clone(),
            clock: clock.clone(),
        };
        let ports = Ports {
            log,
            clock: clock.clone(),
            chance: Arc::new(SeededChance::new(seed)),
            world: Arc::new(world),
        };
        tokio::select! {
            biased;
            () = self.outside.killed.notified() => End::Gone,
            () = next_of(&self.outside.scenario.kills, clock) => { disk.crash(); End::Gone }
            end = self.drives(ports, &disk, clock) => end,
        }
    }

    async fn drives(&self, ports: Ports, disk: &MemoryLog, clock: &Arc<SimClock>) -> End {
        loop {
            let drives = self.drives_until_let_go(ports.clone(), disk, clock);
            if let Some(end) = drives.await {
                return end;
            }
        }
    }

    /// Drives to the end; `None`: the process let the run go.
    async fn drives_until_let_go(
        &self,
        ports: Ports,
        disk: &MemoryLog,
        clock: &Arc<SimClock>,
    ) -> Option<End> {
        let mut driver = match self.takes_up(ports, disk).await {
            Ok(driver) => driver,
            Err(error) => return Some(of_error(error)),
        };
        let person = Person {
            outside: self.outside.clone(),
            clock: clock.clone(),
            inbox: self.disk.clone(),
            run: self.run,
        };
        for _ in 0..DRIVES {
            let waker = driver.waker();
            let stays = !self.outside.scenario.leaves;
            let driven = tokio::select! {
                biased;
                driven = driver.drive(stays) => driven,
                () = next_of(&self.outside.scenario.lets_go, clock) => return None,
                () = person.acts(&waker) => return Some(self.rests(driver.run(), clock).await),
            };
            if let Err(error) = driven {
                return Some(of_error(error));
            }
            if let Some(violation) = self.differs(driver.run()) {
                return Some(End::Fault(violation));
            }
            if self.outside.state().laws.violation.is_some() {
                return Some(End::Rest);
            }
            if !person.goes_on().await {
                return Some(self.rests(driver.run(), clock).await);
            }
        }
        Some(End::Fault(Violation {
            law: Law::NeverStuck,
            how: "the run stops and goes on without end".to_owned(),
        }))
    }

    /// A driver for the run as the disk has it, as the app would make one.
    async fn takes_up(&self, ports: Ports, disk: &MemoryLog) -> Result<Driver, DriveError> {
        let fence = disk.take_fence(self.run).await?;
        if self.outside.state().laws.run.seq == 0 {
            let mut driver = Driver::new(ports, fence, Run::default());
            driver.record(self.created())?;
            driver.say("Go.".to_owned())?;
            driver.commit().await?;
            return Ok(driver);
        }
        let past = history::load(&*ports.log, self.run).await?;
        let underway = past.run.is_underway();
        let mut driver = Driver::new(ports, fence, past.run);
        if underway {
            driver.record(RunResumed {
                why: ResumeReason::Interrupted,
            })?;
        }
        Ok(driver)
    }

    fn created(&self) -> Payload {
        let agent = &self.outside.scenario.agent;
        let mut payload = TestWorld::created(agent.spec());
        if let Payload::RunCreated(created) = &mut payload {
            created.price = agent.price;
            if agent.window_tokens == 0 {
                created.window_tokens = WINDOW_TOKENS;
            }
        }
        payload
    }

    /// Nobody does anything any more.
    async fn rests(&self, run: &Run, clock: &SimClock) -> End {
        let unread = self.disk.wishes(self.run).await;
        let mut state = self.outside.state();
        state.land_due(u64::MAX);
        state.at_rest(clock.now());
        // A run that waits for a person is paused when it goes on.
        let unread = unread.unwrap_or_default().into_iter();
        let mut unread = unread.filter(|(_, wish)| *wish != Wish::Pause);
        if let Some((_, wish)) = unread.next() {
            let how = format!("at rest, and nobody has read {wish:?}");
            state.laws.broken(Law::NeverStuck, how);
        }
        drop(state);
        match self.differs(run) {
            Some(violation) => End::Fault(violation),
            None => End::Rest,
        }
    }

    /// What the driver knows is what is on disk, once it stands still.
    fn differs(&self, run: &Run) -> Option<Violation> {
        let durable = &self.outside.state().laws.run;
        (durable != run).then(|| Violation {
            law: Law::Fold,
            how: format!(
                "the driver's state is not that of the log: event {} and event {}",
                run.seq, durable.seq
            ),
        })
    }

    fn told(self) -> Played {
        let events = self.disk.durable(self.run);
        let world = SimWorld {
            outside: self.outside.clone(),
            clock: Arc::new(SimClock::new(self.now_ms, &[])),
        };
        let mut state = self.outside.state();
        let runs: Vec<RunId> = state.all().filter_map(|laws| laws.run.id).collect();
        for run in runs {
            let events = self.disk.durable(run);
            let every = events.len() / CUTS + 1;
            let cuts = (0..CUTS).map(|place| place * every);
            if is_derived_again(&self.outside.scenario.faults)
                && let Some(how) = derived_again(&self.disk, &world, run)
            {
                state.laws.broken(Law::DerivedAgain, how);
            }
            match fold::hold(&events, cuts) {
                Err(violation) => state.laws.broken(violation.law, violation.how),
                Ok(folded) if !state.all().any(|laws| laws.run == folded) => {
                    let how = "the log on disk is not what was made durable";
                    state.laws.broken(Law::Fold, how);
                }
                Ok(_) => {}
            }
        }
        Played {
            violation: state.laws.violation.take(),
            ending: Ending::of(&state.laws.run, &state.landings),
            appends: state.appends,
            processes: self.processes,
            uncertain: state.laws.uncertain,
            events,
        }
    }
}

/// Whether the log of a play is derived again. Of plays with other faults there are very many, and
/// all of a kind with these.
fn is_derived_again(faults: &[DiskFault]) -> bool {
    match faults {
        [] => true,
        [fault] => fault.durable && matches!(fault.what, FaultWhat::Crash),
        _ => false,
    }
}

/// Where the log of a run says something else than what the core makes of it.
fn derived_again(disk: &MemoryLog, world: &SimWorld, run: RunId) -> Option<String> {
    let derived = futures::executor::block_on(verify::derive(disk, world, run));
    let derived = match derived {
        Ok(derived) => derived,
        Err(error) => return Some(error.to_string()),
    };
    if let Some((seq, why)) = derived.underived.first() {
        return Some(format!("event {seq}: {why}"));
    }
    let difference = derived.differences.first()?;
    Some(format!(
        "event {}, {}: the log says {}, and the core {}",
        difference.seq, difference.of, difference.logged, difference.derived
    ))
}

/// Waits for the next of these times, for ever after the last.
async fn next_of(times: &[u32], clock: &SimClock) {
    let now_ms = clock.monotonic_ms();
    let later = times.iter().map(|at| u64::from(*at));
    match later.filter(|at| *at > now_ms).min() {
        Some(at) => clock.sleep(Duration::from_millis(at - now_ms)).await,
        None => std::future::pending().await,
    }
}

fn of_error(error: DriveError) -> End {
    match error {
        DriveError::Log(_) => End::Gone,
        DriveError::Illegal(_) | DriveError::Stuck(_) => End::Fault(Violation {
            law: Law::Driver,
            how: error.to_string(),
        }),
    }
}
