//! The shape of JSON: which fields there are, of which type, and how many. Read as a stream: neither
//! a huge text nor a deep one becomes a tree in memory.

use std::fmt;

use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{counted, name};

/// The most fields of one object that are told apart; of more, the rest is counted.
const FIELDS_MAX: usize = 48;
/// How deep the structure is looked at.
const DEPTH_MAX: usize = 6;
/// The longest single value that an outline shows, in bytes.
const VALUE_BYTES: usize = 60;
/// Lines that are JSON before a text counts as JSON Lines.
const LINES_MIN: usize = 2;
/// The longest note of the harness behind a value, in bytes.
const NOTE_BYTES: usize = 1_000;
/// How many spaces a level is indented by.
const INDENT: usize = 2;

/// What was seen at one place of one or more values.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Shape {
    nulls: u64,
    booleans: u64,
    integers: u64,
    numbers: u64,
    texts: u64,
    longest: usize,
    arrays: u64,
    fewest: u64,
    most: u64,
    items: Option<Box<Shape>>,
    objects: u64,
    fields: Vec<(String, Shape)>,
    other_fields: u64,
    /// Values whose inside was not looked at.
    deeper: u64,
    sample: Option<String>,
}

/// The shape of one JSON text; `None` where it is none.
pub fn shape(text: &str) -> Option<Shape> {
    let mut shape = Shape::default();
    let mut reader = serde_json::Deserializer::from_str(text);
    let looked = serde::de::DeserializeSeed::deserialize(
        Taking {
            shape: &mut shape,
            depth: 0,
        },
        &mut reader,
    );
    looked.and_then(|()| reader.end()).ok()?;
    Some(shape)
}

/// The JSON value that a text is, without what the harness says behind it (how a command ended);
/// `None` where it is none. Deep ones are skipped over without recursion.
pub fn json_in(text: &str) -> Option<&str> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    values.next()?.ok()?;
    let (value, rest) = text.split_at(values.byte_offset());
    let rest = rest.trim();
    let is_note = rest.starts_with('[')
        && rest.len() <= NOTE_BYTES
        && serde_json::from_str::<IgnoredAny>(rest).is_err();
    (rest.is_empty() || is_note).then_some(value)
}

/// The outline of a text that is one object or one array.
pub(super) fn whole(text: &str) -> Option<Vec<String>> {
    let begins = text.trim_start().as_bytes().first();
    if !matches!(begins, Some(b'{' | b'[')) {
        return None;
    }
    Some(shape(json_in(text)?)?.lines())
}

/// The outline of a text that has an object or an array in each line.
pub(super) fn by_line(text: &str) -> Option<Vec<String>> {
    let mut shape = Shape::default();
    let (mut rows, mut others) = (0_u64, 0_u64);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let mut row = Shape::default();
        let is_row =
            matches!(line.as_bytes().first(), Some(b'{' | b'[')) && shape_into(line, &mut row);
        match is_row {
            true => {
                // Once more into what all rows have in common; a line that breaks off leaves none.
                shape_into(line, &mut shape);
                rows += 1;
            }
            false => others += 1,
        }
        // Prose with a value in it is none.
        if rows < LINES_MIN as u64 && others > 0 {
            return None;
        }
    }
    if rows < LINES_MIN as u64 || others * 10 > rows {
        return None;
    }
    let mut lines = vec![format!("{}, each:", counted(rows, "row", "rows"))];
    if others > 0 {
        lines[0] = format!(
            "{}, {} that can't be read, each:",
            counted(rows, "row", "rows"),
            counted(others, "line", "lines")
        );
    }
    lines.extend(shape.lines());
    Some(lines)
}

fn shape_into(text: &str, shape: &mut Shape) -> bool {
    let mut reader = serde_json::Deserializer::from_str(text);
    let seed = Taking { shape, depth: 0 };
    let looked = serde::de::DeserializeSeed::deserialize(seed, &mut reader);
    looked.and_then(|()| reader.end()).is_ok()
}

