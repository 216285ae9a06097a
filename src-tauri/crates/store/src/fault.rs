//! What SQLite and the file system say, in the words of [`LogError`].

use std::io;
use std::path::Path;

use rusqlite::ErrorCode;

use crate::log::LogError;

/// Why a piece of work inside a transaction did not succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The work itself is at fault: its savepoint is rolled back, its neighbours go on.
    Refused(LogError),
    /// The database is at fault: the whole transaction is rolled back.
    Database(rusqlite::Error),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl From<LogError> for Failure {
    fn from(error: LogError) -> Self {
        Self::Refused(error)
    }
}

/// Translates an error of SQLite that concerns the database at `path`.
pub(crate) fn database(path: &Path, error: &rusqlite::Error) -> LogError {
    let code = error.sqlite_error_code();
    let full = code == Some(ErrorCode::DiskFull)
        || (matches!(
            code,
            Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen)
        ) && no_space_left(path));
    if full {
        return LogError::Full {
            path: folder_of(path),
        };
    }
    let path = path.display().to_string();
    match code {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => LogError::Io {
            path,
            message: "another process has kept the database locked for too long".to_owned(),
        },
        Some(ErrorCode::NotADatabase) => LogError::Damaged {
            path,
            message: "this file is not a database of Longrein".to_owned(),
        },
        Some(ErrorCode::DatabaseCorrupt) => LogError::Damaged {
            path,
            message: error.to_string(),
        },
        _ => LogError::Io {
            path,
            message: error.to_string(),
        },
    }
}

/// Translates an error of the file system that concerns `path`.
pub(crate) fn file(path: &Path, error: &io::Error) -> LogError {
    if error.kind() == io::ErrorKind::StorageFull || error.kind() == io::ErrorKind::QuotaExceeded {
        return LogError::Full {
            path: folder_of(path),
        };
    }
    LogError::Io {
        path: path.display().to_string(),
        message: error.to_string(),
    }
}

/// Some writes (the shared memory of the write-ahead log, a file that is opened) fail on a full
/// disk with an error that does not say so; then the file system is asked.
fn no_space_left(path: &Path) -> bool {
    let folder = path.parent().unwrap_or(path);
    rustix::fs::statvfs(folder).is_ok_and(|space| space.f_bavail == 0)
}

fn folder_of(path: &Path) -> String {
    path.parent().unwrap_or(path).display().to_string()
}
