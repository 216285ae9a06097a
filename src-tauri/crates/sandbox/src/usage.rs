//! How much a workspace holds. No engine limits that everywhere, so it is looked at while commands
//! run, and they are ended when it is too much.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata};

use crate::SandboxError;

/// The shortest time between two looks.
const PAUSE: Duration = Duration::from_secs(1);
/// How many times as long as a look took is waited until the next: it must not be felt.
const PAUSE_FACTOR: u32 = 10;
/// How deep folders are entered.
const DEPTH_MAX: usize = 256;

/// How much a workspace may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsageLimits {
    /// Room on the disk, of all files together.
    pub bytes: u64,
    /// Files, folders and everything else.
    pub entries: u64,
}

/// How much it holds. Counting ends at a limit, so that one that is passed costs no more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Room on the disk.
    pub bytes: u64,
    /// Entries.
    pub entries: u64,
}

impl Usage {
    /// Whether it is more than it may be.
    pub fn is_beyond(&self, limits: &UsageLimits) -> bool {
        self.bytes > limits.bytes || self.entries > limits.entries
    }
}

/// Counts what a workspace holds, following no link.
///
/// # Errors
/// When the workspace itself can't be opened; what can't be entered inside counts as one.
pub fn measure(workspace: &Path, limits: &UsageLimits) -> Result<Usage, SandboxError> {
    let root = Dir::open_ambient_dir(workspace, ambient_authority());
    let root = root.map_err(SandboxError::file(workspace))?;
    let mut usage = Usage::default();
    count(&root, DEPTH_MAX, limits, &mut usage);
    Ok(usage)
}

fn count(folder: &Dir, depth: usize, limits: &UsageLimits, usage: &mut Usage) {
    let Ok(entries) = folder.entries() else {
        return;
    };
    for entry in entries.flatten() {
        usage.entries += 1;
        // Gone meanwhile, or not ours to look at.
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        usage.bytes = usage.bytes.saturating_add(room(&metadata));
        if usage.is_beyond(limits) {
            return;
        }
        if metadata.is_dir()
            && let Some(depth) = depth.checked_sub(1)
            && let Ok(below) = entry.open_dir()
        {
            count(&below, depth, limits, usage);
        }
    }
}

/// The room that a file takes, which is less than its length where it has holes.
#[cfg(unix)]
fn room(metadata: &Metadata) -> u64 {
    use cap_std::fs::MetadataExt;
    /// The size of the blocks that the system counts.
    const BLOCK_BYTES: u64 = 512;
    metadata.blocks().saturating_mul(BLOCK_BYTES)
}

#[cfg(not(unix))]
fn room(metadata: &Metadata) -> u64 {
    metadata.len()
}

/// Waits until a workspace holds more than it may, however long that takes. Whoever calls it ends
/// the commands then, and drops it when they have ended by themselves.
///
/// # Errors
/// When the workspace itself can't be opened any more.
pub async fn beyond(workspace: PathBuf, limits: UsageLimits) -> Result<Usage, SandboxError> {
    loop {
        let begun = Instant::now();
        let looked_at = workspace.clone();
        let counted = tokio::task::spawn_blocking(move || measure(&looked_at, &limits)).await;
        let usage = counted.map_err(|error| SandboxError::file(&workspace)(error.into()))??;
        if usage.is_beyond(&limits) {
            return Ok(usage);
        }
        tokio::time::sleep(PAUSE.max(begun.elapsed() * PAUSE_FACTOR)).await;
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;

    const MANY: UsageLimits = UsageLimits {
        bytes: 1 << 30,
        entries: 1_000,
    };

    #[test]
    fn room_is_counted_and_holes_are_none() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("a")).expect("a folder");
        fs::write(folder.path().join("a/full"), vec![1; 1 << 20]).expect("ours");
        let sparse = fs::File::create(folder.path().join("sparse")).expect("ours");
        sparse.set_len(1 << 40).expect("it takes no room");
        let usage = measure(folder.path(), &MANY).expect("it is there");
        assert_eq!(usage.entries, 3);
        assert!((1 << 20..2 << 20).contains(&usage.bytes), "{usage:?}");
    }

    #[test]
    fn counting_ends_at_a_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        for n in 0..50 {
            fs::write(folder.path().join(format!("f{n}")), "x").expect("ours");
        }
        let few = UsageLimits {
            entries: 10,
            ..MANY
        };
        let usage = measure(folder.path(), &few).expect("it is there");
        assert_eq!(usage.entries, 11);
        assert!(usage.is_beyond(&few) && !usage.is_beyond(&MANY));
    }

    #[test]
    fn a_link_out_is_one_entry() {
        let folder = tempfile::tempdir().expect("a folder");
        std::os::unix::fs::symlink("/", folder.path().join("out")).expect("ours");
        assert_eq!(
            measure(folder.path(), &MANY).expect("it is there").entries,
            1
        );
    }

    #[tokio::test(start_paused = true)]
    async fn the_watch_ends_when_it_is_too_much() {
        let folder = tempfile::tempdir().expect("a folder");
        let few = UsageLimits { entries: 2, ..MANY };
        let mut watch = Box::pin(beyond(folder.path().to_owned(), few));
        let waited = tokio::time::timeout(Duration::from_secs(60), &mut watch).await;
        assert!(waited.is_err(), "there is room");
        for n in 0..3 {
            fs::write(folder.path().join(format!("f{n}")), "x").expect("ours");
        }
        assert_eq!(watch.await.expect("it is there").entries, 3);
    }
}
