//! `fork`: a new run that begins as another one was.

use std::fs;

use longrein_app::agents::changes::AgentChanges;
use longrein_app::fork as app;
use longrein_protocol::{ActionId, RunId};
use longrein_store::Log as _;
use serde_json::json;

use crate::arguments::Fork;
use crate::context::Context;
use crate::failure::{Failure, Status};

/// Events that are read at once.
const PAGE_EVENTS: u32 = 1_000;
/// The longest file whose content is taken, in bytes.
const FILE_BYTES: u64 = 4 << 20;

/// `fork`.
pub async fn fork(context: &Context, fork: Fork) -> Result<Status, Failure> {
    let longrein = context.open()?;
    let run = longrein.find_run(&fork.run).await?;
    let mut results = Vec::with_capacity(fork.result.len());
    for (action, text) in &fork.result {
        results.push(app::NewResult {
            action: action_of(&longrein, run, action).await?,
            text: text_of(text)?,
        });
    }
    let fork = app::Fork {
        model: fork.model,
        agent: fork.agent,
        changes: AgentChanges {
            set: fork.set,
            instructions: fork.instructions.as_deref().map(text_of).transpose()?,
            rules: fork.rule,
        },
        results,
        ..app::Fork::of(run, fork.at)
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

/// The action of a run that an id or its first letters name.
async fn action_of(
    longrein: &longrein_app::Longrein,
    run: RunId,
    prefix: &str,
) -> Result<ActionId, Failure> {
    let mut found: Vec<ActionId> = Vec::new();
    let mut from = 1;
    loop {
        let events = longrein.store().read(run, from, PAGE_EVENTS).await?.events;
        let count = events.len() as u32;
        for event in &events {
            if let longrein_protocol::Payload::ActionProposed(proposed) = &event.payload
                && proposed.action.0.starts_with(prefix)
            {
                found.push(proposed.action.clone());
            }
        }
        if count < PAGE_EVENTS {
            break;
        }
        from += count;
    }
    match (found.pop(), found.is_empty()) {
        (Some(action), true) => Ok(action),
        (None, _) => Err(Failure::said(
            Status::Usage,
            format!("Run {run} has no action {prefix}."),
            "show RUN --json has the ids of its actions.",
        )),
        (Some(_), false) => Err(Failure::said(
            Status::Usage,
            format!("Several actions of run {run} begin with {prefix}."),
            "Write more letters of the id.",
        )),
    }
}

/// A text, or the content of the file that it names behind an `@`.
fn text_of(text: &str) -> Result<String, Failure> {
    let Some(path) = text.strip_prefix('@') else {
        return Ok(text.to_owned());
    };
    let unusable = |why: String| {
        Failure::said(
            Status::Usage,
            format!("{path} can't be read: {why}."),
            "Name a file of text.",
        )
    };
    let length = fs::metadata(path)
        .map_err(|error| unusable(error.to_string()))?
        .len();
    if length > FILE_BYTES {
        return Err(unusable(format!("it is longer than {FILE_BYTES} bytes")));
    }
    fs::read_to_string(path).map_err(|error| unusable(error.to_string()))
}
