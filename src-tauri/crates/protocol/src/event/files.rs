//! What a run's workspace held.

use serde::{Deserialize, Serialize};

use crate::body::Body;

/// The most paths that a snapshot names in its event; its list of files has them all.
pub const SNAPSHOT_PATHS: usize = 20;

/// See [`super::Payload::SnapshotTaken`]. Only what differs from the snapshot before it is told,
/// save in one that is whole; the contents of files are kept by their hashes beside the log.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SnapshotTaken {
    /// The entries that differ from the snapshot before, or all of them, as JSON.
    pub files: Body,
    /// Whether `files` has all of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
    /// Entries that were not there before.
    pub added: u32,
    /// Entries that are not what they were.
    pub changed: u32,
    /// Entries that are gone.
    pub removed: u32,
    /// The first [`SNAPSHOT_PATHS`] of these, in the order of their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// All entries.
    pub entries: u32,
    /// The bytes of all files.
    pub bytes: u64,
    /// What could not be taken, by cause. What a rule leaves out is not counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

/// What a snapshot left out for one cause.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LeftOut {
    /// The cause.
    pub why: LeftOutWhy,
    /// How many entries; of a folder only itself.
    pub count: u32,
    /// The first of them.
    pub first: String,
}

/// Why a snapshot left something out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOutWhy {
    /// A file is larger than one may be.
    TooLarge,
    /// With it all would be larger than they may be.
    Full,
    /// There are more entries than there may be.
    TooMany,
    /// It lies deeper than is looked.
    TooDeep,
    /// It is a pipe, a socket or a device.
    Special,
    /// Its name is no text.
    Name,
    /// It can't be read.
    Unreadable,
    /// It changed while it was read.
    Changing,
}
