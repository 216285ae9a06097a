//! What differs between the files of two events, as people read it.

use std::io::Read as _;
use std::time::Duration;

use longrein_sandbox::snapshot::{Change, Contents, Entry};
use similar::TextDiff;

use super::FilesAt;
use crate::error::{AppError, AppErrorCode};

/// The longest text whose lines are compared.
const TEXT_BYTES: u64 = 1 << 20;
/// The most bytes of the difference of one file that are shown.
const SHOWN_BYTES: usize = 64 << 10;
/// The most files whose lines are compared; further ones are named.
const COMPARED_FILES: usize = 200;
/// The longest that the lines of one file are compared; a coarser difference is shown beyond it.
const COMPARE_LIMIT: Duration = Duration::from_secs(2);
/// Lines that are shown around a difference.
const CONTEXT_LINES: usize = 3;

/// What differs between the files of two events.
#[derive(Clone, Debug)]
pub struct FilesDiff {
    /// The earlier one.
    pub before: FilesAt,
    /// The later one.
    pub after: FilesAt,
    /// Every file, link and folder that differs, by path.
    pub changes: Vec<FileChange>,
}

/// One entry that differs.
#[derive(Clone, Debug)]
pub struct FileChange {
    /// Which.
    pub path: String,
    /// What it was; `None` where it was not there.
    pub before: Option<Entry>,
    /// What it is; `None` where it is no longer there.
    pub after: Option<Entry>,
    /// What can be shown of the difference.
    pub shown: Shown,
}

/// What can be shown of a difference.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shown {
    /// Lines, as a unified difference.
    Lines {
        /// The difference.
        text: String,
        /// Whether it was longer.
        cut: bool,
    },
    /// One of them is no text.
    Binary,
    /// They are too long to be compared.
    TooLarge,
    /// Enough others were compared before.
    NotCompared,
    /// It is no file, or differs in more or less than its content.
    Entry,
}

/// Compares the files of two events.
///
/// # Errors
/// When a content is no longer kept.
pub(super) fn of(
    before: FilesAt,
    after: FilesAt,
    contents: &dyn Contents,
) -> Result<FilesDiff, AppError> {
    let all = before.manifest.changes(&after.manifest);
    let mut changes = Vec::new();
    let mut compared = 0;
    for (place, change) in all.iter().enumerate() {
        if is_folder_of_others(change, &all[place + 1..]) {
            continue;
        }
        let shown = if compared < COMPARED_FILES {
            shown(change, contents)?
        } else {
            Shown::NotCompared
        };
        compared += usize::from(matches!(shown, Shown::Lines { .. }));
        changes.push(FileChange {
            path: change.path.clone(),
            before: change.before.clone(),
            after: change.after.clone(),
            shown,
        });
    }
    Ok(FilesDiff {
        before,
        after,
        changes,
    })
}

/// A folder that came or went with what is in it is said by that.
fn is_folder_of_others(change: &Change, rest: &[Change]) -> bool {
    let is_folder = |entry: &Option<Entry>| matches!(entry, None | Some(Entry::Folder));
    let within = format!("{}/", change.path);
    is_folder(&change.before)
        && is_folder(&change.after)
        && rest.iter().any(|other| other.path.starts_with(&within))
}

fn shown(change: &Change, contents: &dyn Contents) -> Result<Shown, AppError> {
    let is_file = |entry: &Option<Entry>| matches!(entry, None | Some(Entry::File { .. }));
    if !is_file(&change.before) || !is_file(&change.after) {
        return Ok(Shown::Entry);
    }
    let sides = [&change.before, &change.after];
    let bytes = |entry: &Option<Entry>| entry.as_ref().map_or(0, Entry::bytes);
    if sides.iter().any(|entry| bytes(entry) > TEXT_BYTES) {
        return Ok(Shown::TooLarge);
    }
    let (Some(before), Some(after)) = (
        text(&change.path, &change.before, contents)?,
        text(&change.path, &change.after, contents)?,
    ) else {
        return Ok(Shown::Binary);
    };
    if before == after {
        return Ok(Shown::Entry);
    }
    let diff = TextDiff::configure()
        .timeout(COMPARE_LIMIT)
        .diff_lines(&before, &after);
    let name = |entry: &Option<Entry>, side: &str| match entry {
        Some(_) => format!("{side}/{}", change.path),
        None => "/dev/null".to_owned(),
    };
    let mut text = diff
        .unified_diff()
        .context_radius(CONTEXT_LINES)
        .header(&name(&change.before, "a"), &name(&change.after, "b"))
        .to_string();
    let end = text.floor_char_boundary(SHOWN_BYTES);
    let cut = end < text.len();
    text.truncate(end);
    Ok(Shown::Lines { text, cut })
}

/// A file's text; `None` where it is none. What is not there is empty.
fn text(
    path: &str,
    entry: &Option<Entry>,
    contents: &dyn Contents,
) -> Result<Option<String>, AppError> {
    let Some(Entry::File { hash, .. }) = entry else {
        return Ok(Some(String::new()));
    };
    let mut bytes = Vec::new();
    let read = contents
        .open(*hash)
        .and_then(|content| content.take(TEXT_BYTES).read_to_end(&mut bytes));
    read.map_err(|error| {
        AppError::new(
            AppErrorCode::Unreadable,
            format!("The content of {path} is not kept any more: {error}."),
            "List the files without their contents with: longrein files RUN --at SEQ",
        )
    })?;
    let is_text = !bytes.contains(&0);
    Ok(String::from_utf8(bytes).ok().filter(|_| is_text))
}
