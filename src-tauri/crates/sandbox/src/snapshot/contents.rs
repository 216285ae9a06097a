//! Where contents are kept, each once.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::listed::Listed;

/// How many characters of a hash name the folder: its first byte.
const FOLDER_CHARS: usize = 2;
/// The bytes that are read at a time.
const PIECE_BYTES: usize = 128 * 1024;

/// The BLAKE3 hash of a content, in hexadecimal where it is text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Hash([u8; 32]);

impl Hash {
    /// Of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// Of what a reader gives, to its end or to beyond the limit; and its length.
    pub(super) fn read(from: &mut dyn Read, limit_bytes: u64) -> io::Result<(Self, u64)> {
        let mut hasher = blake3::Hasher::new();
        let mut from = from.take(limit_bytes.saturating_add(1));
        hasher.update_reader(&mut from)?;
        Ok((Self(*hasher.finalize().as_bytes()), hasher.count()))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&blake3::Hash::from(self.0).to_hex())
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{self}")
    }
}

impl FromStr for Hash {
    type Err = blake3::HexError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        blake3::Hash::from_hex(text).map(|hash| Self(*hash.as_bytes()))
    }
}

impl TryFrom<String> for Hash {
    type Error = blake3::HexError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Hash> for String {
    fn from(hash: Hash) -> Self {
        hash.to_string()
    }
}

/// What keeps contents by their hash: a folder, or the store of blobs.
pub trait Contents {
    /// Keeps what a reader gives, to its end or to `limit_bytes`, and says its hash and length.
    /// Longer ones are not kept: the length is beyond the limit then.
    ///
    /// # Errors
    /// When reading or keeping fails.
    fn keep(&self, from: &mut dyn Read, limit_bytes: u64) -> io::Result<(Hash, u64)>;

    /// Makes durable what was kept since this was last called.
    ///
    /// # Errors
    /// When the disk refuses.
    fn settle(&self) -> io::Result<()>;

    /// Which of these contents are kept.
    fn kept(&self, hashes: HashSet<Hash>) -> HashSet<Hash>;

    /// Reads a content.
    ///
    /// # Errors
    /// When it is not kept or can't be read.
    fn open(&self, hash: Hash) -> io::Result<Box<dyn Read>>;
}

/// A folder of contents, each in a file named by its hash.
#[derive(Debug)]
pub struct ContentsFolder {
    folder: PathBuf,
    /// Those that may not be on the disk yet.
    unsettled: Mutex<Vec<PathBuf>>,
    /// What its folders held, by the first byte of the hashes.
    listed: Mutex<HashMap<u8, Listed>>,
}

/// Where a content lies until it is whole.
const UNFINISHED: &str = "unfinished";
/// So many contents are made durable one by one; more of them with everything else of the disk.
const SYNCED_ALONE: usize = 16;

/// Numbers the unfinished files of this process.
static COUNT: AtomicU64 = AtomicU64::new(0);

impl ContentsFolder {
    /// The folder; it is made when something is kept.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            unsettled: Mutex::default(),
            listed: Mutex::default(),
        }
    }

    /// Removes the contents that are not in `used` and were kept last before a time. Returns how many
    /// those were, and their bytes.
    ///
    /// # Errors
    /// When the folder can't be read or changed.
    pub fn sweep(&self, used: &HashSet<Hash>, before: SystemTime) -> io::Result<(u32, u64)> {
        let (mut count, mut bytes) = (0, 0);
        let folders = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((0, 0)),
            folders => folders?,
        };
        for folder in folders {
            let folder = folder?;
            let begin = folder.file_name();
            if !folder.file_type()?.is_dir() || begin == UNFINISHED {
                continue;
            }
            for file in fs::read_dir(folder.path())? {
                let file = file?;
                let rest = file.file_name();
                let name = format!("{}{}", begin.to_string_lossy(), rest.to_string_lossy());
                let Ok(hash) = name.parse::<Hash>() else {
                    continue;
                };
                let meta = file.metadata()?;
                if used.contains(&hash) || meta.modified()? >= before {
                    continue;
                }
                fs::remove_file(file.path())?;
                count += 1;
                bytes += meta.len();
            }
        }
        Ok((count, bytes))
    }

    fn path(&self, hash: Hash) -> PathBuf {
        let name = hash.to_string();
        let (folder, rest) = name.split_at(FOLDER_CHARS);
        self.folder.join(folder).join(rest)
    }

    fn unsettled(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        // A panic elsewhere leaves nothing half done in here.
        self.unsettled
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn unfinished(&self) -> io::Result<PathBuf> {
        let folder = self.folder.join(UNFINISHED);
        fs::create_dir_all(&folder)?;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        Ok(folder.join(format!("{}-{number}", std::process::id())))
    }
}

