//! Trying a box without an engine out, made as a run's is and by the same user: some systems let
//! root have what they refuse to others, and some folders lie where others don't come.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use longrein_protocol::agent::SandboxSettings;

use super::boxes::{Boxes, hand_over};
use super::follow::in_words;
use super::start::DIRECTORY;
use super::station::StationSpec;
use crate::SandboxError;
use crate::bubblewrap::Bubblewrap;
use crate::sandbox::{BubblewrapBox, Sandbox};
use crate::wire::{End, Limits, Start, Stream};

/// Where boxes are tried out, beneath the folder of the boxes.
const FOLDER: &str = "tried";
/// What has to be possible inside.
const COMMAND: &str = "echo tried > tried && [ \"$(id -u)\" != 0 ]";
/// How long it may take.
const TIME_MS: u64 = 10_000;
/// The same, with what stands around it.
const LIMIT: Duration = Duration::from_secs(30);
/// The most of its output that is told where it fails.
const WORDS_BYTES: usize = 1_024;
/// Files that it may hold open, and the largest that it may write, in bytes.
const FILES: (u64, u64) = (256, 1 << 20);

/// Counts what this process tries out.
static COUNT: AtomicU64 = AtomicU64::new(0);

impl Boxes {
    /// Makes a box, runs a command in it, and removes it.
    pub(super) async fn try_out(
        &self,
        bubblewrap: &Bubblewrap,
        settings: &SandboxSettings,
    ) -> Result<(), SandboxError> {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let all = self.config().folder.join(FOLDER);
        let folder = all.join(format!("{}-{count}", std::process::id()));
        let spec = StationSpec {
            settings: settings.clone(),
            workspace: folder.join("workspace"),
        };
        let made = self.bubblewrap_box(bubblewrap, &spec, (folder.join("state"), false));
        let tried = match tokio::time::timeout(LIMIT, try_in(&made)).await {
            Ok(tried) => tried,
            Err(_) => Err(SandboxError::TimedOut {
                what: "trying a box out".to_owned(),
                limit_s: LIMIT.as_secs(),
            }),
        };
        if let Err(error) = made.remove().await {
            tracing::warn!(%error, "a box that was tried out can't be removed");
        }
        if let Err(error) = tokio::fs::remove_dir_all(&folder).await {
            tracing::warn!(%error, "the folder of a box that was tried out can't be removed");
        }
        // Another process may try one out in there.
        let _ = tokio::fs::remove_dir(all).await;
        tried
    }

    /// Removes what processes left that ended while they tried a box out.
    pub(super) async fn forget_tried(&self) {
        let Ok(mut tried) = tokio::fs::read_dir(self.config().folder.join(FOLDER)).await else {
            return;
        };
        while let Ok(Some(entry)) = tried.next_entry().await {
            let name = entry.file_name().to_string_lossy().into_owned();
            let process = name.split_once('-').map_or("", |(process, _)| process);
            if Path::new("/proc").join(process).exists() {
                continue;
            }
            let folder = entry.path();
            let stopped = Bubblewrap::stop(&folder.join("state")).await;
            let removed = tokio::fs::remove_dir_all(&folder).await;
            if let Err(error) = stopped.and(removed.map_err(SandboxError::file(folder))) {
                tracing::warn!(%error, "a box that was tried out is left");
            }
        }
    }
}

async fn try_in(made: &BubblewrapBox) -> Result<(), SandboxError> {
    let workspace = &made.spec.workspace;
    let laid = tokio::fs::create_dir_all(workspace).await;
    laid.map_err(SandboxError::file(workspace))?;
    hand_over(workspace).await?;
    let (session, _incoming) = made.connect().await?;
    let limits = Limits {
        time_ms: TIME_MS,
        output_bytes: WORDS_BYTES as u64,
        file_bytes: FILES.1,
        open_files: FILES.0,
        address_space_bytes: None,
        processes: None,
    };
    let start = Start {
        command: FOLDER.to_owned(),
        program: ["bash", "-c", COMMAND].map(str::to_owned).to_vec(),
        directory: DIRECTORY.to_owned(),
        environment: made.environment(),
        input: false,
        merged: true,
        egress: false,
        tools: false,
        limits: made.limits(limits),
    };
    session.start(start).await?;
    let receipt = session.wait(FOLDER).await?;
    if receipt.end == (End::Exited { status: 0 }) {
        return Ok(());
    }
    let command = session.command(FOLDER);
    let said = command.read_all(Stream::Output, WORDS_BYTES).await;
    let said = super::plain::text(&said.unwrap_or_default());
    let how = in_words(&receipt.end, None);
    Err(SandboxError::Unusable {
        why: format!("a first command in it: {how} {}", said.trim())
            .trim_end()
            .to_owned(),
    })
}
