//! Files that are dragged over the window: what is dropped is looked through as a skill, and no rule
//! of it is the page's.

use tauri::{AppHandle, DragDropEvent};
use tauri_specta::Event;

use crate::commands::skills::{self, DropHovers};

/// Something is dragged over the window, dropped on it, or taken away.
pub fn over(app: &AppHandle, event: &DragDropEvent) {
    let over = match event {
        DragDropEvent::Enter { paths, .. } => !paths.is_empty(),
        DragDropEvent::Drop { paths, .. } => {
            skills::dropped(app, paths.clone());
            false
        }
        DragDropEvent::Leave => false,
        _ => return,
    };
    if let Err(error) = (DropHovers { over }).emit(app) {
        tracing::debug!("the window is not told of what is dragged: {error}");
    }
}
