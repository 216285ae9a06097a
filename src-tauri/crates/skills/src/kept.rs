//! The texts of what people approved, so that a change can be shown line by line. They are kept
//! beside the records, by the hash of their bytes; where one is missing, the change is told by the
//! names of files alone.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use similar::TextDiff;

use crate::folder::Source;
use crate::hash::{Fingerprint, hash_of};
use crate::load::write_new;
use crate::records::Records;

/// The folder in that of the installed skills.
const FOLDER: &str = ".approved";
/// The largest text that is kept, in bytes.
const TEXT_LIMIT_BYTES: u32 = 256 * 1024;
/// The most texts that are looked at when those are removed that nobody needs any more.
const SWEEP_LIMIT: usize = 100_000;
/// Lines around each change.
const CONTEXT_LINES: usize = 3;
/// The most bytes of one difference that are shown, and of all of a skill.
const SHOWN_LIMIT_BYTES: usize = 16 * 1024;

/// How one file differs from what was approved, line by line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct FileChange {
    /// The file.
    pub path: String,
    /// A unified difference, with hidden characters written out; cut where it is very long.
    pub lines: String,
}

/// Keeps the texts of a skill that was just approved. That one can't be kept is no reason to refuse
/// the approval.
pub(crate) fn keep(shelf: &Path, source: &Source, of: &Fingerprint) {
    let folder = shelf.join(FOLDER);
    for (path, mark) in &of.files {
        if mark.closed || mark.bytes > TEXT_LIMIT_BYTES || folder.join(&mark.hash).exists() {
            continue;
        }
        let Ok(bytes) = source.read(path, u64::from(TEXT_LIMIT_BYTES)) else {
            continue;
        };
        let is_it = hash_of(&bytes) == mark.hash && std::str::from_utf8(&bytes).is_ok();
        if is_it && let Err(error) = put(&folder, &mark.hash, &bytes) {
            tracing::debug!(%error, path, "the text of an approved skill is not kept");
        }
    }
}

fn put(folder: &Path, hash: &str, bytes: &[u8]) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    let unfinished = tempfile::Builder::new().tempdir_in(folder)?;
    let written = unfinished.path().join(hash);
    write_new(&written, bytes, false)?;
    fs::rename(written, folder.join(hash))
}

/// Removes the texts that no approval speaks of any more.
pub(crate) fn sweep(shelf: &Path, records: &Records) {
    let needed: HashSet<&str> = records
        .iter()
        .flat_map(|record| record.fingerprint.files.values())
        .map(|mark| mark.hash.as_str())
        .collect();
    let Ok(entries) = fs::read_dir(shelf.join(FOLDER)) else {
        return;
    };
    for entry in entries.take(SWEEP_LIMIT).flatten() {
        let is_needed = needed.contains(&*entry.file_name().to_string_lossy());
        if !is_needed {
            // What can't be removed now is tried again at the next approval.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// How the text files of a skill differ from what was approved, as far as both can be read.
pub(crate) fn changes(
    shelf: &Path,
    source: &Source,
    before: &Fingerprint,
    now: &Fingerprint,
) -> Vec<FileChange> {
    let mut changes = Vec::new();
    let mut left = SHOWN_LIMIT_BYTES;
    let paths: std::collections::BTreeSet<&String> =
        before.files.keys().chain(now.files.keys()).collect();
    for path in paths {
        let (old, new) = (before.files.get(path), now.files.get(path));
        if old == new || left == 0 {
            continue;
        }
        let old = match old {
            Some(mark) if !mark.closed => kept(&shelf.join(FOLDER), &mark.hash),
            _ => Some(String::new()),
        };
        let new = match new {
            Some(mark) if !mark.closed && mark.bytes <= TEXT_LIMIT_BYTES => source
                .read(path, u64::from(TEXT_LIMIT_BYTES))
                .ok()
                .and_then(|bytes| String::from_utf8(bytes).ok()),
            Some(_) => None,
            None => Some(String::new()),
        };
        let (Some(old), Some(new)) = (old, new) else {
            continue;
        };
        let lines = difference(&old, &new, left);
        left -= lines.len().min(left);
        if !lines.is_empty() {
            let path = crate::show::path(path);
            changes.push(FileChange { path, lines });
        }
    }
    changes
}

fn kept(folder: &Path, hash: &str) -> Option<String> {
    let path: PathBuf = folder.join(hash);
    let bytes = fs::read(path).ok()?;
    // What somebody put in its place is not what was approved.
    (hash_of(&bytes) == hash).then(|| String::from_utf8(bytes).ok())?
}

fn difference(old: &str, new: &str, limit: usize) -> String {
    let difference = TextDiff::from_lines(old, new)
        .unified_diff()
        .context_radius(CONTEXT_LINES)
        .missing_newline_hint(false)
        .to_string();
    let mut shown = crate::show::lines(&difference);
    if shown.len() > limit {
        shown.truncate(shown.floor_char_boundary(limit));
        shown.push_str("\n…\n");
    }
    shown
}
