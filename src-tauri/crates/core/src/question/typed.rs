//! One field as a person types it, without JSON.

use longrein_protocol::question::{Choice, Field, FieldKind, TextFormat};
use serde_json::{Number, Value};
use url::Url;

use super::{Misfit, fits, hint};

/// The value of a field from a typed line; `None` where the line is empty and the field may be
/// left out. An empty line takes the default.
///
/// # Errors
/// What the line has to be.
pub fn typed(field: &Field, line: &str) -> Result<Option<Value>, Misfit> {
    let line = line.trim();
    if line.is_empty() {
        return match &field.default {
            Some(default) => Ok(Some(default.clone())),
            None if field.required => Err(Misfit(hint(field))),
            None => Ok(None),
        };
    }
    let value = match &field.kind {
        FieldKind::Text { .. } => Some(Value::String(line.to_owned())),
        FieldKind::Number { whole, .. } => number(line, *whole),
        FieldKind::YesNo => yes_or_no(line).map(Value::Bool),
        FieldKind::One { choices } => chosen(choices, line).map(Value::String),
        FieldKind::Many { choices, .. } => line
            .split(',')
            .map(|part| chosen(choices, part.trim()).map(Value::String))
            .collect::<Option<Vec<Value>>>()
            .map(Value::Array),
    };
    let value = value.ok_or_else(|| Misfit(hint(field)))?;
    fits(field, &value)?;
    Ok(Some(value))
}

fn number(line: &str, whole: bool) -> Option<Value> {
    if whole {
        return line.parse::<i64>().ok().map(Value::from);
    }
    line.parse::<f64>()
        .ok()
        .and_then(Number::from_f64)
        .map(Value::Number)
}

fn yes_or_no(line: &str) -> Option<bool> {
    match line.to_lowercase().as_str() {
        "y" | "yes" | "true" => Some(true),
        "n" | "no" | "false" => Some(false),
        _ => None,
    }
}

/// A choice by its value, its title, or its place in the list, counted from 1. A value goes before
/// a place that looks like it.
fn chosen(choices: &[Choice], line: &str) -> Option<String> {
    let by_words = choices
        .iter()
        .find(|choice| choice.value == line)
        .or_else(|| {
            let named = |choice: &&Choice| choice.title.eq_ignore_ascii_case(line);
            choices.iter().find(named)
        });
    let by_place = || {
        let place = line.parse::<usize>().ok()?.checked_sub(1)?;
        choices.get(place)
    };
    by_words
        .or_else(by_place)
        .map(|choice| choice.value.clone())
}

/// Whether a text is what it has to be.
pub(super) fn is_of(format: TextFormat, text: &str) -> bool {
    match format {
        TextFormat::Email => is_email(text),
        TextFormat::Uri => Url::parse(text).is_ok(),
        TextFormat::Date => is_date(text),
        TextFormat::DateTime => text
            .split_once(['T', 't'])
            .is_some_and(|(date, time)| is_date(date) && is_time(time)),
    }
}

fn is_email(text: &str) -> bool {
    let Some((name, host)) = text.rsplit_once('@') else {
        return false;
    };
    let plain = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
    let labels = host.split('.').all(|label| {
        let sound = |letter: char| letter.is_alphanumeric() || letter == '-';
        !label.is_empty() && label.chars().all(sound)
    });
    plain(name) && !name.contains('@') && labels
}

/// The digits of a part that has just so many.
fn digits(text: &str, count: usize) -> Option<u32> {
    let all = text.len() == count && text.bytes().all(|letter| letter.is_ascii_digit());
    all.then(|| text.parse().ok()).flatten()
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else {
        return false;
    };
    let (Some(year), Some(month), Some(day)) = (digits(year, 4), digits(month, 2), digits(day, 2))
    else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// `09:00:00`, with or without a fraction, and with the zone that the format asks for.
fn is_time(text: &str) -> bool {
    let zone = text.find(['Z', 'z', '+', '-']);
    let Some((clock, zone)) = zone.map(|place| text.split_at(place)) else {
        return false;
    };
    let zone_is_sound = match zone {
        "Z" | "z" => true,
        zone => zone[1..].split_once(':').is_some_and(|(hours, minutes)| {
            digits(hours, 2).is_some_and(|hours| hours < 24)
                && digits(minutes, 2).is_some_and(|minutes| minutes < 60)
        }),
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let parts: Vec<&str> = clock.split(':').collect();
    let [hours, minutes, seconds] = parts.as_slice() else {
        return false;
    };
    // A leap second is a second.
    zone_is_sound
        && !fraction.is_empty()
        && fraction.bytes().all(|letter| letter.is_ascii_digit())
        && digits(hours, 2).is_some_and(|hours| hours < 24)
        && digits(minutes, 2).is_some_and(|minutes| minutes < 60)
        && digits(seconds, 2).is_some_and(|seconds| seconds <= 60)
}
