//! Whether the grammar's reading of a text can be relied on. Where it is known to read a text in
//! another way than a shell does, or where text would be hidden from it, the command is unclear.

use tree_sitter::{Node, Tree};

use super::word;
use crate::policy::hosts::UNKNOWN;
use crate::policy::text::turns_text;

/// What stands around a comment that is none.
const NEVER_WITH_COMMENTS: &[&str] = &[
    "arithmetic_expansion",
    "binary_expression",
    "concatenation",
    "expansion",
    "heredoc_body",
    "simple_expansion",
    "string",
    "subscript",
    "test_command",
    "unary_expression",
];

/// Why no reading of the text can be relied on, whatever stands in it.
pub(super) fn odd_characters(text: &str) -> Option<&'static str> {
    let has = |odd: fn(char) -> bool| text.contains(odd);
    if has(|letter| letter.is_control() && letter != '\n' && letter != '\t') {
        return Some("the command holds a control character");
    }
    if has(|letter| letter.is_whitespace() && !letter.is_ascii()) {
        return Some("the command holds a blank that is none to a shell");
    }
    if has(turns_text) {
        return Some("the command holds characters that change the order in which it is shown");
    }
    has(|letter| letter == UNKNOWN)
        .then_some("the command holds a character that stands for an object")
}

/// How deep a tree may be.
const DEPTH_LIMIT: usize = 400;

/// Whether every byte of the text is in a part that the grammar knows, and every such part is
/// what a shell takes it for.
pub(super) fn is_sound(tree: &Tree, text: &str) -> bool {
    let mut cursor = tree.walk();
    // The cursor knows its way up; a node has to look for it from the root.
    let mut above: Vec<Node<'_>> = Vec::new();
    let mut end = 0;
    loop {
        let node = cursor.node();
        if above.len() > DEPTH_LIMIT {
            return false;
        }
        if cursor.goto_first_child() {
            above.push(node);
            continue;
        }
        if !is_leaf_after(text, end, node, &above) {
            return false;
        }
        end = node.end_byte();
        while !cursor.goto_next_sibling() {
            above.pop();
            if !cursor.goto_parent() {
                return text.get(end..).is_some_and(is_blank)
                    && continues_between_blanks(text, end, text.len());
            }
        }
    }
}

/// Whether a leaf is sound, and only blanks stand between it and what ended before it.
fn is_leaf_after(text: &str, end: usize, leaf: Node<'_>, above: &[Node<'_>]) -> bool {
    let start = leaf.start_byte();
    let Some(gap) = text.get(end..start) else {
        return false;
    };
    let is_between = is_blank(gap) && continues_between_blanks(text, end, start);
    // The grammar keeps the beginning of a here-document's text to itself.
    let outer = above.iter().rev().find(|outer| outer.start_byte() < start);
    let is_data = outer.is_some_and(|outer| outer.kind() == "heredoc_body") && !has_live(gap);
    let parent = above.last().map_or("", |parent| parent.kind());
    (is_between || is_data) && is_leaf_sound(leaf, parent, text)
}

/// Blanks, and line ends that a backslash takes away.
fn is_blank(gap: &str) -> bool {
    gap.replace("\\\n", "")
        .chars()
        .all(|letter| matches!(letter, ' ' | '\t' | '\n'))
}

/// A line end that a backslash takes away joins what stands around it, but the grammar takes it as
/// a blank. So there has to be a real blank beside it.
fn continues_between_blanks(text: &str, start: usize, end: usize) -> bool {
    let is_real = |byte: Option<&u8>| byte.is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\n'));
    let bytes = text.as_bytes();
    text[start..end].match_indices("\\\n").all(|(at, _)| {
        let at = start + at;
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        is_real(before) || is_real(bytes.get(at + 2))
    })
}

