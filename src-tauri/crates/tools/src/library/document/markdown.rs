//! Markdown is shown to the model as it is written. Front matter says what the document is.

use super::Document;

/// Front matter that has not ended after so many lines is none.
const FRONT_MATTER_LIMIT_LINES: usize = 200;
/// How many lines are looked at for a first heading.
const HEADING_LIMIT_LINES: usize = 50;

pub(super) fn read(text: String) -> Document {
    let mut document = Document::of(text);
    let body = front_matter(&document.text).map_or(0, |(lines, end)| {
        describe(&mut document.meta, &lines.join("\n"));
        end
    });
    if document.meta.title.is_empty() {
        document.meta.title = first_heading(&document.text[body..]).unwrap_or_default();
    }
    if body > 0 {
        document.hidden.push(0..body);
    }
    document
}

/// The lines between `---` and `---` at the very beginning, and where the body begins.
fn front_matter(text: &str) -> Option<(Vec<&str>, usize)> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next()?;
    if first.trim_end() != "---" {
        return None;
    }
    let mut end = first.len();
    let mut inner = Vec::new();
    for line in lines.take(FRONT_MATTER_LIMIT_LINES) {
        end += line.len();
        match line.trim_end() {
            "---" | "..." => return Some((inner, end)),
            line => inner.push(line),
        }
    }
    None
}

/// Takes title, authors and date from `key: value` lines; lists may be `[a, b]` or lines of `- a`.
fn describe(meta: &mut longrein_protocol::source::SourceMeta, matter: &str) {
    let mut key = String::new();
    for line in matter.lines() {
        let item = line.trim_start().strip_prefix("- ");
        let value = if let Some(item) = item {
            item
        } else if let Some((name, value)) = line
            .split_once(':')
            .filter(|_| !line.starts_with([' ', '\t', '#']))
        {
            key = name.trim().to_ascii_lowercase();
            value
        } else {
            continue;
        };
        let value = value.trim();
        match key.as_str() {
            "title" if meta.title.is_empty() => meta.title = unquoted(value).to_owned(),
            "author" | "authors" => meta.authors.extend(list(value)),
            "date" | "year" | "published" if meta.date.is_none() => {
                meta.date = Some(unquoted(value).to_owned())
            }
            _ => {}
        }
    }
}

fn list(value: &str) -> Vec<String> {
    let inner = value
        .strip_prefix('[')
        .and_then(|value| value.strip_suffix(']'));
    let names: Vec<&str> = match inner {
        Some(inner) => inner.split(',').collect(),
        None => vec![value],
    };
    let names = names.into_iter().map(|name| {
        let name = name.trim();
        unquoted(name.strip_prefix("name:").unwrap_or(name).trim()).to_owned()
    });
    names.filter(|name| !name.is_empty()).collect()
}

fn unquoted(value: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(inner) = value
            .strip_prefix(quote)
            .and_then(|value| value.strip_suffix(quote))
        {
            return inner;
        }
    }
    value
}

fn first_heading(body: &str) -> Option<String> {
    let mut lines = body.lines().take(HEADING_LIMIT_LINES).peekable();
    while let Some(line) = lines.next() {
        if let Some(title) = line.strip_prefix("# ") {
            return Some(title.trim().trim_end_matches('#').trim().to_owned());
        }
        let underlined = lines
            .peek()
            .is_some_and(|next| next.len() > 2 && next.trim_end().bytes().all(|byte| byte == b'='));
        if underlined && !line.trim().is_empty() {
            return Some(line.trim().to_owned());
        }
    }
    None
}
