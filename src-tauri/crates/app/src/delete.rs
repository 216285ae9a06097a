//! Deleting runs for good, freeing what nobody refers to any more, and what takes space.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use longrein_protocol::event::Payload;
use longrein_protocol::{Body, RunId};
use longrein_runtime::history;
use longrein_sandbox::snapshot::Hash;
use longrein_store::TreeLock;
use longrein_store::file_system::bytes_beneath;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Longrein;
use crate::error::{AppError, AppErrorCode, of_lock};
use crate::files::blocking;

/// Runs that are listed at once.
const PAGE_RUNS: u32 = 500;
/// A content of a file that is younger may belong to a step that is being recorded.
const YOUNG: Duration = Duration::from_secs(3_600);
/// How deep folders are looked into when their bytes are counted.
const FOLDERS_DEPTH: u32 = 64;
/// The most runs whose space is told: the largest.
const RUNS_TOLD: usize = 200;

/// What was deleted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct DeletedRuns {
    /// The run, and its children.
    pub runs: Vec<String>,
    /// Contents of the log that no other run refers to, and that went with them.
    pub contents: u32,
    /// What of their files' contents was freed; `None` where nobody knows what can be, since the log
    /// of another run is damaged.
    pub freed: Option<Freed>,
}

/// What was freed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Freed {
    /// How many contents of files.
    pub files: u32,
    /// Their bytes on disk.
    #[cfg_attr(feature = "bindings", specta(type = u32))]
    pub bytes: u64,
}

/// What takes space, in bytes. The bindings call them `u32`, since a larger integer has no name
/// there; a `number` of the window holds them exactly.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Storage {
    /// The log: the database and the contents beside it.
    #[cfg_attr(feature = "bindings", specta(type = u32))]
    pub log: u64,
    /// The contents of files, as they were step by step.
    #[cfg_attr(feature = "bindings", specta(type = u32))]
    pub files: u64,
    /// The folders that runs work in.
    #[cfg_attr(feature = "bindings", specta(type = u32))]
    pub workspaces: u64,
    /// The indexes of libraries and of the search.
    #[cfg_attr(feature = "bindings", specta(type = u32))]
    pub indexes: u64,
    /// All of it.
    #[cfg_attr(feature = "bindings", specta(type = u32))]
    pub total: u64,
    /// The runs that take most, with what is theirs alone.
    pub runs: Vec<RunStorage>,
    /// How many further runs there are.
    pub more: u32,
}

/// What one run takes. Contents that it shares with others are nobody's.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct RunStorage {
    /// The run.
    pub run: String,
    /// The first line of the question.
    pub title: String,
    /// Its events, in bytes.
    #[cfg_attr(feature = "bindings", specta(type = u32))]
    pub log: u64,
    /// Its folder, in bytes.
    #[cfg_attr(feature = "bindings", specta(type = u32))]
    pub workspace: u64,
}

impl Longrein {
    /// Deletes a run for good, with its children, its folder, and what nobody else refers to. Forks
    /// of it stay.
    ///
    /// # Errors
    /// When there is no such run, it is a child, a process drives it, or the disk refuses.
    pub async fn delete(&self, run: RunId) -> Result<DeletedRuns, AppError> {
        let line = self.run_line(run).await?;
        if let Some(root) = line.root.filter(|root| *root != line.run) {
            return Err(AppError::usage(
                format!("Run {run} is a child: it is a part of run {root}."),
                format!("Delete the whole with: longrein delete {root}"),
            ));
        }
        let taken = TreeLock::acquire(&self.inner.store, run).await;
        let (lock, fence) = taken.map_err(|error| of_lock(run, error))?;
        let deleted = self.inner.store.delete(fence).await?;
        drop(lock);
        self.inner.pasts.forget(&deleted.runs);
        let (index, runs) = (self.search_index(), deleted.runs.clone());
        blocking(move || Ok(index.forget(&runs)?)).await?;
        let folders = deleted.runs.iter().chain([&run]);
        let folders: BTreeSet<PathBuf> = folders.map(|run| self.workspace(*run)).collect();
        blocking(move || folders.into_iter().try_for_each(remove_folder)).await?;
        let freed = match self.free().await {
            Ok(freed) => Some(freed),
            Err(error) if error.code == AppErrorCode::Unreadable => None,
            Err(error) => return Err(error),
        };
        Ok(DeletedRuns {
            runs: deleted.runs.iter().map(RunId::to_string).collect(),
            contents: deleted.contents,
            freed,
        })
    }

    /// Frees the contents of files that no run's record refers to any more. Runs may go on meanwhile:
    /// what was kept a short while ago stays.
    ///
    /// # Errors
    /// When a log can't be read whole: nothing is freed then.
    pub async fn free(&self) -> Result<Freed, AppError> {
        let mut used: HashSet<Hash> = HashSet::new();
        for run in self.all_runs().await? {
            self.used_by(run, &mut used).await?;
        }
        let contents = self.inner.world.files().contents();
        let before = SystemTime::now()
            .checked_sub(YOUNG)
            .unwrap_or(SystemTime::UNIX_EPOCH);
        let swept = blocking(move || {
            contents.sweep(&used, before).map_err(|error| {
                AppError::new(
                    AppErrorCode::Io,
                    format!("Contents of files can't be freed: {error}."),
                    "Check that you may write to the folder files in the data folder.",
                )
            })
        });
        let (files, bytes) = swept.await?;
        Ok(Freed { files, bytes })
    }

