//! The port that the driver writes and reads through. Two implementations: SQLite, and memory
//! with faults for the simulation; one test suite for both.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use longrein_protocol::body::NewBlob;
use longrein_protocol::view::RunLine;
use longrein_protocol::wish::Wish;
use longrein_protocol::{BlobHash, Event, RunId};

/// The right to append to the runs of one tree. Grows with every driver that takes the tree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Fence {
    /// The root run of the tree.
    pub tree: RunId,
    /// The number that was taken with the lock.
    pub number: u64,
}

/// Facts that become durable together, or not at all.
#[derive(Clone, Debug)]
pub struct Append {
    /// The right to do so, checked inside the transaction.
    pub fence: Fence,
    /// What happened, per run; each begins at the run's next sequence number.
    pub runs: Vec<RunAppend>,
    /// Content that the events refer to.
    pub blobs: Vec<NewBlob>,
    /// Rows of the inbox that these events answer.
    pub taken: Vec<i64>,
}

/// The events of one run in an [`Append`].
#[derive(Clone, Debug)]
pub struct RunAppend {
    /// The run.
    pub run: RunId,
    /// In order, without gap.
    pub events: Vec<Event>,
    /// The run's line in lists after these events.
    pub line: RunLine,
}

/// A damaged or unknown row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Damage {
    /// The run.
    pub run: RunId,
    /// The row.
    pub seq: u32,
    /// What is wrong with it.
    pub what: DamageKind,
}

/// What can be wrong with a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DamageKind {
    /// The hash of the payload is not what the row says.
    Payload,
    /// The hash of the row does not follow from the row before it.
    Chain,
    /// A row is missing before this one. At the end of a log, where rows are known to be lost, it
    /// is the number after the last that is known.
    Gap,
    /// The payload can't be read.
    Unreadable,
    /// This version does not know the type of the event.
    UnknownType(String),
    /// A blob that the event refers to is missing or damaged.
    Blob(BlobHash),
}

impl fmt::Display for DamageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Payload => f.write_str("its content is not what was written"),
            Self::Chain => f.write_str("it does not follow from the event before it"),
            Self::Gap => f.write_str("an event before it is missing"),
            Self::Unreadable => f.write_str("it can't be read"),
            Self::UnknownType(kind) => write!(f, "this version does not know {kind}"),
            Self::Blob(hash) => write!(f, "its content {hash} is missing or damaged"),
        }
    }
}

/// Events as they could be read.
#[derive(Clone, Default, Debug)]
pub struct Reading {
    /// In order; stops before the first damage.
    pub events: Vec<Event>,
    /// Why it stops, when it stops early. Such a run is not continued.
    pub damage: Option<Damage>,
}

/// What can go wrong with the log. No variant leaves a fact half written.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LogError {
    /// Another driver has taken the tree since.
    #[error("another process has taken over this run")]
    Fenced,
    /// The events don't follow the last one of the run.
    #[error("event {given} of run {run} does not follow event {last}")]
    Sequence {
        /// The run.
        run: RunId,
        /// The last event on disk.
        last: u32,
        /// The event that was given.
        given: u32,
    },
    /// No space.
    #[error("the disk that holds {path} is full")]
    Full {
        /// The data folder.
        path: String,
    },
    /// The file system refuses.
    #[error("{path}: {message}")]
    Io {
        /// What was touched.
        path: String,
        /// What the system says.
        message: String,
    },
    /// The database itself is not what was written: cut off, overwritten, or another file.
    #[error("{path} is damaged: {message}")]
    Damaged {
        /// The database.
        path: String,
        /// What the system says.
        message: String,
    },
    /// The data folder can be read but not written.
    #[error("{path} can be read but not written")]
    ReadOnly {
        /// The data folder.
        path: String,
    },
    /// The database was written by a newer version.
    #[error(
        "the data folder was written by a newer version of Longrein (schema {found}, this one knows {known})"
    )]
    Newer {
        /// What the file says.
        found: u32,
        /// What this version knows.
        known: u32,
    },
    /// A blob is missing or its bytes don't fit its hash.
    #[error("the content {0} is missing or damaged")]
    Blob(BlobHash),
    /// There is no such run.
    #[error("there is no run {0}")]
    NoRun(RunId),
    /// The writer has ended.
    #[error("the log is closed")]
    Closed,
}

/// The log as the driver sees it.
pub trait Log: Send + Sync {
    /// Makes facts durable. Returns when they are on disk (full sync), or not at all.
    fn append(&self, append: Append) -> BoxFuture<'_, Result<(), LogError>>;

    /// Reads events from `from` (counted from 1), at most `limit`.
    fn read(&self, run: RunId, from: u32, limit: u32) -> BoxFuture<'_, Result<Reading, LogError>>;

    /// Reads a blob and checks its hash.
    fn blob(&self, hash: BlobHash) -> BoxFuture<'_, Result<Arc<[u8]>, LogError>>;

    /// Wishes that no event has answered yet, oldest first, with their row numbers.
    fn wishes(&self, run: RunId) -> BoxFuture<'_, Result<Vec<(i64, Wish)>, LogError>>;
}
