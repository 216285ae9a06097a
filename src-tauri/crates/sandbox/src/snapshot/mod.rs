//! What a workspace holds at a moment: a list of its entries, and each content once, by its hash.
//! A file that has not changed since the last snapshot costs a look at its metadata.
//!
//! The workspace may hold anything that a command can make, and may change while it is read: no
//! link is followed, no pipe or device is opened, no file is read beyond its limit, and no folder
//! is entered but from the one above it.

mod contents;
mod delta;
mod listed;
mod restore;
mod rules;
mod take;
#[cfg(all(test, unix))]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use contents::{Contents, ContentsFolder, Hash};
pub use delta::Delta;
pub use restore::{lay_back, restore};
pub use rules::{DEFAULT_IGNORED, SnapshotLimits, SnapshotRules, WrongPattern};
pub use take::take;

/// How many paths are listed of what was left out; all are counted.
pub const LEFT_OUT_LISTED: usize = 100;

/// What a workspace held. Paths are relative, with `/` between the parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Every entry, by its path.
    pub entries: BTreeMap<String, Entry>,
    /// What is not in it, and why.
    pub left_out: LeftOut,
}

/// One entry of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Entry {
    /// A regular file.
    File {
        /// Of its content.
        hash: Hash,
        /// Its length.
        bytes: u64,
        /// Whether its owner may run it.
        executable: bool,
        /// By what a file that has not changed is known.
        stamp: Stamp,
    },
    /// A folder.
    Folder,
    /// A link; it is kept as a link, wherever it points.
    Link {
        /// Where it points, as it says.
        target: String,
    },
}

/// By what a file that has not changed is known: the system sets the time of its last change, and
/// no program can set it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// The file's number on its disk.
    pub file: u64,
    /// When it was last written, in nanoseconds since 1970.
    pub written_ns: i64,
    /// When anything of it last changed, likewise.
    pub changed_ns: i64,
    /// The snapshot was taken so shortly after the change that another one could bear the same
    /// time: it is read again.
    pub fresh: bool,
}

/// What a snapshot left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// How many entries; of a folder that was left out only itself.
    pub count: u64,
    /// How many of each cause.
    #[serde(default)]
    pub by: BTreeMap<Why, u64>,
    /// The first [`LEFT_OUT_LISTED`] of them.
    pub listed: Vec<(String, Why)>,
}

impl LeftOut {
    fn add(&mut self, path: &str, why: Why) {
        self.count += 1;
        *self.by.entry(why).or_default() += 1;
        if self.listed.len() < LEFT_OUT_LISTED {
            self.listed.push((path.to_owned(), why));
        }
    }
}

/// Why an entry was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// A rule says so.
    Ignored,
    /// It is larger than a file may be.
    TooLarge,
    /// With it the whole would be larger than it may be.
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
    /// It changed while it was read, twice.
    Changing,
}

/// What differs between two snapshots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Which entry.
    pub path: String,
    /// What it was; `None` where it was not there.
    pub before: Option<Entry>,
    /// What it is; `None` where it is no longer there.
    pub after: Option<Entry>,
}

impl Manifest {
    /// What differs in a later snapshot, by path. A file that was only touched does not differ.
    pub fn changes(&self, later: &Self) -> Vec<Change> {
        let mut changes = Vec::new();
        let paths = self.entries.keys().chain(later.entries.keys());
        let mut paths: Vec<&String> = paths.collect();
        paths.sort();
        paths.dedup();
        for path in paths {
            let (before, after) = (self.entries.get(path), later.entries.get(path));
            let is_same = match (before, after) {
                (Some(before), Some(after)) => before.is_same(after),
                _ => false,
            };
            if !is_same {
                changes.push(Change {
                    path: path.clone(),
                    before: before.cloned(),
                    after: after.cloned(),
                });
            }
        }
        changes
    }

    /// The bytes of all files, each as often as it occurs.
    pub fn bytes(&self) -> u64 {
        self.entries.values().map(Entry::bytes).sum()
    }
}

impl Entry {
    /// The length of a file; nothing of what is none.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::File { bytes, .. } => *bytes,
            Self::Folder | Self::Link { .. } => 0,
        }
    }

    /// Whether it is the same but for when it was touched.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::File {
                    hash, executable, ..
                },
                Self::File {
                    hash: other_hash,
                    executable: other_executable,
                    ..
                },
            ) => hash == other_hash && executable == other_executable,
            (one, other) => one == other,
        }
    }
}