impl Shape {
    /// The shape line by line, the outermost first.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.in_words()];
        self.inside(0, &mut lines);
        lines
    }

    fn seen(&self) -> u64 {
        self.nulls
            + self.booleans
            + self.integers
            + self.numbers
            + self.texts
            + self.arrays
            + self.objects
            + self.deeper
    }

    fn in_words(&self) -> String {
        let mut kinds = Vec::new();
        if self.objects == 1 && self.seen() == 1 {
            let fields = self.fields.len() as u64 + self.other_fields;
            kinds.push(format!("object with {}", counted(fields, "key", "keys")));
        } else if self.objects > 0 {
            kinds.push("object".to_owned());
        }
        if self.arrays > 0 {
            let items = match self.fewest == self.most {
                true => counted(self.most, "item", "items"),
                false => format!(
                    "{} to {}",
                    crate::view::thousands(self.fewest),
                    counted(self.most, "item", "items")
                ),
            };
            kinds.push(format!("array of {items}"));
        }
        if self.texts > 0 {
            kinds.push(match self.longest {
                longest if longest > VALUE_BYTES => {
                    format!("text of up to {}", super::bytes(longest))
                }
                _ => "text".to_owned(),
            });
        }
        let plain = [
            (self.integers, "integer"),
            (self.numbers, "number"),
            (self.booleans, "true or false"),
            (self.nulls, "null"),
            (self.deeper, "nested deeper than is shown"),
        ];
        kinds.extend(
            plain
                .iter()
                .filter(|(seen, _)| *seen > 0)
                .map(|(_, word)| (*word).to_owned()),
        );
        match &self.sample {
            Some(sample) if self.seen() == 1 => format!("{} ({sample})", kinds.join(" or ")),
            _ if kinds.is_empty() => "nothing".to_owned(),
            _ => kinds.join(" or "),
        }
    }

    fn inside(&self, level: usize, lines: &mut Vec<String>) {
        let indent = " ".repeat(level * INDENT);
        for (field, shape) in &self.fields {
            let seen = shape.seen();
            let part = match seen < self.objects {
                true => format!(
                    " in {} of {}",
                    crate::view::thousands(seen),
                    crate::view::thousands(self.objects)
                ),
                false => String::new(),
            };
            lines.push(format!(
                "{indent}- {}: {}{part}",
                name(field),
                shape.in_words()
            ));
            shape.inside(level + 1, lines);
        }
        if self.other_fields > 0 {
            lines.push(format!(
                "{indent}- … {}",
                counted(
                    self.other_fields,
                    "more value under other keys",
                    "more values under other keys"
                )
            ));
        }
        if let Some(items) = self.items.as_ref().filter(|items| items.seen() > 0) {
            lines.push(format!("{indent}- each item: {}", items.in_words()));
            items.inside(level + 1, lines);
        }
    }

    fn sampled(&mut self, value: &dyn fmt::Display) {
        if self.seen() == 0 {
            let value = value.to_string();
            self.sample = (value.len() <= VALUE_BYTES).then(|| name(&value));
        }
    }
}

/// Takes one value into a shape.
struct Taking<'s> {
    shape: &'s mut Shape,
    depth: usize,
}

impl<'de> serde::de::DeserializeSeed<'de> for Taking<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        if self.depth >= DEPTH_MAX {
            // What is ignored is skipped without recursion, however deep it is.
            self.shape.deeper += 1;
            return serde::de::Deserialize::deserialize(reader).map(|IgnoredAny| ());
        }
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Taking<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.shape.nulls += 1;
        Ok(())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.shape.sampled(&value);
        self.shape.booleans += 1;
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.shape.sampled(&value);
        self.shape.integers += 1;
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.shape.sampled(&value);
        self.shape.integers += 1;
        Ok(())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.shape.sampled(&value);
        self.shape.numbers += 1;
        Ok(())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        if value.len() <= VALUE_BYTES {
            self.shape.sampled(&value);
        }
        self.shape.texts += 1;
        self.shape.longest = self.shape.longest.max(value.len());
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        let Self { shape, depth } = self;
        let items = shape.items.get_or_insert_default();
        let mut count = 0;
        while values
            .next_element_seed(Taking {
                shape: items,
                depth: depth + 1,
            })?
            .is_some()
        {
            count += 1;
        }
        shape.fewest = if shape.arrays == 0 {
            count
        } else {
            shape.fewest.min(count)
        };
        shape.most = shape.most.max(count);
        shape.arrays += 1;
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let Self { shape, depth } = self;
        while let Some(key) = entries.next_key::<String>()? {
            let known = shape.fields.iter().position(|(field, _)| *field == key);
            let place = match known {
                Some(place) => place,
                None if shape.fields.len() < FIELDS_MAX => {
                    shape.fields.push((key, Shape::default()));
                    shape.fields.len() - 1
                }
                None => {
                    shape.other_fields += 1;
                    entries.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            let field = &mut shape.fields[place].1;
            entries.next_value_seed(Taking {
                shape: field,
                depth: depth + 1,
            })?;
        }
        shape.objects += 1;
        Ok(())
    }
}
