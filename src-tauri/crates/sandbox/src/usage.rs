//! How much a workspace holds. No engine limits that everywhere, so it is looked at while commands
//! run, and they are ended when it is too much.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::SandboxError;

/// The shortest time between two looks.
const PAUSE: Duration = Duration::from_secs(1);
/// How many times as long as a look took is waited until the next: it must not be felt.
const PAUSE_FACTOR: u32 = 10;
/// How many times as many entries as there may be are counted: beyond, it is as good as known.
const COUNTED_FACTOR: u64 = 4;
/// What a command that tidies up may itself write meanwhile.
const SLACK_BYTES: u64 = 1 << 20;
/// The same of entries.
const SLACK_ENTRIES: u64 = 100;
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

/// How much it holds.
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

/// Counts what a workspace holds, following no link, up to so many entries.
///
/// # Errors
/// When the workspace itself can't be opened; what can't be entered inside counts as one.
pub fn measure(workspace: &Path, entries_max: u64) -> Result<Usage, SandboxError> {
    let root = Dir::open_ambient_dir(workspace, ambient_authority());
    let root = root.map_err(SandboxError::file(workspace))?;
    let mut usage = Usage::default();
    count(&root, DEPTH_MAX, entries_max, &mut usage);
    Ok(usage)
}

fn count(folder: &Dir, depth: usize, entries_max: u64, usage: &mut Usage) {
    let Ok(entries) = folder.entries() else {
        return;
    };
    for entry in entries.flatten() {
        if usage.entries > entries_max {
            return;
        }
        usage.entries += 1;
        // Gone meanwhile, or not ours to look at.
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        usage.bytes = usage.bytes.saturating_add(room(&metadata));
        if metadata.is_dir()
            && let Some(depth) = depth.checked_sub(1)
            && let Ok(below) = entry.open_dir()
        {
            count(&below, depth, entries_max, usage);
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

/// Looks at a workspace again and again, from before a command begins until this is dropped.
///
/// What holds too much already has to become less, and that takes commands too: one that begins so
/// may go on as long as nothing grows.
pub struct Watch {
    limits: UsageLimits,
    seen: watch::Receiver<Seen>,
    looking: JoinHandle<()>,
}

/// What was seen last.
#[derive(Default)]
struct Seen {
    usage: Option<Usage>,
    /// Why the command is to end.
    over: Option<Over>,
}

/// Why a command is to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Over {
    /// The workspace holds that much.
    Full(Usage),
    /// It can't be looked at any more, for that reason.
    Unseen(String),
}

impl Watch {
    /// Begins to look.
    pub fn begin(workspace: PathBuf, limits: UsageLimits) -> Self {
        let (telling, seen) = watch::channel(Seen::default());
        Self {
            limits,
            seen,
            looking: tokio::spawn(look(workspace, limits, telling)),
        }
    }

    /// Waits until the workspace holds more than it may and than it did, however long that takes.
    /// Whoever calls it ends the command then.
    pub async fn beyond(&mut self) -> Over {
        let seen = self.seen.wait_for(|seen| seen.over.is_some()).await;
        let over = seen.ok().and_then(|seen| seen.over.clone());
        match over {
            Some(over) => over,
            // Nobody looks any more.
            None => std::future::pending().await,
        }
    }

    /// What it held when it was last looked at, if that was more than it may.
    pub fn is_over(&self) -> Option<Usage> {
        let usage = self.seen.borrow().usage;
        usage.filter(|usage| usage.is_beyond(&self.limits))
    }

    /// The limits.
    pub fn limits(&self) -> &UsageLimits {
        &self.limits
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.looking.abort();
    }
}

async fn look(workspace: PathBuf, limits: UsageLimits, telling: watch::Sender<Seen>) {
    let mut allowed = Allowed::new(limits);
    loop {
        let begun = Instant::now();
        let looked = now(workspace.clone(), limits).await;
        let over = match &looked {
            Ok(usage) if allowed.takes(*usage) => None,
            Ok(usage) => Some(Over::Full(*usage)),
            Err(error) => Some(Over::Unseen(error.to_string())),
        };
        let is_over = over.is_some();
        telling.send_modify(|seen| {
            seen.usage = looked.ok();
            seen.over = over;
        });
        if is_over {
            return;
        }
        tokio::time::sleep(PAUSE.max(begun.elapsed() * PAUSE_FACTOR)).await;
    }
}

/// Looks once, without waiting on a thread that others need.
///
/// # Errors
/// When the workspace can't be opened.
pub async fn now(workspace: PathBuf, limits: UsageLimits) -> Result<Usage, SandboxError> {
    let most = limits.entries.saturating_mul(COUNTED_FACTOR);
    let looked_at = workspace.clone();
    let counted = tokio::task::spawn_blocking(move || measure(&looked_at, most)).await;
    counted.map_err(|error| SandboxError::file(&workspace)(error.into()))?
}

/// What a workspace may hold just now.
struct Allowed {
    limits: UsageLimits,
    /// `None` before the first look.
    most: Option<UsageLimits>,
}

impl Allowed {
    fn new(limits: UsageLimits) -> Self {
        Self { limits, most: None }
    }

    /// Whether it may hold that. What was too much to begin with may not become more, and what has
    /// become less may not become more again.
    fn takes(&mut self, usage: Usage) -> bool {
        if self.most.is_some_and(|most| usage.is_beyond(&most)) {
            return false;
        }
        let so_far = self.most.unwrap_or(UsageLimits {
            bytes: u64::MAX,
            entries: u64::MAX,
        });
        let room = |used: u64, slack: u64, limit: u64, most: u64| match used > limit {
            true => used.saturating_add(slack).min(most),
            false => limit,
        };
        let limits = self.limits;
        self.most = Some(UsageLimits {
            bytes: room(usage.bytes, SLACK_BYTES, limits.bytes, so_far.bytes),
            entries: room(usage.entries, SLACK_ENTRIES, limits.entries, so_far.entries),
        });
        true
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
        let usage = measure(folder.path(), MANY.entries).expect("it is there");
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
        let usage = measure(folder.path(), few.entries).expect("it is there");
        assert_eq!(usage.entries, 11);
        assert!(usage.is_beyond(&few) && !usage.is_beyond(&MANY));
    }

    #[test]
    fn a_link_out_is_one_entry() {
        let folder = tempfile::tempdir().expect("a folder");
        std::os::unix::fs::symlink("/", folder.path().join("out")).expect("ours");
        assert_eq!(
            measure(folder.path(), MANY.entries)
                .expect("it is there")
                .entries,
            1
        );
    }

    #[tokio::test(start_paused = true)]
    async fn the_watch_ends_when_it_is_too_much() {
        let folder = tempfile::tempdir().expect("a folder");
        let few = UsageLimits { entries: 2, ..MANY };
        let mut watch = Watch::begin(folder.path().to_owned(), few);
        let waited = tokio::time::timeout(Duration::from_secs(60), watch.beyond()).await;
        assert!(waited.is_err(), "there is room");
        for n in 0..3 {
            fs::write(folder.path().join(format!("f{n}")), "x").expect("ours");
        }
        let Over::Full(usage) = watch.beyond().await else {
            panic!("it is there");
        };
        assert_eq!((usage.entries, watch.is_over()), (3, Some(usage)));
    }

    #[test]
    fn what_was_too_much_to_begin_with_may_become_less_and_never_more() {
        let limits = UsageLimits {
            bytes: 10 << 20,
            entries: 1_000,
        };
        let holds = |mebibytes: u64, entries| Usage {
            bytes: mebibytes << 20,
            entries,
        };
        let mut allowed = Allowed::new(limits);
        assert!(allowed.takes(holds(30, 5_000)), "it began so");
        assert!(
            allowed.takes(holds(31, 5_050)),
            "what tidies up writes a little"
        );
        assert!(allowed.takes(holds(20, 400)));
        assert!(allowed.takes(holds(9, 900)));
        assert!(
            !allowed.takes(holds(11, 900)),
            "now it is held to its limits"
        );
        let mut allowed = Allowed::new(limits);
        assert!(allowed.takes(holds(30, 10)));
        assert!(!allowed.takes(holds(30, 1_001)), "each limit for itself");
        let mut allowed = Allowed::new(limits);
        assert!(allowed.takes(holds(30, 10)) && allowed.takes(holds(20, 10)));
        assert!(!allowed.takes(holds(22, 10)), "it had become less");
    }
}
