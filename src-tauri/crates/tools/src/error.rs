//! Errors in the classes that a model can act on, each with a sentence that says what would help.

use std::io;

use longrein_protocol::ToolErrorClass;
use longrein_runtime::ports::ToolError;

pub(crate) fn invalid(message: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorClass::InvalidArguments, message)
}

pub(crate) fn not_permitted(message: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorClass::NotPermitted, message)
}

pub(crate) fn not_found(message: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorClass::NotFound, message)
}

pub(crate) fn conflict(message: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorClass::Conflict, message)
}

pub(crate) fn temporary(message: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorClass::Temporary, message)
}

pub(crate) fn failed(message: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorClass::Failed, message)
}

pub(crate) fn cancelled() -> ToolError {
    ToolError::new(ToolErrorClass::Cancelled, "stopped before it ended")
}

/// What the system says of a path beneath the workspace.
pub(crate) fn of_path(path: &str, error: &io::Error) -> ToolError {
    match error.kind() {
        io::ErrorKind::NotFound => not_found(format!(
            "`{path}` is not in the workspace; list_files shows what is"
        )),
        // cap-std refuses an escape itself, so there is no error number of the system.
        io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => leads_out(path),
        io::ErrorKind::PermissionDenied => {
            not_permitted(format!("the system does not let this run use `{path}`"))
        }
        io::ErrorKind::NotADirectory => {
            conflict(format!("a part of `{path}` is a file, not a folder"))
        }
        io::ErrorKind::IsADirectory => conflict(format!("`{path}` is a folder, not a file")),
        io::ErrorKind::InvalidFilename => {
            invalid(format!("`{path}` is too long for a file's name"))
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => failed(format!(
            "the disk is full, so `{path}` could not be written; what was there before is unchanged"
        )),
        io::ErrorKind::ReadOnlyFilesystem => {
            not_permitted(format!("`{path}` lies on a disk that can only be read"))
        }
        _ => failed(format!("`{path}`: {error}")),
    }
}

pub(crate) fn leads_out(path: &str) -> ToolError {
    not_permitted(format!(
        "`{path}` leads out of the workspace; only files beneath the workspace can be used"
    ))
}
