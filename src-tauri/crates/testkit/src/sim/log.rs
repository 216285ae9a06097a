//! The log of one simulated process: it strikes where the scenario says so, and holds the laws
//! against whatever becomes durable.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::{self, BoxFuture};
use longrein_protocol::wish::Wish;
use longrein_protocol::{BlobHash, Event, RunId};
use longrein_runtime::ports::Clock;
use longrein_store::log::{Append, Log, LogError, Reading};
use longrein_store::{Fault, FaultKind, MemoryLog, Moment};

use super::clock::SimClock;
use super::outside::Outside;
use super::scenario::FaultWhat;

/// How often a driver is told that the database is busy.
const BUSY_TIMES: u32 = 3;

pub(super) struct SimLog {
    pub disk: Arc<MemoryLog>,
    pub outside: Arc<Outside>,
    pub clock: Arc<SimClock>,
}

impl SimLog {
    /// Counts an append, and hands the fault that is planned for it to the disk.
    fn begins(&self) {
        let mut state = self.outside.state();
        state.appends += 1;
        let number = state.appends;
        drop(state);
        let faults = &self.outside.scenario.faults;
        let Some(fault) = faults.iter().find(|fault| fault.append == number) else {
            return;
        };
        self.disk.inject(Fault {
            append: self.disk.appends() + 1,
            moment: if fault.durable {
                Moment::AfterCommit
            } else {
                Moment::BeforeCommit
            },
            kind: match fault.what {
                FaultWhat::Crash => FaultKind::Crash,
                FaultWhat::Full => FaultKind::Full,
                FaultWhat::Io => FaultKind::Io,
                FaultWhat::Busy => FaultKind::Busy(BUSY_TIMES),
            },
        });
    }

    async fn append_and_watch(&self, append: Append) -> Result<(), LogError> {
        self.begins();
        let events: Vec<_> = append
            .runs
            .iter()
            .flat_map(|part| part.events.clone())
            .collect();
        let appended = self.disk.append(append).await;
        // A refusal does not say whether the facts are there.
        let on_disk = |event: &Event| {
            let place = event.seq as usize - 1;
            self.disk.durable(event.run).get(place) == Some(event)
        };
        if appended.is_ok() || events.first().is_some_and(on_disk) {
            self.outside.committed(&events, self.clock.monotonic_ms());
        }
        if matches!(appended, Err(LogError::Closed)) {
            // A process that was killed learns of nothing any more.
            self.outside.killed.notify_one();
            return future::pending().await;
        }
        appended
    }
}

impl Log for SimLog {
    fn append(&self, append: Append) -> BoxFuture<'_, Result<(), LogError>> {
        self.append_and_watch(append).boxed()
    }

    fn read(&self, run: RunId, from: u32, limit: u32) -> BoxFuture<'_, Result<Reading, LogError>> {
        self.disk.read(run, from, limit)
    }

    fn blob(&self, hash: BlobHash) -> BoxFuture<'_, Result<Arc<[u8]>, LogError>> {
        self.disk.blob(hash)
    }

    fn wishes(&self, run: RunId) -> BoxFuture<'_, Result<Vec<(i64, Wish)>, LogError>> {
        self.disk.wishes(run)
    }
}
