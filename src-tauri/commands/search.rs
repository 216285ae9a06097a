//! Finding runs, and what was said or found in them; what they take, and deleting them.

use longrein_app::delete::{DeletedRuns, Freed, Storage};
use longrein_app::search::{Search, SearchPage};
use longrein_app::{RunsFilter, RunsPage};
use tauri::State;

use super::{Answer, run_id};
use crate::desktop::Desktop;

/// Searches everything that was said or found in any run, by pages, the newest first.
#[tauri::command]
#[specta::specta]
pub async fn search_runs(desktop: State<'_, Desktop>, search: Search) -> Answer<SearchPage> {
    Ok(desktop.longrein().search(search).await?)
}

/// A page of the runs that a filter lets through, the newest first.
#[tauri::command]
#[specta::specta]
pub async fn page_of_runs(desktop: State<'_, Desktop>, filter: RunsFilter) -> Answer<RunsPage> {
    Ok(desktop.longrein().runs_page(&filter).await?)
}

/// Deletes a run for good, with its children and its files. Nothing brings it back.
#[tauri::command]
#[specta::specta]
pub async fn delete_run(desktop: State<'_, Desktop>, run: String) -> Answer<DeletedRuns> {
    Ok(desktop.longrein().delete(run_id(&run)?).await?)
}

/// What takes space, in all and for each run.
#[tauri::command]
#[specta::specta]
pub async fn storage_used(desktop: State<'_, Desktop>) -> Answer<Storage> {
    Ok(desktop.longrein().storage().await?)
}

/// Frees the contents of files that no run refers to any more.
#[tauri::command]
#[specta::specta]
pub async fn free_storage(desktop: State<'_, Desktop>) -> Answer<Freed> {
    Ok(desktop.longrein().free().await?)
}
