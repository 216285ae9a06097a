//! What a long text is made of, in few words: so that whoever may not be shown all of it knows which
//! part to ask for. Works on any bytes: what is not understood is text.

mod json;
mod lines;
mod marked;
mod table;
#[cfg(test)]
mod tests;

pub use json::{Shape, json_in, shape};

/// The largest text of which the structure is looked at; of a larger one only lines are counted.
pub const LOOKED_AT_BYTES: usize = 64 * 1024 * 1024;
/// The least that a preview may have, so that it says more than that there is something.
pub const PREVIEW_BYTES_MIN: usize = 800;
/// The longest name (a key, a column, a heading) that an outline shows, in bytes.
const NAME_BYTES: usize = 80;
/// The part of a preview that the outline may take, the rest is the text's own beginning and end.
const OUTLINE_PART: f64 = 0.4;
/// The part of what is left for the text's own words that its end gets.
const TAIL_PART: f64 = 0.3;

/// What kind of text it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// One JSON value.
    Json,
    /// One JSON value in each line.
    JsonLines,
    /// A table with commas, semicolons or bars between the columns.
    Csv,
    /// A table with tabs between the columns.
    Tsv,
    /// Markdown, by its headings or tables.
    Markdown,
    /// An HTML page.
    Html,
    /// Anything else: prose, code, a log.
    Text,
}

impl Kind {
    /// What a file of this kind ends with, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::JsonLines => "jsonl",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Markdown => "md",
            Self::Html => "html",
            Self::Text => "txt",
        }
    }

    /// In words.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::JsonLines => "JSON Lines",
            Self::Csv => "CSV",
            Self::Tsv => "TSV",
            Self::Markdown => "Markdown",
            Self::Html => "HTML",
            Self::Text => "text",
        }
    }
}

/// What a text is made of.
#[derive(Clone, PartialEq, Debug)]
pub struct Outline {
    /// What kind of text it is.
    pub kind: Kind,
    /// Its structure, line by line; what matters most comes first.
    pub lines: Vec<String>,
}

/// Looks at a whole text.
pub fn outline(text: &str) -> Outline {
    let of = |kind, lines| Outline { kind, lines };
    if text.len() > LOOKED_AT_BYTES {
        return of(Kind::Text, vec![lines::counted(text)]);
    }
    if let Some(lines) = json::whole(text) {
        return of(Kind::Json, lines);
    }
    if let Some(lines) = json::by_line(text) {
        return of(Kind::JsonLines, lines);
    }
    if let Some(lines) = marked::html(text) {
        return of(Kind::Html, lines);
    }
    if let Some((kind, lines)) = table::separated(text) {
        return of(kind, lines);
    }
    if let Some(lines) = marked::markdown(text) {
        return of(Kind::Markdown, lines);
    }
    of(Kind::Text, lines::of(text))
}

/// What a model is shown in the place of a result that is too long.
pub struct Preview<'t> {
    /// All of it.
    pub text: &'t str,
    /// What it is made of.
    pub outline: &'t Outline,
    /// How it is named to `read_result`: its action.
    pub name: &'t str,
    /// The file that holds it whole, where there is one.
    pub file: Option<&'t str>,
    /// How long the preview may be, about, in bytes.
    pub bytes: usize,
}

impl Preview<'_> {
    /// The preview's text.
    pub fn text(&self) -> String {
        let Outline { kind, lines } = self.outline;
        let file = self.file.map(|file| format!("{file} holds it, and "));
        let mut text = format!(
            "[{} of {}: too long to be shown whole. {}read_result with \"result\": \"{}\" shows any part.]\n",
            bytes(self.text.len()),
            kind.in_words(),
            file.unwrap_or_default(),
            self.name,
        );
        let bytes = self.bytes.max(PREVIEW_BYTES_MIN);
        let room = (bytes as f64 * OUTLINE_PART) as usize;
        let all = lines.len();
        let shown = lines.iter().scan(0, |used, line| {
            *used += line.len() + 1;
            (*used <= room).then_some(line)
        });
        let mut count = 0;
        for line in shown {
            text.push_str(line);
            text.push('\n');
            count += 1;
        }
        match (count, lines.first()) {
            (0, Some(first)) => {
                text.push_str(cut(first, room));
                text.push_str("…\n");
            }
            (count, _) if count < all => text.push_str(&format!(
                "… and {} more lines of this outline\n",
                all - count
            )),
            _ => {}
        }
        let left = bytes.saturating_sub(text.len()).max(PREVIEW_BYTES_MIN / 4);
        let (head, tail) = ends(self.text, left);
        text.push_str("[It begins:]\n");
        text.push_str(head);
        let between = self.text.len() - head.len() - tail.len();
        text.push_str(&format!("\n[… {} between …]\n", self::bytes(between)));
        text.push_str(tail);
        text
    }
}

/// The beginning and the end of a text that together have about so many bytes; they end and begin
/// with whole lines where that costs little.
pub fn ends(text: &str, bytes: usize) -> (&str, &str) {
    let tail = (bytes as f64 * TAIL_PART) as usize;
    let head = cut(text, bytes.saturating_sub(tail).min(text.len()));
    let from = text.ceil_char_boundary(text.len().saturating_sub(tail).max(head.len()));
    let tail = &text[from..];
    let head = match head.rfind('\n') {
        Some(end) if end >= head.len() / 2 => &head[..end],
        _ => head,
    };
    let tail = match tail.find('\n') {
        Some(start) if start < tail.len() / 2 => &tail[start + 1..],
        _ => tail,
    };
    (head, tail)
}

/// The longest beginning of at most so many bytes that ends with a whole character.
fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// A name from outside as one line: nothing that breaks it, nothing long.
fn name(text: &str) -> String {
    let shown = cut(text, NAME_BYTES);
    let mut name: String = shown
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    if shown.len() < text.len() {
        name.push('…');
    }
    name
}

/// A count with its word: `1 row`, `2,000 rows`.
fn counted(count: u64, one: &str, many: &str) -> String {
    let word = if count == 1 { one } else { many };
    format!("{} {word}", crate::view::thousands(count))
}

/// A size in words.
pub fn bytes(count: usize) -> String {
    counted(count as u64, "byte", "bytes")
}
