//! `write_file`: a whole text file.

use std::sync::Arc;

use longrein_protocol::{Effect, ToolSpec};
use longrein_runtime::ports::{Tool, ToolCall, ToolError, ToolOutput};
use serde::Deserialize;
use serde_json::json;

use super::{FILE_LIMIT_BYTES, Writing};
use crate::tool::{Blocking, arguments, spec};
use crate::workspace::{beneath, own};
use crate::{error, show};

pub(super) fn tool(writing: Writing) -> Arc<dyn Tool> {
    let properties = json!({
        "path": {
            "type": "string", "minLength": 1,
            "description": "The file, relative to the workspace; missing folders are made.",
        },
        "content": { "type": "string", "description": "The whole content." },
    });
    let description = "Writes a whole text file of the workspace; what was there is replaced. To \
        change a part of a file use edit_file, which costs less and keeps the rest as it is.";
    let spec = ToolSpec {
        effect: Effect::Workspace,
        path_arguments: vec!["path".to_owned()],
        ..spec("write_file", description, properties, &["path", "content"])
    };
    Blocking::tool(spec, move |call| run(call, &writing))
}

#[derive(Deserialize)]
struct WriteFile {
    path: String,
    content: String,
}

fn run(call: &ToolCall, writing: &Writing) -> Result<ToolOutput, ToolError> {
    let WriteFile { path, content } = arguments(call)?;
    let path = beneath(&path)?;
    own(&path)?;
    if content.len() as u64 > FILE_LIMIT_BYTES {
        return Err(error::invalid(format!(
            "the content has {} bytes, more than {FILE_LIMIT_BYTES}",
            content.len()
        )));
    }
    let _writing = super::lock(writing);
    let replaced = super::workspace(call)?.write(&path, content.as_bytes())?;
    let bytes = show::count(content.len(), "byte", "bytes");
    let lines = show::count(content.lines().count(), "line", "lines");
    let verb = if replaced { "Replaced" } else { "Wrote" };
    Ok(ToolOutput::text(
        format!("{verb} {path}: {bytes}, {lines}."),
        bytes,
    ))
}
