//! A value of a JSON text by its pointer, as the words that stand there. The text is read as a
//! stream: what is passed over is not kept, however large or deep it is.

use std::borrow::Cow;
use std::fmt;

use longrein_core::outline::json_in;
use longrein_runtime::ports::ToolError;
use serde::Deserialize as _;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::{error, show};

/// The most parts of a pointer.
const PARTS_LIMIT: usize = 64;
/// The most keys that a message lists.
const KEYS_LISTED: usize = 20;
/// The most items that one pointer shows.
const ITEMS_LIMIT: usize = 1_000;

/// What stands at a pointer: a text without its quotes, anything else as it is written.
pub(super) fn value<'t>(whole: &'t str, pointer: &str) -> Result<Cow<'t, str>, ToolError> {
    let parts: Vec<String> = pointer
        .split('/')
        .skip(1)
        .map(|part| part.replace("~1", "/").replace("~0", "~"))
        .collect();
    if parts.len() > PARTS_LIMIT {
        return Err(error::invalid(format!(
            "a pointer has at most {PARTS_LIMIT} parts"
        )));
    }
    let (text, parts) = match json_in(whole) {
        Some(value) => (value, &parts[..]),
        // Where it is not one value, each line may be one.
        None => row(whole, &parts).ok_or_else(|| {
            error::invalid("it can't be read as JSON; use `pattern`, lines or bytes")
        })?,
    };
    let found = find(text, parts)
        .map_err(|problem| error::invalid(format!("it can't be read as JSON: {problem}")))?;
    words(found, pointer)
}

/// The row of JSON Lines that a pointer names, and what is left of the pointer.
fn row<'t, 'p>(whole: &'t str, parts: &'p [String]) -> Option<(&'t str, &'p [String])> {
    let (first, rest) = parts.split_first()?;
    let number: usize = first.parse().ok()?;
    let mut rows = whole.lines().filter(|line| !line.trim().is_empty());
    let row = rows.nth(number)?;
    row.trim_start()
        .starts_with(['{', '['])
        .then_some((row, rest))
}

fn find<'t>(text: &'t str, parts: &[String]) -> Result<Found<'t>, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let found = Finding { parts, depth: 0 }.deserialize(&mut reader)?;
    reader.end()?;
    Ok(found)
}

fn words<'t>(found: Found<'t>, pointer: &str) -> Result<Cow<'t, str>, ToolError> {
    match found {
        Found::Value(raw) if raw.starts_with('"') => match serde_json::from_str::<String>(raw) {
            Ok(text) => Ok(Cow::Owned(text)),
            // Half of a pair of surrogates is no text; it is shown as it is written.
            Err(_) => Ok(Cow::Borrowed(raw)),
        },
        Found::Value(raw) => Ok(Cow::Borrowed(raw)),
        Found::Items(items) => Ok(Cow::Owned(format!("[{}]", items.join(",\n")))),
        Found::Nothing { depth, why } => {
            let before: Vec<&str> = pointer.split('/').skip(1).take(depth).collect();
            let place = match before.is_empty() {
                true => "the whole".to_owned(),
                false => format!("/{}", before.join("/")),
            };
            Err(error::not_found(format!("{place} {why}")))
        }
    }
}

/// What was found at a pointer.
enum Found<'t> {
    Value(&'t str),
    Items(Vec<&'t str>),
    /// Nothing: after so many parts it did not go on.
    Nothing {
        depth: usize,
        why: String,
    },
}

/// Looks for what stands at the rest of a pointer.
#[derive(Clone, Copy)]
struct Finding<'p> {
    parts: &'p [String],
    depth: usize,
}

impl Finding<'_> {
    fn part(&self) -> &str {
        self.parts.get(self.depth).map_or("", String::as_str)
    }

    fn deeper(self) -> Self {
        Self {
            depth: self.depth + 1,
            ..self
        }
    }

    fn nothing<'t>(&self, why: String) -> Found<'t> {
        Found::Nothing {
            depth: self.depth,
            why,
        }
    }

    /// The items that the last part names, where it names several.
    fn items(&self) -> Option<(usize, usize)> {
        let (first, last) = self.part().split_once('-')?;
        let is_last = self.depth + 1 == self.parts.len();
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        (is_last && first <= last).then_some((first, last.min(first + ITEMS_LIMIT - 1)))
    }
}

impl<'de> DeserializeSeed<'de> for Finding<'_> {
    type Value = Found<'de>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Found<'de>, D::Error> {
        if self.depth == self.parts.len() {
            let raw = <&RawValue>::deserialize(reader)?;
            return Ok(Found::Value(raw.get()));
        }
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Finding<'_> {
    type Value = Found<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Found<'de>, E> {
        Ok(self.nothing("is null, which has no parts".to_owned()))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Found<'de>, E> {
        Ok(self.nothing("is true or false, which has no parts".to_owned()))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Found<'de>, E> {
        Ok(self.nothing("is a number, which has no parts".to_owned()))
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Found<'de>, E> {
        self.visit_i64(0)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Found<'de>, E> {
        self.visit_i64(0)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Found<'de>, E> {
        Ok(self.nothing("is a text, which has no parts".to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Found<'de>, A::Error> {
        if let Some((first, last)) = self.items() {
            let mut items = Vec::new();
            let mut count = 0;
            loop {
                if (first..=last).contains(&count) {
                    match values.next_element::<&RawValue>()? {
                        Some(item) => items.push(item.get()),
                        None => break,
                    }
                } else if values.next_element::<IgnoredAny>()?.is_none() {
                    break;
                }
                count += 1;
            }
            return Ok(match items.is_empty() {
                true => self.nothing(format!("has {}", show::count(count, "item", "items"))),
                false => Found::Items(items),
            });
        }
        let wanted: Option<usize> = self.part().parse().ok();
        let (mut found, mut count) = (None, 0);
        loop {
            if wanted == Some(count) {
                match values.next_element_seed(self.deeper())? {
                    Some(value) => found = Some(value),
                    None => break,
                }
            } else if values.next_element::<IgnoredAny>()?.is_none() {
                break;
            }
            count += 1;
        }
        Ok(found.unwrap_or_else(|| {
            let part = show::brief(self.part(), 60);
            self.nothing(format!(
                "has {}, counted from 0, and no `{part}`",
                show::count(count, "item", "items")
            ))
        }))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Found<'de>, A::Error> {
        let mut found = None;
        let (mut keys, mut count) = (Vec::new(), 0);
        while let Some(key) = entries.next_key::<String>()? {
            // Of a key that is there twice the last value counts, as everywhere.
            if key == self.part() {
                found = Some(entries.next_value_seed(self.deeper())?);
            } else {
                entries.next_value::<IgnoredAny>()?;
                if keys.len() < KEYS_LISTED {
                    keys.push(show::brief(&show::safe(&key), 60));
                }
            }
            count += 1;
        }
        Ok(found.unwrap_or_else(|| {
            let part = show::brief(self.part(), 60);
            let more = if count > keys.len() { ", …" } else { "" };
            self.nothing(format!("has no `{part}`; it has {}{more}", keys.join(", ")))
        }))
    }
}
