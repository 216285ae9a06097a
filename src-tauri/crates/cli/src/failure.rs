//! How a command ends: exit statuses, and failures in the words that a person reads.

use std::io;
use std::process::ExitCode;

use longrein_app::{AppError, AppErrorCode};
use longrein_keys::Known;
use longrein_protocol::view::RunState;
use longrein_store::LogError;

use crate::screen;
use crate::text;

/// The status that the command exits with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// It is done: for a run, accepted, or unverified where the agent sets no criteria.
    Done,
    /// It failed.
    Failed,
    /// The words of the command or of a file are off; nothing was begun.
    Usage,
    /// A run waits for a person, with its state saved.
    Parked,
    /// A person stopped it.
    Cancelled,
}

impl Status {
    /// The number that the shell sees.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Parked => 3,
            Self::Cancelled => 130,
        }
    }

    /// The status of a command whose run is in this state.
    pub fn of_run(state: RunState) -> Self {
        match state {
            RunState::Accepted | RunState::Unverified => Self::Done,
            RunState::Failed | RunState::Unreadable => Self::Failed,
            RunState::Cancelled => Self::Cancelled,
            RunState::Running
            | RunState::Waiting
            | RunState::Paused
            | RunState::HandedOff
            | RunState::Interrupted => Self::Parked,
        }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status.code())
    }
}

/// Why a command can't do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Something to tell the person.
    #[error("{message}")]
    Said {
        /// The exit status.
        status: Status,
        /// What happened, in a sentence.
        message: String,
        /// What the person can do, in a sentence; may be empty.
        remedy: String,
    },
    /// Nobody reads the output any more. Quiet: the reader knows.
    #[error("nobody reads the output any more")]
    Unread(Status),
}

impl Failure {
    /// A mistake of the person's.
    pub fn usage(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::said(Status::Usage, message, remedy)
    }

    /// A failure with its remedy.
    pub fn said(status: Status, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Said {
            status,
            message: message.into(),
            remedy: remedy.into(),
        }
    }

    /// The same failure where a run exists already, which can be gone on with later.
    #[must_use]
    pub fn of_a_run(self) -> Self {
        match self {
            Self::Said {
                status: Status::Failed,
                message,
                remedy,
            } => Self::said(Status::Parked, message, remedy),
            Self::Unread(_) => Self::Unread(Status::Parked),
            other => other,
        }
    }

    /// Tells the person and gives the exit status.
    pub fn told(self) -> Status {
        match self {
            Self::Said {
                status,
                message,
                remedy,
            } => {
                let known = Known::of_process();
                let (message, remedy) = (known.masked(message), known.masked(remedy));
                screen::complain(&text::plain_lines(&message), &text::plain_lines(&remedy));
                status
            }
            Self::Unread(status) => status,
        }
    }
}

impl From<AppError> for Failure {
    fn from(error: AppError) -> Self {
        let status = match error.code {
            AppErrorCode::Usage | AppErrorCode::NotFound | AppErrorCode::Locked => Status::Usage,
            AppErrorCode::Busy => Status::Parked,
            AppErrorCode::Io | AppErrorCode::Refused | AppErrorCode::Unreadable => Status::Failed,
        };
        Self::said(status, error.message, error.remedy)
    }
}

impl From<LogError> for Failure {
    fn from(error: LogError) -> Self {
        AppError::from(error).into()
    }
}

/// Of writing to standard output.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::Unread(Status::Done);
        }
        Self::said(
            Status::Failed,
            format!("The output can't be written: {error}."),
            "Check where it goes.",
        )
    }
}

/// Of writing an answer as JSON, which only a fault of Longrein brings about.
impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::said(
            Status::Failed,
            format!("The answer can't be written as JSON: {error}."),
            "Please report this.",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_of_a_run_has_the_status_that_scripts_rely_on() {
        let codes = [
            (RunState::Accepted, 0),
            (RunState::Unverified, 0),
            (RunState::Failed, 1),
            (RunState::Unreadable, 1),
            (RunState::Waiting, 3),
            (RunState::Paused, 3),
            (RunState::HandedOff, 3),
            (RunState::Interrupted, 3),
            (RunState::Cancelled, 130),
        ];
        for (state, code) in codes {
            assert_eq!(Status::of_run(state).code(), code, "{state:?}");
        }
    }

    #[test]
    fn a_full_disk_parks_a_run_that_exists_and_fails_where_none_was_begun() {
        let full = || {
            Failure::from(LogError::Full {
                path: "data".to_owned(),
            })
        };
        let status = |failure| match failure {
            Failure::Said { status, .. } => status,
            Failure::Unread(status) => status,
        };
        assert_eq!(status(full()), Status::Failed);
        assert_eq!(status(full().of_a_run()), Status::Parked);
    }
}
