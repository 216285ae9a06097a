//! The files of runs, step by step: recorded when a step is over, looked at, laid out again.

mod diff;
mod keep;

use std::path::{Path, PathBuf};

use longrein_core::run::{Files, Run};
use longrein_protocol::RunId;
use longrein_protocol::event::LeftOut;
use longrein_runtime::history;
use longrein_runtime::world::SnapshotOf;

pub use diff::{FileChange, FilesDiff, Shown};
pub(crate) use keep::Keeper;
pub use longrein_sandbox::snapshot::{Entry, Manifest};

use crate::Longrein;
use crate::error::{AppError, AppErrorCode, sentence};

/// What a run's workspace held at an event.
#[derive(Clone, Debug)]
pub struct FilesAt {
    /// The run.
    pub run: RunId,
    /// The event up to which the log was read.
    pub at: u32,
    /// The event that recorded the files; `None` where none were recorded until then.
    pub recorded: Option<u32>,
    /// Whether something began after that which may have changed them.
    pub open: bool,
    /// Every entry.
    pub manifest: Manifest,
}

impl FilesAt {
    /// What could not be recorded, by cause.
    pub fn left_out(&self) -> Vec<LeftOut> {
        keep::left_out(&self.manifest)
    }
}

impl Longrein {
    /// What a run's workspace held at an event, as it was last recorded before it; absent: the
    /// last event.
    ///
    /// # Errors
    /// When there is no such run or event, or the log is damaged before it.
    pub async fn files(&self, run: RunId, at: Option<u32>) -> Result<FilesAt, AppError> {
        let state = self.state_at(run, at).await?;
        self.files_in(run, &state).await
    }

    /// What a run's workspace held in a state of it.
    pub(crate) async fn files_in(&self, run: RunId, state: &Run) -> Result<FilesAt, AppError> {
        Ok(FilesAt {
            run,
            at: state.seq,
            recorded: state.files.as_ref().map(|files| files.seq),
            open: state.files_touched.is_some(),
            manifest: self.manifest(state.files.as_ref()).await?,
        })
    }

    /// Lays the files of an event out in a folder, which must not be there yet.
    ///
    /// # Errors
    /// Those of [`Longrein::files`]; when the folder is there or can't be made, or a content is no
    /// longer kept. Nothing is left of it then.
    pub async fn restore(
        &self,
        run: RunId,
        at: Option<u32>,
        into: &Path,
    ) -> Result<FilesAt, AppError> {
        let files = self.files(run, at).await?;
        self.lay_out(files.manifest.clone(), into.to_owned())
            .await?;
        Ok(files)
    }

    /// What differs between the files of two events.
    ///
    /// # Errors
    /// Those of [`Longrein::files`], and when a content is no longer kept.
    pub async fn diff(&self, run: RunId, from: u32, to: u32) -> Result<FilesDiff, AppError> {
        let before = self.files(run, Some(from)).await?;
        let after = self.files(run, Some(to)).await?;
        self.compared(before, after).await
    }

    /// What differs between the files of two states.
    pub(crate) async fn compared(
        &self,
        before: FilesAt,
        after: FilesAt,
    ) -> Result<FilesDiff, AppError> {
        let contents = self.inner.world.files().contents();
        blocking(move || diff::of(before, after, &*contents)).await
    }

    /// Lays out the files that a fork of a run begins with. Of the run as it stands they are those
    /// of its folder; of an earlier event those that were recorded.
    pub(crate) async fn files_for_fork(
        &self,
        run: RunId,
        state: &Run,
        at: u32,
        into: &Path,
    ) -> Result<(), AppError> {
        let Some(created) = &state.created else {
            return Ok(());
        };
        let now = history::load(&self.inner.store, run).await?.run;
        // A log from before files were recorded has nothing but the folder.
        let as_it_is = at == now.seq || (now.files.is_none() && state.files_touched.is_some());
        let recorded = self.manifest(state.files.as_ref()).await?;
        let workspace = PathBuf::from(&created.workspace);
        let manifest = if as_it_is && workspace.is_dir() {
            let of = SnapshotOf {
                run,
                tree: run,
                workspace,
                before: None,
            };
            self.inner.world.files().look(&of, Some(recorded)).await?
        } else {
            recorded
        };
        self.lay_out(manifest, into.to_owned()).await
    }

    async fn lay_out(&self, manifest: Manifest, into: PathBuf) -> Result<(), AppError> {
        let contents = self.inner.world.files().contents();
        blocking(move || {
            longrein_sandbox::snapshot::restore(&manifest, &*contents, &into).map_err(|error| {
                AppError::new(
                    AppErrorCode::Io,
                    sentence(&error.to_string()),
                    "Name a folder that is not there yet, in one that you may write to and that has room.",
                )
            })
        })
        .await
    }

    /// The state of a run after an event.
    async fn state_at(&self, run: RunId, at: Option<u32>) -> Result<Run, AppError> {
        let mut state = Run::default();
        let within = |seq: u32| at.is_none_or(|at| seq <= at);
        let fold = &mut |event: &longrein_protocol::Event| {
            if within(event.seq) {
                state.apply(event);
            }
        };
        let damage = history::each_event(&self.inner.store, run, fold).await?;
        if let Some(damage) = damage.filter(|damage| within(damage.seq)) {
            return Err(AppError::new(
                AppErrorCode::Unreadable,
                format!("Event {} of run {run} is damaged.", damage.seq),
                "Name an event before it.",
            ));
        }
        if let Some(at) = at.filter(|at| *at == 0 || *at != state.seq) {
            return Err(AppError::usage(
                format!("Run {run} has no event {at}: it has {}.", state.seq),
                "Choose an event that longrein show lists.",
            ));
        }
        Ok(state)
    }

    async fn manifest(&self, files: Option<&Files>) -> Result<Manifest, AppError> {
        let mut parts = Vec::new();
        for part in files
            .map(|files| files.parts.as_slice())
            .unwrap_or_default()
        {
            parts.push(self.content(part).await?);
        }
        keep::put_together(&parts).map_err(|error| {
            AppError::new(
                AppErrorCode::Unreadable,
                format!("The list of files can't be read: {error}."),
                "See what is damaged with: longrein log check",
            )
        })
    }
}

/// Does what blocks on a thread that may wait.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, AppError> + Send + 'static,
) -> Result<T, AppError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| AppError::new(AppErrorCode::Io, error.to_string(), ""))?
}
