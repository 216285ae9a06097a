//! Looking back at a run: its points, its view, requests, actions and files as they were at any of
//! its events. A `seq` names that event; without it, the run as it stands is meant.

use longrein_app::agents::changes::AgentChanges;
use longrein_app::fork::{Fork, NewResult};
use longrein_app::replay::{
    ActionRecord, Comparison, FilesDifference, FilesThen, Points, RequestRecord, Scrubber,
    TextPage, Verification,
};
use longrein_protocol::ActionId;
use longrein_protocol::view::{Row, RunView};
use serde::Deserialize;
use specta::Type;
use tauri::State;

use super::{Answer, run_id};
use crate::desktop::Desktop;

/// A fork that a person wants, with what is other from there on. What is absent or empty stays.
#[derive(Clone, Debug, Deserialize, Type)]
pub struct ForkRequest {
    /// The original.
    pub run: String,
    /// The last event that the fork has too; absent: the last there is.
    pub seq: Option<u32>,
    /// Another model, `provider/model`.
    pub model: Option<String>,
    /// Another agent, by its name.
    pub agent: Option<String>,
    /// Other instructions.
    pub instructions: Option<String>,
    /// Rules of the policy beside those that there are, each as JSON: `{"tool": "write_file",
    /// "decision": "ask"}`.
    pub rules: Vec<String>,
    /// Keys of the agent's file with other values.
    pub set: Vec<SetKey>,
    /// Results that the model is told instead of those that the actions had.
    pub results: Vec<SetResult>,
}

/// A key of an agent's file with another value.
#[derive(Clone, Debug, Deserialize, Type)]
pub struct SetKey {
    /// The key as in the file, with dots: `model.temperature`.
    pub key: String,
    /// The value as in the file; what is no TOML is taken as a text.
    pub value: String,
}

/// Another result of an action.
#[derive(Clone, Debug, Deserialize, Type)]
pub struct SetResult {
    /// The action.
    pub action: String,
    /// What it is said to have returned.
    pub text: String,
}

/// The whole line of a run, with at most a thousand of its knots.
#[tauri::command]
#[specta::specta]
pub async fn run_scrubber(desktop: State<'_, Desktop>, run: String) -> Answer<Scrubber> {
    Ok(desktop.longrein().scrubber(run_id(&run)?).await?)
}

/// Every event of a run as a point, by pages of a thousand.
#[tauri::command]
#[specta::specta]
pub async fn run_points(desktop: State<'_, Desktop>, run: String, from_seq: u32) -> Answer<Points> {
    Ok(desktop.longrein().points(run_id(&run)?, from_seq).await?)
}

/// A run as it was after an event, with its newest rows.
#[tauri::command]
#[specta::specta]
pub async fn run_at(desktop: State<'_, Desktop>, run: String, seq: Option<u32>) -> Answer<RunView> {
    Ok(desktop.longrein().view_at(run_id(&run)?, seq).await?)
}

/// The rows before the one that an event made, as they were after event `seq`, oldest first; empty
/// at the start of the run.
#[tauri::command]
#[specta::specta]
pub async fn rows_at(
    desktop: State<'_, Desktop>,
    run: String,
    seq: Option<u32>,
    before_seq: u32,
) -> Answer<Vec<Row>> {
    let run = run_id(&run)?;
    Ok(desktop.longrein().rows_at(run, seq, before_seq).await?)
}

/// The request that was the last one at an event, piece by piece, with what came back.
#[tauri::command]
#[specta::specta]
pub async fn request_at(
    desktop: State<'_, Desktop>,
    run: String,
    seq: Option<u32>,
) -> Answer<RequestRecord> {
    Ok(desktop.longrein().request_at(run_id(&run)?, seq).await?)
}

/// The exact bytes of that request, by pages.
#[tauri::command]
#[specta::specta]
pub async fn request_bytes_at(
    desktop: State<'_, Desktop>,
    run: String,
    seq: Option<u32>,
    offset: u32,
) -> Answer<TextPage> {
    let run = run_id(&run)?;
    Ok(desktop.longrein().request_bytes(run, seq, offset).await?)
}

