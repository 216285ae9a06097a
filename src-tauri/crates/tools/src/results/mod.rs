//! Results that were too long to be shown: laid down as files, and read on in without being shown
//! whole.

mod find;
mod part;
mod pointer;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use longrein_core::outline::bytes;
use longrein_core::run::KeptResult;
use longrein_protocol::tool::READ_RESULT;
use longrein_protocol::{Body, ToolSpec};
use longrein_runtime::ports::{Tool, ToolCall, ToolError, ToolOutput};
use serde::Deserialize;
use serde_json::json;

use crate::tool::{arguments, blocking, spec};
use crate::workspace::Workspace;
use crate::{error, show};

/// The folder beneath the workspace where results are kept whole.
const FOLDER: &str = "results";
/// The most that one call shows, in bytes. It stays below what a result may have before it is too
/// long itself, so that what was read is never a reason to read on.
pub(crate) const SHOWN_LIMIT_BYTES: usize = 12_000;
/// The largest file of a tool that is read.
const FILE_LIMIT_BYTES: u64 = 64 * 1024 * 1024;
/// How many lines are shown when the call says no number.
const LINES_DEFAULT: usize = 200;
/// The most lines that one call shows.
const LINES_LIMIT: usize = 2_000;
/// The longest pointer and the longest pattern, in characters.
const ASKED_CHARS: usize = 1_000;
/// The fewest letters by which a result may be named.
const PREFIX_CHARS: usize = 4;
/// The most results that a message lists.
const LISTED_LIMIT: usize = 12;

/// Where a long result of this name lies whole beneath the workspace.
pub fn result_path(name: &str) -> String {
    format!("{FOLDER}/{name}")
}

/// Writes a file of the workspace and gives its path. No link leads out.
///
/// # Errors
/// What the system says; whatever stood there is as it was.
pub fn lay_down(workspace: &Path, path: &str, content: &[u8]) -> Result<String, ToolError> {
    Workspace::open(workspace)?.write(path, content)?;
    Ok(path.to_owned())
}

/// Reads on in a result.
pub(crate) struct ReadResult {
    spec: ToolSpec,
}

impl ReadResult {
    pub(crate) fn tool() -> Arc<dyn Tool> {
        let properties = json!({
            "result": {
                "type": "string", "minLength": 1, "maxLength": 200,
                "description": "The result, by the name that it is shown with, or its file in results/.",
            },
            "pointer": {
                "type": "string", "pattern": "^/", "maxLength": ASKED_CHARS,
                "description": "In JSON: which value, as in /hits/3/title; /hits/10-19 are ten items. In JSON Lines the first part is the row, from 0. What follows applies to that value.",
            },
            "pattern": {
                "type": "string", "minLength": 1, "maxLength": ASKED_CHARS,
                "description": "Show the lines that match this regular expression, with what stands around the match; from start_line on.",
            },
            "start_line": {
                "type": "integer", "minimum": 1,
                "description": "The first line to show, counted from 1. Default 1.",
            },
            "lines": {
                "type": "integer", "minimum": 1, "maximum": LINES_LIMIT,
                "description": format!("How many lines to show. Default {LINES_DEFAULT}."),
            },
            "start": {
                "type": "integer", "minimum": 0,
                "description": "The first byte to show, instead of lines. Default 0 where `end` is given.",
            },
            "end": {
                "type": "integer", "minimum": 1,
                "description": format!("One past the last byte. Default, and at most: {SHOWN_LIMIT_BYTES} bytes after the start."),
            },
        });
        let description = "Shows part of a result that was too long to be shown whole, or that was \
            taken out of this conversation: a value by its JSON pointer, lines that match a regular \
            expression, lines or bytes by number. Without any of these: what it is made of, and its \
            beginning.";
        let spec = spec(READ_RESULT, description, properties, &["result"]);
        Arc::new(Self { spec })
    }
}

/// What a call asks for.
#[derive(Deserialize, Default)]
struct Asked {
    result: String,
    pointer: Option<String>,
    pattern: Option<String>,
    start_line: Option<usize>,
    lines: Option<usize>,
    start: Option<usize>,
    end: Option<usize>,
}

