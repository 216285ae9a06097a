//! One driver per run tree: a lock of the operating system, so that it ends with its process,
//! and a fencing number in the database, so that a driver that was ended can't act any more.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use longrein_protocol::{Millis, RunId};
use serde::{Deserialize, Serialize};

use crate::file_system;
use crate::groups::Noted;
use crate::log::{Fence, LogError};
use crate::process::{self, Handle};
use crate::store::Store;

/// How long a lock may be held by someone who has not written who he is.
const SETTLE_WAIT: Duration = Duration::from_secs(2);
const SETTLE_POLL: Duration = Duration::from_millis(5);

/// How long a process may take to end after it was killed.
const END_WAIT: Duration = Duration::from_secs(10);

/// The most that is read of a lock file.
const HOLDER_LIMIT_BYTES: u64 = 64 << 10;

/// The most letters of its command line that a holder notes.
const COMMAND_LIMIT: usize = 256;

/// Who drives a run tree.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Holder {
    /// The process.
    pub pid: u32,
    /// When it started, in clock ticks since the machine did; tells it from a later process with
    /// the same number.
    pub start_time: u64,
    /// Since when it drives the tree.
    pub since_ms: Millis,
    /// The machine.
    pub host: String,
    /// The command's name and its first words.
    pub command: String,
}

impl Holder {
    /// This process.
    fn of_this_process() -> Self {
        let pid = std::process::id();
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            pid,
            start_time: i32::try_from(pid)
                .ok()
                .and_then(process::see)
                .map_or(0, |seen| seen.start_time),
            since_ms: now.as_millis().min(Millis::MAX as u128) as Millis,
            host: process::host(),
            command: command(),
        }
    }

    /// Whether it is known to live on this machine.
    fn lives(&self) -> bool {
        let seen = i32::try_from(self.pid).ok().and_then(process::see);
        self.host == process::host()
            && seen.is_some_and(|seen| seen.start_time == self.start_time && !seen.ended)
    }
}

/// The name of the program and what it was asked, without what may be a person's words.
fn command() -> String {
    let mut words = std::env::args();
    let program = words.next().unwrap_or_default();
    let name = Path::new(&program)
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let text = words
        .next()
        .map_or(name.clone(), |verb| format!("{name} {verb}"));
    text.chars().take(COMMAND_LIMIT).collect()
}

/// What can go wrong with the lock of a tree.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LockError {
    /// Another process drives the tree, or this one does already.
    #[error("{}", held(.tree, .holder.as_ref()))]
    Held {
        /// The tree.
        tree: RunId,
        /// Who; `None` when the holder could not be read.
        holder: Option<Holder>,
    },
    /// The holder was killed and has not ended: it waits in the kernel, for a disk or a network.
    #[error("process {pid} has not ended {seconds} s after it was killed")]
    StillThere {
        /// The process.
        pid: u32,
        /// How long was waited.
        seconds: u64,
    },
    /// It can't be ended from here.
    #[error("process {pid} can't be ended: {why}")]
    CannotEnd {
        /// The process.
        pid: u32,
        /// Why.
        why: String,
    },
    /// The file or the database.
    #[error(transparent)]
    Log(#[from] LogError),
}

fn held(tree: &RunId, holder: Option<&Holder>) -> String {
    match holder {
        Some(holder) => format!(
            "run {tree} is driven by process {} ({})",
            holder.pid, holder.command
        ),
        None => format!("run {tree} is driven by another process"),
    }
}

/// The lock of a run tree; held until it is dropped or the process ends. It is not inherited by
/// programs that the process executes.
#[derive(Debug)]
pub struct TreeLock {
    file: File,
    tree: RunId,
}

impl TreeLock {
    /// Takes the lock of a tree, and with it the next fencing number. A lock that is held is
    /// never taken: see [`end_holder`].
    ///
    /// # Errors
    /// [`LockError::Held`], [`LockError::Log`].
    pub async fn acquire(store: &Store, tree: RunId) -> Result<(Self, Fence), LockError> {
        let path = lock_path(store.data_dir(), tree);
        let attempt = tokio::task::spawn_blocking(move || Self::take(&path, tree));
        let lock = attempt
            .await
            .unwrap_or(Err(LockError::Log(LogError::Closed)))?;
        let fence = store.take_fence(tree).await?;
        Ok((lock, fence))
    }

