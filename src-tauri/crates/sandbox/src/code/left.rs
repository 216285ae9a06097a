//! The boxes that processes left: found by their runs, stopped or removed by whoever ends these,
//! whichever process made them.

use std::collections::HashSet;
use std::io::ErrorKind;

use longrein_protocol::RunId;

use super::boxes::{Boxes, STATES};
use super::check;
use crate::container::{self, Container, ContainerState, RunBox};
use crate::{Backing, SandboxError};

impl Boxes {
    /// The runs of this installation that a box is left of, running or not.
    ///
    /// # Errors
    /// When the engine does not list them, or a folder can't be read.
    pub async fn left(&self) -> Result<HashSet<String>, SandboxError> {
        #[cfg(target_os = "linux")]
        self.forget_tried().await;
        let mut runs = match self.backing().await? {
            Backing::Engine(engine) => container::runs(&engine, &self.config().instance).await?,
            _ => HashSet::new(),
        };
        let folder = self.config().folder.join(STATES);
        let mut states = match tokio::fs::read_dir(&folder).await {
            Ok(states) => states,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(runs),
            Err(error) => return Err(SandboxError::file(folder)(error)),
        };
        while let Ok(Some(entry)) = states.next_entry().await {
            runs.insert(entry.file_name().to_string_lossy().into_owned());
        }
        Ok(runs)
    }

    /// Removes all boxes of a run, with what runs in them, their outputs and receipts, and copies
    /// that checks left.
    ///
    /// # Errors
    /// When the engine refuses to list them, or a folder can't be removed.
    pub async fn remove_left(&self, run: &str) -> Result<(), SandboxError> {
        // Whatever boxes are made of now, what was made without an engine ends first.
        self.stop_states(run).await?;
        if let Backing::Engine(engine) = self.backing().await? {
            let is_other = |of: &str| of != run;
            container::reap_all_but(&engine, &self.config().instance, &is_other).await?;
        }
        for folder in [
            self.config().states(run),
            self.config().folder.join(check::FOLDER).join(run),
        ] {
            match tokio::fs::remove_dir_all(&folder).await {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(SandboxError::file(folder)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Stops the boxes of a run that stands still, and keeps them.
    ///
    /// # Errors
    /// When the engine refuses, or an agent does not end.
    pub async fn stop_left(&self, run: RunId) -> Result<(), SandboxError> {
        self.stop_states(&run.to_string()).await?;
        let Backing::Engine(engine) = self.backing().await? else {
            return Ok(());
        };
        let owner = self.owner(run, RunBox::Work);
        match Container::find(&engine, &owner).await? {
            Some(container) if container.state().await? != ContainerState::Stopped => {
                container.stop().await
            }
            _ => Ok(()),
        }
    }

    #[cfg(target_os = "linux")]
    async fn stop_states(&self, run: &str) -> Result<(), SandboxError> {
        let Ok(mut states) = tokio::fs::read_dir(self.config().states(run)).await else {
            return Ok(());
        };
        while let Ok(Some(entry)) = states.next_entry().await {
            crate::bubblewrap::Bubblewrap::stop(&entry.path()).await?;
        }
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    async fn stop_states(&self, _run: &str) -> Result<(), SandboxError> {
        Ok(())
    }
}
