//! `read_file`: lines of a text file; an image, a PDF or a recording as what it is.

use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;

use cap_std::fs::File;
use longrein_protocol::ToolSpec;
use longrein_protocol::media::MEDIA_ITEM_BYTES;
use longrein_runtime::ports::{Part, Tool, ToolCall, ToolError, ToolOutput};
use serde::Deserialize;
use serde_json::json;

use crate::attached::{attached, is_media};
use crate::tool::{Blocking, arguments, spec};
use crate::workspace::beneath;
use crate::{error, show};

/// Lines shown when the call says no number.
const LINES_DEFAULT: usize = 400;
/// The most lines that one call shows.
const LINES_LIMIT: usize = 2_000;
/// The most bytes that one call shows.
const SHOWN_LIMIT_BYTES: usize = 64 * 1024;
/// How far into a file lines are counted.
const SCAN_LIMIT_BYTES: u64 = 256 * 1024 * 1024;
/// How much of a file is looked at to tell text from binary data.
const SNIFF_BYTES: usize = 8 * 1024;

pub(super) fn tool() -> Arc<dyn Tool> {
    let properties = json!({
        "path": {
            "type": "string", "minLength": 1,
            "description": "The file, by its path in the workspace, as list_files shows it.",
        },
        "start_line": {
            "type": "integer", "minimum": 1,
            "description": "The first line to show, counted from 1. Default 1.",
        },
        "lines": {
            "type": "integer", "minimum": 1, "maximum": LINES_LIMIT,
            "description": format!("How many lines to show. Default {LINES_DEFAULT}."),
        },
    });
    let description = "Shows lines of a text file of the workspace, after one line that says \
        which of how many; read on with `start_line`. Shows an image, a PDF or a recording as what \
        it is. Sources, from the library or the web, are not in the workspace: use read_source \
        for them.";
    let spec = ToolSpec {
        path_arguments: vec!["path".to_owned()],
        untrusted: true,
        ..spec("read_file", description, properties, &["path"])
    };
    Blocking::tool(spec, run)
}

#[derive(Deserialize)]
struct ReadFile {
    path: String,
    start_line: Option<usize>,
    lines: Option<usize>,
}

fn run(call: &ToolCall) -> Result<ToolOutput, ToolError> {
    let asked: ReadFile = arguments(call)?;
    let path = beneath(&asked.path)?;
    let (file, bytes) = super::workspace(call)?.open_file(&path)?;
    let start = asked.start_line.unwrap_or(1).max(1);
    let want = asked.lines.unwrap_or(LINES_DEFAULT).clamp(1, LINES_LIMIT);
    let mut reader = BufReader::with_capacity(SNIFF_BYTES, file);
    let head = reader
        .fill_buf()
        .map_err(|error| error::of_path(&path, &error))?;
    if is_media(head) {
        return show_media(&path, reader, bytes);
    }
    if is_binary(head) {
        return Err(error::failed(format!(
            "`{path}` is binary data ({}), not text; it begins with the bytes {}",
            show::count(bytes as usize, "byte", "bytes"),
            hexadecimal(head)
        )));
    }
    let page = read_lines(reader, start, want).map_err(|error| error::of_path(&path, &error))?;
    if page.total == 0 {
        return Ok(ToolOutput::text(format!("{path}: empty"), "empty file"));
    }
    if start > page.total {
        return Err(error::invalid(format!(
            "`{path}` has {}, so there is no line {start}",
            show::count(page.total, "line", "lines")
        )));
    }
    let end = start + page.shown - 1;
    let at_least = if page.counted { "" } else { "at least " };
    let more = if end < page.total {
        format!("; read on with start_line {}", end + 1)
    } else {
        String::new()
    };
    let heading = format!(
        "{path}: lines {start}-{end} of {at_least}{}{more}",
        page.total
    );
    Ok(ToolOutput {
        place: Some(path),
        ..ToolOutput::text(
            format!("{heading}\n{}", page.text),
            show::count(page.shown, "line", "lines"),
        )
    })
}

/// A file that a model is shown as what it is.
fn show_media(path: &str, reader: BufReader<File>, bytes: u64) -> Result<ToolOutput, ToolError> {
    let mut content = Vec::new();
    reader
        .take(MEDIA_ITEM_BYTES + 1)
        .read_to_end(&mut content)
        .map_err(|error| error::of_path(path, &error))?;
    if content.len() as u64 > MEDIA_ITEM_BYTES {
        return Err(error::failed(format!(
            "`{path}` has {}, and at most {MEDIA_ITEM_BYTES} of an image, a PDF or a recording are shown",
            show::count(bytes as usize, "byte", "bytes")
        )));
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    let Some(media) = attached(content, name) else {
        return Err(error::failed(format!("`{path}` changed while it was read")));
    };
    let words = media.in_words();
    Ok(ToolOutput {
        parts: vec![
            Part::Text(format!("{path}: {words}, {}", media.media_type)),
            Part::Media(Box::new(media)),
        ],
        outcome: words,
        place: Some(path.to_owned()),
        ..ToolOutput::default()
    })
}

/// What was read of a file.
struct Page {
    text: String,
    /// Lines shown.
    shown: usize,
    /// Lines of the file, as far as they were counted.
    total: usize,
    /// Whether that is all of them.
    counted: bool,
}

fn read_lines(reader: BufReader<File>, start: usize, want: usize) -> std::io::Result<Page> {
    let mut reader = reader.take(SCAN_LIMIT_BYTES);
    let mut page = Page {
        text: String::new(),
        shown: 0,
        total: 0,
        counted: true,
    };
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = read_line(&mut reader, &mut line)?;
        if length == 0 {
            break;
        }
        page.total += 1;
        let contiguous = page.total == start + page.shown;
        if page.total >= start
            && contiguous
            && page.shown < want
            && page.text.len() < SHOWN_LIMIT_BYTES
        {
            let shown = show::line(&line);
            page.text.push_str(&shown);
            if length > line.len() {
                page.text
                    .push_str(&format!(" (this line has {length} bytes)"));
            }
            page.text.push('\n');
            page.shown += 1;
        }
    }
    page.counted = reader.limit() > 0;
    Ok(page)
}

/// Reads one line and keeps no more of it than can be shown. Returns its whole length.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<usize> {
    const KEEP_BYTES: usize = 4 * show::LINE_LIMIT_BYTES;
    let mut length = 0;
    loop {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok(length);
        }
        let newline = buffer.iter().position(|byte| *byte == b'\n');
        let used = newline.map_or(buffer.len(), |index| index + 1);
        let room = KEEP_BYTES.saturating_sub(line.len());
        line.extend_from_slice(&buffer[..used.min(room)]);
        length += used;
        reader.consume(used);
        if newline.is_some() {
            return Ok(length);
        }
    }
}

/// Text never holds a zero byte.
pub(super) fn is_binary(head: &[u8]) -> bool {
    head.contains(&0)
}

fn hexadecimal(head: &[u8]) -> String {
    head.iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect::<Vec<_>>()
        .join(" ")
}
