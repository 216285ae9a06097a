//! The server's own process, the leader of its group.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use tokio::process::Child;
use tokio::sync::watch;

/// What the thread that waits needs: a few calls deep, no more.
const STACK_BYTES: usize = 64 * 1024;

/// A child whose end can be seen without reaping it, so that its id stays its own until its group
/// has been ended.
pub(crate) struct Leader {
    child: Child,
    ended: watch::Receiver<bool>,
}

impl Leader {
    /// Takes over a child and tells its process id, which is also its group's.
    pub(crate) fn of(child: Child) -> io::Result<(Self, Pid)> {
        let id = child
            .id()
            .and_then(|id| Pid::from_raw(id.cast_signed()))
            .ok_or_else(|| io::Error::other("it has no process id"))?;
        let (tell, ended) = watch::channel(false);
        // A thread of its own, since the runtime's pool would wait for it when it shuts down.
        std::thread::Builder::new()
            .name("mcp-server-end".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || {
                wait_without_reaping(id);
                tell.send_replace(true);
            })?;
        Ok((Self { child, ended }, id))
    }

    /// Waits for its end. May be dropped and asked again.
    pub(crate) async fn ended(&mut self) {
        // The sender is dropped only after it has told.
        let _ = self.ended.wait_for(|ended| *ended).await;
    }

    /// Takes its exit status after its group was ended; `None` when it is still not gone after
    /// `limit`.
    pub(crate) async fn reap(&mut self, limit: Duration) -> Option<ExitStatus> {
        tokio::time::timeout(limit, self.child.wait())
            .await
            .ok()?
            .ok()
    }
}

/// Returns when the child has ended or is no child of ours any more.
fn wait_without_reaping(id: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while matches!(
        waitid(WaitId::Pid(id), options),
        Err(rustix::io::Errno::INTR)
    ) {}
}
