//! What a person wants of a run.

use longrein_protocol::event::Limits;
use longrein_protocol::gate::Surface;
use longrein_protocol::wish::Wish;
use tauri::State;

use super::{Answer, run_id};
use crate::bridge::{BridgeError, ErrorCode};
use crate::desktop::Desktop;

/// Ends the run for good.
#[tauri::command]
#[specta::specta]
pub async fn cancel_run(desktop: State<'_, Desktop>, run: String) -> Answer<()> {
    desktop.ask(run_id(&run)?, Wish::Cancel).await
}

/// Stops the run before its next step.
#[tauri::command]
#[specta::specta]
pub async fn pause_run(desktop: State<'_, Desktop>, run: String) -> Answer<()> {
    desktop.ask(run_id(&run)?, Wish::Pause).await
}

/// Goes on with a run that was paused, handed off or interrupted.
#[tauri::command]
#[specta::specta]
pub async fn resume_run(desktop: State<'_, Desktop>, run: String) -> Answer<()> {
    desktop.ask(run_id(&run)?, Wish::Resume).await
}

/// Says something to a run: it enters at the next step, or opens a new turn.
#[tauri::command]
#[specta::specta]
pub async fn say_to_run(desktop: State<'_, Desktop>, run: String, text: String) -> Answer<()> {
    desktop.ask(run_id(&run)?, Wish::Say { text }).await
}

/// Sets hard limits anew, and goes on where one was reached.
#[tauri::command]
#[specta::specta]
pub async fn raise_limits(desktop: State<'_, Desktop>, run: String, limits: Limits) -> Answer<()> {
    if limits == Limits::default() {
        let message = "No limit was named, so nothing was changed.";
        let remedy = "Write a number for at least one limit.";
        return Err(BridgeError::new(ErrorCode::Usage, message, remedy));
    }
    let from = Surface::Window;
    desktop
        .ask(run_id(&run)?, Wish::Raise { limits, from })
        .await
}
