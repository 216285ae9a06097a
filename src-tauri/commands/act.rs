//! What a person wants of a run.

use longrein_protocol::ActionId;
use longrein_protocol::view::{Row, RowContent};
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

/// Lets an action start, if its arguments are still those that the person saw.
#[tauri::command]
#[specta::specta]
pub async fn approve_action(
    desktop: State<'_, Desktop>,
    run: String,
    action: String,
    seen_arguments: String,
) -> Answer<()> {
    let (run, action) = (run_id(&run)?, ActionId(action));
    let view = desktop.longrein().view(run).await?;
    let is_seen = |row: &Row| match &row.content {
        RowContent::Action(shown) => shown.action == action.0 && shown.arguments == seen_arguments,
        _ => false,
    };
    let asked = view.run().action(&action).and_then(|asked| asked.shown);
    match asked.filter(|_| view.rows().iter().any(is_seen)) {
        Some(seen) => desktop.ask(run, Wish::Approve { action, seen }).await,
        None => {
            let message = "This is not what is asked any more, so nothing was approved.";
            Err(BridgeError::new(
                ErrorCode::Refused,
                message,
                "Look at the action again.",
            ))
        }
    }
}

/// Refuses an action; the model is told why.
#[tauri::command]
#[specta::specta]
pub async fn deny_action(
    desktop: State<'_, Desktop>,
    run: String,
    action: String,
    reason: String,
) -> Answer<()> {
    desktop
        .ask(
            run_id(&run)?,
            Wish::Deny {
                action: ActionId(action),
                reason,
            },
        )
        .await
}
