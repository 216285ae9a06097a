//! `file`: that it is there, how large it is, and what it is by its content.

use std::io::Read;

use longrein_protocol::agent::FileCriterion;
use longrein_runtime::ports::{RunContext, ToolError};

use super::read::FILE_LIMIT_BYTES;
use super::{Finding, media};
use crate::tool::blocking;
use crate::workspace::{Workspace, beneath};
use crate::{error, show};

/// How much is read of a file that is too large to be read whole.
const HEAD_BYTES: u64 = 64 * 1024;

pub(super) async fn check(
    criterion: &FileCriterion,
    context: &RunContext,
) -> Result<Finding, ToolError> {
    let path = beneath(&criterion.file)?;
    let (root, asked) = (context.workspace.clone(), criterion.clone());
    blocking(move || {
        // Opened, not only looked at: a link out, a pipe or a folder is no file.
        let (file, bytes) = match Workspace::open(&root)?.open_file(&path) {
            Ok(found) => found,
            Err(problem) => return Ok(Finding::off(format!("no file {path}"), problem.message)),
        };
        let size = format!(
            "{path} has {}",
            show::count(bytes as usize, "byte", "bytes")
        );
        let (least, most) = (u64::from(asked.min_bytes), asked.max_bytes.map(u64::from));
        let mut difference = Vec::new();
        if bytes < least {
            difference.push(format!("{size}, and at least {least} are wanted."));
        }
        if let Some(most) = most.filter(|most| bytes > *most) {
            difference.push(format!("{size}, and at most {most} are wanted."));
        }
        let Some(wanted) = asked.media_type else {
            return Ok(Finding::of(size, difference));
        };
        let whole = bytes <= FILE_LIMIT_BYTES;
        let limit = if whole { FILE_LIMIT_BYTES } else { HEAD_BYTES };
        let mut content = Vec::new();
        file.take(limit)
            .read_to_end(&mut content)
            .map_err(|problem| error::of_path(&path, &problem))?;
        let found = media::of(&content, whole);
        if !whole && wanted.to_ascii_lowercase().contains("json") {
            difference.push(format!(
                "{path} has more than {FILE_LIMIT_BYTES} bytes, too many to be read as JSON."
            ));
        } else if !found.is(&wanted) {
            difference.push(format!(
                "{path} is {} by its content, and {wanted} is wanted.{}",
                found.name,
                found.hint()
            ));
        }
        Ok(Finding::of(format!("{size}, {}", found.name), difference))
    })
    .await
}
