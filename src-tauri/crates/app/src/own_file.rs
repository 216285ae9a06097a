//! Files of the data folder that a person writes and a program edits: read with every mistake,
//! replaced whole or not at all.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use longrein_core::agent_file::{Problem, Severity};

use crate::error::{AppError, AppErrorCode};

/// How long one process waits for another that changes the same file, and how often it asks.
const LOCK_WAIT: Duration = Duration::from_secs(5);
const LOCK_POLL: Duration = Duration::from_millis(5);

/// Keeps others from changing a file between its reading and its writing: of two that do it at once
/// none loses what the other wrote. Held until it is dropped.
///
/// # Errors
/// When the data folder can't be written, or another holds it for too long.
pub(crate) fn lock(data_dir: &Path, name: &str, lock: &str) -> Result<File, AppError> {
    let folder = data_dir.join("locks");
    let failed = |error: io::Error| {
        AppError::new(
            AppErrorCode::Io,
            format!("{name} can't be changed: {error}."),
            "Check that you may write to the data folder.",
        )
    };
    std::fs::create_dir_all(&folder).map_err(failed)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).mode(0o600);
    let file = options.open(folder.join(lock)).map_err(failed)?;
    let begin = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
            Err(TryLockError::WouldBlock) if begin.elapsed() < LOCK_WAIT => {
                std::thread::sleep(LOCK_POLL);
            }
            Err(TryLockError::WouldBlock) => {
                return Err(AppError::new(
                    AppErrorCode::Busy,
                    format!("Another process has been changing {name} for too long."),
                    "Try again; end that process if it hangs.",
                ));
            }
        }
    }
}

/// The text of a file that a person writes; empty when there is no file.
///
/// # Errors
/// One problem without a line, when the file can't be read; it stays as it is.
pub(crate) fn read(path: &Path) -> Result<String, Vec<Problem>> {
    taken(path, crate::agents::read_text(path))
}

/// The same of a file that grows with what it tells of, up to a limit of its own.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_up_to(path: &Path, limit: u64) -> Result<String, Vec<Problem>> {
    taken(path, crate::agents::read_text_up_to(path, limit))
}

fn taken(path: &Path, text: io::Result<String>) -> Result<String, Vec<Problem>> {
    match text {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => {
            let remedy = match error.kind() {
                io::ErrorKind::InvalidData => "Save it as UTF-8 text.",
                _ => "Make it readable for you, or move it away; it is not replaced.",
            };
            Err(vec![Problem {
                severity: Severity::Error,
                line: 0,
                column: 0,
                path: String::new(),
                message: format!("{} can't be read: {error}.", path.display()),
                remedy: remedy.to_owned(),
            }])
        }
    }
}

/// What is wrong with a file, as one failure. `name` is the file's name in the data folder.
pub(crate) fn as_error(name: &str, problems: &[Problem]) -> AppError {
    let errors: Vec<&Problem> = problems
        .iter()
        .filter(|problem| problem.severity == Severity::Error)
        .collect();
    match errors.as_slice() {
        [only] if only.line == 0 => AppError::new(AppErrorCode::Usage, &only.message, &only.remedy),
        [only] => AppError::usage(
            format!("{name}, line {}: {}", only.line, only.message),
            only.remedy.clone(),
        ),
        several => {
            let lines: Vec<String> = several
                .iter()
                .map(|problem| format!("\n  {problem}"))
                .collect();
            AppError::usage(
                format!("{name} has {} mistakes:{}", several.len(), lines.concat()),
                "Correct them in the data folder; nothing was changed.",
            )
        }
    }
}

/// Why a file with mistakes is not edited.
pub(crate) fn not_changed(name: &str, problems: &[Problem]) -> AppError {
    let error = as_error(name, problems);
    let message = format!(
        "{name} was not changed, because it has a mistake already. {}",
        error.message
    );
    AppError::new(error.code, message, error.remedy)
}

/// Writes beside the old file and moves the new one into its place, both on the disk before this
/// returns.
///
/// # Errors
/// When the disk refuses; the old file is still there then.
pub(crate) fn replace(data_dir: &Path, name: &str, text: &str) -> Result<(), AppError> {
    let path = data_dir.join(name);
    swap(data_dir, name, text).map_err(|error| {
        AppError::new(
            AppErrorCode::Io,
            format!("{} can't be written: {error}.", path.display()),
            "Check the disk and that you may write to the data folder; the old file is still there.",
        )
    })
}

fn swap(data_dir: &Path, name: &str, text: &str) -> io::Result<()> {
    let fresh = data_dir.join(format!(".{name}.{}", std::process::id()));
    let written =
        write_new(&fresh, text).and_then(|()| std::fs::rename(&fresh, data_dir.join(name)));
    if let Err(error) = written {
        let _ = std::fs::remove_file(&fresh);
        return Err(error);
    }
    File::open(data_dir)?.sync_all()
}

fn write_new(fresh: &Path, text: &str) -> io::Result<()> {
    // One that a killed process of the same id left behind is in the way.
    let _ = std::fs::remove_file(fresh);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(fresh)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
