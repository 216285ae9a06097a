//! The boxes that processes left: found by their runs, stopped or removed by whoever ends these,
//! whichever process made them.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::Path;

use longrein_protocol::RunId;

use super::boxes::{Boxes, STATES};
use super::check;
use crate::container::{self, Container, ContainerState, RunBox};
use crate::engine::PROBE_PREFIX;
use crate::{Backing, SandboxError};

impl Boxes {
    /// The runs of this installation that a box is left of, running or not, and probes that
    /// measure an engine or did ([`crate::engine::is_left_probe`]).
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
        runs.extend(names(&self.config().folder.join(STATES)).await?);
        let beside = names(&self.config().folder).await?.into_iter();
        runs.extend(beside.filter(|name| name.starts_with(PROBE_PREFIX)));
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
        let folder = &self.config().folder;
        let probe = run.starts_with(PROBE_PREFIX).then(|| folder.join(run));
        let of_run = [
            self.config().states(run),
            folder.join(check::FOLDER).join(run),
        ];
        for folder in of_run.into_iter().chain(probe) {
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

/// The names in a folder; none where there is no folder.
async fn names(folder: &Path) -> Result<Vec<String>, SandboxError> {
    let mut names = Vec::new();
    let mut entries = match tokio::fs::read_dir(folder).await {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(names),
        Err(error) => return Err(SandboxError::file(folder)(error)),
    };
    while let Ok(Some(entry)) = entries.next_entry().await {
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    Ok(names)
}