    /// What takes space.
    ///
    /// # Errors
    /// What reading gives.
    pub async fn storage(&self) -> Result<Storage, AppError> {
        let bytes = self.inner.store.bytes_of_runs().await?;
        let mut lines = Vec::new();
        let mut before = None;
        loop {
            let page = self.inner.store.runs(PAGE_RUNS, before).await?;
            let is_last = page.len() < PAGE_RUNS as usize;
            before = page.last().and_then(|line| line.run.parse().ok());
            lines.extend(page);
            if is_last {
                break;
            }
        }
        let (paths, log) = (self.inner.paths.clone(), self.inner.store.bytes_on_disk());
        let search = self.search_index().bytes_on_disk();
        blocking(move || {
            let beneath = |path: &std::path::Path| bytes_beneath(path, FOLDERS_DEPTH);
            let mut runs: Vec<RunStorage> = lines
                .into_iter()
                .map(|line| {
                    let run: Option<RunId> = line.run.parse().ok();
                    let workspace = run.map(|run| paths.workspace(run));
                    RunStorage {
                        log: run.and_then(|run| bytes.get(&run).copied()).unwrap_or(0),
                        workspace: workspace.map_or(0, |workspace| beneath(&workspace)),
                        run: line.run,
                        title: line.title,
                    }
                })
                .collect();
            runs.sort_by_key(|run| std::cmp::Reverse(run.log + run.workspace));
            let more = u32::try_from(runs.len().saturating_sub(RUNS_TOLD)).unwrap_or(u32::MAX);
            runs.truncate(RUNS_TOLD);
            let files = beneath(&paths.files());
            let workspaces = beneath(&paths.work);
            let indexes = beneath(&paths.library_index()) + search;
            Ok(Storage {
                log,
                files,
                workspaces,
                indexes,
                total: log + files + workspaces + indexes,
                runs,
                more,
            })
        })
        .await
    }

    async fn all_runs(&self) -> Result<Vec<RunId>, AppError> {
        let mut all = Vec::new();
        let mut before = None;
        loop {
            let lines = self.inner.store.runs(PAGE_RUNS, before).await?;
            for line in &lines {
                let Ok(run) = line.run.parse::<RunId>() else {
                    continue;
                };
                before = Some(run);
                all.push(run);
            }
            if lines.len() < PAGE_RUNS as usize {
                return Ok(all);
            }
        }
    }

    /// Notes every content of files that a run's log refers to.
    async fn used_by(&self, run: RunId, used: &mut HashSet<Hash>) -> Result<(), AppError> {
        let mut parts: HashMap<_, Body> = HashMap::new();
        let visit = &mut |event: &longrein_protocol::Event| {
            if let Payload::SnapshotTaken(taken) = &event.payload {
                parts.insert(taken.files.hash(), taken.files.clone());
            }
        };
        let damage = history::each_event(&self.inner.store, run, visit).await?;
        if let Some(damage) = damage {
            return Err(AppError::new(
                AppErrorCode::Unreadable,
                format!(
                    "Event {} of run {run} is damaged, so nobody knows what it refers to.",
                    damage.seq
                ),
                "Nothing was freed. Delete that run if you don't need it any more.",
            ));
        }
        for part in parts.values() {
            let bytes = self.content(part).await?;
            let list: Value = serde_json::from_slice(&bytes).map_err(|error| {
                AppError::new(
                    AppErrorCode::Unreadable,
                    format!("A list of files of run {run} can't be read: {error}."),
                    "Nothing was freed. See what is damaged with: longrein log check",
                )
            })?;
            note_hashes(&list, used);
        }
        Ok(())
    }
}

/// Every text that is a hash may be one of a content: to keep too much does no harm.
fn note_hashes(value: &Value, used: &mut HashSet<Hash>) {
    match value {
        Value::String(text) => used.extend(text.parse::<Hash>()),
        Value::Array(items) => items.iter().for_each(|item| note_hashes(item, used)),
        Value::Object(fields) => fields.values().for_each(|value| note_hashes(value, used)),
        _ => {}
    }
}

/// Removes a run's folder; a link in its place is removed itself.
fn remove_folder(folder: PathBuf) -> Result<(), AppError> {
    let removed = match fs::symlink_metadata(&folder) {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(&folder),
        Ok(_) => fs::remove_file(&folder),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    };
    removed.map_err(|error| {
        AppError::new(
            AppErrorCode::Io,
            format!(
                "The run is deleted, but its folder {} can't be: {error}.",
                folder.display()
            ),
            "Remove the folder yourself.",
        )
    })
}
