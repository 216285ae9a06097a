//! What people approved: one file beside the installed skills, replaced whole or not at all.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::SkillError;
use crate::hash::{ContentHash, Fingerprint};

/// The file's name in the folder of installed skills.
pub const RECORDS_FILE: &str = "records.json";
/// The most approvals that are kept.
pub const RECORDS_LIMIT: usize = 1_000;
/// The largest file that is read, in bytes.
const FILE_LIMIT_BYTES: u64 = 64 * 1024 * 1024;
/// The version of the file's shape.
const VERSION: u32 = 1;

/// Where a skill came from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Origin {
    /// Copied from a folder.
    Folder {
        /// The folder, or the one file.
        path: PathBuf,
    },
    /// Unpacked from a zip.
    Zip {
        /// The zip.
        path: PathBuf,
        /// BLAKE3 of the zip's bytes, 64 hexadecimal digits.
        hash: String,
    },
    /// It lies where it was found: in a project, or where other programs keep skills too.
    InPlace,
}

/// One skill as a person approved it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Record {
    /// The skill's name.
    pub name: String,
    /// The folder in which it lay, without links.
    pub folder: PathBuf,
    /// Where it came from.
    pub origin: Origin,
    /// Who approved it.
    pub approved_by: String,
    /// When, in milliseconds since the Unix epoch.
    #[cfg_attr(feature = "bindings", specta(type = i32))]
    pub approved_at: i64,
    /// What it was made of.
    #[serde(flatten)]
    pub fingerprint: Fingerprint,
}

/// Every approval.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Records {
    records: Vec<Record>,
}

/// The file's shape.
#[derive(Serialize, Deserialize)]
struct Stored {
    v: u32,
    skills: Vec<Record>,
}

impl Records {
    /// Reads the approvals of the folder of installed skills; none where there is no file.
    ///
    /// # Errors
    /// When the file is damaged, too large or of a newer version. It is never overwritten then.
    pub fn read(shelf: &Path) -> Result<Self, SkillError> {
        let path = shelf.join(RECORDS_FILE);
        let damaged = |cause: String| SkillError::Records {
            path: path.clone(),
            cause,
        };
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(damaged(error.to_string())),
        };
        let mut bytes = Vec::new();
        file.take(FILE_LIMIT_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| damaged(error.to_string()))?;
        if bytes.len() as u64 > FILE_LIMIT_BYTES {
            return Err(damaged(format!(
                "it has more than {FILE_LIMIT_BYTES} bytes"
            )));
        }
        let stored: Stored =
            serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        if stored.v > VERSION {
            return Err(damaged("a newer version of Longrein wrote it".to_owned()));
        }
        Ok(Self {
            records: stored.skills,
        })
    }

    /// All of them, in the order in which they were made.
    pub fn iter(&self) -> impl Iterator<Item = &Record> {
        self.records.iter()
    }

    /// The approval of exactly this content, wherever it lies.
    pub fn approved(&self, hash: &ContentHash) -> Option<&Record> {
        let mut records = self.records.iter();
        records.find(|record| record.fingerprint.hash == *hash)
    }

    /// The approval of what lay in this folder.
    pub fn of_folder(&self, folder: &Path) -> Option<&Record> {
        self.records.iter().find(|record| record.folder == folder)
    }

    /// Takes an approval in, in the place of the one for the same folder.
    ///
    /// # Errors
    /// When there are too many.
    pub(crate) fn set(&mut self, record: Record) -> Result<(), SkillError> {
        self.records.retain(|old| old.folder != record.folder);
        if self.records.len() >= RECORDS_LIMIT {
            return Err(SkillError::TooMany {
                limit: RECORDS_LIMIT,
            });
        }
        self.records.push(record);
        Ok(())
    }

    /// Takes the approval of what lay in this folder back.
    pub(crate) fn forget(&mut self, folder: &Path) -> Option<Record> {
        let at = self.records.iter().position(|old| old.folder == folder)?;
        Some(self.records.remove(at))
    }

    /// Writes beside the old file and moves the new one into its place, both on the disk before
    /// this returns.
    ///
    /// # Errors
    /// When the disk refuses; the old file is still there then.
    pub(crate) fn write(&self, shelf: &Path) -> Result<(), SkillError> {
        let path = shelf.join(RECORDS_FILE);
        let stored = Stored {
            v: VERSION,
            skills: self.records.clone(),
        };
        let written = || -> io::Result<()> {
            let mut file = tempfile::Builder::new()
                .prefix(".records-")
                .tempfile_in(shelf)?;
            serde_json::to_writer_pretty(&mut file, &stored)?;
            file.write_all(b"\n")?;
            file.as_file().sync_all()?;
            file.persist(&path).map_err(|error| error.error)?;
            sync_folder(shelf)
        };
        written().map_err(SkillError::io(path.clone(), "written"))
    }
}

/// Makes what happened to the names in a folder last.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

/// The folder without links in its path, where it exists.
pub(crate) fn real(folder: &Path) -> PathBuf {
    fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf())
}
