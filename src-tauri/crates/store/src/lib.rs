//! The log: append-only events per run with a hash chain, blobs, the inbox, projections, locks.
//!
//! [`Store`] keeps them in one SQLite file per data folder, [`MemoryLog`] in memory with faults
//! for the simulation. Both are a [`log::Log`] and pass the same tests.

mod append;
mod blobs;
mod chain;
mod check;
mod codec;
mod delete;
mod fault;
pub mod file_system;
pub mod groups;
pub mod lock;
pub mod log;
mod memory;
mod process;
mod projection;
mod reader;
mod rows;
mod schema;
pub mod search;
mod store;
mod watch;
mod wishes;
mod writer;

pub use chain::RowHash;
pub use check::CheckReport;
pub use delete::Deleted;
pub use lock::{Holder, LockError, TreeLock};
pub use log::{Append, Damage, DamageKind, Fence, Log, LogError, Reading, RunAppend};
pub use memory::{Fault, FaultKind, MemoryLog, Moment};
pub use store::Store;
pub use watch::Changes;
pub use writer::WriterStats;
