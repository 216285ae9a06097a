//! Texts that say themselves how they are divided: Markdown and HTML.

use super::{counted, lines, name};

/// The most headings and tables that are listed.
const PARTS_MAX: usize = 200;
/// How far behind the beginning of an HTML heading its end is looked for, in bytes.
const HEADING_BYTES: usize = 2_000;
/// How far into a text the sign that it is HTML may stand, in bytes.
const SIGN_BYTES: usize = 1_000;

/// The outline of a text with Markdown's headings or tables; `None` where it has none.
pub(super) fn markdown(text: &str) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let (mut fenced, mut blank_before) = (false, true);
    let mut table: Option<Table> = None;
    let mut before = "";
    for (number, line) in (1_usize..).zip(text.lines()) {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            fenced = !fenced;
        }
        let is_row = !fenced && trimmed.starts_with('|');
        match &mut table {
            Some(open) if is_row => open.rows += 1,
            Some(_) => parts.extend(table.take().map(|table| table.in_words())),
            None if is_row && is_rule(trimmed) && before.trim().starts_with('|') => {
                table = Some(Table {
                    line: number - 1,
                    columns: cells(before),
                    rows: 0,
                });
            }
            None => {}
        }
        if let Some(heading) = heading(trimmed).filter(|_| !fenced && blank_before) {
            parts.push(format!("{heading} (line {number})"));
        }
        // A heading may follow right upon another; a comment in code follows upon code.
        blank_before = trimmed.is_empty() || (blank_before && heading(trimmed).is_some());
        before = line;
        if parts.len() > PARTS_MAX {
            break;
        }
    }
    parts.extend(table.map(|table| table.in_words()));
    if parts.is_empty() {
        return None;
    }
    let more = parts.len() > PARTS_MAX;
    parts.truncate(PARTS_MAX);
    if more {
        parts.push("… and more".to_owned());
    }
    parts.insert(0, lines::counted(text));
    Some(parts)
}

struct Table {
    line: usize,
    columns: Vec<String>,
    rows: u64,
}

impl Table {
    fn in_words(&self) -> String {
        format!(
            "| table with {} of {} (line {})",
            counted(self.rows, "row", "rows"),
            self.columns.join(", "),
            self.line,
        )
    }
}

fn cells(row: &str) -> Vec<String> {
    let row = row.trim().trim_matches('|');
    row.split('|').map(|cell| name(cell.trim())).collect()
}

/// Whether a line is what stands beneath the names of a table's columns.
fn is_rule(line: &str) -> bool {
    line.contains('-')
        && line
            .chars()
            .all(|letter| matches!(letter, '|' | '-' | ':' | ' '))
}

/// A heading as it stands, where the line is one.
fn heading(line: &str) -> Option<String> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let words = line[level..].strip_prefix(' ')?.trim();
    ((1..=6).contains(&level) && !words.is_empty())
        .then(|| format!("{} {}", "#".repeat(level), name(words)))
}

/// The outline of a page.
pub(super) fn html(text: &str) -> Option<Vec<String>> {
    let begin = text.trim_start();
    let sign = &begin[..begin.floor_char_boundary(SIGN_BYTES)].to_ascii_lowercase();
    let is_page = sign.starts_with("<!doctype html")
        || sign.starts_with("<html")
        || sign.contains("<html ")
        || sign.contains("<html>");
    if !begin.starts_with('<') || !is_page {
        return None;
    }
    let mut parts = vec![lines::counted(text)];
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let Some((mark, end)) = opens(rest) else {
            continue;
        };
        let within = &rest[..rest.floor_char_boundary(HEADING_BYTES)];
        let Some(start) = within.find('>') else {
            continue;
        };
        let inner = &within[start + 1..];
        let inner = &inner[..close(inner, end).unwrap_or(inner.len())];
        let words = without_tags(inner);
        if !words.is_empty() {
            parts.push(format!("{mark} {}", name(&words)));
        }
        if parts.len() > PARTS_MAX {
            parts.push("… and more".to_owned());
            break;
        }
    }
    Some(parts)
}

/// The mark of a heading or the title that begins here, and what closes it.
fn opens(tag: &str) -> Option<(&'static str, &'static str)> {
    const TAGS: [(&str, &str, &str); 7] = [
        ("title", "title:", "</title"),
        ("h1", "#", "</h1"),
        ("h2", "##", "</h2"),
        ("h3", "###", "</h3"),
        ("h4", "####", "</h4"),
        ("h5", "#####", "</h5"),
        ("h6", "######", "</h6"),
    ];
    let found = TAGS.iter().find(|(name, ..)| {
        let begins = tag
            .get(..name.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(name));
        let ends = tag.as_bytes().get(name.len());
        begins && ends.is_some_and(|byte| *byte == b'>' || byte.is_ascii_whitespace())
    });
    found.map(|(_, mark, close)| (*mark, *close))
}

fn close(text: &str, tag: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let same = |window: &[u8]| window.eq_ignore_ascii_case(tag.as_bytes());
    bytes.windows(tag.len()).position(same)
}

/// The words between tags, in one line.
fn without_tags(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    let mut within = false;
    for letter in text.chars() {
        match letter {
            '<' => within = true,
            '>' => within = false,
            letter if !within => words.push(letter),
            _ => {}
        }
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}
