//! How text from a skill is shown: whole characters, none that is not seen or turns the reading
//! direction, no line without an end.

use crate::hidden;

/// The longest beginning of `text` that has at most `limit` characters, made safe to show, with an
/// ellipsis where it was cut.
pub(crate) fn brief(text: &str, limit: usize) -> String {
    let mut shown = String::new();
    for (at, letter) in text.trim().chars().enumerate() {
        if at == limit {
            shown.push('…');
            break;
        }
        if letter == '\n' || letter == '\r' || letter == '\t' {
            shown.push(' ');
        } else if hidden::kind_of(letter).is_some() {
            shown.push_str(&written(letter));
        } else {
            shown.push(letter);
        }
    }
    shown
}

/// The longest path that is shown, in characters: every path that is allowed fits.
const PATH_LIMIT: usize = 400;

/// A path as it is shown; it may be anything that a system takes for one.
pub(crate) fn path(path: &str) -> String {
    brief(path, PATH_LIMIT)
}

/// `U+202E`.
pub(crate) fn written(letter: char) -> String {
    format!("U+{:04X}", u32::from(letter))
}

/// Text of several lines, with every character that is not seen written out.
pub(crate) fn lines(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter == '\n' || letter == '\t' {
            shown.push(letter);
        } else if letter == '\r' {
            // The end of a line, as some systems write it.
        } else if hidden::kind_of(letter).is_some() {
            shown.push_str(&written(letter));
        } else {
            shown.push(letter);
        }
    }
    shown
}
