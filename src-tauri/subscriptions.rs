//! What the window follows. Each subscription is one task, which reads at the pace of the
//! screen: what happens between two pictures arrives as one message, and nothing queues up.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use longrein_app::ViewFeed;
use longrein_protocol::view::{RunLine, ViewUpdate};
use tauri::ipc::Channel;
use tokio::task::AbortHandle;

use crate::run_list::{self, RunList};

/// The least time between two messages of one subscription: one picture of the screen.
const FRAME: Duration = Duration::from_millis(16);
/// Streaming text is sent whole each time, so a long one is sent less often: one more
/// millisecond for so many bytes.
const BYTES_PER_MS: usize = 2 * 1024;
/// The most subscriptions at once; one more ends the oldest.
const SUBSCRIPTIONS: usize = 64;

/// The subscriptions of the window.
#[derive(Default)]
pub struct Subscriptions(Mutex<Open>);

#[derive(Default)]
struct Open {
    last: u32,
    tasks: BTreeMap<u32, AbortHandle>,
}

impl Subscriptions {
    /// Follows a run: a snapshot first, then changes. Returns the subscription's number.
    pub fn show(&self, feed: ViewFeed, channel: Channel<ViewUpdate>) -> u32 {
        self.add(tokio::spawn(show(feed, channel)).abort_handle())
    }

    /// Follows the list: all lines first, then those that changed. Returns its number.
    pub fn watch_runs(&self, runs: RunList, channel: Channel<Vec<RunLine>>) -> u32 {
        self.add(tokio::spawn(watch_runs(runs, channel)).abort_handle())
    }

    /// Ends one; an unknown number is no error.
    pub fn end(&self, subscription: u32) {
        if let Some(task) = self.open(|open| open.tasks.remove(&subscription)) {
            task.abort();
        }
    }

    /// Ends all of them: the page that held their other ends is gone.
    pub fn end_all(&self) {
        for task in self
            .open(|open| std::mem::take(&mut open.tasks))
            .into_values()
        {
            task.abort();
        }
    }

    fn add(&self, task: AbortHandle) -> u32 {
        self.open(|open| {
            open.tasks.retain(|_, task| !task.is_finished());
            while open.tasks.len() >= SUBSCRIPTIONS
                && let Some((_, oldest)) = open.tasks.pop_first()
            {
                oldest.abort();
            }
            open.last = open.last.wrapping_add(1);
            open.tasks.insert(open.last, task);
            open.last
        })
    }

    fn open<T>(&self, act: impl FnOnce(&mut Open) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn show(mut feed: ViewFeed, channel: Channel<ViewUpdate>) {
    loop {
        let update = match feed.next().await {
            Ok(update) => update,
            Err(error) => ViewUpdate::Problem {
                message: format!("{} {}", error.message, error.remedy),
            },
        };
        let is_last = matches!(update, ViewUpdate::Problem { .. });
        let pause = pause_after(&update);
        if channel.send(update).is_err() || is_last {
            return;
        }
        tokio::time::sleep(pause).await;
    }
}

fn pause_after(update: &ViewUpdate) -> Duration {
    match update {
        ViewUpdate::Provisional { text, thinking } => {
            FRAME + Duration::from_millis(((text.len() + thinking.len()) / BYTES_PER_MS) as u64)
        }
        _ => FRAME,
    }
}

async fn watch_runs(mut runs: RunList, channel: Channel<Vec<RunLine>>) {
    let mut sent = runs.lines();
    if channel.send(sent.clone()).is_err() {
        return;
    }
    while runs.changed().await {
        let now = runs.lines();
        let news = run_list::news(&sent, &now);
        if !news.is_empty() && channel.send(news).is_err() {
            return;
        }
        sent = now;
        tokio::time::sleep(FRAME).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_sent_less_often() {
        let provisional = |bytes: usize| ViewUpdate::Provisional {
            text: "a".repeat(bytes),
            thinking: String::new(),
        };
        assert_eq!(pause_after(&provisional(100)), FRAME);
        assert_eq!(
            pause_after(&provisional(200 * 1024)),
            FRAME + Duration::from_millis(100)
        );
    }

    #[tokio::test]
    async fn one_subscription_too_many_ends_the_oldest() {
        let subscriptions = Subscriptions::default();
        let first = tokio::spawn(std::future::pending::<()>());
        let number = subscriptions.add(first.abort_handle());
        for _ in 0..SUBSCRIPTIONS {
            subscriptions.add(tokio::spawn(std::future::pending::<()>()).abort_handle());
        }
        assert!(first.await.is_err_and(|ended| ended.is_cancelled()));
        subscriptions.end(number);
        assert_eq!(subscriptions.open(|open| open.tasks.len()), SUBSCRIPTIONS);
        subscriptions.end_all();
        assert_eq!(subscriptions.open(|open| open.tasks.len()), 0);
    }
}
