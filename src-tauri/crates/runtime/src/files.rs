//! What a workspace holds is recorded when a step is over that may have changed it.

use std::sync::Arc;

use longrein_core::run::{Action, Files, Phase};
use longrein_protocol::ActionId;
use longrein_protocol::event::ActionUncertain;
use longrein_protocol::tool::Repeat;

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
        let Some(of) = self.files_with(self.run.files.clone()) else {
            return Ok(());
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

    /// The run's files, of which this is known.
    fn files_with(&self, before: Option<Files>) -> Option<SnapshotOf> {
        let created = self.run.created.as_ref()?;
        Some(SnapshotOf {
            run: self.run.id?,
            tree: self.fence.tree,
            workspace: created.workspace.clone().into(),
            before,
        })
    }

    /// Before a program begins, what the workspace holds is recorded: what it may be begun anew on,
    /// and what it left where it is. False where that can't be.
    pub(crate) async fn records_files_for(&mut self, ids: &[ActionId]) -> Result<bool, DriveError> {
        let begins = |action: &Action| {
            action.repeat == Repeat::Replay && (action.attempt == 0 || action.begins_anew())
        };
        if !ids.iter().any(|id| self.run.action(id).is_some_and(begins)) {
            return Ok(true);
        }
        self.take_snapshot().await?;
        Ok(self.run.phase == Phase::Going)
    }

    /// Lays the files of a program back that is begun anew. False where that can't be: a person has
    /// to be asked then.
    pub(crate) async fn lays_back_for(&mut self, id: &ActionId) -> Result<bool, DriveError> {
        let action = self.run.action(id).filter(|action| action.begins_anew());
        let Some(files) = action.and_then(|action| action.files.as_deref()).cloned() else {
            return Ok(true);
        };
        let Some(of) = self.files_with(Some(files)) else {
            return Ok(true);
        };
        let blobs = Arc::new(LogBlobs(self.ports.log.clone()));
        let Err(unavailable) = self.ports.world.lay_back(of, blobs).await else {
            return Ok(true);
        };
        let mut why = format!(
            "It was to be begun anew, and its files can't be laid back as they were before. {}",
            unavailable.message
        );
        self.ports.world.masker().text(&mut why);
        self.record(ActionUncertain {
            action: id.clone(),
            why,
        })?;
        self.commit().await?;
        Ok(false)
    }
}
