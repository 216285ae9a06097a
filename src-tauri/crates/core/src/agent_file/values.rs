//! The values of a table, each read as the kind that its key has, or reported.

use std::ops::{Range, RangeInclusive};

use toml::de::DeValue;

use super::reader::{At, Fields, Reader, known_are, nearest};

impl Reader<'_> {
    /// A text.
    pub fn text(&mut self, fields: Fields<'_>, key: &str) -> Option<At<String>> {
        let value = fields.get(key)?;
        match value.get_ref() {
            DeValue::String(text) => Some(At {
                value: text.clone().into_owned(),
                span: value.span(),
            }),
            other => {
                let path = fields.path_of(key);
                self.wrong_type(&value.span(), &path, ("a text", other), fields.example(key));
                None
            }
        }
    }

    /// A list of texts; those that are none are reported and left out.
    pub fn texts(&mut self, fields: Fields<'_>, key: &str) -> Option<Vec<At<String>>> {
        let value = fields.get(key)?;
        let path = fields.path_of(key);
        let DeValue::Array(items) = value.get_ref() else {
            let wrong = ("a list of texts", value.get_ref());
            self.wrong_type(&value.span(), &path, wrong, fields.example(key));
            return None;
        };
        let mut texts: Vec<At<String>> = Vec::new();
        for item in items.iter() {
            let span = item.span();
            match item.get_ref() {
                DeValue::String(text) if texts.iter().any(|seen| seen.value == *text) => {
                    let message = format!("“{text}” stands twice in {path}.");
                    self.error(&span, &path, message, "Keep one of the two.");
                }
                DeValue::String(text) => texts.push(At {
                    value: text.clone().into_owned(),
                    span,
                }),
                other => {
                    let part = format!("each part of {path}");
                    self.wrong_type_of(&span, &path, (&part, "a text", other), fields.example(key));
                }
            }
        }
        Some(texts)
    }

    /// A whole number within a range.
    pub fn whole(
        &mut self,
        fields: Fields<'_>,
        key: &str,
        range: &RangeInclusive<u32>,
    ) -> Option<u32> {
        let value = fields.get(key)?;
        let (path, span) = (fields.path_of(key), value.span());
        let DeValue::Integer(number) = value.get_ref() else {
            let wrong = ("a whole number", value.get_ref());
            self.wrong_type(&span, &path, wrong, fields.example(key));
            return None;
        };
        let read = i128::from_str_radix(number.as_str(), number.radix()).ok();
        let fitting = read
            .and_then(|number| u32::try_from(number).ok())
            .filter(|number| range.contains(number));
        if fitting.is_none() {
            let bounds = format!(
                "from {} to {}",
                grouped(*range.start()),
                grouped(*range.end())
            );
            self.out_of_range(&span, &path, &number.to_string(), &bounds);
        }
        fitting
    }

    /// A number within a range.
    pub fn number(
        &mut self,
        fields: Fields<'_>,
        key: &str,
        range: &RangeInclusive<f64>,
    ) -> Option<f64> {
        let value = fields.get(key)?;
        let (path, span) = (fields.path_of(key), value.span());
        let written = match value.get_ref() {
            DeValue::Float(number) => number.as_str().to_owned(),
            DeValue::Integer(number) => number.as_str().to_owned(),
            other => {
                self.wrong_type(&span, &path, ("a number", other), fields.example(key));
                return None;
            }
        };
        let fitting = written.parse().ok().filter(|number| range.contains(number));
        if fitting.is_none() {
            let bounds = format!("from {} to {}", range.start(), range.end());
            self.out_of_range(&span, &path, &written, &bounds);
        }
        fitting
    }

    /// `true` or `false`.
    pub fn flag(&mut self, fields: Fields<'_>, key: &str) -> Option<bool> {
        let value = fields.get(key)?;
        match value.get_ref() {
            DeValue::Boolean(flag) => Some(*flag),
            other => {
                let wrong = ("true or false", other);
                self.wrong_type(
                    &value.span(),
                    &fields.path_of(key),
                    wrong,
                    fields.example(key),
                );
                None
            }
        }
    }

    /// One of a few words; those in `later` are refused as not built yet.
    pub fn choice<T: Copy>(
        &mut self,
        fields: Fields<'_>,
        key: &str,
        choices: &[(&str, T)],
        later: &[&str],
    ) -> Option<T> {
        let word = self.text(fields, key)?;
        let path = fields.path_of(key);
        if let Some((_, choice)) = choices.iter().find(|(name, _)| *name == word.value) {
            return Some(*choice);
        }
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        if later.contains(&word.value.as_str()) {
            let message = format!("{key} = \"{}\" is not built yet.", word.value);
            self.error(&word.span, &path, message, known_are(&names));
        } else {
            let message = format!("{path} can't be “{}”.", word.value);
            let remedy = match nearest(&word.value, &names) {
                Some(near) => format!("Did you mean “{near}”?"),
                None => known_are(&names),
            };
            self.error(&word.span, &path, message, remedy);
        }
        None
    }

    fn out_of_range(&mut self, span: &Range<usize>, path: &str, written: &str, bounds: &str) {
        let message = format!("{path} can't be {written}.");
        self.error(span, path, message, format!("Give a number {bounds}."));
    }

    pub(super) fn wrong_type(
        &mut self,
        span: &Range<usize>,
        path: &str,
        (expected, found): (&str, &DeValue<'_>),
        example: &str,
    ) {
        self.wrong_type_of(span, path, (path, expected, found), example);
    }

    fn wrong_type_of(
        &mut self,
        span: &Range<usize>,
        path: &str,
        (what, expected, found): (&str, &str, &DeValue<'_>),
        example: &str,
    ) {
        let message = format!("{what} must be {expected}, not {}.", kind_of(found));
        self.error(
            span,
            path,
            message,
            format!("Write it like this: {example}"),
        );
    }
}

/// A kind of value in words.
fn kind_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// A number with a comma every three digits.
fn grouped(number: u32) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
