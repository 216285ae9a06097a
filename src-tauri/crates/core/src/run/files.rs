//! What the workspace held, step by step.

use longrein_protocol::Body;
use longrein_protocol::event::SnapshotTaken;

use super::{ActionStage, FINISH, Phase, Run};

/// The most parts that what a workspace held is put together from: then it is recorded whole again.
/// So reading it has a bound, and a step costs what it changed.
pub const SNAPSHOT_PARTS: usize = 256;

/// What the workspace held.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Files {
    /// The event that recorded it.
    pub seq: u32,
    /// A whole list of entries, and what changed of it, in order. The last one is the newest.
    pub parts: Vec<Body>,
    /// All entries.
    pub entries: u32,
    /// The bytes of all files.
    pub bytes: u64,
}

impl Run {
    pub(super) fn snapshot_taken(&mut self, seq: u32, taken: &SnapshotTaken) {
        let files = self.files.get_or_insert_default();
        if taken.whole {
            files.parts.clear();
        }
        files.parts.push(taken.files.clone());
        files.seq = seq;
        files.entries = taken.entries;
        files.bytes = taken.bytes;
        self.files_touched = None;
    }

    /// Whether a snapshot may follow: what it is a difference from is there.
    pub(super) fn allows_snapshot(&self, taken: &SnapshotTaken) -> bool {
        let follows = |files: &Files| files.parts.len() < SNAPSHOT_PARTS;
        taken.whole || self.files.as_ref().is_some_and(follows)
    }

    /// The event since which files may be others than those that are recorded, once the step is
    /// over that may have changed them: they are to be looked at. A claim that the work is done
    /// comes after that, so that what is checked is what is recorded.
    pub fn files_due(&self) -> Option<u32> {
        let over = self.actions.iter().all(|action| {
            action.stage == ActionStage::Closed || (action.tool == FINISH && action.attempt == 0)
        });
        // What is too long is laid down as a file first, so that it is recorded with the others.
        let still = self.phase == Phase::Going && self.pending.is_empty() && over;
        let still = still && self.too_long().is_empty();
        self.files_touched.filter(|_| still)
    }
}
