//! `export`: a run as a file that stands alone.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use longrein_app::Longrein;
use longrein_protocol::RunId;
use longrein_trace::{ExportError, Exported};
use serde_json::json;

use crate::arguments::Export;
use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::text;

/// Formats that have a name but no writer.
const NOT_BUILT_YET: &[&str] = &["html", "longrein", "otlp.json", "md"];

/// `export`.
pub async fn run(context: &Context, export: Export) -> Result<Status, Failure> {
    check_format(&export.to)?;
    let app = context.open()?;
    let run = app.find_run(&export.run).await?;
    let exported = write(&app, run, &export.to).await?;
    let mut screen = context.screen();
    if screen.is_json() {
        screen.json(&json!({
            "run": run,
            "to": export.to,
            "events": exported.events,
            "blobs": exported.blobs,
            "head": exported.head,
            "masked": exported.masked,
        }))?;
    } else {
        let events = text::counted(exported.events, "event");
        let contents = text::counted(exported.blobs, "stored content");
        let to = export.to.display().to_string();
        screen.result(&format!("{events} and {contents} in {}", text::plain(&to)))?;
        if let Some(head) = &exported.head {
            screen.result(&format!("Head: {head}"))?;
        }
        if exported.masked > 0 {
            let places = text::counted(exported.masked, "place");
            screen.result(&format!(
                "Secrets were masked in {places}; in the log they still stand, from before they were known."
            ))?;
        }
    }
    is_whole(&exported)
}

fn check_format(file: &Path) -> Result<(), Failure> {
    let name = file
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    if name.ends_with(".jsonl") {
        return Ok(());
    }
    let asked = NOT_BUILT_YET
        .iter()
        .find(|format| name.ends_with(&format!(".{format}")));
    Err(match asked {
        Some(format) => Failure::usage(
            format!("Export to .{format} is not built yet."),
            "Export to a file that ends with .jsonl.",
        ),
        None => Failure::usage(
            format!("“{}” does not say a format.", text::plain(&name)),
            "Name a file that ends with .jsonl.",
        ),
    })
}

/// Writes beside the file and renames, so that a file of this name is whole or not there.
async fn write(app: &Longrein, run: RunId, to: &Path) -> Result<Exported, Failure> {
    let beside = beside(to);
    let file = File::create(&beside).map_err(|error| refused(to, &error))?;
    let written =
        longrein_trace::export(app.store(), run, &app.keys().masker(), BufWriter::new(file)).await;
    let finished = match written {
        Ok(exported) => fs::rename(&beside, to)
            .map(|()| exported)
            .map_err(|error| refused(to, &error)),
        Err(ExportError::Log(error)) => Err(error.into()),
        Err(ExportError::Write(error)) => Err(refused(to, &error)),
        Err(ExportError::Json(error)) => Err(error.into()),
    };
    if finished.is_err() {
        // What is left half written has no name that anybody looks for.
        let _ = fs::remove_file(&beside);
    }
    finished
}

fn beside(to: &Path) -> PathBuf {
    let name = to.file_name().unwrap_or_default().to_string_lossy();
    to.with_file_name(format!(".{name}.{}", std::process::id()))
}

fn refused(to: &Path, error: &io::Error) -> Failure {
    Failure::said(
        Status::Failed,
        format!("{} can't be written: {error}.", to.display()),
        "Check that its folder exists, that you may write to it, and that the disk has space.",
    )
}

fn is_whole(exported: &Exported) -> Result<Status, Failure> {
    if let Some(damage) = &exported.damage {
        return Err(Failure::said(
            Status::Failed,
            format!(
                "Event {} is damaged, so the file ends before it: {}.",
                damage.seq, damage.what
            ),
            "See what is damaged with: longrein log check",
        ));
    }
    match exported.missing.first() {
        Some(hash) => Err(Failure::said(
            Status::Failed,
            format!(
                "The stored content {hash} is missing or damaged, so the file has its hash alone."
            ),
            "See what is damaged with: longrein log check",
        )),
        None => Ok(Status::Done),
    }
}
