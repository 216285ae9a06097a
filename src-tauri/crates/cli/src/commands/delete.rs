//! `delete`, `storage`, `gc`.

use longrein_app::delete::Freed;

use super::files::size;
use crate::arguments::Delete;
use crate::ask;
use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::screen::{Screen, Tone};
use crate::text;

/// The columns of a size and of a run's id.
const SIZE_COLUMNS: usize = 10;
const ID_COLUMNS: usize = 26;
/// The columns of a title.
const TITLE_COLUMNS: usize = 80;

/// `delete`.
pub async fn delete(context: &Context, delete: Delete) -> Result<Status, Failure> {
    let app = context.open()?;
    let run = app.find_run(&delete.run).await?;
    let mut screen = context.screen();
    if !delete.yes {
        if !ask::somebody_is_there(&screen) {
            return Err(Failure::usage(
                format!("Nobody is there to ask whether run {run} is to be deleted."),
                "Say --yes to delete it without being asked.",
            ));
        }
        let line = app.run_line(run).await?;
        screen.say(&format!("{run} {}", text::plain(&line.title)));
        let question = "Delete it for good, with its files? [y/N]";
        if !ask::confirmed(question, &mut screen).await? {
            screen.say("Nothing was deleted.");
            return Ok(Status::Done);
        }
    }
    let deleted = app.delete(run).await?;
    if screen.is_json() {
        screen.json(&deleted)?;
        return Ok(Status::Done);
    }
    let runs = u32::try_from(deleted.runs.len()).unwrap_or(u32::MAX);
    screen.result(&format!(
        "Deleted: {}, with {} that nobody else refers to.",
        text::counted(runs, "run"),
        text::counted(deleted.contents, "content"),
    ))?;
    match deleted.freed {
        Some(freed) => tell_freed(freed, &mut screen)?,
        None => screen.say(
            "Contents of its files stay, since the log of another run is damaged: longrein log check",
        ),
    }
    Ok(Status::Done)
}

/// `gc`.
pub async fn free(context: &Context) -> Result<Status, Failure> {
    let freed = context.open()?.free().await?;
    let mut screen = context.screen();
    if screen.is_json() {
        screen.json(&freed)?;
    } else {
        tell_freed(freed, &mut screen)?;
    }
    Ok(Status::Done)
}

fn tell_freed(freed: Freed, screen: &mut Screen) -> Result<(), Failure> {
    let files = text::counted(freed.files, "file");
    screen.result(&format!("Freed: what {files} held, {}.", size(freed.bytes)))
}

/// `storage`.
pub async fn storage(context: &Context, limit: u32) -> Result<Status, Failure> {
    let mut found = context.open()?.storage().await?;
    let mut screen = context.screen();
    let listed = found.runs.len().min(limit as usize);
    found.more += u32::try_from(found.runs.len() - listed).unwrap_or(u32::MAX);
    found.runs.truncate(listed);
    if screen.is_json() {
        screen.json(&found)?;
        return Ok(Status::Done);
    }
    for (name, bytes) in [
        ("the log", found.log),
        ("files, step by step", found.files),
        ("folders of runs", found.workspaces),
        ("indexes", found.indexes),
        ("all of it", found.total),
    ] {
        screen.result(&format!("{:>SIZE_COLUMNS$}  {name}", size(bytes)))?;
    }
    screen.result("")?;
    for run in &found.runs {
        let title = text::brief(&text::plain(&run.title), TITLE_COLUMNS);
        let id = screen.result_painted(Tone::Quiet, &text::cell(&run.run, ID_COLUMNS));
        let size = size(run.log + run.workspace);
        screen.result(&format!("{size:>SIZE_COLUMNS$}  {id} {title}"))?;
    }
    if found.more > 0 {
        screen.result(&format!("and {} more", found.more))?;
    }
    Ok(Status::Done)
}
