//! The real clock and real chance.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use longrein_protocol::Millis;
use longrein_runtime::ports::{Chance, Clock};

/// The machine's clocks.
pub struct SystemClock(Instant);

impl Default for SystemClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

/// The wall clock, in milliseconds since the epoch.
pub fn now() -> Millis {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as Millis)
}

#[async_trait::async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Millis {
        now()
    }

    fn monotonic_ms(&self) -> u64 {
        self.0.elapsed().as_millis() as u64
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// The system's randomness.
pub struct SystemChance;

impl Chance for SystemChance {
    fn random(&self) -> u128 {
        rand::random()
    }
}
