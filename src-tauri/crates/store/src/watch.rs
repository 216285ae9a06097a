//! Noticing that something was committed, by this process or by another.

use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::watch;

use crate::log::LogError;

/// How often SQLite is asked whether another process has committed something.
const POLL: Duration = Duration::from_millis(50);

/// Tells of commits. What happened is read from the log: several commits are one change.
pub struct Changes {
    connection: Connection,
    own: watch::Receiver<u64>,
    seen: i64,
}

impl Changes {
    pub(crate) fn new(connection: Connection, own: watch::Receiver<u64>) -> Self {
        let seen = data_version(&connection).unwrap_or_default();
        Self {
            connection,
            own,
            seen,
        }
    }

    /// Returns when something was committed since the last return (or since the watch began):
    /// at once for commits of this process, within 50 ms for those of others.
    ///
    /// # Errors
    /// [`LogError::Closed`] when the store is gone.
    pub async fn changed(&mut self) -> Result<(), LogError> {
        loop {
            if self.moved_on() {
                self.own.mark_unchanged();
                return Ok(());
            }
            // Either way the version is asked again: it is the one truth, and the notice of the
            // own writer only makes the wait short.
            if let Ok(notice) = tokio::time::timeout(POLL, self.own.changed()).await {
                notice.map_err(|_| LogError::Closed)?;
            }
        }
    }

    /// Whether something was committed since this, or [`Changes::changed`], last said so.
    pub fn has_changed(&mut self) -> bool {
        let moved_on = self.moved_on();
        self.own.mark_unchanged();
        moved_on
    }

    /// A look into the shared memory of the write-ahead log: microseconds, so done in place.
    fn moved_on(&mut self) -> bool {
        // A database that is being recovered by another process is asked again next time.
        let Ok(version) = data_version(&self.connection) else {
            return false;
        };
        std::mem::replace(&mut self.seen, version) != version
    }
}

fn data_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "data_version", |row| row.get(0))
}
