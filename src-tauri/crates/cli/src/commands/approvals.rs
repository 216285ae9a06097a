//! `approvals`: what waits for a person, over all runs.

use longrein_app::Longrein;
use longrein_protocol::RunId;
use longrein_protocol::view::{RunLine, RunState};

use crate::ask::words;
use crate::commands::runs;
use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::hold;
use crate::screen::{Screen, Tone};
use crate::text;
use crate::waits::{self, Ask};

/// The newest runs that are looked through.
const RUNS_LIMIT: u32 = 100_000;

/// `approvals`.
pub async fn list(context: &Context) -> Result<Status, Failure> {
    let app = context.open()?;
    let mut screen = context.screen();
    let mut count = 0;
    for line in runs::newest(&app, RUNS_LIMIT).await? {
        if let (true, Ok(run)) = (may_wait(line.state), line.run.parse()) {
            let waits = waits::of(&app, run).await?;
            for ask in &waits.asks {
                count += 1;
                tell(context, &app, (run, &line, ask), &mut screen).await?;
            }
        }
    }
    if count == 0 && !screen.is_json() {
        screen.result("Nothing waits for you.")?;
    }
    Ok(Status::Done)
}

/// Whether something of a run in this state may wait for a person. A run that works may wait with
/// one action while another runs.
fn may_wait(state: RunState) -> bool {
    match state {
        RunState::Waiting
        | RunState::HandedOff
        | RunState::Paused
        | RunState::Running
        | RunState::Interrupted => true,
        RunState::Accepted
        | RunState::Unverified
        | RunState::Failed
        | RunState::Cancelled
        | RunState::Unreadable => false,
    }
}

async fn tell(
    context: &Context,
    app: &Longrein,
    (run, line, ask): (RunId, &RunLine, &Ask),
    screen: &mut Screen,
) -> Result<(), Failure> {
    if screen.is_json() {
        return screen.json(&waits::json(context, app, (run, line), ask).await?);
    }
    let since = text::ago(ask.since, longrein_app::now());
    let of = match &line.parent {
        Some(parent) => format!(" · for its parent {parent}"),
        None => String::new(),
    };
    let title = text::plain(&line.title);
    screen.result(&format!("{}{of} · {since} · {title}", line.run))?;
    for line in words::lines(app, &ask.what, screen).await? {
        screen.result(&line)?;
    }
    let driver = match hold::holder(app, run).await? {
        Some(holder) => format!("{} drives the run and waits", hold::in_words(&holder)),
        None => "nobody drives the run; your answer takes it up".to_owned(),
    };
    let driver = screen.result_painted(Tone::Quiet, &driver);
    screen.result(&format!("  {driver}"))?;
    for words in ask.what.commands(run) {
        screen.result(&format!("  {}", context.command(&words)))?;
    }
    screen.result("")
}
