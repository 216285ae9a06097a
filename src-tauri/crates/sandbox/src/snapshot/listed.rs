//! What folders of contents hold, listed once and believed for as long as a folder stays as it was:
//! so it costs a look at each folder, and not at each content.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::Hash;

/// The most names of one folder that are kept in mind; what a larger one holds is looked up one by
/// one. There are 256 folders, so all of it is some megabytes.
const NAMES_MAX: usize = 1_024;
/// A folder that changed so shortly before it was listed may change again at the same time.
const FRESH: Duration = Duration::from_secs(2);

/// What a folder held when it was listed.
#[derive(Debug)]
pub(super) struct Listed {
    changed: Changed,
    hashes: HashSet<Hash>,
}

/// By what it is known that nothing came into a folder or left it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Changed {
    file: u64,
    at: SystemTime,
}

impl Listed {
    /// Lists the folder that is named by the first characters of hashes. `None` where it can't be
    /// relied on later.
    pub(super) fn of(folder: &Path) -> Option<Self> {
        let changed = Changed::of(folder).ok()?;
        let is_old = SystemTime::now().duration_since(changed.at);
        if is_old.is_ok_and(|age| age <= FRESH) || changed.at > SystemTime::now() {
            return None;
        }
        let first = folder.file_name()?.to_str()?;
        let mut hashes = HashSet::new();
        for entry in fs::read_dir(folder).ok()? {
            let entry = entry.ok()?;
            if hashes.len() >= NAMES_MAX {
                return None;
            }
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            let name = entry.file_name();
            let hash = name.to_str().map(|rest| format!("{first}{rest}").parse());
            if let (true, Some(Ok(hash))) = (is_file, hash) {
                hashes.insert(hash);
            }
        }
        Some(Self { changed, hashes })
    }

    /// Whether the folder is what it was.
    pub(super) fn is_true(&self, folder: &Path) -> bool {
        Changed::of(folder).is_ok_and(|now| now == self.changed)
    }

    /// Whether it held a content.
    pub(super) fn holds(&self, hash: Hash) -> bool {
        self.hashes.contains(&hash)
    }
}

impl Changed {
    #[cfg(unix)]
    fn of(folder: &Path) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt;
        let metadata = fs::metadata(folder)?;
        Ok(Self {
            file: metadata.ino(),
            at: metadata.modified()?,
        })
    }

    /// Where folders have no number, they are looked into anew.
    #[cfg(not(unix))]
    fn of(_folder: &Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