impl Contents for ContentsFolder {
    fn keep(&self, from: &mut dyn Read, limit_bytes: u64) -> io::Result<(Hash, u64)> {
        let unfinished = self.unfinished()?;
        let kept = write(&unfinished, from, limit_bytes);
        let finished = kept.and_then(|(hash, bytes)| {
            let path = self.path(hash);
            if bytes > limit_bytes {
                fs::remove_file(&unfinished)?;
                return Ok((hash, bytes));
            }
            // One of another length was cut off when the machine stopped.
            if fs::metadata(&path).is_ok_and(|kept| kept.is_file() && kept.len() == bytes) {
                fs::remove_file(&unfinished)?;
                // Whoever sweeps sees that it is in use again.
                File::open(&path)?.set_modified(SystemTime::now())?;
            } else {
                fs::create_dir_all(path.parent().unwrap_or(&self.folder))?;
                fs::rename(&unfinished, &path)?;
            }
            // Also where it was there: whoever kept it may not have come to that.
            self.unsettled().push(path);
            Ok((hash, bytes))
        });
        if finished.is_err() {
            // The error says what matters; what is left is swept with the folder.
            let _ = fs::remove_file(&unfinished);
        }
        finished
    }

    fn settle(&self) -> io::Result<()> {
        let unsettled = std::mem::take(&mut *self.unsettled());
        let settled = match unsettled.as_slice() {
            [] => Ok(()),
            paths if paths.len() <= SYNCED_ALONE => sync_each(paths),
            paths => sync_all(&self.folder, paths),
        };
        if settled.is_err() {
            self.unsettled().extend(unsettled);
        }
        settled
    }

    fn kept(&self, hashes: HashSet<Hash>) -> HashSet<Hash> {
        let mut folders: BTreeMap<u8, Vec<Hash>> = BTreeMap::new();
        for hash in hashes {
            folders.entry(hash.0[0]).or_default().push(hash);
        }
        let mut known = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut kept = HashSet::new();
        for (first, wanted) in folders {
            let folder = self.folder.join(format!("{first:02x}"));
            if known
                .get(&first)
                .is_none_or(|known| !known.is_true(&folder))
            {
                known.remove(&first);
                known.extend(Listed::of(&folder).map(|listed| (first, listed)));
            }
            let listed = known.get(&first);
            kept.extend(wanted.into_iter().filter(|hash| match listed {
                Some(listed) => listed.holds(*hash),
                None => self.path(*hash).is_file(),
            }));
        }
        kept
    }

    fn open(&self, hash: Hash) -> io::Result<Box<dyn Read>> {
        Ok(Box::new(File::open(self.path(hash))?))
    }
}

/// Writes to a file as it hashes, so that what is kept is what was hashed.
fn write(to: &Path, from: &mut dyn Read, limit_bytes: u64) -> io::Result<(Hash, u64)> {
    let mut file = File::create(to)?;
    let mut hasher = blake3::Hasher::new();
    let mut from = from.take(limit_bytes.saturating_add(1));
    let mut piece = vec![0; PIECE_BYTES];
    let mut bytes = 0;
    loop {
        let count = match from.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(&piece[..count]);
        file.write_all(&piece[..count])?;
        bytes += count as u64;
    }
    Ok((Hash(*hasher.finalize().as_bytes()), bytes))
}

fn sync_each(paths: &[PathBuf]) -> io::Result<()> {
    let mut folders = BTreeSet::new();
    for path in paths {
        File::open(path)?.sync_all()?;
        folders.extend(path.parent());
    }
    folders.into_iter().try_for_each(sync_folder)
}

/// One call for the whole disk takes less than one for each of many files.
#[cfg(target_os = "linux")]
fn sync_all(folder: &Path, _paths: &[PathBuf]) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(folder)?)?)
}

#[cfg(not(target_os = "linux"))]
fn sync_all(_folder: &Path, paths: &[PathBuf]) -> io::Result<()> {
    sync_each(paths)
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Elsewhere a folder can't be opened, and its names are the system's to keep.
#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_refers_to_and_is_old_is_swept() {
        use std::collections::HashSet;
        use std::time::{Duration, SystemTime};

        let folder = tempfile::tempdir().unwrap();
        let contents = ContentsFolder::at(folder.path().join("files"));
        assert_eq!(
            contents.sweep(&HashSet::new(), SystemTime::now()).unwrap(),
            (0, 0)
        );
        let keep = |text: &str| contents.keep(&mut text.as_bytes(), 99).unwrap().0;
        let (used, unused) = (keep("used"), keep("unused"));
        let later = SystemTime::now() + Duration::from_secs(60);
        let used_alone = HashSet::from([used]);
        assert_eq!(
            contents.sweep(&used_alone, SystemTime::UNIX_EPOCH).unwrap(),
            (0, 0)
        );
        assert_eq!(contents.sweep(&used_alone, later).unwrap(), (1, 6));
        assert!(contents.open(used).is_ok() && contents.open(unused).is_err());
    }
}
