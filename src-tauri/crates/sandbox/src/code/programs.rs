//! Calls of tools that a program makes: carried to its run, and what came of them back.

use std::path::PathBuf;
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use longrein_protocol::ToolErrorClass;
use longrein_runtime::ports::{CallEnd, NoLiveAction, Tells, ToolCall, ToolError};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::io::AsyncWriteExt;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use super::keep::{FOLDER, fresh_file, in_place, names};
use super::plain;
use super::station::{Lease, Make, Station};
use crate::SandboxError;
use crate::session::Call;

/// The bytes of a result that are handed over; a longer one is laid in a file.
const IN_PLACE_BYTES: usize = 32 * 1024;
/// What of a longer one is shown.
const PREVIEW_BYTES: usize = 400;

/// The calls of one program, as long as somebody follows it.
pub(super) struct Calls {
    station: Arc<Station>,
    tells: Arc<dyn Tells>,
    command: String,
    calls: mpsc::Receiver<Call>,
    answers: JoinSet<()>,
    held: watch::Receiver<bool>,
}

/// A line that a program sends.
#[derive(Deserialize)]
struct Line {
    tool: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

impl Calls {
    pub(super) fn of(
        station: &Arc<Station>,
        call: &ToolCall,
        command: &str,
        lease: &Lease,
    ) -> Self {
        Self {
            station: station.clone(),
            tells: call.beside.tells.clone(),
            command: command.to_owned(),
            calls: lease.calls(command),
            answers: JoinSet::new(),
            held: call.beside.held.clone(),
        }
    }

    /// Carries calls and answers, and lets the box stand still while all of it waits for a person.
    /// It has no end; cancel-safe.
    pub(super) async fn carry(&mut self) {
        loop {
            tokio::select! {
                biased;
                Some(call) = self.calls.recv() => {
                    let (station, tells) = (self.station.clone(), self.tells.clone());
                    self.answers.spawn(answered(station, tells, self.command.clone(), call));
                }
                Some(_) = self.answers.join_next() => {}
                Ok(()) = self.held.changed() => {
                    let held = *self.held.borrow_and_update();
                    self.stand(held).await;
                }
                else => std::future::pending().await,
            }
        }
    }

    /// Whether a call waits for its answer.
    pub(super) fn are_open(&self) -> bool {
        !self.answers.is_empty()
    }

    /// Lets the box stand still, or go on: also when nobody waits for that any more.
    pub(super) async fn stand(&self, still: bool) {
        let station = self.station.clone();
        let standing = tokio::spawn(async move { station.stand(still).await });
        if let Err(error) = standing.await {
            tracing::warn!(%error, "a box was not let stand still");
        }
    }
}

async fn answered(station: Arc<Station>, tells: Arc<dyn Tells>, command: String, call: Call) {
    let end = match serde_json::from_slice::<Line>(&call.body) {
        Ok(line) => {
            let arguments = Value::Object(line.arguments).to_string();
            match tells.call(call.id.number, line.tool, arguments).await {
                Some(end) => end,
                // Whoever takes the run up is told of the call again.
                None => return,
            }
        }
        Err(error) => Err(ToolError::new(
            ToolErrorClass::InvalidArguments,
            format!("The call can't be read: {error}."),
        )),
    };
    let name = format!("{command}-{}", call.id.number);
    let said = words(&station.spec().workspace, &name, end).await;
    let Ok(Some(lease)) = station.enter(Make::AsItIs, &NoLiveAction).await else {
        return;
    };
    let said = said.to_string();
    if let Err(error) = lease.session.answer(call.id, said.as_bytes()).await {
        // It is told again on the next connection, if its program is there.
        tracing::debug!(%error, "a call is not answered");
    }
}

/// What a program is told.
async fn words(workspace: &PathBuf, name: &str, end: CallEnd) -> Value {
    let text = match end {
        Ok(text) => text,
        Err(error) => {
            return json!({"error": {"class": class(error.class), "message": error.message}});
        }
    };
    let is_json = text.starts_with(['{', '[']);
    let value = is_json.then(|| serde_json::from_str::<Value>(&text).ok());
    if text.len() <= IN_PLACE_BYTES {
        return json!({"ok": value.flatten().unwrap_or(Value::String(text))});
    }
    let ending = match value.flatten() {
        Some(_) => "json",
        None => "txt",
    };
    let name = format!("{name}.{ending}");
    match written(workspace, FOLDER, &name, text.as_bytes()).await {
        Ok(path) => {
            let preview = plain::text(&text.as_bytes()[..text.floor_char_boundary(PREVIEW_BYTES)]);
            json!({"file": {"path": path, "bytes": text.len(), "preview": preview}})
        }
        Err(error) => json!({"error": {"class": class(ToolErrorClass::Failed),
            "message": format!("The result is too long to be handed over, and {error}.")}}),
    }
}

fn class(class: ToolErrorClass) -> Value {
    serde_json::to_value(class).unwrap_or_default()
}

/// Writes a file into a folder of ours, for those that commands run as; says where it is.
pub(super) async fn written(
    workspace: &PathBuf,
    folder: &str,
    name: &str,
    bytes: &[u8],
) -> Result<String, SandboxError> {
    let dir = Dir::open_ambient_dir(workspace, ambient_authority());
    let dir = dir.map_err(SandboxError::file(workspace))?;
    let opened = fresh_file(&dir, folder, name);
    let (path, file) = opened.map_err(SandboxError::file(format!("{folder}/{name}")))?;
    filled(file, bytes)
        .await
        .map_err(SandboxError::file(&path))?;
    Ok(path)
}

/// Writes the files of a package into a folder of ours; says into which.
pub(super) async fn written_package(
    workspace: &PathBuf,
    folder: &str,
    files: &[(String, String)],
) -> Result<String, SandboxError> {
    let dir = Dir::open_ambient_dir(workspace, ambient_authority());
    let dir = dir.map_err(SandboxError::file(workspace))?;
    let mut first = None;
    for folder in names(folder) {
        match all_in(&dir, &folder, files).await {
            Ok(()) => return Ok(folder),
            Err(error) => {
                first.get_or_insert(error);
            }
        }
    }
    let error = first.unwrap_or_else(|| std::io::ErrorKind::NotFound.into());
    Err(SandboxError::file(folder)(error))
}

async fn all_in(dir: &Dir, folder: &str, files: &[(String, String)]) -> std::io::Result<()> {
    for (name, text) in files {
        filled(in_place(dir, &format!("{folder}/{name}"))?, text.as_bytes()).await?;
    }
    Ok(())
}

async fn filled(mut file: tokio::fs::File, bytes: &[u8]) -> std::io::Result<()> {
    file.write_all(bytes).await?;
    file.flush().await
}
