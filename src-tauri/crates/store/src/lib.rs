//! The log: append-only events per run with a hash chain, blobs, the inbox, projections, locks.

pub mod log;
