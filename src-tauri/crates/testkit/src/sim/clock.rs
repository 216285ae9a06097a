//! Simulated time: it goes on from one process to the next, and the wall clock jumps.

use std::time::Duration;

use async_trait::async_trait;
use longrein_protocol::Millis;
use longrein_runtime::ports::Clock;
use tokio::time::Instant;

use super::scenario::Jump;
use crate::world::EPOCH_MS;

/// The clock of one simulated process.
pub(super) struct SimClock {
    /// What the processes before have used up.
    before_ms: u64,
    began: Instant,
    jumps: Vec<Jump>,
}

impl SimClock {
    /// A clock that goes on at `before_ms`. To be made inside the process's executor.
    pub fn new(before_ms: u64, jumps: &[Jump]) -> Self {
        Self {
            before_ms,
            began: Instant::now(),
            jumps: jumps.to_vec(),
        }
    }
}

#[async_trait]
impl Clock for SimClock {
    fn now(&self) -> Millis {
        let true_ms = self.monotonic_ms();
        let past = self
            .jumps
            .iter()
            .filter(|jump| u64::from(jump.at_ms) <= true_ms);
        let jumped: i64 = past.map(|jump| i64::from(jump.by_seconds) * 1_000).sum();
        EPOCH_MS + true_ms as Millis + jumped
    }

    fn monotonic_ms(&self) -> u64 {
        self.before_ms + self.began.elapsed().as_millis() as u64
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}
