//! A command of a check: in a fresh box, on a copy of the workspace that it can only read, without a
//! network.

use std::path::Path;

use longrein_protocol::{RunId, ToolErrorClass};
use longrein_runtime::ports::{CancellationToken, CommandEnd, NoLiveAction, ToolError};

use super::boxes::{Boxes, hand_over};
use super::copy::{Room, copy};
use super::follow::in_words;
use super::plain;
use super::start::{DIRECTORY, failed, stopped};
use super::station::StationSpec;
use crate::SandboxError;
use crate::container::RunBox;
use crate::wire::{End, Limits, Start, Stream};

/// Where the copies lie, beneath the folder of the boxes.
pub(super) const FOLDER: &str = "checks";
/// The longest that one command of a check may run.
const TIME_MS: u64 = 240_000;
/// The bytes of its output that are looked at.
const OUTPUT_BYTES: usize = 256 * 1024;
/// The files that a process may hold open.
const OPEN_FILES: u64 = 4_096;
/// Files, folders and links of a workspace that are copied.
const ENTRIES_MAX: u64 = 1_000_000;

impl Boxes {
    /// Runs a command of a check. `id` names it; no other one that goes on has it.
    ///
    /// # Errors
    /// When there is no box, or nothing is known of how the command ended.
    pub async fn check(
        &self,
        run: RunId,
        id: &str,
        spec: &StationSpec,
        command: &str,
        cancel: CancellationToken,
    ) -> Result<CommandEnd, ToolError> {
        let copies = self.config().folder.join(FOLDER).join(run.to_string());
        let folder = copies.join(id);
        let checking = self.check_in(&folder, run, id, spec, command);
        let ended = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(stopped()),
            ended = checking => ended,
        };
        // The box goes whatever came of it: a check that was stopped leaves nothing.
        let owner = self.owner(run, RunBox::Check(id.to_owned()));
        let copied = spec_of(spec, &folder);
        match self.found(&owner, &copied).await {
            Ok(Some(made)) => {
                if let Err(error) = made.sandbox.remove().await {
                    tracing::warn!(%error, "the box of a check can't be removed");
                }
            }
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "the box of a check can't be looked for"),
        }
        if let Err(error) = tokio::fs::remove_dir_all(&folder).await {
            tracing::warn!(%error, "the copy of a workspace can't be removed");
        }
        // Another check of the run may go on in there.
        let _ = tokio::fs::remove_dir(&copies).await;
        ended
    }

    async fn check_in(
        &self,
        folder: &Path,
        run: RunId,
        id: &str,
        spec: &StationSpec,
        command: &str,
    ) -> Result<CommandEnd, ToolError> {
        let copied = spec_of(spec, folder);
        copied_to(spec, folder).await.map_err(failed)?;
        hand_over(folder).await.map_err(failed)?;
        let owner = self.owner(run, RunBox::Check(id.to_owned()));
        let made = self.make(&owner, &copied, true, &NoLiveAction).await;
        let made = made.map_err(failed)?;
        let (session, _incoming) = made.sandbox.connect().await.map_err(failed)?;
        let limits = Limits {
            time_ms: TIME_MS,
            output_bytes: OUTPUT_BYTES as u64,
            file_bytes: spec.settings.disk.0,
            open_files: OPEN_FILES,
            address_space_bytes: None,
            processes: None,
        };
        let start = Start {
            command: "check".to_owned(),
            program: vec!["bash".to_owned(), "-c".to_owned(), command.to_owned()],
            directory: DIRECTORY.to_owned(),
            environment: made.sandbox.environment(),
            input: false,
            merged: true,
            egress: false,
            tools: false,
            limits: made.limits(limits, &super::boxes::limits_of(spec)),
        };
        session.start(start).await.map_err(failed)?;
        let receipt = session.wait("check").await.map_err(failed)?;
        let command = session.command("check");
        let output = command.read_all(Stream::Output, OUTPUT_BYTES).await;
        let output = plain::text(&output.map_err(failed)?);
        let how = in_words(&receipt.end, None);
        match receipt.end {
            End::Exited { status } => Ok(CommandEnd {
                status: Some(status),
                how,
                output,
            }),
            End::NotStarted { .. } | End::Lost => {
                let message = format!("The command of the check: {how}.");
                Err(ToolError::new(ToolErrorClass::Failed, message))
            }
            _ => Ok(CommandEnd {
                status: None,
                how,
                output,
            }),
        }
    }
}

/// The same box on the copy, without a network.
fn spec_of(spec: &StationSpec, folder: &Path) -> StationSpec {
    let mut copied = spec.clone();
    copied.workspace = folder.to_owned();
    copied.settings.hosts.clear();
    copied
}

async fn copied_to(spec: &StationSpec, folder: &Path) -> Result<(), SandboxError> {
    let (from, to) = (spec.workspace.clone(), folder.to_owned());
    let room = Room {
        bytes: spec.settings.disk.0,
        entries: ENTRIES_MAX,
    };
    let copying = tokio::task::spawn_blocking(move || {
        std::fs::create_dir_all(&to)?;
        copy(&from, &to, room)
    });
    let copied = copying.await.map_err(std::io::Error::from).flatten();
    copied.map_err(SandboxError::file(folder))
}
