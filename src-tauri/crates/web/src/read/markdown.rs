//! Blocks as Markdown, for reading.

use std::fmt::Write;

use super::block::{Block, BlockKind, Nest, Span, Style, Table, Words};
use super::text::gap;
use crate::page::Link;

/// How much longer than the text its Markdown may be.
const GROWTH: usize = 2;
const FENCE: &str = "```";
/// Two spaces before the end of a line say that it is to end there.
const BREAK: &str = "  \n";

/// Writes blocks until they are `GROWTH` times as long as a text may be.
pub(super) fn write(blocks: &[Block], text_bytes: usize) -> String {
    let limit = text_bytes.saturating_mul(GROWTH);
    let mut markdown = String::new();
    let mut previous: Option<&Block> = None;
    for block in blocks {
        let piece = lines(&block.kind);
        if piece.is_empty() {
            continue;
        }
        let start = markdown.len();
        if let Some(previous) = previous {
            divide(&mut markdown, previous, block);
        }
        indent(&mut markdown, &block.nest, &piece);
        if markdown.len() > limit {
            markdown.truncate(start);
            break;
        }
        previous = Some(block);
    }
    markdown
}

/// Appends where the numbered links lead.
pub(super) fn define(markdown: &mut String, links: &[Link]) {
    for (index, link) in links.iter().enumerate() {
        let gap = if index == 0 { "\n\n" } else { "\n" };
        // To write to a string can't fail.
        let _ = write!(markdown, "{gap}[L{}]: {}", link.number, link.address);
    }
}

/// What stands between two blocks. An empty line inside a quote belongs to it.
fn divide(markdown: &mut String, previous: &Block, next: &Block) {
    let goes_on = |(one, other): &(&Nest, &Nest)| match (one, other) {
        (Nest::Quote, Nest::Quote) => true,
        (Nest::Item { .. }, Nest::Item { first, .. }) => !first,
        _ => false,
    };
    let shared = previous
        .nest
        .iter()
        .zip(&next.nest)
        .take_while(goes_on)
        .count();
    let (_, lead) = leads(&next.nest[..shared]);
    let gap = gap(previous, next);
    if gap == "\n\n" && lead.contains('>') {
        markdown.push('\n');
        markdown.push_str(lead.trim_end());
        markdown.push('\n');
    } else {
        markdown.push_str(gap);
    }
}

/// Writes the lines of a block behind the marks of what it stands in.
fn indent(markdown: &mut String, nest: &[Nest], piece: &str) {
    let (first, rest) = leads(nest);
    for (index, line) in piece.split('\n').enumerate() {
        if index > 0 {
            markdown.push('\n');
        }
        let lead = if index == 0 { &first } else { &rest };
        if line.is_empty() {
            markdown.push_str(lead.trim_end());
        } else {
            markdown.push_str(lead);
            markdown.push_str(line);
        }
    }
}

/// The marks before the first line of a block, and before its other lines.
fn leads(nest: &[Nest]) -> (String, String) {
    let (mut first, mut rest) = (String::new(), String::new());
    for level in nest {
        match level {
            Nest::Quote => {
                first.push_str("> ");
                rest.push_str("> ");
            }
            Nest::Item {
                marker,
                first: is_first,
            } => {
                let width = " ".repeat(marker.len() + 1);
                if *is_first {
                    first.push_str(marker);
                    first.push(' ');
                } else {
                    first.push_str(&width);
                }
                rest.push_str(&width);
            }
        }
    }
    (first, rest)
}

fn lines(kind: &BlockKind) -> String {
    match kind {
        BlockKind::Paragraph(spans) => paragraph(spans),
        BlockKind::Heading(level, spans) => {
            let words = inline(spans).replace(BREAK, " ");
            format!("{} {}", "#".repeat(usize::from(*level)), words.trim())
        }
        BlockKind::Code { language, text } => {
            let longest = text
                .split(|letter| letter != '`')
                .map(str::len)
                .max()
                .unwrap_or(0);
            let fence = "`".repeat(FENCE.len().max(longest + 1));
            let language = language.as_deref().unwrap_or_default();
            format!("{fence}{language}\n{}\n{fence}", text.trim_end())
        }
        BlockKind::Table(rows) => table(rows),
        BlockKind::Rule => "---".to_owned(),
    }
}

