//! The window itself.

use tauri::AppHandle;

use super::Answer;
use crate::quit::{self, QuitChoice};
use crate::window;

/// Quits, or asks first when something is at work.
#[tauri::command]
#[specta::specta]
pub async fn request_quit(app: AppHandle) -> Answer<()> {
    quit::ask(&app);
    Ok(())
}

/// The answer to the question what quitting means for the runs that are at work.
#[tauri::command]
#[specta::specta]
pub async fn quit(app: AppHandle, how: QuitChoice) -> Answer<()> {
    quit::leave(&app, how);
    Ok(())
}

/// The first picture is drawn: the window may be shown.
#[tauri::command]
#[specta::specta]
pub async fn window_ready(app: AppHandle) -> Answer<()> {
    window::ready(&app);
    Ok(())
}
