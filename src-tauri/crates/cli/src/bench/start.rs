//! From the start of a process to its first request: a whole process, an empty data folder.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use longrein_app::{DEMO_MODEL, Followed, NewRun};
use longrein_protocol::Payload;

use super::threads;
use crate::context::{Context, HOME_VARIABLE};
use crate::failure::{Failure, Status};

/// How many processes are started; an odd number has one in the middle.
const STARTS: usize = 11;
/// What the process writes when its first request is on disk.
const REACHED: &str = "first request";

/// Runs up to the first request that is on disk, says so, and stops.
pub fn first_request(context: &Context) -> Result<Status, Failure> {
    let runtime = threads()?;
    let reached = runtime.block_on(async {
        let app = context.open()?;
        let driving = app
            .start(NewRun {
                agent: "research".to_owned(),
                question: "What does a step cost?".to_owned(),
                model: Some(DEMO_MODEL.to_owned()),
                library: Some(Vec::new()),
                ..NewRun::default()
            })
            .await?;
        let mut follower = app.follow(driving.run, 1)?;
        loop {
            match follower.next().await? {
                Followed::Event(event) if matches!(event.payload, Payload::ModelRequested(_)) => {
                    break;
                }
                Followed::Event(_) | Followed::Provisional(_) | Followed::Acting(_) => {}
                Followed::Damaged(damage) => {
                    let message = format!("Event {} is damaged.", damage.seq);
                    return Err(Failure::said(Status::Failed, message, ""));
                }
            }
        }
        context.screen().bytes(format!("{REACHED}\n").as_bytes())
    });
    runtime.shutdown_background();
    reached.map(|()| Status::Done)
}

/// The median of several starts in milliseconds, from before the process is made.
///
/// # Errors
/// When a process does not reach its first request.
pub fn median_ms(folder: &Path) -> Result<f64, Failure> {
    let program = std::env::current_exe().map_err(|error| failed(&error.to_string()))?;
    let mut times = Vec::with_capacity(STARTS);
    for number in 0..STARTS {
        times.push(one_ms(&program, &folder.join(format!("start-{number}")))?);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[STARTS / 2])
}

fn one_ms(program: &Path, data_dir: &Path) -> Result<f64, Failure> {
    let began = Instant::now();
    let mut process = Command::new(program)
        .args(["bench", "start"])
        .env(HOME_VARIABLE, data_dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed(&error.to_string()))?;
    let mut line = String::new();
    if let Some(stdout) = process.stdout.take() {
        let read = BufReader::new(stdout).read_line(&mut line);
        read.map_err(|error| failed(&error.to_string()))?;
    }
    let took = began.elapsed();
    process.wait().map_err(|error| failed(&error.to_string()))?;
    if line.trim_end() != REACHED {
        return Err(failed("the process ended before it"));
    }
    Ok(took.as_secs_f64() * 1_000.0)
}

fn failed(why: &str) -> Failure {
    Failure::said(
        Status::Failed,
        format!("The first request was not reached: {why}."),
        "",
    )
}
