//! Days, months and years.

use super::Date;

const MONTHS: &[&[&str]] = &[
    &["january", "jan", "januar", "jän", "jänner"],
    &["february", "feb", "februar"],
    &["march", "mar", "märz", "mär", "mrz"],
    &["april", "apr"],
    &["may", "mai"],
    &["june", "jun", "juni"],
    &["july", "jul", "juli"],
    &["august", "aug"],
    &["september", "sep", "sept"],
    &["october", "oct", "oktober", "okt"],
    &["november", "nov"],
    &["december", "dec", "dezember", "dez"],
];

/// The month that `word` names. Small letters would make a month of `may` and `march`.
fn month(word: &str) -> Option<u32> {
    if !word.starts_with(char::is_uppercase) {
        return None;
    }
    let word = word.to_lowercase();
    let number = MONTHS
        .iter()
        .position(|names| names.contains(&word.as_str()))?;
    Some(number as u32 + 1)
}

/// A date that begins with the number at the beginning of `text`, and its length in bytes:
/// `2031-04-02`, `2.4.2031`, `4/2/2031`.
pub(super) fn in_digits(text: &str) -> Option<(Date, usize)> {
    let mut parts: [&str; 3] = [""; 3];
    let mut at = 0;
    let mut sign = None;
    for (place, part) in parts.iter_mut().enumerate() {
        let digits = digits(&text[at..]);
        *part = &text[at..at + digits];
        at += digits;
        if place == 2 {
            break;
        }
        let next = text[at..].chars().next()?;
        if !matches!(next, '-' | '/' | '.') || sign.is_some_and(|sign| sign != next) {
            return None;
        }
        sign = Some(next);
        at += 1;
    }
    if text[at..].starts_with(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    let number = |part: &str| part.parse::<u32>().ok();
    let [first, second, third] = parts;
    let (year, month, day) = match (first.len(), second.len(), third.len()) {
        (4, 1..=2, 1..=2) => (number(first)?, number(second)?, number(third)?),
        (1..=2, 1..=2, 4) if sign == Some('/') => (number(third)?, number(first)?, number(second)?),
        (1..=2, 1..=2, 4) => (number(third)?, number(second)?, number(first)?),
        _ => return None,
    };
    let (month, day) = if month > 12 {
        (day, month)
    } else {
        (month, day)
    };
    let date = Date {
        year: Some(year),
        month: Some(month),
        day: Some(day),
        either: sign == Some('/') && third.len() == 4 && day <= 12,
    };
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some((date, at))
}

/// A date whose day stands before `after`: ` April 2031`, `th of April`. Returns it with the bytes
/// of `after` that belong to it.
pub(super) fn after_day(day: u32, after: &str) -> Option<(Date, usize)> {
    let rest = ["st", "nd", "rd", "th", "."]
        .into_iter()
        .find_map(|ending| after.strip_prefix(ending))
        .unwrap_or(after);
    let rest = after_blanks(rest)?;
    let rest = rest.strip_prefix("of ").unwrap_or(rest);
    let word = letters(rest);
    let month = month(&rest[..word])?;
    let rest = &rest[word..];
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    let (year, rest) = year(rest);
    let date = Date {
        year,
        month: Some(month),
        day: Some(day),
        either: false,
    };
    (1..=31)
        .contains(&day)
        .then_some((date, after.len() - rest.len()))
}

/// A date whose month stands at the end of `before`: `April ` and 2 or 2031. Returns it with the
/// bytes of `before` and of `after` that belong to it.
pub(super) fn after_month(
    before: &str,
    written: &str,
    after: &str,
) -> Option<(Date, usize, usize)> {
    let trimmed = before.trim_end_matches(|letter: char| letter.is_whitespace());
    let trimmed = trimmed.strip_suffix('.').unwrap_or(trimmed);
    if trimmed.len() == before.len() {
        return None;
    }
    let start = trimmed
        .char_indices()
        .rev()
        .take_while(|(_, letter)| letter.is_alphabetic())
        .last()
        .map(|(start, _)| start)?;
    let month = month(&trimmed[start..])?;
    let number = written.parse::<u32>().ok()?;
    let mut date = Date {
        month: Some(month),
        ..Date::default()
    };
    let mut used = 0;
    match written.len() {
        1 | 2 if (1..=31).contains(&number) => {
            date.day = Some(number);
            let rest = ["st", "nd", "rd", "th"]
                .into_iter()
                .find_map(|ending| after.strip_prefix(ending))
                .unwrap_or(after);
            let (year, rest) = year(rest);
            date.year = year;
            used = if year.is_some() {
                after.len() - rest.len()
            } else {
                0
            };
        }
        4 => date.year = Some(number),
        _ => return None,
    }
    Some((date, before.len() - start, used))
}

/// The year that follows, and the rest after it; without one, all of `text`.
fn year(text: &str) -> (Option<u32>, &str) {
    let comma = text.strip_prefix(',').unwrap_or(text);
    let Some(rest) = after_blanks(comma) else {
        return (None, text);
    };
    let length = digits(rest);
    let ends = !rest[length..].starts_with(|letter: char| letter.is_alphanumeric());
    match rest[..length].parse() {
        Ok(year) if length == 4 && ends => (Some(year), &rest[4..]),
        _ => (None, text),
    }
}

/// What follows one blank or a few; `None` without any.
fn after_blanks(text: &str) -> Option<&str> {
    const BLANKS_LIMIT: usize = 4;
    let rest = text.trim_start();
    let blanks = text.len() - rest.len();
    (1..=BLANKS_LIMIT).contains(&blanks).then_some(rest)
}

pub(super) fn digits(text: &str) -> usize {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit());
    end.unwrap_or(text.len())
}

fn letters(text: &str) -> usize {
    text.find(|letter: char| !letter.is_alphabetic())
        .unwrap_or(text.len())
}

impl Date {
    /// Its parts as they would stand alone.
    pub(super) fn parts(self) -> impl Iterator<Item = u32> {
        [self.year, self.month, self.day].into_iter().flatten()
    }

    /// Whether both can be the same day or month, as far as both say.
    pub(super) fn agrees(self, other: Self) -> bool {
        let turned = |date: Self| Self {
            month: date.day,
            day: date.month,
            ..date
        };
        self.is(other)
            || (self.either && turned(self).is(other))
            || (other.either && self.is(turned(other)))
    }

    fn is(self, other: Self) -> bool {
        let agrees = |one: Option<u32>, other: Option<u32>| match (one, other) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        // Without a month on both sides, nothing but the year could be the same.
        self.month.is_some()
            && self.month == other.month
            && agrees(self.year, other.year)
            && (self.day.is_none() || self.day == other.day)
    }
}
