//! `log check` and `log rebuild`.

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
    let app = context.open()?;
    let mut screen = context.screen();
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
            if screen.is_json() {
                screen.json(&json!({"rebuilt": count}))?;
            } else {
                let runs = text::counted(count, "run");
                screen.result(&format!(
                    "The list was written anew from the events of {runs}."
                ))?;
            }
            Ok(Status::Done)
        }
    }
}

fn tell(context: &Context, report: &CheckReport, screen: &mut Screen) -> Result<(), Failure> {
    if screen.is_json() {
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
            "damages": report.damages.len(),
            "stale": report.stale.len(),
            "whole": report.is_whole(),
        }));
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
