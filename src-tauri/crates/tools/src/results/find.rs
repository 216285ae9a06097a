//! Lines that match a regular expression. The engine takes time linear in what it reads, and what it
//! reads in one call is bounded.

use longrein_runtime::ports::ToolError;
use regex::RegexBuilder;

use super::SHOWN_LIMIT_BYTES;
use crate::{error, show};

/// The most matches that one call shows.
const MATCHES_LIMIT: usize = 100;
/// What stands around a match on each side, in bytes, where its line is long.
const AROUND_BYTES: usize = 200;
/// How much one call reads.
const READ_LIMIT_BYTES: usize = 32 * 1024 * 1024;
/// How large a compiled pattern may be.
const COMPILED_BYTES: usize = 1024 * 1024;
/// A line is looked at in pieces of this length, so that one without an end can be given up.
const PIECE_BYTES: usize = 256 * 1024;

pub(super) fn matches(
    text: &str,
    name: &str,
    pattern: &str,
    from: usize,
    is_over: &dyn Fn() -> bool,
) -> Result<(String, String), ToolError> {
    let pattern = RegexBuilder::new(pattern)
        .size_limit(COMPILED_BYTES)
        .dfa_size_limit(COMPILED_BYTES)
        .build()
        .map_err(|problem| error::invalid(format!("`pattern` can't be used: {problem}")))?;
    let (mut found, mut shown, mut read) = (0, String::new(), 0);
    let mut more = None;
    let mut total = 0;
    for (number, line) in (1..).zip(text.lines()) {
        total = number;
        if number < from || more.is_some() {
            continue;
        }
        for (at, piece) in pieces(line) {
            if is_over() {
                return Err(error::cancelled());
            }
            read += piece.len();
            let Some(hit) = pattern.find(piece) else {
                continue;
            };
            let words = around(line, at + hit.start(), at + hit.end());
            if found >= MATCHES_LIMIT || shown.len() + words.len() > SHOWN_LIMIT_BYTES {
                more = Some(number);
                break;
            }
            let place = match line.len() > show::LINE_LIMIT_BYTES {
                true => format!("{number} (byte {} of the line)", at + hit.start()),
                false => number.to_string(),
            };
            shown.push_str(&format!("{place}: {words}\n"));
            found += 1;
        }
        if read > READ_LIMIT_BYTES && more.is_none() {
            more = Some(number + 1);
        }
    }
    let more = match more.filter(|next| *next <= total) {
        Some(next) => format!("; go on with \"start_line\": {next}"),
        None => String::new(),
    };
    let count = show::count(found, "match", "matches");
    if found == 0 {
        return Ok((
            format!("{name}: nothing matches{more}"),
            "no match".to_owned(),
        ));
    }
    Ok((format!("{name}: {count}{more}\n{shown}"), count))
}

/// A line in pieces, each with where it begins.
fn pieces(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = line.get(at..).filter(|rest| at == 0 || !rest.is_empty())?;
        let piece = &rest[..rest.floor_char_boundary(PIECE_BYTES)];
        let begun = at;
        at += piece.len().max(1);
        Some((begun, piece))
    })
}

/// A line, or what of a long one stands around a match.
fn around(line: &str, start: usize, end: usize) -> String {
    if line.len() <= 2 * AROUND_BYTES + (end - start).min(AROUND_BYTES) {
        return show::safe(line).into_owned();
    }
    let from = line.floor_char_boundary(start.saturating_sub(AROUND_BYTES));
    let to = end.min(start + 2 * AROUND_BYTES) + AROUND_BYTES;
    let to = line.ceil_char_boundary(to.min(line.len()));
    let (before, after) = (
        if from > 0 { "…" } else { "" },
        if to < line.len() { "…" } else { "" },
    );
    format!("{before}{}{after}", show::safe(&line[from..to]))
}
