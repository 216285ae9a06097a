//! The five file tools.

mod edit;
mod list;
mod read;
mod search;
#[cfg(test)]
mod tests;
mod write;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use longrein_runtime::ports::{Tool, ToolCall, ToolError};

use crate::workspace::Workspace;

/// Held while a file is read, changed and written, so that two edits at once lose nothing.
pub(crate) type Writing = Arc<Mutex<()>>;

/// The largest file that is written, edited or searched.
pub(crate) const FILE_LIMIT_BYTES: u64 = 16 * 1024 * 1024;

pub(crate) fn tools(writing: Writing) -> Vec<Arc<dyn Tool>> {
    vec![
        read::tool(),
        write::tool(Arc::clone(&writing)),
        edit::tool(writing),
        list::tool(),
        search::tool(),
    ]
}

fn workspace(call: &ToolCall) -> Result<Workspace, ToolError> {
    Workspace::open(&call.context.workspace)
}

/// A panic in another write left its file whole (see [`Workspace::write`]), so the lock is good.
pub(crate) fn lock(writing: &Writing) -> MutexGuard<'_, ()> {
    writing.lock().unwrap_or_else(PoisonError::into_inner)
}
