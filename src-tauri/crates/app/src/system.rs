//! The real clock, real chance, and what this process was started with.

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

/// The first descriptor that is none of the three streams which each process has.
#[cfg(unix)]
const FIRST_DESCRIPTOR: i32 = 3;

/// Keeps to this process what was open when it was started: nothing that it starts inherits it. To
/// be called first of all.
pub fn keep_what_was_handed_over() {
    #[cfg(unix)]
    close_fds::set_fds_cloexec(FIRST_DESCRIPTOR, &[]);
}

/// The system's randomness.
pub struct SystemChance;

impl Chance for SystemChance {
    fn random(&self) -> u128 {
        rand::random()
    }
}
