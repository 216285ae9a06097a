//! What a box for commands costs.

use longrein_app::{BoxBench, BoxCost};

use super::measure;
use crate::arguments::BenchSandbox;
use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::screen::Screen;
use crate::text;

const MEGABYTE: f64 = 1_000_000.0;

/// `bench sandbox`.
pub fn run(context: &Context, bench: BenchSandbox) -> Result<Status, Failure> {
    let mut screen = context.screen();
    let folder = measure::work_folder(context)?;
    screen.status("a box, its commands and its files");
    let wanted = BoxBench {
        engine: bench.engine,
        image: bench.image,
        commands: bench.commands,
    };
    let runtime = tokio::runtime::Runtime::new().map_err(|error| {
        let message = format!("No threads can be started: {error}.");
        Failure::said(Status::Failed, message, "")
    })?;
    let cost = runtime.block_on(async {
        let app = context.open()?;
        Ok::<_, Failure>(app.box_cost(folder.path(), &wanted).await?)
    })?;
    if screen.is_json() {
        screen.json(&cost)?;
    } else {
        tell(&cost, &wanted, &mut screen)?;
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
            String::new(),
        ),
    ] {
        screen.result(format!("{what:<22} {ms:>9.2} ms   {note}").trim_end())?;
    }
    Ok(())
}
