//! One run of so many steps on a fresh log.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use longrein_core::run::Run;
use longrein_protocol::RunId;
use longrein_protocol::view::RunState;
use longrein_runtime::ports::Chance as _;
use longrein_runtime::{Driver, Ports};
use longrein_store::{Store, TreeLock};
use longrein_testkit::world::SeededChance;

use super::world::{BenchClock, BenchWorld};
use super::{StepCost, measure, threads};
use crate::failure::{Failure, Status};

/// Where chance begins: every bench has the same ids.
const SEED: u64 = 2;

/// Runs `n` steps in a fresh data folder beneath `folder` and says what one cost.
///
/// # Errors
/// When the disk refuses, or the run does not come to its end.
pub fn measured(folder: &Path, n: u32) -> Result<StepCost, Failure> {
    threads()?.block_on(run(&folder.join(format!("steps-{n}")), n))
}

async fn run(folder: &Path, n: u32) -> Result<StepCost, Failure> {
    let store = Store::open(folder)?;
    store.checkpoint().await?;
    let empty_bytes = store.bytes_on_disk();
    measure::reset_peak();
    let (wall, cpu, stats) = (Instant::now(), measure::cpu_time(), store.writer_stats());
    let steps = drive(&store, n).await?;
    let (wall, cpu) = (wall.elapsed(), measure::cpu_time().saturating_sub(cpu));
    let peak_rss_mb = measure::peak_rss_mb();
    let after = store.writer_stats();
    store.checkpoint().await?;
    let grown = store.bytes_on_disk().saturating_sub(empty_bytes);
    let per_step = |total: f64| total / f64::from(steps);
    Ok(StepCost {
        n: steps,
        wall_ms_per_step: per_step(wall.as_secs_f64() * 1_000.0),
        cpu_ms_per_step: per_step(cpu.as_secs_f64() * 1_000.0),
        bytes_per_step: per_step(grown as f64),
        peak_rss_mb,
        commit_ms_per_step: per_step((after.commit_us - stats.commit_us) as f64 / 1_000.0),
        commits_per_step: per_step((after.commits - stats.commits) as f64),
    })
}

async fn drive(store: &Store, n: u32) -> Result<u32, Failure> {
    let chance = Arc::new(SeededChance::new(SEED));
    let run = RunId::from_parts(longrein_app::now(), chance.random());
    let lock = TreeLock::acquire(store, run).await;
    let (_lock, fence) = lock.map_err(|error| failed(&error))?;
    let ports = Ports {
        log: Arc::new(store.clone()),
        clock: Arc::new(BenchClock::default()),
        chance,
        world: Arc::new(BenchWorld::new(n)),
    };
    let mut driver = Driver::new(ports, fence, Run::default());
    driver
        .record(BenchWorld::created())
        .map_err(|error| failed(&error))?;
    driver
        .say("Tick.".to_owned())
        .map_err(|error| failed(&error))?;
    driver.drive(false).await.map_err(|error| failed(&error))?;
    let (state, reason, _) = driver.run().standing();
    match (state, driver.run().used.steps) {
        (RunState::Unverified, steps) if steps == n => Ok(steps),
        (_, steps) => Err(Failure::said(
            Status::Failed,
            format!("The run stopped after {steps} of {n} steps: {reason}"),
            "",
        )),
    }
}

fn failed(error: &dyn std::error::Error) -> Failure {
    Failure::said(
        Status::Failed,
        format!("The bench can't go on: {error}."),
        "",
    )
}
