//! What goes on for the window and can be stopped: one thing by a name at a time.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// What goes on, by the name of what it is done with.
#[derive(Default)]
pub struct AtWork(Mutex<Working>);

#[derive(Default)]
struct Working {
    begun: u64,
    stoppers: BTreeMap<String, (u64, oneshot::Sender<()>)>,
}

impl AtWork {
    /// Waits for the end of `work`; `None` when it was stopped before. What goes on by this name
    /// already is stopped first.
    pub async fn during<T>(&self, name: &str, work: impl Future<Output = T>) -> Option<T> {
        let (stopper, stopped) = oneshot::channel();
        let number = {
            let mut working = self.lock();
            working.begun += 1;
            let number = working.begun;
            // The one that was there hears that its sender is gone, which is a stop.
            working.stoppers.insert(name.to_owned(), (number, stopper));
            number
        };
        let ended = tokio::select! {
            ended = work => Some(ended),
            _ = stopped => None,
        };
        let mut working = self.lock();
        let is_last = |(last, _): &(u64, _)| *last == number;
        if working.stoppers.get(name).is_some_and(is_last) {
            working.stoppers.remove(name);
        }
        ended
    }

    /// Stops what goes on by this name.
    pub fn stop(&self, name: &str) {
        self.lock().stoppers.remove(name);
    }

    fn lock(&self) -> MutexGuard<'_, Working> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_stopped_or_begun_again_ends_and_the_rest_goes_on() {
        let work = AtWork::default();
        assert_eq!(work.during("a", async { 1 }).await, Some(1));
        let stopped = work.during("a", std::future::pending::<()>());
        let stop = async {
            tokio::task::yield_now().await;
            work.stop("a");
        };
        assert_eq!(tokio::join!(stopped, stop).0, None);
        let first = work.during("a", std::future::pending::<i32>());
        let second = async {
            tokio::task::yield_now().await;
            work.during("a", async { 2 }).await
        };
        assert_eq!(tokio::join!(first, second), (None, Some(2)));
    }
}
