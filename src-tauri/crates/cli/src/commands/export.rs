//! `export`: a run as a file that stands alone.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use longrein_app::{Form, Longrein};
use longrein_protocol::RunId;
use longrein_trace::{ExportError, Exported};
use serde_json::json;

use crate::arguments::Export;
use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::text;

/// Formats that have a name but no writer.
const NOT_BUILT_YET: &[&str] = &["longrein", "otlp.json"];

/// How many names are tried for a file that is not whole yet.
const BESIDE_ATTEMPTS: u32 = 16;

/// What a run is written as.
enum Format {
    /// All of its log.
    Lines,
    /// What people read.
    Told(Form),
}

/// `export`.
pub async fn run(context: &Context, export: Export) -> Result<Status, Failure> {
    let format = format_of(&export.to)?;
    let app = context.open()?;
    let run = app.find_run(&export.run).await?;
    if let Format::Told(form) = format {
        return tell(context, &app, (run, form), &export.to).await;
    }
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

fn format_of(file: &Path) -> Result<Format, Failure> {
    let name = file
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    for (ending, format) in [
        (".jsonl", Format::Lines),
        (".html", Format::Told(Form::Page)),
        (".md", Format::Told(Form::Markdown)),
    ] {
        if name.ends_with(ending) {
            return Ok(format);
        }
    }
    let asked = NOT_BUILT_YET
        .iter()
        .find(|format| name.ends_with(&format!(".{format}")));
    Err(match asked {
        Some(format) => Failure::usage(
            format!("Export to .{format} is not built yet."),
            "Export to a file that ends with .jsonl, .html or .md.",
        ),
        None => Failure::usage(
            format!("“{}” does not say a format.", text::plain(&name)),
            "Name a file that ends with .jsonl, .html or .md.",
        ),
    })
}

/// Writes a run for people.
async fn tell(
    context: &Context,
    app: &Longrein,
    (run, form): (RunId, Form),
    to: &Path,
) -> Result<Status, Failure> {
    let told = app.tell(run, form).await?;
    let (beside, mut file) = beside(to).map_err(|error| refused(to, &error))?;
    let written = file.write_all(told.text.as_bytes());
    if let Err(error) = written.and_then(|()| fs::rename(&beside, to)) {
        // What is left half written has no name that anybody looks for.
        let _ = fs::remove_file(&beside);
        return Err(refused(to, &error));
    }
    let mut screen = context.screen();
    let (bytes, masked) = (told.text.len(), told.masked);
    if screen.is_json() {
        screen.json(&json!({"run": run, "to": to, "bytes": bytes, "masked": u32::from(masked)}))?;
        return Ok(Status::Done);
    }
    let bytes = text::counted(u32::try_from(bytes).unwrap_or(u32::MAX), "byte");
    let to = text::plain(&to.display().to_string());
    screen.result(&format!("{bytes} in {to}"))?;
    if masked {
        screen.result(
            "Secrets were masked in it; in the log they still stand, from before they were known.",
        )?;
    }
    Ok(Status::Done)
}

/// Writes beside the file and renames, so that a file of this name is whole or not there.
async fn write(app: &Longrein, run: RunId, to: &Path) -> Result<Exported, Failure> {
    let (beside, file) = beside(to).map_err(|error| refused(to, &error))?;
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

/// A new file beside another one. One that is there already, or a link that somebody put there, is
/// left alone.
fn beside(to: &Path) -> io::Result<(PathBuf, File)> {
    let name = to.file_name().unwrap_or_default().to_string_lossy();
    let mut taken = io::Error::from(io::ErrorKind::AlreadyExists);
    for attempt in 0..BESIDE_ATTEMPTS {
        let path = to.with_file_name(format!(".{name}.{}.{attempt}", std::process::id()));
        match File::create_new(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => taken = error,
            Err(error) => return Err(error),
        }
    }
    Err(taken)
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
