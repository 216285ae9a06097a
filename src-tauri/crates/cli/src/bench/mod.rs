//! `bench`: what a durable step costs, with a scripted model in this process, a trivial tool and
//! the real log on the real disk; what a long research sends; and what a box for commands costs.

mod context;
mod measure;
mod sandbox;
mod start;
mod steps;
mod world;

use serde::Serialize;
use tokio::runtime::{Builder, Runtime};

use crate::arguments::{Bench, BenchSteps};
use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::screen::Screen;
use crate::text;

const THREADS: usize = 2;

/// What was measured.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// One for each number of steps.
    pub steps: Vec<StepCost>,
    /// From the start of a process to its first request, committed; the median.
    pub start_to_first_request_ms: f64,
}

/// What a step costs in a run of so many.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct StepCost {
    /// Steps of the run.
    pub n: u32,
    /// Time that passed.
    pub wall_ms_per_step: f64,
    /// Time on the processor, of all threads.
    pub cpu_ms_per_step: f64,
    /// Growth of the data folder, after a checkpoint.
    pub bytes_per_step: f64,
    /// The most memory that the process had.
    pub peak_rss_mb: f64,
    /// Part of the wall time that went into commits, which is nearly all waiting for the disk.
    pub commit_ms_per_step: f64,
    /// Transactions.
    pub commits_per_step: f64,
}

/// `bench …`.
pub fn run(context: &Context, bench: Bench) -> Result<Status, Failure> {
    match bench {
        Bench::Steps(steps) => run_steps(context, &steps),
        Bench::Context(wanted) => context::run(context, &wanted),
        Bench::Sandbox(wanted) => sandbox::run(context, wanted),
        Bench::Start => start::first_request(context),
    }
}

fn run_steps(context: &Context, bench: &BenchSteps) -> Result<Status, Failure> {
    let mut screen = context.screen();
    let folder = measure::folder(context)?;
    let mut report = Report {
        steps: Vec::with_capacity(bench.n.len()),
        start_to_first_request_ms: 0.0,
    };
    screen.status("from start to first request");
    report.start_to_first_request_ms = start::median_ms(folder.path())?;
    for n in &bench.n {
        screen.status(&text::counted(*n, "step"));
        report.steps.push(steps::measured(folder.path(), *n)?);
    }
    if screen.is_json() {
        screen.json(&report)?;
    } else {
        tell(&report, &mut screen)?;
    }
    Ok(Status::Done)
}

fn tell(report: &Report, screen: &mut Screen) -> Result<(), Failure> {
    screen.result("   steps   wall/step    cpu/step   commit/step   bytes/step   peak memory")?;
    for cost in &report.steps {
        screen.result(&format!(
            "{:>8} {:>8.3} ms {:>8.3} ms {:>10.3} ms {:>12.0} {:>10.1} MB",
            text::count(cost.n.into()),
            cost.wall_ms_per_step,
            cost.cpu_ms_per_step,
            cost.commit_ms_per_step,
            cost.bytes_per_step,
            cost.peak_rss_mb
        ))?;
    }
    screen.result("")?;
    let start = report.start_to_first_request_ms;
    screen.result(&format!(
        "From the start of the process to its first request: {start:.1} ms"
    ))
}

/// The threads that each measurement has.
fn threads() -> Result<Runtime, Failure> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_all()
        .build();
    runtime.map_err(|error| {
        let message = format!("No threads can be started: {error}.");
        Failure::said(Status::Failed, message, "")
    })
}
