//! Commands that run beside the steps.

use std::sync::Arc;
use std::time::Duration;

use longrein_core::run::Job;
use longrein_protocol::ToolErrorClass;
use longrein_protocol::event::JobFinished;
use longrein_runtime::ports::{Tells, ToolCall, ToolError, ToolOutput};

use super::follow::{in_words, too_much};
use super::plain;
use super::start::{RECONNECTS_MAX, failed};
use super::station::{Lease, Make, Station};
use crate::usage::Watch;
use crate::wire::{Receipt, Stream};

/// The longest that a job may run.
pub(super) const JOB_MS: u64 = 24 * 60 * 60 * 1_000;
/// The most jobs of a run that go on at a time.
const JOBS_MAX: usize = 16;
/// The bytes of a job's output that are shown at a time.
const SHOWN_BYTES: usize = 16 * 1024;
/// How long a job that was told to end may take.
const END_LIMIT: Duration = Duration::from_secs(10);

/// The name of the job that an action leaves; the one that it has already, where an earlier attempt
/// gave it one.
pub(super) async fn named(call: &ToolCall, intent: &str) -> Result<String, ToolError> {
    let jobs = &call.context.jobs;
    if let Some(job) = jobs.iter().find(|job| job.action == call.action) {
        return Ok(job.name.clone());
    }
    if jobs.iter().filter(|job| job.outcome.is_none()).count() >= JOBS_MAX {
        let message = format!("{JOBS_MAX} jobs run already; end one with job_stop first.");
        return Err(ToolError::new(ToolErrorClass::Conflict, message));
    }
    let name = format!("J{}", jobs.len() + 1);
    let told = call
        .beside
        .tells
        .job_started(name.clone(), intent.to_owned());
    if told.await {
        Ok(name)
    } else {
        Err(super::start::stopped())
    }
}

/// Waits for a job's end and puts it on record, as long as somebody keeps one. The lease keeps the
/// box from being stopped meanwhile. A job that fills the workspace is ended.
pub(super) fn watch(
    station: Arc<Station>,
    (command, job): (String, String),
    lease: Lease,
    (mut usage, tells): (Watch, Arc<dyn Tells>),
) {
    tokio::spawn(async move {
        let session = lease.session.clone();
        let ending = end_of(&station, &command, lease);
        tokio::pin!(ending);
        let mut killed = None;
        let ended = loop {
            tokio::select! {
                biased;
                ended = &mut ending => break ended,
                over = usage.beyond(), if killed.is_none() => {
                    killed = Some(too_much(&over, usage.limits()));
                    if let Err(error) = session.command(&command).kill().await {
                        tracing::warn!(%command, %error, "a job can't be ended");
                    }
                }
            }
        };
        let Some(receipt) = ended else { return };
        station.routes().close(&command);
        let outcome = in_words(&receipt.end, killed.as_deref());
        tells.job_finished(JobFinished { job, outcome }).await;
    });
}

async fn end_of(station: &Arc<Station>, command: &str, mut lease: Lease) -> Option<Receipt> {
    for _ in 0..=RECONNECTS_MAX {
        match lease.session.wait(command).await {
            Ok(receipt) => return Some(receipt),
            Err(error) if error.is_gone() => {}
            Err(_) => return None,
        }
        let nobody = longrein_runtime::ports::NoLiveAction;
        lease = station.enter(Make::AsItIs, &nobody).await.ok()??;
    }
    None
}

/// A job of the run by its name.
pub(super) fn find<'a>(call: &'a ToolCall, name: &str) -> Result<&'a Job, ToolError> {
    let jobs = &call.context.jobs;
    jobs.iter().find(|job| job.name == name).ok_or_else(|| {
        let names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
        let there = match names.is_empty() {
            true => "there is none".to_owned(),
            false => format!("there are {}", names.join(", ")),
        };
        ToolError::new(
            ToolErrorClass::NotFound,
            format!("There is no job {name}; {there}."),
        )
    })
}

