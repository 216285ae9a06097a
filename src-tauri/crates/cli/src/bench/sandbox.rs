//! What a box for commands costs.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use longrein_app::{BoxBench, BoxCost};

use super::measure;
use crate::arguments::BenchSandbox;
use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::screen::Screen;
use crate::text;

/// The box that is made of no image.
const WITHOUT_IMAGE: &str = "bubblewrap";
const MEGABYTE: f64 = 1_000_000.0;

/// `bench sandbox`.
pub fn run(context: &Context, bench: BenchSandbox) -> Result<Status, Failure> {
    let screen = context.screen();
    let folder = measure::work_folder(context)?;
    let runtime = tokio::runtime::Runtime::new().map_err(|error| {
        let message = format!("No threads can be started: {error}.");
        Failure::said(Status::Failed, message, "")
    })?;
    runtime.block_on(of_engines(context, bench, folder.path(), screen))
}

/// One after the other, so that none is measured beside another one.
async fn of_engines(
    context: &Context,
    bench: BenchSandbox,
    folder: &Path,
    mut screen: Screen,
) -> Result<Status, Failure> {
    let app = context.open()?;
    let engines = match bench.engine.is_empty() {
        true => app.box_engines().await,
        false => bench.engine,
    };
    let telling = Mutex::new(context.screen());
    let tell_progress = |what: &str| {
        let mut screen = telling.lock().unwrap_or_else(PoisonError::into_inner);
        screen.say(&format!("measuring {what}"));
    };
    for (number, engine) in engines.into_iter().enumerate() {
        let wanted = BoxBench {
            image: bench.image.clone().filter(|_| engine != WITHOUT_IMAGE),
            engine: Some(engine),
            commands: bench.commands,
        };
        let place = folder.join(number.to_string());
        let cost = app.box_cost(&place, &wanted, &tell_progress).await?;
        if screen.is_json() {
            screen.json(&cost)?;
        } else {
            tell(&cost, &wanted, &mut screen)?;
        }
    }
    Ok(Status::Done)
}

fn tell(cost: &BoxCost, wanted: &BoxBench, screen: &mut Screen) -> Result<(), Failure> {
    let commands = text::counted(wanted.commands, "command");
    let beyond = cost.command_ms - cost.plain_ms;
    let files = text::count(cost.files.into());
    let megabytes = cost.bytes as f64 / MEGABYTE;
    screen.result(&cost.made_of)?;
    for (what, ms, note) in [
        (
            "cold start",
            cost.cold_start_ms,
            "to the end of a first command".to_owned(),
        ),
        (
            "started again",
            cost.restart_ms,
            "from a stopped box".to_owned(),
        ),
        (
            "a command",
            cost.command_ms,
            format!("median of {commands}, {beyond:.2} ms beyond itself"),
        ),
        ("", cost.command_p95_ms, "95 of 100 stay under".to_owned()),
        (
            "snapshot, first",
            cost.snapshot_first_ms,
            format!("{files} files, {megabytes:.0} MB"),
        ),
        (
            "snapshot, unchanged",
            cost.snapshot_unchanged_ms,
            String::new(),
        ),
        (
            "snapshot, one changed",
            cost.snapshot_changed_ms,
            "after a file was written anew".to_owned(),
        ),
    ] {
        screen.result(format!("{what:<22} {ms:>9.2} ms   {note}").trim_end())?;
    }
    Ok(())
}