    /// Who drives a tree; `None` when nobody does.
    pub fn holder(data_dir: &Path, tree: RunId) -> Option<Holder> {
        holder_in(&lock_path(data_dir, tree))
    }

    /// The tree.
    pub fn tree(&self) -> RunId {
        self.tree
    }

    fn take(path: &Path, tree: RunId) -> Result<Self, LockError> {
        let in_file = |error: io::Error| LockError::Log(crate::fault::file(path, &error));
        let file = file_system::private_file(path).map_err(in_file)?;
        let begin = Instant::now();
        while !file_system::try_lock(&file).map_err(in_file)? {
            // Someone who looks for the holder keeps the lock for a moment, and a new holder
            // needs one to write his name.
            let holder = read_holder(path);
            let known = holder.as_ref().is_some_and(Holder::lives);
            if known || begin.elapsed() > SETTLE_WAIT {
                return Err(LockError::Held { tree, holder });
            }
            std::thread::sleep(SETTLE_POLL);
        }
        let mut lock = Self { file, tree };
        lock.write(&Holder::of_this_process()).map_err(in_file)?;
        Ok(lock)
    }

    fn write(&mut self, holder: &Holder) -> io::Result<()> {
        let text = serde_json::to_vec(holder)?;
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&text)
    }
}

impl Drop for TreeLock {
    fn drop(&mut self) {
        // A name that stays is found to be stale by whoever reads it.
        let _ = self.file.set_len(0);
    }
}

fn lock_path(data_dir: &Path, tree: RunId) -> PathBuf {
    data_dir.join("locks").join(format!("{tree}.lock"))
}

fn read_holder(path: &Path) -> Option<Holder> {
    let mut text = String::new();
    File::open(path)
        .ok()?
        .take(HOLDER_LIMIT_BYTES)
        .read_to_string(&mut text)
        .ok()?;
    serde_json::from_str(&text).ok()
}

fn holder_in(path: &Path) -> Option<Holder> {
    let holder = read_holder(path)?;
    if holder.lives() {
        return Some(holder);
    }
    // Not to be seen from here: the lock itself knows. It is let go at once.
    let file = File::open(path).ok()?;
    let free = file_system::try_lock(&file).unwrap_or(true);
    (!free).then_some(holder)
}

/// Every tree that a process drives.
pub fn driven_by(data_dir: &Path, pid: u32) -> Vec<RunId> {
    let Ok(entries) = fs::read_dir(data_dir.join("locks")) else {
        return Vec::new();
    };
    let tree = |entry: fs::DirEntry| -> Option<RunId> {
        let name = entry.file_name();
        let tree = name.to_str()?.strip_suffix(".lock")?.parse().ok()?;
        holder_in(&entry.path())
            .filter(|holder| holder.pid == pid)
            .map(|_| tree)
    };
    let mut trees: Vec<RunId> = entries.flatten().filter_map(tree).collect();
    trees.sort_unstable();
    trees
}

/// Ends the process that holds a lock, and the servers that it started. Returns when it is gone,
/// so that its locks are free; works on one that is stopped. A later process with the same
/// number is left alone. Blocks for at most ten seconds.
///
/// # Errors
/// [`LockError::CannotEnd`], [`LockError::StillThere`], [`LockError::Log`].
pub fn end_holder(data_dir: &Path, holder: &Holder) -> Result<(), LockError> {
    let refuse = |why: String| LockError::CannotEnd {
        pid: holder.pid,
        why,
    };
    if holder.pid == std::process::id() {
        return Err(refuse("it is this process".to_owned()));
    }
    if holder.host != process::host() {
        return Err(refuse(format!("it runs on {}", holder.host)));
    }
    let pid = i32::try_from(holder.pid).map_err(|error| refuse(error.to_string()))?;
    // Looked at before it is killed: leaders of groups may end with it, and then nothing would
    // tell their groups from others.
    let noted = Noted::of(data_dir, holder.pid);
    let handle = Handle::take(pid, holder.start_time).map_err(|error| refuse(error.to_string()))?;
    if let Some(handle) = handle {
        handle.kill().map_err(|error| refuse(error.to_string()))?;
        if !handle
            .wait(END_WAIT)
            .map_err(|error| refuse(error.to_string()))?
        {
            return Err(LockError::StillThere {
                pid: holder.pid,
                seconds: END_WAIT.as_secs(),
            });
        }
    }
    noted.end()?;
    Ok(())
}
