//! Where contents are kept, each once.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

/// How many characters of a hash name the folder.
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

    /// Whether a content is kept.
    fn has(&self, hash: Hash) -> bool;

    /// Reads a content.
    ///
    /// # Errors
    /// When it is not kept or can't be read.
    fn open(&self, hash: Hash) -> io::Result<Box<dyn Read>>;
}

/// A folder of contents, each in a file named by its hash.
#[derive(Clone, Debug)]
pub struct ContentsFolder {
    folder: PathBuf,
}

/// Numbers the unfinished files of this process.
static UNFINISHED: AtomicU64 = AtomicU64::new(0);

impl ContentsFolder {
    /// The folder; it is made when something is kept.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    fn path(&self, hash: Hash) -> PathBuf {
        let name = hash.to_string();
        let (folder, rest) = name.split_at(FOLDER_CHARS);
        self.folder.join(folder).join(rest)
    }

    fn unfinished(&self) -> io::Result<PathBuf> {
        let folder = self.folder.join("unfinished");
        fs::create_dir_all(&folder)?;
        let number = UNFINISHED.fetch_add(1, Ordering::Relaxed);
        Ok(folder.join(format!("{}-{number}", std::process::id())))
    }
}

impl Contents for ContentsFolder {
    fn keep(&self, from: &mut dyn Read, limit_bytes: u64) -> io::Result<(Hash, u64)> {
        let unfinished = self.unfinished()?;
        let kept = write(&unfinished, from, limit_bytes);
        let finished = kept.and_then(|(hash, bytes)| {
            let path = self.path(hash);
            if bytes > limit_bytes || path.is_file() {
                fs::remove_file(&unfinished)?;
            } else {
                fs::create_dir_all(path.parent().unwrap_or(&self.folder))?;
                fs::rename(&unfinished, &path)?;
            }
            Ok((hash, bytes))
        });
        if finished.is_err() {
            // The error says what matters; what is left is swept with the folder.
            let _ = fs::remove_file(&unfinished);
        }
        finished
    }

    fn has(&self, hash: Hash) -> bool {
        self.path(hash).is_file()
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
