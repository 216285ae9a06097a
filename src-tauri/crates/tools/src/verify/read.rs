//! What a criterion is checked in: the file of the workspace, or what was published of it.

use std::sync::Arc;

use longrein_runtime::ports::{PublishedArtifact, RunContext, ToolError};

use super::Finding;
use crate::error;
use crate::page::Media;
use crate::tool::blocking;
use crate::workspace::{Workspace, beneath};

/// The largest file that is read whole for a check.
pub(super) const FILE_LIMIT_BYTES: u64 = 8 * 1024 * 1024;

/// The latest publication of `path`.
pub(super) fn published<'c>(context: &'c RunContext, path: &str) -> Option<&'c PublishedArtifact> {
    // A later publication replaces an earlier one.
    context
        .artifacts
        .iter()
        .rfind(|artifact| artifact.path == path)
}

pub(super) fn not_published(path: &str, context: &RunContext) -> Finding {
    let mut published: Vec<&str> = context
        .artifacts
        .iter()
        .map(|artifact| artifact.path.as_str())
        .collect();
    published.sort_unstable();
    published.dedup();
    let others = if published.is_empty() {
        "Nothing is published yet".to_owned()
    } else {
        format!("Published are: {}", published.join(", "))
    };
    Finding::off(
        format!("{path} is not published"),
        format!(
            "{path} is not published. {others}. Write it and call publish_artifact with path {path}."
        ),
    )
}

/// What a file says, and which of its two forms that is.
pub(super) struct Content {
    /// As names beneath the workspace.
    pub(super) path: String,
    /// `the published index.html`, or the path.
    pub(super) name: String,
    pub(super) media: Media,
    pub(super) bytes: Arc<[u8]>,
}

impl Content {
    /// The text; an error where it is none.
    pub(super) fn text(&self) -> Result<&str, ToolError> {
        text(&self.name, &self.bytes)
    }
}

/// What was published of `path`, or its file where nothing was.
pub(super) async fn delivered(context: &RunContext, path: &str) -> Result<Content, ToolError> {
    let path = beneath(path)?;
    if let Some(artifact) = published(context, &path) {
        return Ok(Content {
            name: format!("the published {path}"),
            media: Media::named(&artifact.media_type).unwrap_or_else(|| Media::of(&path)),
            bytes: context.blobs.read(artifact.original).await?,
            path,
        });
    }
    let bytes = in_workspace(context, &path).await?;
    Ok(Content {
        name: path.clone(),
        media: Media::of(&path),
        bytes: bytes.into(),
        path,
    })
}

/// The file at `path`, which is beneath the workspace.
pub(super) async fn in_workspace(context: &RunContext, path: &str) -> Result<Vec<u8>, ToolError> {
    let (root, path) = (context.workspace.clone(), path.to_owned());
    blocking(move || Workspace::open(&root)?.read(&path, FILE_LIMIT_BYTES)).await
}

pub(super) fn text<'b>(name: &str, bytes: &'b [u8]) -> Result<&'b str, ToolError> {
    std::str::from_utf8(bytes)
        .map_err(|_| error::failed(format!("{name} is not UTF-8 text; write it anew")))
}
