//! What a skill is made of, as a hash, and how one state of it differs from another.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::SkillError;
use crate::folder::{Contents, Entry, EntryKind, FILE_LIMIT_BYTES, Source};

/// Says what is hashed, so that no other hash of the same bytes is equal by chance of layout.
const DOMAIN: &[u8] = b"longrein skill 1\n";
/// How many names are told in a sentence.
const TOLD_LIMIT: usize = 5;
/// How many characters of each.
const TOLD_LETTERS: usize = 120;

/// The hash of a whole skill: names, bytes, executable bits and links. 64 hexadecimal digits.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(transparent)]
pub struct ContentHash(String);

impl ContentHash {
    /// A hash as it was told elsewhere. It is only ever compared.
    pub fn told(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The hash as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// What one file of a skill is made of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct FileMark {
    /// BLAKE3 of its bytes, or of where a link leads; 64 hexadecimal digits.
    pub hash: String,
    /// Its size in bytes.
    pub bytes: u32,
    /// Whether it may be run as it is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
    /// A link, a pipe, a socket or a device: it is never opened.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
}

/// What a skill is made of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Fingerprint {
    /// The hash of all of it.
    pub hash: ContentHash,
    /// Each file by its path.
    pub files: BTreeMap<String, FileMark>,
}

impl Fingerprint {
    /// Reads every file once.
    ///
    /// # Errors
    /// When a file can't be read, or grew past the limit since it was listed.
    pub(crate) fn of(source: &Source, contents: &Contents) -> Result<Self, SkillError> {
        let mut files = BTreeMap::new();
        for entry in &contents.entries {
            files.insert(entry.path.clone(), mark(source, entry)?);
        }
        Ok(Self::from_files(files))
    }

    pub(crate) fn from_files(files: BTreeMap<String, FileMark>) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(DOMAIN);
        for (path, mark) in &files {
            // Lengths go before what has none, so that no two skills lie alike.
            hasher.update(&(path.len() as u64).to_le_bytes());
            hasher.update(path.as_bytes());
            hasher.update(&[u8::from(mark.executable), u8::from(mark.closed)]);
            hasher.update(&u64::from(mark.bytes).to_le_bytes());
            hasher.update(mark.hash.as_bytes());
        }
        Self {
            hash: ContentHash(hasher.finalize().to_hex().to_string()),
            files,
        }
    }

    /// How `self` differs from what was there `before`.
    pub fn difference(&self, before: &Self) -> Difference {
        let mut difference = Difference::default();
        for (path, mark) in &self.files {
            match before.files.get(path) {
                None => difference.added.push(crate::show::path(path)),
                Some(old) if old != mark => difference.changed.push(ChangedFile {
                    path: crate::show::path(path),
                    bytes_before: old.bytes,
                    bytes_now: mark.bytes,
                    content: old.hash != mark.hash,
                    became_executable: mark.executable && !old.executable,
                }),
                Some(_) => {}
            }
        }
        let removed = before.files.keys();
        difference.removed = removed
            .filter(|path| !self.files.contains_key(*path))
            .map(|path| crate::show::path(path))
            .collect();
        difference
    }
}

fn mark(source: &Source, entry: &Entry) -> Result<FileMark, SkillError> {
    let (bytes, closed) = match &entry.kind {
        EntryKind::File => (source.read(&entry.path, FILE_LIMIT_BYTES)?, false),
        EntryKind::Link { target, .. } => (target.as_bytes().to_vec(), true),
        EntryKind::Special => (Vec::new(), true),
    };
    Ok(FileMark {
        hash: hash_of(&bytes),
        bytes: size(bytes.len() as u64),
        executable: entry.executable,
        closed,
    })
}

/// BLAKE3 of the bytes of one file.
pub(crate) fn hash_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// A size as it is kept; every size within the limits fits.
pub(crate) fn size(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// A file that is not what it was.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct ChangedFile {
    /// Its path.
    pub path: String,
    /// Its size before, in bytes.
    pub bytes_before: u32,
    /// Its size now, in bytes.
    pub bytes_now: u32,
    /// Whether its bytes differ; else only whether it may be run.
    pub content: bool,
    /// Whether it may be run now and could not before.
    pub became_executable: bool,
}

/// How two states of a skill differ, by path. The paths are made safe to show.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Difference {
    /// Files that were not there before.
    pub added: Vec<String>,
    /// Files that are gone.
    pub removed: Vec<String>,
    /// Files that are not what they were.
    pub changed: Vec<ChangedFile>,
}

impl Difference {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let changed: Vec<String> = self.changed.iter().map(|file| file.path.clone()).collect();
        let parts: Vec<String> = [
            ("added", &self.added),
            ("removed", &self.removed),
            ("changed", &changed),
        ]
        .into_iter()
        .filter(|(_, paths)| !paths.is_empty())
        .map(|(what, paths)| {
            let mut told: Vec<String> = paths
                .iter()
                .take(TOLD_LIMIT)
                .map(|path| crate::show::brief(path, TOLD_LETTERS))
                .collect();
            if paths.len() > TOLD_LIMIT {
                told.push(format!("and {} more", paths.len() - TOLD_LIMIT));
            }
            format!("{what}: {}", told.join(", "))
        })
        .collect();
        if parts.is_empty() {
            return out.write_str("nothing differs");
        }
        out.write_str(&parts.join("; "))
    }
}
