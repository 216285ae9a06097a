//! A place where a stand-in waits until the test says go on.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

/// How long a test waits for somebody to reach a gate before it fails.
pub const REACH_LIMIT: Duration = Duration::from_secs(60);

/// Holds whoever passes it until it is opened. All copies are one gate.
#[derive(Clone, Debug)]
pub struct Gate {
    reached: watch::Sender<u32>,
    open: watch::Sender<bool>,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            reached: watch::Sender::new(0),
            open: watch::Sender::new(false),
        }
    }
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits until the gate is open; returns at once when it is.
    pub async fn pass(&self) {
        self.reached.send_modify(|count| *count += 1);
        // The sender lives in `self`, so the wait can't end by its loss.
        let _ = self.open.subscribe().wait_for(|open| *open).await;
    }

    /// Waits until `count` have come to the gate, those that passed it included.
    ///
    /// # Panics
    /// When they did not come within [`REACH_LIMIT`].
    pub async fn reached(&self, count: u32) {
        let mut reached = self.reached.subscribe();
        let wait = reached.wait_for(|reached| *reached >= count);
        assert!(
            timeout(REACH_LIMIT, wait).await.is_ok(),
            "the gate was reached {} times and not {count}",
            *self.reached.borrow()
        );
    }

    /// Lets everybody through, now and later.
    pub fn open(&self) {
        self.open.send_replace(true);
    }

    /// Holds those who come from now on.
    pub fn close(&self) {
        self.open.send_replace(false);
    }

    /// How many have come to the gate.
    pub fn count(&self) -> u32 {
        *self.reached.borrow()
    }
}
