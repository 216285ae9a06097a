//! Who drives a run, and whether that process is stopped in its tracks.

use longrein_app::Longrein;
use longrein_protocol::RunId;
use longrein_store::{Holder, TreeLock};

use crate::failure::Failure;
use crate::text;

/// Who drives a run from another process, if anybody does.
///
/// # Errors
/// When there is no such run.
pub async fn holder(app: &Longrein, run: RunId) -> Result<Option<Holder>, Failure> {
    let tree = app.store().tree_of(run).await?;
    let holder = TreeLock::holder(app.data_dir(), tree);
    Ok(holder.filter(|holder| holder.pid != std::process::id()))
}

/// A holder in words: `process 12 (longrein run)`.
pub fn in_words(holder: &Holder) -> String {
    format!("process {} ({})", holder.pid, text::plain(&holder.command))
}

/// Whether a process was stopped by a signal: it neither goes on nor ends, so waiting for it is
/// in vain.
pub fn is_stopped(holder: &Holder) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{}/stat", holder.pid)) else {
        return false;
    };
    // The name of the program stands in brackets and may hold anything; the state follows it.
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest);
    state.is_some_and(|state| state.starts_with(['T', 't']))
}