/// What a job has written from an offset on, or its last part.
pub(super) async fn output(
    station: &Arc<Station>,
    call: &ToolCall,
    job: &Job,
    from: Option<u64>,
    wait: Duration,
) -> Result<ToolOutput, ToolError> {
    let Some(lease) = lease_of(station, call).await? else {
        return Ok(gone(job));
    };
    let command = job.action.0.as_str();
    if !wait.is_zero() {
        tokio::select! {
            () = call.cancel.cancelled() => return Err(super::start::stopped()),
            // Whether it ended or not is looked at below.
            _ = tokio::time::timeout(wait, lease.session.wait(command)) => {}
        }
    }
    let Ok(state) = lease.session.state(command).await else {
        return Ok(gone(job));
    };
    let total = state.output_bytes;
    let begin = from
        .unwrap_or_else(|| total.saturating_sub(SHOWN_BYTES as u64))
        .min(total);
    let mut shown = Vec::new();
    while shown.len() < SHOWN_BYTES && begin + (shown.len() as u64) < total {
        let at = begin + shown.len() as u64;
        let piece = lease.session.read(command, Stream::Output, at, false).await;
        let piece = piece.map_err(failed)?;
        if piece.bytes.is_empty() {
            break;
        }
        let fits = piece.bytes.len().min(SHOWN_BYTES - shown.len());
        shown.extend_from_slice(&piece.bytes[..fits]);
    }
    let next = begin + shown.len() as u64;
    let how = match &state.receipt {
        Some(receipt) => in_words(&receipt.end, None),
        None => "it runs".to_owned(),
    };
    if state.receipt.is_some() && job.outcome.is_none() {
        let (job, outcome) = (job.name.clone(), how.clone());
        call.beside
            .tells
            .job_finished(JobFinished { job, outcome })
            .await;
    }
    let text = format!(
        "{}\n[{}: {how}; bytes {begin} to {next} of {total}]",
        plain::text(&shown).trim_end_matches('\n'),
        job.name
    );
    Ok(ToolOutput::text(text, how))
}

/// Ends a job with all that it started.
pub(super) async fn stop(
    station: &Arc<Station>,
    call: &ToolCall,
    job: &Job,
) -> Result<ToolOutput, ToolError> {
    if let Some(outcome) = &job.outcome {
        let text = format!("{} had ended before: {outcome}.", job.name);
        return Ok(ToolOutput::text(text, outcome.clone()));
    }
    let Some(lease) = lease_of(station, call).await? else {
        return Ok(gone(job));
    };
    let command = lease.session.command(&job.action.0);
    let ended = async {
        // One that has ended by itself can't be killed, and its receipt says how it ended.
        let _ = command.kill().await;
        command.wait().await
    };
    let receipt = tokio::time::timeout(END_LIMIT, ended).await.map_err(|_| {
        let message = format!("{} does not end.", job.name);
        ToolError::new(ToolErrorClass::Temporary, message)
    })?;
    let outcome = match receipt {
        Ok(receipt) => in_words(&receipt.end, None),
        Err(_) => return Ok(gone(job)),
    };
    let finished = JobFinished {
        job: job.name.clone(),
        outcome: outcome.clone(),
    };
    call.beside.tells.job_finished(finished).await;
    let text = format!("{} is over: {outcome}.", job.name);
    Ok(ToolOutput::text(text, outcome))
}

async fn lease_of(station: &Arc<Station>, call: &ToolCall) -> Result<Option<Lease>, ToolError> {
    station
        .enter(Make::AsItIs, &*call.beside.live)
        .await
        .map_err(failed)
}

fn gone(job: &Job) -> ToolOutput {
    let outcome = job
        .outcome
        .clone()
        .unwrap_or_else(|| "it ended with its box".to_owned());
    let text = format!("{}: {outcome}. Its output is no longer there.", job.name);
    ToolOutput::text(text, outcome)
}