/// One piece of that request, whole: what it says or, when `exact`, its bytes.
#[tauri::command]
#[specta::specta]
pub async fn request_block_at(
    desktop: State<'_, Desktop>,
    run: String,
    seq: Option<u32>,
    place: u32,
    exact: bool,
    offset: u32,
) -> Answer<TextPage> {
    let run = run_id(&run)?;
    let longrein = desktop.longrein();
    Ok(longrein
        .request_block(run, seq, place, (exact, offset))
        .await?)
}

/// An action with its decisions, starts and receipt, as it was after an event.
#[tauri::command]
#[specta::specta]
pub async fn action_at(
    desktop: State<'_, Desktop>,
    run: String,
    action: String,
    seq: Option<u32>,
) -> Answer<ActionRecord> {
    let run = run_id(&run)?;
    Ok(desktop
        .longrein()
        .action_at(run, &ActionId(action), seq)
        .await?)
}

/// The whole result of an action, by pages.
#[tauri::command]
#[specta::specta]
pub async fn action_result_at(
    desktop: State<'_, Desktop>,
    run: String,
    action: String,
    seq: Option<u32>,
    offset: u32,
) -> Answer<TextPage> {
    let (run, action) = (run_id(&run)?, ActionId(action));
    let longrein = desktop.longrein();
    Ok(longrein.action_result(run, &action, seq, offset).await?)
}

/// The whole arguments of an action that count, as JSON, by pages.
#[tauri::command]
#[specta::specta]
pub async fn action_arguments_at(
    desktop: State<'_, Desktop>,
    run: String,
    action: String,
    seq: Option<u32>,
    offset: u32,
) -> Answer<TextPage> {
    let (run, action) = (run_id(&run)?, ActionId(action));
    let longrein = desktop.longrein();
    Ok(longrein.action_arguments(run, &action, seq, offset).await?)
}

/// The files of a run as they were recorded by an event.
#[tauri::command]
#[specta::specta]
pub async fn files_at(
    desktop: State<'_, Desktop>,
    run: String,
    seq: Option<u32>,
) -> Answer<FilesThen> {
    Ok(desktop.longrein().files_then(run_id(&run)?, seq).await?)
}

/// What differs between the files of two events.
#[tauri::command]
#[specta::specta]
pub async fn files_between(
    desktop: State<'_, Desktop>,
    run: String,
    from_seq: u32,
    to_seq: u32,
) -> Answer<FilesDifference> {
    let run = run_id(&run)?;
    let longrein = desktop.longrein();
    Ok(longrein.files_difference(run, from_seq, to_seq).await?)
}

/// The text of a file as it was recorded by an event, by pages.
#[tauri::command]
#[specta::specta]
pub async fn file_text_at(
    desktop: State<'_, Desktop>,
    run: String,
    seq: Option<u32>,
    path: String,
    offset: u32,
) -> Answer<TextPage> {
    let run = run_id(&run)?;
    let longrein = desktop.longrein();
    Ok(longrein.file_text(run, seq, &path, offset).await?)
}

/// Makes a fork, which stands still until it is resumed or spoken to, and answers with its id.
#[tauri::command]
#[specta::specta]
pub async fn fork_run(desktop: State<'_, Desktop>, request: ForkRequest) -> Answer<String> {
    let ForkRequest {
        run,
        seq,
        model,
        agent,
        instructions,
        rules,
        set,
        results,
    } = request;
    let set = set.into_iter().map(|SetKey { key, value }| (key, value));
    let results = results
        .into_iter()
        .map(|SetResult { action, text }| NewResult {
            action: ActionId(action),
            text,
        });
    let fork = Fork {
        model,
        agent,
        changes: AgentChanges {
            set: set.collect(),
            instructions,
            rules,
        },
        results: results.collect(),
        ..Fork::of(run_id(&run)?, seq)
    };
    Ok(desktop.longrein().fork(fork).await?.to_string())
}

/// Compares two runs by their steps, from a step on.
#[tauri::command]
#[specta::specta]
pub async fn compare_runs(
    desktop: State<'_, Desktop>,
    left: String,
    right: String,
    from_step: u32,
) -> Answer<Comparison> {
    let (left, right) = (run_id(&left)?, run_id(&right)?);
    Ok(desktop.longrein().compare(left, right, from_step).await?)
}

/// Derives a run again from its log, and says what differs.
#[tauri::command]
#[specta::specta]
pub async fn verify_run(desktop: State<'_, Desktop>, run: String) -> Answer<Verification> {
    Ok(desktop.longrein().verify(run_id(&run)?).await?)
}
