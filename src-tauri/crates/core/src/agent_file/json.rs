//! Values that may be anything: TOML read as JSON.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::reader::{At, Fields, Reader, join};

impl Reader<'_> {
    /// A table below a key, its own keys not checked.
    pub(super) fn inner<'d>(&mut self, fields: Fields<'d>, key: &str) -> Option<&'d DeTable<'d>> {
        let value = fields.get(key)?;
        match value.get_ref() {
            DeValue::Table(table) => Some(table),
            other => {
                let path = fields.path_of(key);
                let wrong = ("a table", other);
                self.wrong_type(&value.span(), &path, wrong, fields.example(key));
                None
            }
        }
    }

    /// Any value, as JSON. What JSON does not have is reported.
    pub(super) fn json(&mut self, fields: Fields<'_>, key: &str) -> Option<Value> {
        let value = fields.get(key)?;
        self.json_of(value, &fields.path_of(key))
    }

    /// A table below a key, its values as JSON.
    pub(super) fn json_table(
        &mut self,
        fields: Fields<'_>,
        key: &str,
    ) -> Option<BTreeMap<String, Value>> {
        let table = self.inner(fields, key)?;
        let path = fields.path_of(key);
        let mut values = BTreeMap::new();
        for (name, value) in table.iter() {
            let name = name.get_ref().to_string();
            if let Some(value) = self.json_of(value, &join(&path, &name)) {
                values.insert(name, value);
            }
        }
        Some(values)
    }

    // As deep as the file, and the parser bounds how deep a file may be.
    fn json_of(&mut self, value: &Spanned<DeValue<'_>>, path: &str) -> Option<Value> {
        let span = value.span();
        match value.get_ref() {
            DeValue::String(text) => Some(Value::String(text.to_string())),
            DeValue::Boolean(flag) => Some(Value::Bool(*flag)),
            DeValue::Integer(number) => {
                let read = i64::from_str_radix(number.as_str(), number.radix()).ok();
                self.number_of(&span, path, (number.as_str(), read.map(Number::from)))
            }
            DeValue::Float(number) => {
                let read = number.as_str().parse().ok().and_then(Number::from_f64);
                self.number_of(&span, path, (number.as_str(), read))
            }
            DeValue::Datetime(_) => {
                let message = format!("{path} is a date, which JSON does not have.");
                self.error(&span, path, message, "Write it as a text, in quotes.");
                None
            }
            DeValue::Array(items) => items.iter().map(|item| self.json_of(item, path)).collect(),
            DeValue::Table(table) => {
                let mut object = Map::new();
                for (name, value) in table.iter() {
                    let name = name.get_ref().to_string();
                    let value = self.json_of(value, &join(path, &name))?;
                    object.insert(name, value);
                }
                Some(Value::Object(object))
            }
        }
    }

    fn number_of(
        &mut self,
        span: &Range<usize>,
        path: &str,
        (written, read): (&str, Option<Number>),
    ) -> Option<Value> {
        if read.is_none() {
            let message = format!("{path} can't be {written}, which JSON does not have.");
            self.error(
                span,
                path,
                message,
                "Give a finite number of at most 64 bits.",
            );
        }
        read.map(Value::Number)
    }

    /// A JSON pointer; reports a text that is none.
    pub(super) fn pointer(&mut self, fields: Fields<'_>, key: &str) -> Option<At<String>> {
        let pointer = self.text(fields, key)?;
        if is_pointer(&pointer.value) {
            return Some(pointer);
        }
        let message = format!("“{}” is not a JSON pointer.", pointer.value);
        let remedy = format!("Write it like this: {}", fields.example(key));
        self.error(&pointer.span, &fields.path_of(key), message, remedy);
        None
    }
}

/// Whether a text is a JSON pointer (RFC 6901).
pub(super) fn is_pointer(text: &str) -> bool {
    let escapes_are_sound = text
        .split('~')
        .skip(1)
        .all(|rest| rest.starts_with(['0', '1']));
    (text.is_empty() || text.starts_with('/')) && escapes_are_sound
}

#[cfg(test)]
mod tests {
    use super::is_pointer;

    #[test]
    fn a_pointer_begins_with_a_slash_and_escapes_only_tilde_and_slash() {
        for (text, sound) in [
            ("", true),
            ("/", true),
            ("/a/0/b c", true),
            ("/a~0b/c~1d", true),
            ("a", false),
            ("#/a", false),
            ("/a~", false),
            ("/a~2", false),
        ] {
            assert_eq!(is_pointer(text), sound, "{text}");
        }
    }
}
