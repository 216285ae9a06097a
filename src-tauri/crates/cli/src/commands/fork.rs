//! `fork`: a new run that begins as another one was.

use longrein_app::fork as app;
use serde_json::json;

use crate::arguments::Fork;
use crate::context::Context;
use crate::failure::{Failure, Status};

/// `fork`.
pub async fn fork(context: &Context, fork: Fork) -> Result<Status, Failure> {
    let longrein = context.open()?;
    let run = longrein.find_run(&fork.run).await?;
    let fork = app::Fork {
        run,
        at: fork.at,
        model: fork.model,
        agent: fork.agent,
    };
    let forked = longrein.fork(fork).await?;
    let mut screen = context.screen();
    if screen.is_json() {
        screen.json(&json!({"run": forked, "from_run": run}))?;
    } else {
        screen.result(&format!("Forked: {forked}"))?;
        screen.result(&format!("Go on with: longrein resume {forked}"))?;
    }
    Ok(Status::Done)
}
