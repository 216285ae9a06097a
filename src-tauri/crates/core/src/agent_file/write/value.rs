//! Values as TOML writes them; what is written here, TOML reads back as the same.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

/// Lists longer than this are written with one item per line.
const LINE_LETTERS: usize = 96;

/// A text in one line; what it escapes, TOML reads back.
pub(super) fn text(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        push_escaped(&mut quoted, letter);
    }
    quoted.push('"');
    quoted
}

/// A text over several lines, when it has them.
pub(super) fn long_text(words: &str) -> String {
    if !words.contains('\n') {
        return text(words);
    }
    let mut quoted = String::with_capacity(words.len() + 8);
    quoted.push_str("\"\"\"\n");
    for letter in words.chars() {
        match letter {
            '\n' => quoted.push('\n'),
            // A quote can only be taken for the end when others follow it.
            '"' if !quoted.ends_with('"') => quoted.push('"'),
            _ => push_escaped(&mut quoted, letter),
        }
    }
    if quoted.ends_with('"') && !quoted.ends_with("\\\"") {
        quoted.pop();
        quoted.push_str("\\\"");
    }
    quoted.push_str("\\\n\"\"\"");
    quoted
}

fn push_escaped(quoted: &mut String, letter: char) {
    match letter {
        '"' => quoted.push_str("\\\""),
        '\\' => quoted.push_str("\\\\"),
        '\n' => quoted.push_str("\\n"),
        '\t' => quoted.push_str("\\t"),
        '\r' => quoted.push_str("\\r"),
        _ if letter.is_control() => {
            let _ = write!(quoted, "\\u{:04X}", u32::from(letter));
        }
        _ => quoted.push(letter),
    }
}

pub(super) fn list(key: &str, items: &[String]) -> String {
    let items: Vec<String> = items.iter().map(|item| text(item)).collect();
    let line = format!("[{}]", items.join(", "));
    if key.len() + " = ".len() + line.chars().count() <= LINE_LETTERS {
        return line;
    }
    format!("[\n  {},\n]", items.join(",\n  "))
}

/// A number, with a line between thousands when it is long.
pub(super) fn number(number: u32) -> String {
    let digits = number.to_string();
    if digits.len() <= 5 {
        return digits;
    }
    let groups: Vec<&str> = {
        let head = digits.len() % 3;
        let (first, rest) = digits.split_at(head);
        let tail = rest
            .as_bytes()
            .chunks(3)
            .filter_map(|group| std::str::from_utf8(group).ok());
        std::iter::once(first)
            .filter(|first| !first.is_empty())
            .chain(tail)
            .collect()
    };
    groups.join("_")
}

/// A number that TOML reads back as one with a fraction.
pub(super) fn fraction(number: f64) -> String {
    format!("{number:?}")
}

/// A table in one line, its values texts.
pub(super) fn table_of_texts(texts: &BTreeMap<String, String>) -> String {
    inline(texts.iter().map(|(name, value)| (name, text(value))))
}

/// A table in one line.
pub(super) fn table(values: &BTreeMap<String, Value>) -> String {
    inline(
        values
            .iter()
            .filter_map(|(name, value)| Some((name, json(value)?))),
    )
}

/// Any value, in one line; `None` for `null`, which TOML does not have and no file can say.
pub(super) fn json(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(flag) => flag.to_string(),
        Value::Number(known) => known.as_i64().map_or_else(
            || fraction(known.as_f64().unwrap_or_default()),
            |whole| whole.to_string(),
        ),
        Value::String(words) => text(words),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().filter_map(json).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(object) => inline(
            object
                .iter()
                .filter_map(|(name, value)| Some((name, json(value)?))),
        ),
    })
}

fn inline<'n>(entries: impl Iterator<Item = (&'n String, String)>) -> String {
    let entries: Vec<String> = entries
        .map(|(name, value)| format!("{} = {value}", key(name)))
        .collect();
    if entries.is_empty() {
        return "{}".to_owned();
    }
    format!("{{ {} }}", entries.join(", "))
}

/// A key, in quotes where it needs them.
pub(super) fn key(name: &str) -> String {
    let is_bare = !name.is_empty()
        && name
            .bytes()
            .all(|letter| letter.is_ascii_alphanumeric() || b"-_".contains(&letter));
    if is_bare { name.to_owned() } else { text(name) }
}
