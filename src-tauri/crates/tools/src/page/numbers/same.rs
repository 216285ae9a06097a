//! Whether two numbers say the same.

use super::decimal::Decimal;
use super::suffix::word;
use super::units::{self, Sense, Unit};
use super::{Kind, Meaning, Number};

/// A number that is more than this many times another one is nothing like it.
const NEAR_FACTOR: f64 = 2.0;
/// The same for numbers without a unit, which may count anything.
const NEAR_FACTOR_BARE: f64 = 1.1;
/// The most units that are taken from the headings of one text.
const NAMED_LIMIT: usize = 200;

/// Units and magnitudes that a text names without a number: in the heading of a column (`latency
/// (ms)`) or in words (`in millions of euros`). Bare numbers there may be meant in them.
#[derive(Debug, Default)]
pub(super) struct Named {
    units: Vec<Unit>,
    magnitudes: Vec<i32>,
}

impl Named {
    /// Takes up what `text` names.
    pub(super) fn take(&mut self, text: &str) {
        let mut at = 0;
        while let Some(offset) =
            text[at..].find(|letter: char| letter.is_alphabetic() || letter == '%')
        {
            let start = at + offset;
            let written = word(&text[start..]);
            at = start
                + written
                    .len()
                    .max(text[start..].chars().next().map_or(1, char::len_utf8));
            if self.units.len() + self.magnitudes.len() >= NAMED_LIMIT
                || !is_alone(text, start, written)
            {
                continue;
            }
            for sense in units::senses(written) {
                match sense {
                    Sense::Unit(unit) if !self.units.contains(&unit) => self.units.push(unit),
                    Sense::Magnitude(power) if !self.magnitudes.contains(&power) => {
                        self.magnitudes.push(power);
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Whether a unit at `start` is named by itself: in brackets, after `in` or `per`, or as a long
/// word that no number stands before.
fn is_alone(text: &str, start: usize, written: &str) -> bool {
    /// Shorter words are too often something else.
    const LETTERS_LEAST: usize = 4;
    let before = &text[..start];
    let near = before.trim_end_matches([' ', '\u{a0}', '\n', '-']);
    if near.ends_with(|letter: char| letter.is_ascii_digit()) {
        return false;
    }
    if before.ends_with(['(', '[', '/']) {
        return true;
    }
    let previous = near
        .rsplit(|letter: char| !letter.is_alphabetic())
        .next()
        .unwrap_or_default();
    let introduced = near.len() < before.len() && matches!(previous, "in" | "In" | "per" | "pro");
    introduced || written.chars().count() >= LETTERS_LEAST || written == "%"
}

/// Whether what a page writes is what a source says.
pub(super) fn same(wanted: &Number, there: &Number, named: &Named) -> bool {
    let signs = match (wanted.negative, there.negative) {
        (true, false) => there.falls,
        (false, true) => wanted.falls,
        _ => true,
    };
    if !signs {
        return false;
    }
    match (&wanted.kind, &there.kind) {
        (Kind::Date(wanted), Kind::Date(there)) => wanted.agrees(*there),
        (Kind::Written(wanted), Kind::Written(there)) => wanted == there,
        (Kind::Quantity(readings), Kind::Quantity(others)) => readings.iter().any(|reading| {
            others
                .iter()
                .any(|other| reads_same((reading, wanted), (other, there), named))
        }),
        _ => false,
    }
}

fn reads_same(
    (reading, wanted): (&Meaning, &Number),
    (other, there): (&Meaning, &Number),
    named: &Named,
) -> bool {
    let amounts = reading.amount() == other.amount();
    // A column's heading may name the magnitude for its bare numbers.
    let headed = !there.names && other.magnitude == 0 && reading.plain == other.plain;
    let magnitude = headed && named.magnitudes.contains(&reading.magnitude);
    match (reading.unit, other.unit) {
        (Some(unit), Some(there)) => {
            let divisors = reading.per.is_none() || other.per.is_none() || reading.per == other.per;
            unit.of == there.of
                && divisors
                && reading
                    .scaled()
                    .is_some_and(|scaled| other.scaled() == Some(scaled))
        }
        (None, None) => amounts || magnitude,
        (None, Some(unit)) if unit.of == units::PERCENT => {
            (amounts && !wanted.names) || share(reading.amount()) == other.scaled()
        }
        (None, Some(_)) => amounts,
        (Some(unit), None) => {
            let column = (amounts && !there.names) || magnitude;
            let share = unit.of == units::PERCENT
                && share(other.amount()).is_some_and(|share| reading.scaled() == Some(share));
            share || (column && named.units.contains(&unit))
        }
    }
}

/// The number, when it can be a share: 0.972 is 97.2 %.
fn share(amount: Decimal) -> Option<Decimal> {
    let about = amount.about();
    (about > 0.0 && about < 1.0).then_some(amount)
}

/// How far two numbers are apart that do not say the same, where one may have been meant for the
/// other; smaller is nearer.
pub(super) fn distance(wanted: &Number, there: &Number) -> Option<f64> {
    /// The same digits with another unit are nearer than other digits.
    const OTHER_UNIT: f64 = 0.01;
    let (Kind::Quantity(readings), Kind::Quantity(others)) = (&wanted.kind, &there.kind) else {
        return match (&wanted.kind, &there.kind) {
            (Kind::Date(wanted), Kind::Date(there)) => {
                (wanted.month == there.month || wanted.year == there.year).then_some(OTHER_UNIT)
            }
            _ => None,
        };
    };
    let pairs = readings
        .iter()
        .flat_map(|reading| others.iter().map(move |other| (reading, other)));
    let distances = pairs.filter_map(|(reading, other)| {
        if reading.plain == other.plain {
            return Some(OTHER_UNIT);
        }
        let (one, two) = (reading.scaled()?.about(), other.scaled()?.about());
        let percent =
            |meaning: &Meaning| meaning.unit.is_some_and(|unit| unit.of == units::PERCENT);
        // A share may be written with a sign and without.
        let shares = (percent(reading) || percent(other)) && one < 1.0 && two < 1.0;
        let kinds = [reading, other].map(|meaning| meaning.unit.map(|unit| unit.of));
        if kinds[0] != kinds[1] && !shares {
            return None;
        }
        let limit = if kinds == [None, None] {
            NEAR_FACTOR_BARE
        } else {
            NEAR_FACTOR
        };
        let factor = (one / two).max(two / one);
        (factor.is_finite() && factor <= limit).then(|| factor.ln() + OTHER_UNIT)
    });
    distances.min_by(f64::total_cmp)
}

/// The numbers by which `number` is found in an index.
pub(super) fn keys(number: &Number) -> Vec<Decimal> {
    let mut keys: Vec<Decimal> = number
        .meanings()
        .iter()
        .flat_map(|meaning| {
            [
                Some(meaning.plain),
                Some(meaning.amount()),
                meaning.scaled(),
            ]
        })
        .flatten()
        .collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// The words around a number, white space folded.
pub(super) fn around(text: &str, range: &std::ops::Range<usize>) -> String {
    /// How many words are shown on each side.
    const WORDS: usize = 4;
    /// And how many bytes at most.
    const BYTES: usize = 60;
    let from = text.ceil_char_boundary(range.start.saturating_sub(BYTES));
    let to = text.floor_char_boundary((range.end + BYTES).min(text.len()));
    let before: Vec<&str> = text[from..range.start].split_whitespace().collect();
    let after: Vec<&str> = text[range.end..to].split_whitespace().collect();
    let glued = |edge: &str, end: bool| {
        !edge.is_empty()
            && !if end {
                edge.ends_with(char::is_whitespace)
            } else {
                edge.starts_with(char::is_whitespace)
            }
    };
    let mut shown = before[before.len().saturating_sub(WORDS)..].join(" ");
    if !shown.is_empty() && !glued(&text[from..range.start], true) {
        shown.push(' ');
    }
    shown.push_str(
        &text[range.clone()]
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" "),
    );
    if !after.is_empty() && !glued(&text[range.end..to], false) {
        shown.push(' ');
    }
    shown.push_str(&after[..after.len().min(WORDS)].join(" "));
    shown
}
