//! What a workspace holds is recorded when a step is over that may have changed it.

use std::sync::Arc;

use crate::driver::{DriveError, Driver};
use crate::effects::LogBlobs;
use crate::world::SnapshotOf;

impl Driver {
    /// Whether files are to be looked at before anything else happens.
    pub(crate) fn owes_snapshot(&self) -> bool {
        let due = self.run.files_due();
        due.is_some() && due != self.files_seen
    }

    /// Looks at the files, and records what is not as it was. What the step came to is made durable
    /// meanwhile: it may not be lost for as long as that takes.
    pub(crate) async fn take_snapshot(&mut self) -> Result<(), DriveError> {
        let due = self.run.files_due();
        let (Some(run), Some(created)) = (self.run.id, &self.run.created) else {
            return Ok(());
        };
        let of = SnapshotOf {
            run,
            tree: self.fence.tree,
            workspace: created.workspace.clone().into(),
            before: self.run.files.clone(),
        };
        let blobs = Arc::new(LogBlobs(self.ports.log.clone()));
        let world = self.ports.world.clone();
        let (looked, committed) = tokio::join!(world.snapshot(of, blobs), self.commit());
        committed?;
        match looked {
            Ok(Some(snapshot)) => {
                self.blobs.extend(snapshot.blobs);
                self.record(snapshot.taken)
            }
            Ok(None) => {
                self.files_seen = due;
                Ok(())
            }
            Err(unavailable) => self.hand_off(unavailable),
        }
    }
}
