//! `approvals`: what waits for a person, over all runs.

use longrein_app::Longrein;
use longrein_core::run::{Action, ActionStage};
use longrein_protocol::RunId;
use longrein_protocol::view::{RunLine, RunState};
use serde_json::json;

use crate::ask;
use crate::commands::read;
use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::screen::Screen;
use crate::text;

/// The newest runs that are looked through.
const RUNS_LIMIT: u32 = 100_000;

/// `approvals`.
pub async fn list(context: &Context) -> Result<Status, Failure> {
    let app = context.open()?;
    let mut screen = context.screen();
    let mut count = 0;
    for line in read::newest(&app, RUNS_LIMIT).await? {
        let may_owe = matches!(line.state, RunState::Waiting | RunState::HandedOff);
        if let (true, Ok(run)) = (may_owe, line.run.parse()) {
            count += of_run(context, &app, (run, &line), &mut screen).await?;
        }
    }
    if count == 0 && !screen.is_json() {
        screen.result("Nothing waits for you.")?;
    }
    Ok(Status::Done)
}

async fn of_run(
    context: &Context,
    app: &Longrein,
    (run, line): (RunId, &RunLine),
    screen: &mut Screen,
) -> Result<u32, Failure> {
    let view = app.view(run).await?;
    let mut count = 0;
    for action in &view.run().actions {
        if matches!(action.stage, ActionStage::Asked | ActionStage::Uncertain) {
            count += 1;
            tell(context, app, (line, action), screen).await?;
        }
    }
    Ok(count)
}

async fn tell(
    context: &Context,
    app: &Longrein,
    (line, action): (&RunLine, &Action),
    screen: &mut Screen,
) -> Result<(), Failure> {
    let is_asked = action.stage == ActionStage::Asked;
    if screen.is_json() {
        let arguments = app.content(&action.arguments).await?;
        let arguments: serde_json::Value = serde_json::from_slice(&arguments).unwrap_or_default();
        return screen.json(&json!({
            "run": line.run,
            "action": action.id,
            "waits_for": if is_asked { "approval" } else { "verdict" },
            "tool": action.tool,
            "effect": action.effect,
            "arguments": arguments,
            "why": action.why,
            "since": line.since,
        }));
    }
    let since = text::ago(line.since, longrein_app::now());
    screen.result(&format!(
        "{} · {since} · {}",
        line.run,
        text::plain(&line.title)
    ))?;
    for line in ask::lines(app, action, screen).await? {
        screen.result(&line)?;
    }
    let id = &action.id;
    if is_asked {
        screen.result(&format!("  {}", context.command(&format!("approve {id}"))))?;
        screen.result(&format!(
            "  {} --reason \"…\"",
            context.command(&format!("deny {id}"))
        ))?;
    } else {
        let words = format!("settle {id} happened|not-happened|retry");
        screen.result(&format!("  {}", context.command(&words)))?;
    }
    screen.result("")
}
