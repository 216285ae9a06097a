//! What lies in a library folder. Links are never followed, hidden files are none of ours.

use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::document::{DocumentError, FILE_LIMIT_BYTES, Kind};
use crate::show;
use crate::workspace::open_regular;

/// The most documents of one library.
pub(crate) const DOCUMENTS_LIMIT: usize = 20_000;
/// The most entries that are looked at.
const ENTRIES_LIMIT: usize = 500_000;
/// The most notes that one look gives.
const NOTES_LIMIT: usize = 20;
/// How deep folders are followed.
const DEPTH_LIMIT: usize = 32;

/// A file that the library reads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    /// Which of the library's folders.
    pub(super) folder: u32,
    /// Its name beneath that folder.
    pub(super) path: String,
    pub(super) kind: Kind,
    pub(super) size: u64,
    /// Nanoseconds since the epoch.
    pub(super) modified: i64,
}

/// Everything that was found.
#[derive(Default)]
pub(super) struct Scan {
    /// In order of folder and path.
    pub(super) entries: Vec<Entry>,
    /// What could not be looked at, in sentences.
    notes: Vec<String>,
    /// Notes beyond those.
    more: usize,
    seen: usize,
}

impl Scan {
    /// Looks through `folder`, the library's folder number `number`.
    pub(super) fn add(&mut self, number: u32, folder: &Path) -> io::Result<()> {
        let root = Dir::open_ambient_dir(folder, ambient_authority())?;
        let mut folders = vec![(root, String::new(), 0)];
        while let Some((folder, prefix, depth)) = folders.pop() {
            let entries = match folder.entries() {
                Ok(entries) => entries,
                Err(error) if prefix.is_empty() => return Err(error),
                Err(error) => {
                    self.note(format!("the folder {prefix} could not be read: {error}"));
                    continue;
                }
            };
            for entry in entries.flatten() {
                self.seen += 1;
                if self.seen > ENTRIES_LIMIT || self.entries.len() >= DOCUMENTS_LIMIT {
                    self.note(format!(
                        "only the first {} documents are read: the library's folders hold too many files",
                        self.entries.len()
                    ));
                    return Ok(());
                }
                let name = entry.file_name();
                let shown = name.to_string_lossy();
                if shown.starts_with('.') {
                    continue;
                }
                let Some(name) = name.to_str() else {
                    // It could not be given back as it is.
                    let shown = show::safe(&shown);
                    self.note(format!(
                        "{prefix}{shown} was left out: its name is not valid Unicode, so rename it"
                    ));
                    continue;
                };
                let Ok(kind) = entry.file_type() else {
                    continue;
                };
                let path = format!("{prefix}{name}");
                if kind.is_dir() {
                    if depth + 1 > DEPTH_LIMIT {
                        self.note(format!("the folder {path} lies too deep and was not read"));
                    } else {
                        match folder.open_dir(name) {
                            Ok(inner) => folders.push((inner, format!("{path}/"), depth + 1)),
                            Err(error) => {
                                self.note(format!("the folder {path} could not be read: {error}"));
                            }
                        }
                    }
                } else if kind.is_file() {
                    self.file(number, &folder, name, path);
                } else if kind.is_symlink() {
                    self.note(format!(
                        "{path} was left out: it is a link, and links are not followed"
                    ));
                } else if Kind::of(name).is_some() {
                    self.note(format!("{path} was left out: it is not a regular file"));
                }
            }
        }
        self.entries
            .sort_by(|one, other| (one.folder, &one.path).cmp(&(other.folder, &other.path)));
        Ok(())
    }

    /// What was found, and what could not be looked at: a bounded list, in order.
    pub(super) fn found(mut self) -> (Vec<Entry>, Vec<String>) {
        self.notes.sort_unstable();
        if self.more > 0 {
            self.notes
                .push(format!("… and {} more of these", self.more));
        }
        (self.entries, self.notes)
    }

    fn note(&mut self, note: String) {
        if self.notes.len() < NOTES_LIMIT {
            self.notes.push(note);
        } else {
            self.more += 1;
        }
    }

    fn file(&mut self, number: u32, folder: &Dir, name: &str, path: String) {
        let Some(kind) = Kind::of(name) else { return };
        let Ok(metadata) = folder.symlink_metadata(name) else {
            return;
        };
        let modified = metadata
            .modified()
            .ok()
            .and_then(|time| time.into_std().duration_since(UNIX_EPOCH).ok())
            .map_or(0, |time| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX));
        self.entries.push(Entry {
            folder: number,
            path,
            kind,
            size: metadata.len(),
            modified,
        });
    }
}

/// Reads a document's bytes. Each folder on the way is opened beneath the one before, so a link
/// leads nowhere.
pub(super) fn read(folder: &Path, path: &str) -> Result<Vec<u8>, DocumentError> {
    let open = |error: io::Error| DocumentError::NotOpened(error.to_string());
    let mut inner = Dir::open_ambient_dir(folder, ambient_authority()).map_err(open)?;
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    for folder in folders.split('/').filter(|folder| !folder.is_empty()) {
        inner = inner.open_dir(folder).map_err(open)?;
    }
    if inner.symlink_metadata(name).map_err(open)?.is_symlink() {
        return Err(DocumentError::Link);
    }
    let (file, bytes) =
        open_regular(&inner, name).map_err(|error| DocumentError::NotOpened(error.message))?;
    if bytes > FILE_LIMIT_BYTES {
        return Err(DocumentError::TooLarge(bytes));
    }
    let mut content = Vec::with_capacity(bytes as usize);
    io::Read::read_to_end(&mut io::Read::take(file, FILE_LIMIT_BYTES), &mut content)
        .map_err(open)?;
    Ok(content)
}