#[async_trait]
impl Tool for ReadResult {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, call: ToolCall) -> Result<ToolOutput, ToolError> {
        let asked: Asked = arguments(&call)?;
        let kept = named(&asked.result, &call.context.results)?.clone();
        let whole = whole(&kept, &call).await?;
        let (cancel, name) = (call.cancel.clone(), name_of(&kept));
        let work = move || {
            let text = String::from_utf8_lossy(&whole.bytes);
            part::of(&text, &name, &asked, &|| cancel.is_cancelled())
        };
        let (mut text, outcome) = tokio::select! {
            biased;
            () = call.cancel.cancelled() => return Err(error::cancelled()),
            done = blocking(work) => done?,
        };
        if let Some(note) = whole.note {
            text.push('\n');
            text.push_str(&note);
        }
        Ok(ToolOutput {
            origin: Some((kept.origin, kept.trust)),
            ..ToolOutput::text(text, outcome)
        })
    }
}

/// How a result is called where it is shown.
fn name_of(kept: &KeptResult) -> String {
    match &kept.file {
        Some(file) => file.clone(),
        None => format!("result {}", kept.action),
    }
}

/// All of a result.
struct Whole {
    bytes: Arc<[u8]>,
    /// What is to be said of it.
    note: Option<String>,
}

async fn whole(kept: &KeptResult, call: &ToolCall) -> Result<Whole, ToolError> {
    let mut note = None;
    if let Some(file) = kept.file.clone().filter(|_| kept.file_has_more) {
        let workspace = call.context.workspace.clone();
        let path = file.clone();
        let read =
            blocking(move || Workspace::open(&workspace)?.read(&path, FILE_LIMIT_BYTES)).await;
        match read {
            Ok(bytes) => {
                return Ok(Whole {
                    bytes: bytes.into(),
                    note,
                });
            }
            Err(error) => {
                note = Some(format!(
                    "[This is what was kept of its beginning and its end; the whole can't be read here: {error}]"
                ));
            }
        }
    }
    let bytes = match &kept.body {
        Body::Text(text) => text.as_bytes().into(),
        Body::Blob { blob, .. } => call.context.blobs.read(*blob).await?,
    };
    Ok(Whole { bytes, note })
}

/// The result of this name: its action's id or the first letters of it, or its file.
fn named<'r>(name: &str, results: &'r [KeptResult]) -> Result<&'r KeptResult, ToolError> {
    let named = name.trim().trim_start_matches("./");
    let of_file = |kept: &&KeptResult| kept.file.as_deref() == Some(named);
    if let Some(kept) = results.iter().find(of_file) {
        return Ok(kept);
    }
    let id = named.rsplit('/').next().unwrap_or(named);
    let id = id.split('.').next().unwrap_or(id);
    if let Some(kept) = results.iter().find(|kept| kept.action.0 == id) {
        return Ok(kept);
    }
    let of_action = |kept: &&KeptResult| kept.action.0.starts_with(id) && id.len() >= PREFIX_CHARS;
    let mut found = results.iter().filter(of_action);
    match (found.next(), found.next()) {
        (Some(kept), None) => Ok(kept),
        (Some(_), Some(_)) => Err(error::invalid(format!(
            "several results begin with `{id}`; give the whole name"
        ))),
        (None, _) => Err(error::not_found(unknown(name, results))),
    }
}

fn unknown(name: &str, results: &[KeptResult]) -> String {
    let name = show::brief(name, 60);
    if results.is_empty() {
        return format!(
            "there is no result `{name}`: every result of this run was short and stands where it was shown"
        );
    }
    let last = results.iter().rev().take(LISTED_LIMIT);
    let listed: Vec<String> = last
        .map(|kept| format!("{} ({})", kept.action, bytes(kept.body.len())))
        .collect();
    let more = if results.len() > LISTED_LIMIT {
        ", …"
    } else {
        ""
    };
    format!(
        "there is no result `{name}` that can be read on in; the last ones are {}{more}",
        listed.join(", ")
    )
}
