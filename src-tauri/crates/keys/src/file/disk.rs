//! The encrypted file on the disk: read whole, replaced whole or not at all.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::KeyError;
use crate::error::cause;

/// The longest file that is read, in bytes: a thousand long secrets fit.
const FILE_MAX_BYTES: u64 = 32 * 1024 * 1024;

/// How long another process may write before it counts as hung.
const LOCK_LIMIT: Duration = Duration::from_secs(10);

/// How often a lock that is held is tried again.
const LOCK_POLL: Duration = Duration::from_millis(20);

/// Where the file lies.
pub(super) struct Place {
    folder: PathBuf,
    name: &'static str,
}

/// Only its holder may replace the file; it is let go when this goes.
pub(super) struct Lock(#[expect(dead_code, reason = "the lock lasts as long as it is open")] File);

impl Place {
    pub(super) fn new(folder: &Path, name: &'static str) -> Self {
        Self {
            folder: folder.to_owned(),
            name,
        }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.join(self.name)
    }

    /// The file's bytes; `None` when there is no file.
    pub(super) fn read(&self) -> Result<Option<Vec<u8>>, KeyError> {
        let file = match File::open(self.path()) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.refused("read", &error)),
        };
        let mut bytes = Vec::new();
        file.take(FILE_MAX_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| self.refused("read", &error))?;
        if bytes.len() as u64 > FILE_MAX_BYTES {
            let why = "it is longer than any file of secrets";
            let path = self.path();
            return Err(KeyError::Damaged { path, why });
        }
        Ok(Some(bytes))
    }

    /// Waits until no other process replaces the file.
    pub(super) fn lock(&self) -> Result<Lock, KeyError> {
        let path = self.folder.join(format!("{}.lock", self.name));
        let file = private()
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(|error| self.refused("written", &error))?;
        let until = Instant::now() + LOCK_LIMIT;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Lock(file)),
                Err(TryLockError::WouldBlock) if Instant::now() < until => {
                    thread::sleep(LOCK_POLL);
                }
                Err(TryLockError::WouldBlock) => return Err(KeyError::Held { path: self.path() }),
                Err(TryLockError::Error(error)) => return Err(self.refused("written", &error)),
            }
        }
    }

    /// Writes beside the old file and moves the new one into its place, both on the disk before
    /// this returns.
    pub(super) fn replace(&self, bytes: &[u8], _lock: &Lock) -> Result<(), KeyError> {
        let fresh = self.folder.join(format!(".{}.new", self.name));
        let written = write_new(&fresh, bytes)
            .and_then(|()| std::fs::rename(&fresh, self.path()))
            .and_then(|()| sync_folder(&self.folder));
        written.map_err(|error| {
            // After the move there is none any more.
            let _ = std::fs::remove_file(&fresh);
            self.refused("written", &error)
        })
    }

    fn refused(&self, deed: &'static str, error: &io::Error) -> KeyError {
        KeyError::File {
            path: self.path(),
            deed,
            cause: cause(error),
        }
    }
}

fn write_new(fresh: &Path, bytes: &[u8]) -> io::Result<()> {
    // One that a killed process left behind is in the way; whoever holds the lock may remove it.
    let _ = std::fs::remove_file(fresh);
    let mut file = private().create_new(true).open(fresh)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// For its owner only.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Elsewhere a folder can't be opened as a file, and a move is durable by itself.
#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}
