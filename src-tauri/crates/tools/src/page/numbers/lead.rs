//! What stands before the digits of a number: its sign and its currency.

use super::Meaning;
use super::decimal::Decimal;
use super::suffix::{Reading, Suffix};
use super::units::{self, Sense, Unit};

/// What stands before the digits of a number.
pub(super) struct Lead {
    pub(super) start: usize,
    pub(super) negative: bool,
    pub(super) unit: Option<Unit>,
}

impl Lead {
    /// Takes up a sign, where it is none of a range or of a word.
    pub(super) fn sign(&mut self, text: &str) {
        let before = &text[..self.start];
        let Some(sign) = before.chars().next_back() else {
            return;
        };
        let outer = &before[..before.len() - sign.len_utf8()];
        let free = outer
            .chars()
            .next_back()
            .is_none_or(|letter| !(letter.is_alphanumeric() || matches!(letter, ')' | '%')));
        let minus = matches!(sign, '-' | '\u{2212}' | '\u{2013}' | '\u{2011}');
        if free && (minus || sign == '+') {
            self.negative |= minus;
            self.start -= sign.len_utf8();
        }
    }
}

/// The currency at the end of `before`, with its bytes.
pub(super) fn leading_currency(before: &str) -> Option<(usize, Unit)> {
    let last = before.chars().next_back()?;
    if last.is_alphabetic() {
        let letters = before
            .char_indices()
            .rev()
            .take_while(|(_, letter)| letter.is_alphabetic())
            .last()
            .map(|(start, _)| &before[start..])?;
        return currency(letters).map(|unit| (letters.len(), unit));
    }
    let unit = currency(last.encode_utf8(&mut [0; 4]))?;
    let dollars = before.ends_with("US$");
    Some((if dollars { 3 } else { last.len_utf8() }, unit))
}

/// The currency that a sign or a code names.
pub(super) fn currency(sign: &str) -> Option<Unit> {
    let known = [
        "$", "\u{20ac}", "\u{a3}", "\u{a5}", "\u{20b9}", "USD", "EUR", "GBP", "CHF", "JPY", "CNY",
        "INR", "SEK", "NOK", "DKK",
    ];
    let known = known.contains(&sign).then(|| units::senses(sign))?;
    known.into_iter().find_map(|sense| match sense {
        Sense::Unit(unit) => Some(unit),
        Sense::Magnitude(_) => None,
    })
}

/// Every way to read the number with what stands before and after its digits.
pub(super) fn meanings(values: &[Decimal], suffix: &Suffix, lead: Option<Unit>) -> Vec<Meaning> {
    let none: [Reading; 1] = [(0, None, None)];
    let readings = if suffix.readings.is_empty() {
        &none[..]
    } else {
        &suffix.readings[..]
    };
    let mut meanings = Vec::with_capacity(values.len() * readings.len());
    for plain in values {
        for (magnitude, unit, per) in readings {
            // `$5m` is no length.
            if lead.is_some() && unit.is_some() && *unit != lead {
                continue;
            }
            meanings.push(Meaning {
                plain: *plain,
                magnitude: *magnitude,
                unit: lead.or(*unit),
                per: *per,
            });
        }
    }
    if meanings.is_empty() {
        meanings.extend(values.iter().map(|plain| Meaning {
            unit: lead,
            ..Meaning::bare(*plain)
        }));
    }
    meanings
}
