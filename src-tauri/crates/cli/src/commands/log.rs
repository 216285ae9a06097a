//! `log check` and `log rebuild`.

use longrein_app::{AppError, AppErrorCode};
use longrein_core::run::Run;
use longrein_store::CheckReport;
use serde_json::json;

use crate::arguments::Log;
use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::screen::{Screen, Tone};
use crate::text;

/// `log …`.
pub async fn run(context: &Context, log: Log) -> Result<Status, Failure> {
    let mut screen = context.screen();
    let app = match context.try_open() {
        Err(error) if error.code == AppErrorCode::Unreadable => {
            return Err(unopened(&log, error, &mut screen)?);
        }
        app => app?,
    };
    match log {
        Log::Check(check) => {
            let run = match &check.run {
                Some(run) => Some(app.find_run(run).await?),
                None => None,
            };
            let report = app.store().check(run).await?;
            tell(context, &report, &mut screen)?;
            Ok(if report.is_whole() {
                Status::Done
            } else {
                Status::Failed
            })
        }
        Log::Rebuild => {
            let line = |events: &[longrein_protocol::Event]| Some(Run::fold(events).line());
            let count = app.store().rebuild(&line).await?;
            app.rebuild_search().await?;
            if screen.is_json() {
                screen.json(&json!({"rebuilt": count}))?;
            } else {
                let runs = text::counted(count, "run");
                screen.result(&format!(
                    "The list and the index of the search were written anew from the events of {runs}."
                ))?;
            }
            Ok(Status::Done)
        }
    }
}

/// A database that can't even be opened. What else would be said sends people to this check.
fn unopened(log: &Log, error: AppError, screen: &mut Screen) -> Result<Failure, Failure> {
    if matches!(log, Log::Check(_)) && screen.is_json() {
        screen.json(&json!({"file": error.message, "whole": false}))?;
    }
    Ok(Failure::said(
        Status::Failed,
        error.message,
        "No run in it can be read; nothing in it was changed. Restore the file from a copy, or move it away to begin anew.",
    ))
}

fn tell(context: &Context, report: &CheckReport, screen: &mut Screen) -> Result<(), Failure> {
    if screen.is_json() {
        for damage in &report.file {
            screen.json(&json!({"file": damage}))?;
        }
        for damage in &report.damages {
            let what = damage.what.to_string();
            screen.json(&json!({"run": damage.run, "seq": damage.seq, "damage": what}))?;
        }
        for run in &report.stale {
            screen.json(&json!({"run": run, "stale": true}))?;
        }
        return screen.json(&json!({
            "runs": report.runs,
            "events": report.events,
            "blobs": report.blobs,
            "damages": report.damages.len() + report.file.len(),
            "stale": report.stale.len(),
            "whole": report.is_whole(),
        }));
    }
    for damage in &report.file {
        let place = screen.result_painted(Tone::Bad, "database");
        screen.result(&format!("{place}: {}", text::plain(damage)))?;
    }
    for damage in &report.damages {
        let place = format!("run {} event {}", damage.run, damage.seq);
        let place = screen.result_painted(Tone::Bad, &place);
        screen.result(&format!(
            "{place}: {}",
            text::plain(&damage.what.to_string())
        ))?;
    }
    for run in &report.stale {
        screen.result(&format!(
            "run {run}: its line in the list is not that of its last event"
        ))?;
    }
    let checked = format!(
        "{}, {}, {}",
        text::counted(report.runs, "run"),
        text::counted(count(report.events), "event"),
        text::counted(count(report.blobs), "stored content")
    );
    if report.is_whole() {
        return screen.result(&format!("{checked}: every chain is whole."));
    }
    screen.result("")?;
    if !report.damages.is_empty() {
        let damages = text::counted(count(report.damages.len() as u64), "damage");
        screen.result(&format!(
            "{checked}: {damages}. Damaged runs can be read as far as they are whole."
        ))?;
    }
    if !report.file.is_empty() {
        let damages = text::counted(count(report.file.len() as u64), "damage");
        screen.result(&format!(
            "{checked}: {damages} of the database itself. Export the runs that matter, then restore it from a copy."
        ))?;
    }
    if !report.stale.is_empty() {
        screen.result(&format!(
            "Mend the list with: {}",
            context.command("log rebuild")
        ))?;
    }
    Ok(())
}

fn count(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
