//! A snapshot as what differs from the one before it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Entry, LeftOut, Manifest};

/// What makes one snapshot of another one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delta {
    /// Entries as they are now, by their paths; `None` where there is none any more.
    pub entries: BTreeMap<String, Option<Entry>>,
    /// What the later one left out.
    pub left_out: LeftOut,
}

impl Manifest {
    /// What makes a later snapshot of this one. A file that was only touched does not differ.
    pub fn delta(&self, later: &Self) -> Delta {
        let changes = self.changes(later).into_iter();
        Delta {
            entries: changes.map(|change| (change.path, change.after)).collect(),
            left_out: later.left_out.clone(),
        }
    }

    /// Becomes the later snapshot.
    pub fn apply(&mut self, delta: Delta) {
        for (path, entry) in delta.entries {
            match entry {
                Some(entry) => self.entries.insert(path, entry),
                None => self.entries.remove(&path),
            };
        }
        self.left_out = delta.left_out;
    }
}
