//! The files of a run as they were recorded by an event, and what differs between two events, as a
//! window shows them.

use std::io::Read as _;

use longrein_core::view::left_out_words;
use longrein_protocol::RunId;
use longrein_sandbox::snapshot::{Contents as _, Entry};
use serde::{Deserialize, Serialize};

use super::page::{TextPage, number};
use crate::Longrein;
use crate::error::{AppError, AppErrorCode, sentence};
use crate::files::{self, FileChange, FilesAt, FilesDiff, Shown};

/// The most entries that are listed.
const FILES_LISTED: usize = 10_000;
/// The longest file whose text is shown.
const TEXT_BYTES: u64 = 16 << 20;

/// What a run's workspace held at an event.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct FilesThen {
    /// The event.
    pub seq: u32,
    /// The event that recorded them; `None` where none were recorded until then.
    pub recorded: Option<u32>,
    /// Whether something began after that which may have changed them.
    pub open: bool,
    /// Every entry, by its path.
    pub files: Vec<FileAt>,
    /// Further entries that there was no room for.
    pub more: u32,
    /// What could not be recorded, and why, in words; may be empty.
    pub left_out: String,
}

/// A file, folder or link.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct FileAt {
    /// The path beneath the workspace, with `/` between its parts.
    pub path: String,
    /// What it is.
    pub what: FileKind,
    /// Its size; 0 for what is no file.
    pub bytes: u32,
}

/// What an entry of a workspace is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FileKind {
    /// A file.
    File {
        /// Whether it may be run.
        executable: bool,
    },
    /// A folder.
    Folder,
    /// A link.
    Link {
        /// Where it leads, as it says.
        target: String,
    },
}

/// What differs between the files of two events.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct FilesDifference {
    /// The earlier event.
    pub from: u32,
    /// The later event.
    pub to: u32,
    /// Everything that differs, by its path.
    pub changes: Vec<ChangedFile>,
    /// Further entries that differ and that there was no room for.
    pub more: u32,
    /// Whether something began that may have changed the later ones after they were recorded.
    pub open: bool,
}

/// An entry that differs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct ChangedFile {
    /// Its path.
    pub path: String,
    /// What it was; `None` where it was not there.
    pub before: Option<FileAt>,
    /// What it is; `None` where it is no longer there.
    pub after: Option<FileAt>,
    /// What can be shown of the difference.
    pub shown: HowShown,
}

/// What can be shown of a difference.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum HowShown {
    /// Lines.
    Lines {
        /// A unified difference.
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

impl Longrein {
    /// What a run's workspace held at an event; absent: the last.
    ///
    /// # Errors
    /// When there is no such run or event, or the list of files can't be read.
    pub async fn files_then(&self, run: RunId, seq: Option<u32>) -> Result<FilesThen, AppError> {
        let found = self
            .files_in(run, self.past(run, seq).await?.view.run())
            .await?;
        let left_out = found.left_out();
        let entries = &found.manifest.entries;
        let listed = entries.iter().take(FILES_LISTED);
        Ok(FilesThen {
            seq: found.at,
            recorded: found.recorded,
            open: found.open,
            files: listed.map(|(path, entry)| file(path, entry)).collect(),
            more: number(entries.len().saturating_sub(FILES_LISTED)),
            left_out: match left_out.is_empty() {
                true => String::new(),
                false => left_out_words(&left_out),
            },
        })
    }

    /// What differs between the files of two events.
    ///
    /// # Errors
    /// Those of [`Longrein::files_then`], and when a content is no longer kept.
    pub async fn files_difference(
        &self,
        run: RunId,
        from: u32,
        to: u32,
    ) -> Result<FilesDifference, AppError> {
        let before = self.past(run, Some(from)).await?;
        let before = self.files_in(run, before.view.run()).await?;
        let after = self.past(run, Some(to)).await?;
        let after = self.files_in(run, after.view.run()).await?;
        let FilesDiff { after, changes, .. } = self.compared(before, after).await?;
        Ok(FilesDifference {
            from,
            to,
            more: number(changes.len().saturating_sub(FILES_LISTED)),
            changes: changes
                .into_iter()
                .take(FILES_LISTED)
                .map(changed)
                .collect(),
            open: after.open,
        })
    }

    /// The text of a file as it was recorded by an event, by pages.
    ///
    /// # Errors
    /// Those of [`Longrein::files_then`]; when there is no such file, it is no text or too long,
    /// or its content is no longer kept.
    pub async fn file_text(
        &self,
        run: RunId,
        seq: Option<u32>,
        path: &str,
        offset: u32,
    ) -> Result<TextPage, AppError> {
        let FilesAt { manifest, at, .. } = self
            .files_in(run, self.past(run, seq).await?.view.run())
            .await?;
        let Some(Entry::File { hash, bytes, .. }) = manifest.entries.get(path) else {
            return Err(AppError::new(
                AppErrorCode::NotFound,
                format!("There was no file {path} at event {at}."),
                "Choose one of the files that are listed.",
            ));
        };
        let lay_out = format!("Lay it out with: longrein files {run} --at {at} --restore FOLDER");
        if *bytes > TEXT_BYTES {
            return Err(AppError::usage(
                format!("{path} is too long to be shown."),
                lay_out,
            ));
        }
        let (contents, hash) = (self.inner.world.files().contents(), *hash);
        let reading = move || {
            let mut bytes = Vec::new();
            let opened = contents.open(hash)?;
            opened.take(TEXT_BYTES).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = files::blocking(move || {
            reading().map_err(|error: std::io::Error| {
                AppError::new(
                    AppErrorCode::Unreadable,
                    sentence(&error.to_string()),
                    "Its content is not kept any more, or the folder files can't be read.",
                )
            })
        })
        .await?;
        if bytes.contains(&0) || std::str::from_utf8(&bytes).is_err() {
            return Err(AppError::usage(format!("{path} is no text."), lay_out));
        }
        Ok(TextPage::of(&bytes, offset))
    }
}

fn file(path: &str, entry: &Entry) -> FileAt {
    FileAt {
        path: path.to_owned(),
        what: match entry {
            Entry::File { executable, .. } => FileKind::File {
                executable: *executable,
            },
            Entry::Folder => FileKind::Folder,
            Entry::Link { target } => FileKind::Link {
                target: target.clone(),
            },
        },
        bytes: u32::try_from(entry.bytes()).unwrap_or(u32::MAX),
    }
}

fn changed(change: FileChange) -> ChangedFile {
    let entry = |entry: Option<Entry>| entry.map(|entry| file(&change.path, &entry));
    ChangedFile {
        before: entry(change.before),
        after: entry(change.after),
        shown: match change.shown {
            Shown::Lines { text, cut } => HowShown::Lines { text, cut },
            Shown::Binary => HowShown::Binary,
            Shown::TooLarge => HowShown::TooLarge,
            Shown::NotCompared => HowShown::NotCompared,
            Shown::Entry => HowShown::Entry,
        },
        path: change.path,
    }
}
