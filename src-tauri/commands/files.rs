//! The files of a run.

use std::path::PathBuf;

use serde::Serialize;
use specta::Type;
use tauri::{AppHandle, State};
use tauri_plugin_dialog::DialogExt;
use tauri_plugin_opener::OpenerExt;
use tokio::sync::oneshot;

use super::{Answer, run_id};
use crate::artifact;
use crate::bridge::{BridgeError, ErrorCode};
use crate::desktop::Desktop;
use crate::workspace;

/// A file of the workspace.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Type)]
pub struct FileLine {
    /// The path beneath the workspace, with `/` between its parts.
    pub path: String,
    /// Its size; a larger one than this number can hold is shown as the largest.
    pub bytes: u32,
    /// The media type, by its name.
    pub media_type: String,
    /// Whether the run delivered it.
    pub artifact: bool,
}

/// The files that a run's workspace holds, delivered ones first.
#[tauri::command]
#[specta::specta]
pub async fn run_files(desktop: State<'_, Desktop>, run: String) -> Answer<Vec<FileLine>> {
    let run = run_id(&run)?;
    let delivered = artifact::delivered(desktop.longrein(), run).await?;
    let folder = desktop.longrein().workspace(run);
    let listed = tokio::task::spawn_blocking(move || workspace::list(&folder)).await;
    let files = listed.map_err(|error| BridgeError::new(ErrorCode::Io, error.to_string(), ""))?;
    let mut lines: Vec<FileLine> = files
        .into_iter()
        .map(|file| FileLine {
            artifact: delivered
                .iter()
                .any(|artifact| artifact.rendered_path == file.path),
            media_type: artifact::media_type(&file.path).to_owned(),
            path: file.path,
            bytes: u32::try_from(file.bytes).unwrap_or(u32::MAX),
        })
        .collect();
    lines.sort_by(|one, other| (!one.artifact, &one.path).cmp(&(!other.artifact, &other.path)));
    Ok(lines)
}

/// The address of a delivered file, for the sandboxed frame only.
#[tauri::command]
#[specta::specta]
pub async fn artifact_url(
    desktop: State<'_, Desktop>,
    run: String,
    path: String,
) -> Answer<String> {
    let run = run_id(&run)?;
    let found = artifact::find(desktop.longrein(), run, &path).await?;
    Ok(artifact::address(run, &found))
}

/// Shows the run's folder in the file manager.
#[tauri::command]
#[specta::specta]
pub async fn open_workspace(
    app: AppHandle,
    desktop: State<'_, Desktop>,
    run: String,
) -> Answer<()> {
    let folder = desktop.longrein().workspace(run_id(&run)?);
    if !folder.is_dir() {
        let message = format!(
            "The run's folder {} is not there any more.",
            folder.display()
        );
        return Err(BridgeError::new(
            ErrorCode::NotFound,
            message,
            "What was delivered can still be opened and saved.",
        ));
    }
    app.opener()
        .open_path(folder.to_string_lossy(), None::<&str>)
        .map_err(|error| {
            let message = format!("The file manager can't be opened: {error}.");
            BridgeError::new(
                ErrorCode::Io,
                message,
                format!("Open {} yourself.", folder.display()),
            )
        })
}

/// Saves a copy of a delivered file where the person says, and answers with that place; `null`
/// when they changed their mind.
#[tauri::command]
#[specta::specta]
pub async fn save_artifact(
    app: AppHandle,
    desktop: State<'_, Desktop>,
    run: String,
    path: String,
) -> Answer<Option<String>> {
    let found = artifact::find(desktop.longrein(), run_id(&run)?, &path).await?;
    let bytes = desktop.longrein().content(&found.rendered).await?;
    let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
    let Some(place) = ask_where(&app, &name).await else {
        return Ok(None);
    };
    tokio::fs::write(&place, bytes).await.map_err(|error| {
        let message = format!("{} can't be written: {error}.", place.display());
        BridgeError::new(
            ErrorCode::Io,
            message,
            "Choose another folder, or free some space.",
        )
    })?;
    Ok(Some(place.to_string_lossy().into_owned()))
}

async fn ask_where(app: &AppHandle, name: &str) -> Option<PathBuf> {
    let (sender, chosen) = oneshot::channel();
    let dialog = app
        .dialog()
        .file()
        .set_title("Save a copy")
        .set_file_name(name);
    dialog.save_file(move |place| {
        // The command that asked may be gone with its page.
        let _ = sender.send(place);
    });
    chosen.await.ok().flatten()?.into_path().ok()
}
