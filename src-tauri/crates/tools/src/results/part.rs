//! The part of a text that a call asks for.

use std::borrow::Cow;

use longrein_core::outline::{bytes, outline};
use longrein_runtime::ports::ToolError;

use super::{Asked, LINES_DEFAULT, LINES_LIMIT, SHOWN_LIMIT_BYTES, find, pointer};
use crate::{error, show};

/// How much of what is shown without any range the outline may take.
const OUTLINE_BYTES: usize = SHOWN_LIMIT_BYTES / 3;

/// What is shown, and that in a few words. Asks `is_over` now and then.
pub(super) fn of(
    whole: &str,
    name: &str,
    asked: &Asked,
    is_over: &dyn Fn() -> bool,
) -> Result<(String, String), ToolError> {
    let (text, name) = match &asked.pointer {
        None => (Cow::Borrowed(whole), name.to_owned()),
        Some(at) => (pointer::value(whole, at)?, format!("{name} at {at}")),
    };
    let by_line = asked.start_line.is_some() || asked.lines.is_some();
    let by_byte = asked.start.is_some() || asked.end.is_some();
    match &asked.pattern {
        _ if by_line && by_byte => Err(error::invalid(
            "give lines (`start_line`, `lines`) or bytes (`start`, `end`), not both",
        )),
        Some(_) if by_byte => Err(error::invalid(
            "`pattern` goes with `start_line`, not with bytes",
        )),
        Some(pattern) => {
            let from = asked.start_line.unwrap_or(1);
            find::matches(&text, &name, pattern, from, is_over)
        }
        None if by_line => lines(&text, &name, asked),
        None if by_byte => range(&text, &name, asked),
        None if asked.pointer.is_some() && text.len() <= SHOWN_LIMIT_BYTES => {
            let shown = format!("{name}: {}\n{}", bytes(text.len()), show::safe(&text));
            Ok((shown, bytes(text.len())))
        }
        None => Ok(beginning(&text, &name)),
    }
}

/// What a text is made of, and its beginning.
fn beginning(text: &str, name: &str) -> (String, String) {
    let outline = outline(text);
    let mut shown = format!(
        "{name}: {} of {}\n",
        bytes(text.len()),
        outline.kind.in_words()
    );
    for line in &outline.lines {
        if shown.len() + line.len() > OUTLINE_BYTES {
            shown.push_str("…\n");
            break;
        }
        shown.push_str(&show::safe(line));
        shown.push('\n');
    }
    let end = text.floor_char_boundary(SHOWN_LIMIT_BYTES - OUTLINE_BYTES);
    shown.push_str(&format!("[bytes 0 to {end}]\n{}", show::safe(&text[..end])));
    if end < text.len() {
        shown.push_str(&format!("\n[read on with \"start\": {end}]"));
    }
    (shown, "its outline".to_owned())
}

fn range(text: &str, name: &str, asked: &Asked) -> Result<(String, String), ToolError> {
    let start = asked.start.unwrap_or(0);
    if start >= text.len() {
        return Err(error::invalid(format!(
            "{name} has {}, so nothing begins at {start}; give a smaller `start`",
            bytes(text.len())
        )));
    }
    let end = asked.end.unwrap_or(usize::MAX);
    if end <= start {
        return Err(error::invalid(format!(
            "`end` ({end}) must be larger than `start` ({start})"
        )));
    }
    let start = text.floor_char_boundary(start);
    let end = text.floor_char_boundary(end.min(start + SHOWN_LIMIT_BYTES));
    // A range within one character shows that character.
    let end = end.max(text.ceil_char_boundary(start + 1));
    let more = match end < text.len() {
        true => format!("; read on with \"start\": {end}"),
        false => String::new(),
    };
    let shown = format!(
        "{name}: bytes {start} to {end} of {}{more}\n{}",
        text.len(),
        show::safe(&text[start..end])
    );
    Ok((shown, bytes(end - start)))
}

fn lines(text: &str, name: &str, asked: &Asked) -> Result<(String, String), ToolError> {
    let start = asked.start_line.unwrap_or(1).max(1);
    let want = asked.lines.unwrap_or(LINES_DEFAULT).clamp(1, LINES_LIMIT);
    let mut body = String::new();
    let (mut total, mut last) = (0, start.saturating_sub(1));
    for line in text.lines() {
        total += 1;
        let next = total == last + 1 && total >= start && total < start.saturating_add(want);
        if !next {
            continue;
        }
        let shown = show::line(line.as_bytes());
        if body.len() + shown.len() < SHOWN_LIMIT_BYTES || body.is_empty() {
            body.push_str(&shown);
            body.push('\n');
            last = total;
        }
    }
    if last < start {
        return Err(error::invalid(format!(
            "{name} has {}, so there is no line {start}",
            show::count(total, "line", "lines")
        )));
    }
    let more = match last < total {
        true => format!("; read on with \"start_line\": {}", last + 1),
        false => String::new(),
    };
    let heading = format!("{name}: lines {start} to {last} of {total}{more}");
    let count = show::count(last + 1 - start, "line", "lines");
    Ok((format!("{heading}\n{body}"), count))
}
