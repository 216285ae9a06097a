//! Seeing runs and starting them.

use longrein_app::NewRun;
use longrein_app::demo::DemoRun;
use longrein_protocol::event::Limits;
use longrein_protocol::view::{Row, RunLine, ViewUpdate};
use serde::{Deserialize, Serialize};
use specta::Type;
use tauri::State;
use tauri::ipc::Channel;

use super::{Answer, run_id};
use crate::desktop::Desktop;

/// An agent that can be picked.
#[derive(Clone, PartialEq, Debug, Serialize, Type)]
pub struct AgentLine {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The model that it uses unless told otherwise; may be empty.
    pub model: String,
    /// Where it comes from.
    pub origin: AgentOrigin,
    /// What is wrong with its file; one with a problem can't be started.
    pub problems: Vec<Problem>,
}

/// Where an agent comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum AgentOrigin {
    /// It ships with Longrein.
    Shipped,
    /// It is in the data folder.
    Saved,
}

/// A mistake in a file that a person wrote.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Type)]
pub struct Problem {
    /// Where: `research.agent.toml, line 12`.
    pub place: String,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub remedy: String,
}

/// A model that can be picked.
#[derive(Clone, PartialEq, Debug, Serialize, Type)]
pub struct ModelLine {
    /// `provider/model`.
    pub id: String,
    /// Whether it is the demonstration stand-in.
    pub demo: bool,
    /// What it is, in a few words.
    pub note: String,
}

/// What should be found out, and by whom.
#[derive(Clone, Debug, Deserialize, Type)]
pub struct StartRequest {
    /// The agent's name.
    pub agent: String,
    /// The question.
    pub question: String,
    /// Another model than the agent's.
    pub model: Option<String>,
}

/// Runs, newest first.
#[tauri::command]
#[specta::specta]
pub async fn list_runs(desktop: State<'_, Desktop>) -> Answer<Vec<RunLine>> {
    Ok(desktop.runs().lines())
}

/// Follows the list: all runs first, newest first, then those that changed. Answers with the
/// number to end it by.
#[tauri::command]
#[specta::specta]
pub async fn watch_runs(
    desktop: State<'_, Desktop>,
    channel: Channel<Vec<RunLine>>,
) -> Answer<u32> {
    Ok(desktop.subscriptions().watch_runs(desktop.runs(), channel))
}

/// The agents that can be picked.
#[tauri::command]
#[specta::specta]
pub async fn list_agents(desktop: State<'_, Desktop>) -> Answer<Vec<AgentLine>> {
    Ok(crate::choices::agents(desktop.longrein()))
}

/// The models that can be picked.
#[tauri::command]
#[specta::specta]
pub async fn list_models(desktop: State<'_, Desktop>) -> Answer<Vec<ModelLine>> {
    Ok(crate::choices::models(desktop.longrein()).await)
}

/// Begins a run and answers with its id.
#[tauri::command]
#[specta::specta]
pub async fn start_run(desktop: State<'_, Desktop>, request: StartRequest) -> Answer<String> {
    let StartRequest {
        agent,
        question,
        model,
    } = request;
    let new = NewRun {
        agent,
        question,
        model,
        library: None,
        project: None,
        limits: Limits::default(),
        attachments: Vec::new(),
    };
    Ok(desktop.longrein().start(new).await?.run.to_string())
}

/// Begins the demonstration run and answers with its id.
#[tauri::command]
#[specta::specta]
pub async fn start_demo(desktop: State<'_, Desktop>) -> Answer<String> {
    Ok(desktop
        .longrein()
        .start_demo(DemoRun::default())
        .await?
        .run
        .to_string())
}

/// Follows a run: a snapshot first, then every change in order. Answers with the number to end
/// it by.
#[tauri::command]
#[specta::specta]
pub async fn subscribe_run(
    desktop: State<'_, Desktop>,
    run: String,
    channel: Channel<ViewUpdate>,
) -> Answer<u32> {
    let run = run_id(&run)?;
    desktop.longrein().run_line(run).await?;
    let feed = desktop.longrein().feed(run)?;
    Ok(desktop.subscriptions().show(feed, channel))
}

/// Ends what a number was given for; one that has ended is no error.
#[tauri::command]
#[specta::specta]
pub async fn unsubscribe(desktop: State<'_, Desktop>, subscription: u32) -> Answer<()> {
    desktop.subscriptions().end(subscription);
    Ok(())
}

/// The rows before the one that an event made, oldest first; empty at the start of the run.
#[tauri::command]
#[specta::specta]
pub async fn earlier_rows(
    desktop: State<'_, Desktop>,
    run: String,
    before_seq: u32,
) -> Answer<Vec<Row>> {
    let run = run_id(&run)?;
    Ok(desktop.longrein().rows_at(run, None, before_seq).await?)
}
