//! The editor that a person has named, for arguments that are more than a line.

use std::io::Write as _;
use std::process::Stdio;

use longrein_keys::environment::not_for_children;

use crate::edit;
use crate::failure::{Failure, Status};

/// The most bytes of what an editor leaves.
const EDITED_LIMIT_BYTES: u64 = 4 << 20;

/// The command of the editor, where one is named.
pub fn command() -> Option<String> {
    ["VISUAL", "EDITOR"].into_iter().find_map(|variable| {
        let command = std::env::var(variable).ok()?;
        Some(command).filter(|command| !command.trim().is_empty())
    })
}

/// Lets a person edit a text. The file is for them alone, and is gone afterwards.
///
/// # Errors
/// When the editor can't be started, or ends with a failure.
pub async fn edit(editor: &str, text: &str) -> Result<String, Failure> {
    let failed = |why: String| {
        let message = format!("The editor “{editor}” can't be used: {why}.");
        let remedy =
            "Name another one in EDITOR, or edit with: longrein approve ACTION --edit @FILE";
        Failure::said(Status::Parked, message, remedy)
    };
    let mut file = tempfile::Builder::new()
        .prefix("longrein-")
        .suffix(".json")
        .tempfile()
        .map_err(|error| failed(error.to_string()))?;
    writeln!(file, "{text}").map_err(|error| failed(error.to_string()))?;
    let mut command = tokio::process::Command::new("sh");
    // An editor has no use for keys, and its plugins send words elsewhere.
    for variable in not_for_children(std::env::vars_os()) {
        command.env_remove(variable);
    }
    let status = command
        .args(["-c", &format!("{editor} \"$1\""), "sh"])
        .arg(file.path())
        .stdin(Stdio::inherit())
        .stdout(Stdio::inherit())
        .stderr(Stdio::inherit())
        .status()
        .await
        .map_err(|error| failed(error.to_string()))?;
    if !status.success() {
        return Err(failed(status.to_string()));
    }
    // By its name: many editors write a new file and move it into place.
    let path = file.path().to_string_lossy().into_owned();
    Ok(edit::file_text(&path, EDITED_LIMIT_BYTES)?
        .trim()
        .to_owned())
}