fn is_leaf_sound(node: Node<'_>, parent: &str, text: &str) -> bool {
    let parts = (
        text.get(..node.start_byte()),
        text.get(node.byte_range()),
        text.get(node.end_byte()..),
    );
    let (Some(before), Some(source), Some(behind)) = parts else {
        return false;
    };
    match node.kind() {
        "comment" => {
            !NEVER_WITH_COMMENTS.contains(&parent) && !source.contains('\n') && begins_word(before)
        }
        // Only a number that is a word by itself names a file.
        "file_descriptor" => {
            source.chars().all(|digit| digit.is_ascii_digit())
                && before
                    .chars()
                    .next_back()
                    .is_none_or(|before| " \t\n;&|()<>".contains(before))
        }
        // Single quotes hold anything but themselves.
        "raw_string" => true,
        "ansi_c_string" => word::ansi_c(source).is_some(),
        // Looked at with its delimiter, which says whether anything in it is live.
        "heredoc_body" | "heredoc_start" | "heredoc_end" => true,
        // What is expanded follows at once; the grammar passes over blanks.
        "$" | "${" if parent.ends_with("expansion") => !behind.starts_with([' ', '\t', '\n', '\\']),
        // A sign by itself only where nothing follows that it would belong to.
        "$" if parent != "string" => {
            let next = behind.chars().next();
            let belongs =
                |next: char| next.is_ascii_alphanumeric() || "\"'$_{([@*#?!-\\".contains(next);
            source == "$" && !next.is_some_and(belongs)
        }
        "variable_name" => source
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == '_'),
        // The signs of the grammar are what they are called, and hide nothing.
        kind if !node.is_named() => source.trim() == kind.trim(),
        _ => !has_live(source),
    }
}

/// Whether a `#` behind this text begins a comment for a shell: at the start, behind a blank or a
/// sign that no backslash keeps in the word before.
fn begins_word(before: &str) -> bool {
    const ENDS: [char; 8] = [' ', '\t', '\n', ';', '&', '|', '(', '<'];
    let Some(rest) = before.strip_suffix(ENDS) else {
        return before.is_empty();
    };
    let backslashes = rest.len() - rest.trim_end_matches('\\').len();
    backslashes.is_multiple_of(2)
}

/// Whether something in a text would be run or replaced by a shell: `$(`, `${`, a backtick.
pub(super) fn has_live(text: &str) -> bool {
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                letters.next();
            }
            '`' => return true,
            // A line end that a backslash takes away may stand between.
            '$' if matches!(letters.peek(), Some('(' | '{' | '\\')) => return true,
            '<' | '>' if matches!(letters.peek(), Some('(' | '\\')) => return true,
            _ => {}
        }
    }
    false
}

/// Whether an unquoted text holds a blank that no backslash keeps.
pub(super) fn has_blank(text: &str) -> bool {
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                letters.next();
            }
            ' ' | '\t' | '\n' => return true,
            _ => {}
        }
    }
    false
}

/// Where the body of a here-document is, as a shell finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HereDocument {
    /// Whether nothing in it is replaced.
    pub(super) is_quoted: bool,
    /// Its first byte.
    pub(super) start: usize,
    /// The line that ends it.
    pub(super) end: std::ops::Range<usize>,
}

/// Finds the body that begins after the line in which `delimiter` ends at byte `at`.
pub(super) fn here_document(
    text: &str,
    delimiter: &str,
    at: usize,
    strips_tabs: bool,
) -> Option<HereDocument> {
    let is_name = |name: &str| {
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        !name.is_empty() && name.chars().all(is_letter)
    };
    let unquoted = ['\'', '"']
        .iter()
        .find_map(|quote| delimiter.strip_prefix(*quote)?.strip_suffix(*quote));
    let name = unquoted.unwrap_or(delimiter);
    if !is_name(name) {
        return None;
    }
    let rest = text.get(at..)?;
    let line = rest.find('\n')?;
    if rest[..line].contains("<<") || rest[..line].ends_with('\\') {
        return None;
    }
    let start = at + line + 1;
    let mut from = start;
    for line in text[start..].split('\n') {
        let bare = if strips_tabs {
            line.trim_start_matches('\t')
        } else {
            line
        };
        if bare == name {
            return Some(HereDocument {
                is_quoted: unquoted.is_some(),
                start,
                end: from..from + line.len(),
            });
        }
        from += line.len() + 1;
    }
    None
}
