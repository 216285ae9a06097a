//! What can go wrong on the way to a run, in the words that every surface shows.

use longrein_protocol::RunId;
use longrein_runtime::DriveError;
use longrein_runtime::world::Unavailable;
use longrein_store::{Holder, LockError, LogError};

/// A failure with what the person can do about it.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct AppError {
    /// What kind it is.
    pub code: AppErrorCode,
    /// What happened, in a sentence.
    pub message: String,
    /// What the person can do, in a sentence; may be empty.
    pub remedy: String,
}

/// The kinds of failure; each is acted on somewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AppErrorCode {
    /// The words of the command or of a file are off. Nothing was begun.
    Usage,
    /// There is no such thing.
    NotFound,
    /// The file of secrets is closed, or not there yet: its passphrase comes first.
    Locked,
    /// Another process drives the run.
    Busy,
    /// The system refuses: a folder, the disk.
    Io,
    /// Somebody else refuses: a provider.
    Refused,
    /// The run can be read but not continued.
    Unreadable,
}

impl AppError {
    /// A failure with its remedy.
    pub fn new(code: AppErrorCode, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            remedy: remedy.into(),
        }
    }

    /// A mistake of the person's.
    pub fn usage(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(AppErrorCode::Usage, message, remedy)
    }

    /// Another process drives the run.
    pub fn held(run: RunId, holder: Option<&Holder>) -> Self {
        let by = holder.map_or("another process".to_owned(), |holder| {
            format!("process {} ({})", holder.pid, holder.command)
        });
        Self::new(
            AppErrorCode::Busy,
            format!("Run {run} is driven by {by}."),
            format!(
                "Follow it with: longrein watch {run}. Or end that process first with: longrein resume {run} --take-over"
            ),
        )
    }
}

impl From<LogError> for AppError {
    fn from(error: LogError) -> Self {
        let (code, remedy) = match &error {
            LogError::Full { .. } => (
                AppErrorCode::Io,
                "Free some space, then resume the run; nothing that was recorded is lost.",
            ),
            LogError::Io { .. } => (
                AppErrorCode::Io,
                "Check that the folder exists and that you may write to it, or name another with --data-dir.",
            ),
            LogError::Damaged { .. } => (
                AppErrorCode::Unreadable,
                "Nothing in it is overwritten. See what is damaged with: longrein log check. Then restore the file from a copy, or move it away to begin anew.",
            ),
            LogError::ReadOnly { .. } => (
                AppErrorCode::Io,
                "Make the folder writable, or name another with --data-dir.",
            ),
            LogError::NoRun(_) => (AppErrorCode::NotFound, "List the runs with: longrein runs"),
            LogError::Newer { .. } => (
                AppErrorCode::Unreadable,
                "It can be read but not written. Use the newer version to go on.",
            ),
            LogError::Fenced => (AppErrorCode::Busy, "Follow it with: longrein watch"),
            LogError::Blob(_) => (
                AppErrorCode::Unreadable,
                "See what is damaged with: longrein log check",
            ),
            LogError::Sequence { .. } | LogError::Closed => (AppErrorCode::Io, "Resume the run."),
        };
        Self::new(code, sentence(&error.to_string()), remedy)
    }
}

impl From<DriveError> for AppError {
    fn from(error: DriveError) -> Self {
        match error {
            DriveError::Log(error) => error.into(),
            DriveError::Illegal(_) | DriveError::Stuck(_) => Self::new(
                AppErrorCode::Io,
                sentence(&error.to_string()),
                "Please report this with the run's log.",
            ),
        }
    }
}

impl From<Unavailable> for AppError {
    fn from(unavailable: Unavailable) -> Self {
        Self::usage(unavailable.message, unavailable.remedy)
    }
}

/// A lock that can't be had, for a run.
pub(crate) fn of_lock(run: RunId, error: LockError) -> AppError {
    match error {
        LockError::Held { holder, .. } => AppError::held(run, holder.as_ref()),
        LockError::Log(error) => error.into(),
        error => AppError::new(
            AppErrorCode::Io,
            sentence(&error.to_string()),
            "Check the folder locks in the data folder.",
        ),
    }
}

/// An error's text as a sentence.
pub(crate) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string())
        .unwrap_or_default();
    let rest = letters.as_str();
    let stop = if text.ends_with(['.', '!', '?']) {
        ""
    } else {
        "."
    };
    format!("{first}{rest}{stop}")
}
