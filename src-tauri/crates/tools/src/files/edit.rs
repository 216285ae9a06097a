//! `edit_file`: exact replacement.

use std::sync::Arc;

use longrein_protocol::{Effect, ToolSpec};
use longrein_runtime::ports::{Tool, ToolCall, ToolError, ToolOutput};
use serde::Deserialize;
use serde_json::json;

use super::{FILE_LIMIT_BYTES, Writing};
use crate::tool::{Blocking, arguments, spec};
use crate::workspace::{beneath, own};
use crate::{error, show};

/// The most line numbers that an ambiguous match lists.
const PLACES_LIMIT: usize = 10;

pub(super) fn tool(writing: Writing) -> Arc<dyn Tool> {
    let properties = json!({
        "path": {
            "type": "string", "minLength": 1,
            "description": "The file, relative to the workspace.",
        },
        "old": {
            "type": "string", "minLength": 1,
            "description": "The exact text to replace, white space included. It must occur once, unless `all` is true.",
        },
        "new": { "type": "string", "description": "What to put in its place; may be empty." },
        "all": { "type": "boolean", "description": "Replace every occurrence. Default false." },
    });
    let description = "Replaces exact text in a text file of the workspace and says how many \
        places matched. Copy `old` from read_file, with enough of its surroundings to be unique: \
        where it occurs several times, give more of them or set `all`; where it does not occur, \
        read the file again, since it may have changed.";
    let spec = ToolSpec {
        effect: Effect::Workspace,
        path_arguments: vec!["path".to_owned()],
        ..spec(
            "edit_file",
            description,
            properties,
            &["path", "old", "new"],
        )
    };
    Blocking::tool(spec, move |call| run(call, &writing))
}

#[derive(Deserialize)]
struct EditFile {
    path: String,
    old: String,
    new: String,
    #[serde(default)]
    all: bool,
}

fn run(call: &ToolCall, writing: &Writing) -> Result<ToolOutput, ToolError> {
    let edit: EditFile = arguments(call)?;
    let path = beneath(&edit.path)?;
    own(&path)?;
    if edit.old.is_empty() {
        return Err(error::invalid(
            "`old` is empty; use write_file to write a whole file",
        ));
    }
    if edit.old == edit.new {
        return Err(error::invalid(
            "`old` and `new` are the same, so there is nothing to change",
        ));
    }
    let _writing = super::lock(writing);
    let workspace = super::workspace(call)?;
    let text = String::from_utf8(workspace.read(&path, FILE_LIMIT_BYTES)?).map_err(|_| {
        error::failed(format!(
            "`{path}` is not UTF-8 text, so it can't be edited exactly"
        ))
    })?;
    if call.attempt > 1 && already_made(&text, &edit) {
        let outcome = "already made before the interruption";
        return Ok(ToolOutput::text(
            format!("{path}: the replacement was {outcome}."),
            outcome,
        ));
    }
    let places = text.matches(&edit.old).count();
    match places {
        0 => return Err(error::not_found(nowhere(&path, &text, &edit.old))),
        1 => {}
        _ if edit.all => {}
        _ => return Err(error::conflict(ambiguous(&path, &text, &edit.old, places))),
    }
    let grown = (text.len() + places * edit.new.len()).saturating_sub(places * edit.old.len());
    if grown as u64 > FILE_LIMIT_BYTES {
        return Err(error::invalid(format!(
            "`{path}` would grow beyond {FILE_LIMIT_BYTES} bytes"
        )));
    }
    workspace.write(&path, text.replace(&edit.old, &edit.new).as_bytes())?;
    let line = line_of(&text, text.find(&edit.old).unwrap_or(0));
    let replaced = show::count(places, "place", "places");
    Ok(ToolOutput::text(
        format!("Replaced {replaced} in {path}, the first in line {line}."),
        format!("{replaced} replaced"),
    ))
}

/// Whether an attempt that was cut off had already written: no occurrence of `old` is left but
/// those inside of `new`, and `new` is there.
fn already_made(text: &str, edit: &EditFile) -> bool {
    !edit.new.is_empty()
        && text.contains(&edit.new)
        && text
            .split(edit.new.as_str())
            .all(|rest| !rest.contains(&edit.old))
}

fn nowhere(path: &str, text: &str, old: &str) -> String {
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let hint = if squeezed(text).contains(&squeezed(old)) {
        "the words do occur, with other white space: copy them exactly as read_file shows them"
    } else {
        "read the file again and copy the text exactly"
    };
    format!("0 matches in `{path}`: `old` does not occur there; {hint}")
}

fn ambiguous(path: &str, text: &str, old: &str, places: usize) -> String {
    let lines: Vec<String> = text
        .match_indices(old)
        .take(PLACES_LIMIT)
        .map(|(offset, _)| line_of(text, offset).to_string())
        .collect();
    let more = if places > PLACES_LIMIT { ", …" } else { "" };
    format!(
        "{places} matches in `{path}` (lines {}{more}): give more of the surrounding text, or set `all`; nothing was changed",
        lines.join(", ")
    )
}

fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
        + 1
}
