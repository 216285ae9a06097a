//! `list_files`: what is in the workspace.

use std::sync::Arc;

use cap_std::fs::Dir;
use longrein_protocol::ToolSpec;
use longrein_runtime::ports::{Tool, ToolCall, ToolError, ToolOutput};
use serde::Deserialize;
use serde_json::json;

use crate::tool::{Blocking, arguments, spec};
use crate::workspace::beneath;
use crate::{error, show};

/// Levels of folders shown when the call says no number.
const DEPTH_DEFAULT: u32 = 3;
/// The most levels.
const DEPTH_LIMIT: u32 = 12;
/// The most entries shown.
const SHOWN_LIMIT: usize = 500;
/// The most entries of one folder that are looked at.
const FOLDER_LIMIT: usize = 20_000;

pub(super) fn tool() -> Arc<dyn Tool> {
    let properties = json!({
        "path": {
            "type": "string",
            "description": "The folder or file, relative to the workspace. Default: the workspace itself.",
        },
        "depth": {
            "type": "integer", "minimum": 1, "maximum": DEPTH_LIMIT,
            "description": format!("How many levels of folders to show. Default {DEPTH_DEFAULT}."),
        },
    });
    let description = "Lists files and folders of the workspace, sorted, with sizes. A folder \
        ends with `/`; links are shown and not followed.";
    let spec = ToolSpec {
        path_arguments: vec!["path".to_owned()],
        ..spec("list_files", description, properties, &[])
    };
    Blocking::tool(spec, run)
}

#[derive(Deserialize)]
struct ListFiles {
    path: Option<String>,
    depth: Option<u32>,
}

fn run(call: &ToolCall) -> Result<ToolOutput, ToolError> {
    let asked: ListFiles = arguments(call)?;
    let path = beneath(asked.path.as_deref().unwrap_or("."))?;
    let workspace = super::workspace(call)?;
    let metadata = workspace.metadata(&path)?;
    // A file is listed by itself: a refusal would only send the model looking for its folder.
    if metadata.is_file() {
        let line = format!("{} ({})", show::safe(&path), size(metadata.len()));
        return Ok(ToolOutput::text(line, show::count(1, "entry", "entries")));
    }
    let folder = workspace.folder(&path)?;
    let depth = asked.depth.unwrap_or(DEPTH_DEFAULT).clamp(1, DEPTH_LIMIT);
    let prefix = if path == "." {
        String::new()
    } else {
        format!("{path}/")
    };
    let mut listing = Listing::default();
    listing
        .add(&folder, &prefix, depth)
        .map_err(|error| error::of_path(&path, &error))?;
    let outcome = show::count(listing.lines.len(), "entry", "entries");
    if listing.lines.is_empty() {
        return Ok(ToolOutput::text(format!("{path} is empty."), outcome));
    }
    if listing.cut {
        listing.lines.push(format!(
            "… cut after {SHOWN_LIMIT} entries: list one folder, or less deep"
        ));
    }
    Ok(ToolOutput::text(listing.lines.join("\n"), outcome))
}

fn size(bytes: u64) -> String {
    show::count(bytes as usize, "byte", "bytes")
}

#[derive(Default)]
struct Listing {
    lines: Vec<String>,
    cut: bool,
}

impl Listing {
    fn add(&mut self, folder: &Dir, prefix: &str, depth: u32) -> std::io::Result<()> {
        let mut entries = Vec::new();
        for entry in folder.entries()?.take(FOLDER_LIMIT) {
            let entry = entry?;
            entries.push((entry.file_name(), entry));
        }
        entries.sort_by(|left, right| left.0.cmp(&right.0));
        for (name, entry) in entries {
            if self.lines.len() >= SHOWN_LIMIT {
                self.cut = true;
                return Ok(());
            }
            let shown = show::safe(&name.to_string_lossy()).replace('\n', "\\n");
            // An entry may be gone by now; the others are listed all the same.
            let Ok(metadata) = folder.symlink_metadata(&name) else {
                continue;
            };
            if metadata.is_dir() {
                self.lines.push(format!("{prefix}{shown}/"));
                if depth > 1
                    && let Ok(inner) = entry.open_dir()
                {
                    self.add(&inner, &format!("{prefix}{shown}/"), depth - 1)?;
                }
            } else if metadata.is_symlink() {
                self.lines
                    .push(format!("{prefix}{shown} (link, not followed)"));
            } else if metadata.is_file() {
                let size = size(metadata.len());
                self.lines.push(format!("{prefix}{shown} ({size})"));
            } else {
                self.lines
                    .push(format!("{prefix}{shown} (not a regular file)"));
            }
        }
        Ok(())
    }
}