fn table(table: &Table) -> String {
    let width = table.rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut lines = Vec::with_capacity(table.rows.len() + 2);
    let row = |cells: &[Vec<Span>]| {
        let mut line = String::from("|");
        for index in 0..width {
            let words = cells
                .get(index)
                .map(|cell| inline(cell))
                .unwrap_or_default();
            let words = words.replace(BREAK, " ").replace('|', "\\|");
            line.push(' ');
            line.push_str(words.trim());
            line.push_str(if words.trim().is_empty() { "|" } else { " |" });
        }
        line
    };
    let mut rows = table.rows.iter();
    let header: &[Vec<Span>] = match table.has_header {
        true => rows.next().map_or(&[], Vec::as_slice),
        false => &[],
    };
    lines.push(row(header));
    lines.push(format!("|{}", " --- |".repeat(width)));
    lines.extend(rows.map(|cells| row(cells)));
    lines.join("\n")
}

/// A paragraph whose first characters can't be taken for a mark of a block.
fn paragraph(spans: &[Span]) -> String {
    let words = inline(spans);
    words
        .split('\n')
        .map(|line| {
            let is_mark = line.starts_with(['#', '>', '=', '~'])
                || line.starts_with("- ")
                || line.starts_with("+ ")
                || line.starts_with("---");
            let digits = line.bytes().take_while(u8::is_ascii_digit).count();
            let after = &line[digits..];
            if is_mark {
                format!("\\{line}")
            } else if digits > 0 && (after.starts_with(". ") || after.starts_with(") ")) {
                format!("{}\\{after}", &line[..digits])
            } else {
                line.to_owned()
            }
        })
        .collect::<Vec<_>>()
        .join("\n")
}

/// Spans in their styles; neighbours that are one link stand in one pair of brackets.
fn inline(spans: &[Span]) -> String {
    let mut markdown = String::new();
    let mut rest = spans;
    while let Some(first) = rest.first() {
        let link = first.style.link;
        let end = rest
            .iter()
            .position(|span| span.style.link != link)
            .unwrap_or(rest.len());
        let words: String = rest[..end].iter().map(styled).collect();
        match link {
            Some(number) if !words.trim().is_empty() => {
                let (before, words, after) = apart(&words);
                // To write to a string can't fail.
                let _ = write!(markdown, "{before}[{words}][L{number}]{after}");
            }
            _ => markdown.push_str(&words),
        }
        rest = &rest[end..];
    }
    markdown
}

fn styled(span: &Span) -> String {
    let text = match &span.words {
        Words::Text(text) => text,
        Words::Break => return BREAK.to_owned(),
        Words::Image(shows) => return format!("(image: {})", escape(shows)),
        Words::Formula(tex) => return format!("${tex}$"),
    };
    let (before, words, after) = apart(text);
    if words.is_empty() {
        return text.clone();
    }
    let Style {
        strong,
        emphasis,
        code,
        ..
    } = span.style;
    let words = if code { in_code(words) } else { escape(words) };
    let mark = match (strong, emphasis) {
        (true, true) => "***",
        (true, false) => "**",
        (false, true) => "*",
        (false, false) => "",
    };
    format!("{before}{mark}{words}{mark}{after}")
}

/// White space before, words, white space after.
fn apart(text: &str) -> (&str, &str, &str) {
    let words = text.trim_start();
    let before = &text[..text.len() - words.len()];
    let trimmed = words.trim_end();
    (before, trimmed, &words[trimmed.len()..])
}

fn in_code(words: &str) -> String {
    let longest = words
        .split(|letter| letter != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let gap = if longest > 0 { " " } else { "" };
    format!("{fence}{gap}{words}{gap}{fence}")
}

/// Escapes what Markdown would take for a mark, and no more: the words are quoted from here.
fn escape(words: &str) -> String {
    let mut escaped = String::with_capacity(words.len());
    let mut before: Option<char> = None;
    for (at, letter) in words.char_indices() {
        let rest = &words[at + letter.len_utf8()..];
        let after = rest.chars().next();
        let stands_inside =
            before.is_some_and(char::is_alphanumeric) && after.is_some_and(char::is_alphanumeric);
        let stands_alone =
            before.is_none_or(char::is_whitespace) && after.is_none_or(char::is_whitespace);
        let is_mark = match letter {
            '*' => !stands_alone,
            '_' => !stands_inside && !stands_alone,
            '`' => true,
            '\\' => after.is_some_and(|letter| letter.is_ascii_punctuation()),
            '<' => {
                after.is_some_and(|letter| letter.is_ascii_alphabetic() || "/!?".contains(letter))
            }
            ']' => matches!(after, Some('(' | '[')),
            '&' => is_entity(rest),
            _ => false,
        };
        if is_mark {
            escaped.push('\\');
        }
        escaped.push(letter);
        before = Some(letter);
    }
    escaped
}

/// Whether what follows an ampersand makes a character of it.
fn is_entity(rest: &str) -> bool {
    /// Longer than any entity's name.
    const NAME_LIMIT: usize = 32;
    let end = rest
        .bytes()
        .take(NAME_LIMIT)
        .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'#')
        .count();
    end > 0 && rest[end..].starts_with(';')
}
