//! Finding the numbers of a text.

use std::ops::Range;

use super::dates::{self, digits};
use super::decimal::Decimal;
use super::groups::{Digits, GROUPS_LIMIT, Groups, next_digit};
use super::labels::{COMPOUNDS, LABELS, connects, names};
use super::lead::{Lead, currency, leading_currency, meanings};
use super::powers::{ordinal, raised, scientific};
use super::suffix::suffix;
use super::{Convention, Date, Kind, Meaning, Number, words};

/// The most numbers that are read of one text.
const NUMBERS_LIMIT: usize = 100_000;
/// How far the words around a number are read.
const AROUND_BYTES: usize = 80;
/// How far the address is read that a digit stands in.
const ADDRESS_BYTES: usize = 400;

/// The numbers of `text` in order.
pub(in crate::page) fn numbers(text: &str, convention: Convention) -> Vec<Number> {
    let mut scan = Scan {
        text,
        convention,
        found: Vec::new(),
        labelled: None,
    };
    let mut at = 0;
    while let Some(start) = next_digit(text, at) {
        if scan.found.len() >= NUMBERS_LIMIT {
            break;
        }
        at = scan.take(start);
    }
    let mut found = scan.found;
    found.extend(words::numbers(text));
    found.sort_by_key(|number| (number.range.start, std::cmp::Reverse(number.range.end)));
    inherit(text, &mut found);
    found
}

struct Scan<'t> {
    text: &'t str,
    convention: Convention,
    found: Vec<Number>,
    /// Where the last label ended: `Tables 3 and 4` are two.
    labelled: Option<usize>,
}

/// A number in the making.
struct Taken {
    start: usize,
    end: usize,
    states: bool,
}

impl Scan<'_> {
    /// Reads what begins with the digit at `start`. Returns where to go on.
    fn take(&mut self, start: usize) -> usize {
        if let Some(end) = self.address(start) {
            return end;
        }
        let rest = &self.text[start..];
        let name = self.is_named(start);
        if !name && let Some((date, length)) = dates::in_digits(rest) {
            // The time of a day belongs to it: `2031-04-02T12:00`.
            return self.date(date, start..start + length);
        }
        let mut groups = Groups::at(self.text, start);
        let values = match groups.read(self.convention) {
            Digits::Number(values) => values,
            Digits::Dotted => return self.written(groups.range, !name),
            Digits::First => {
                groups.range.end = start + groups.groups[0].len();
                groups.groups.truncate(1);
                Decimal::parse(groups.groups[0], "").into_iter().collect()
            }
        };
        let single = groups.groups.len() == 1;
        let after = &self.text[groups.range.end..];
        if let Some(hex) = hexadecimal(groups.groups[0], after).filter(|_| single) {
            return groups.range.end + hex;
        }
        let mut next = after.chars();
        if single
            && matches!(next.next(), Some(':' | '/'))
            && next.next().is_some_and(|letter| letter.is_ascii_digit())
        {
            let length = after
                .find(|letter: char| {
                    !(letter.is_ascii_digit() || matches!(letter, ':' | '/' | '.'))
                })
                .unwrap_or(after.len());
            let length = after[..length].trim_end_matches([':', '/', '.']).len();
            return self.written(start..groups.range.end + length, !name);
        }
        if values.is_empty() {
            return groups.range.end;
        }
        if single && !name {
            if let Some(end) = self.named_day(&groups.range) {
                return end;
            }
            self.joined(&groups);
        }
        self.quantity(groups.range, values, !name)
    }

    /// The end of the address that the digit stands in.
    fn address(&self, start: usize) -> Option<usize> {
        let from = self.text[..start].ceil_char_boundary(start.saturating_sub(ADDRESS_BYTES));
        let before = &self.text[from..start];
        let begin = before
            .char_indices()
            .rev()
            .find(|(_, letter)| letter.is_whitespace())
            .map_or(from, |(offset, blank)| from + offset + blank.len_utf8());
        let rest = &self.text[start..];
        let near = &rest[..rest.floor_char_boundary(ADDRESS_BYTES)];
        let end = near.find(char::is_whitespace).unwrap_or(near.len());
        let written = self.text[begin..start + end].to_ascii_lowercase();
        let written = written.trim_start_matches(['(', '<', '[', '"']);
        let is_doi = written
            .strip_prefix("10.")
            .is_some_and(|rest| digits(rest) >= 4 && rest[digits(rest)..].starts_with('/'));
        let is_address = written.contains("://")
            || written.starts_with("www.")
            || written.starts_with("doi:")
            || written.starts_with("arxiv:");
        (is_doi || is_address).then_some(start + end)
    }

    /// Whether the digit goes on a name: `S12`, `GPT-4`, `recall@10`.
    fn is_named(&self, start: usize) -> bool {
        let before = &self.text[..start];
        let Some(last) = before.chars().next_back() else {
            return false;
        };
        let letters = |text: &str| -> String {
            let run: Vec<char> = text
                .chars()
                .rev()
                .take_while(|letter| letter.is_alphabetic())
                .collect();
            run.into_iter().rev().collect()
        };
        if is_hyphen(last) {
            let word = letters(&before[..before.len() - last.len_utf8()]);
            let follows = self
                .found
                .last()
                .is_some_and(|number| number.range.end + last.len_utf8() == start);
            return !word.is_empty()
                && !follows
                && !COMPOUNDS.contains(&word.to_lowercase().as_str());
        }
        if last.is_alphabetic() {
            let word = letters(before);
            // `1920x1080` has two numbers.
            let dimension = matches!(word.as_str(), "x" | "X")
                && before[..before.len() - 1].ends_with(|letter: char| letter.is_ascii_digit());
            return !dimension && currency(&word).is_none();
        }
        matches!(last, '_' | '@' | '^')
    }

    fn date(&mut self, date: Date, range: Range<usize>) -> usize {
        let end = range.end;
        self.push(range.clone(), Kind::Date(date), true);
        for part in date.parts() {
            let meaning = Meaning::bare(Decimal::of(part));
            self.push(range.clone(), Kind::Quantity(vec![meaning]), false);
        }
        end
    }

    fn written(&mut self, range: Range<usize>, states: bool) -> usize {
        let text = self.text[range.clone()].to_owned();
        let end = range.end;
        self.push(range.clone(), Kind::Written(text.clone()), states);
        for part in text.split([':', '/', '.']) {
            if let Some(value) = Decimal::parse(part, "") {
                self.push(
                    range.clone(),
                    Kind::Quantity(vec![Meaning::bare(value)]),
                    false,
                );
            }
        }
        end
    }

    /// A date with its month in letters. Returns where it ends.
    fn named_day(&mut self, range: &Range<usize>) -> Option<usize> {
        let (before, after) = (&self.text[..range.start], &self.text[range.end..]);
        let written = &self.text[range.clone()];
        if written.len() <= 2
            && let Some((date, used)) = dates::after_day(written.parse().ok()?, after)
        {
            return Some(self.date(date, range.start..range.end + used));
        }
        let from = before.ceil_char_boundary(range.start.saturating_sub(AROUND_BYTES));
        let (date, back, used) = dates::after_month(&before[from..], written, after)?;
        Some(self.date(date, range.start - back..range.end + used))
    }

    /// `21 400` may be one number: it is taken up before its parts are.
    fn joined(&mut self, groups: &Groups<'_>) {
        let (start, mut end) = (groups.range.start, groups.range.end);
        let first = groups.groups[0];
        if first.len() > 3 || first.starts_with('0') {
            return;
        }
        let mut whole = first.to_owned();
        for _ in 0..GROUPS_LIMIT {
            let rest = &self.text[end..];
            let Some(next) = rest.strip_prefix(' ').filter(|next| digits(next) == 3) else {
                break;
            };
            whole.push_str(&next[..3]);
            end += 4;
        }
        let Some(value) = Decimal::parse(&whole, "").filter(|_| whole.len() > first.len()) else {
            return;
        };
        let before = self.found.len();
        self.quantity(start..end, vec![value], true);
        if let Some(number) = self.found.get_mut(before) {
            number.joined = true;
        }
    }

    fn quantity(&mut self, range: Range<usize>, values: Vec<Decimal>, states: bool) -> usize {
        let (values, end) = self.exponent(values, range.end);
        let after = &self.text[end..];
        if let Some(bytes) = ordinal(after, &self.text[range.clone()]) {
            return self.bare(range.start..end + bytes, &values, states);
        }
        let lead = self.lead(range.start);
        let Some(suffix) = suffix(after) else {
            return self.bare(range.start..end, &values, false);
        };
        let mut taken = Taken {
            start: lead.start,
            end: end + suffix.bytes,
            states,
        };
        let bare = suffix.readings.is_empty() && lead.unit.is_none();
        if bare && self.is_label(&taken) {
            self.labelled = Some(taken.end);
            taken.states = false;
        }
        let mut meanings = meanings(&values, &suffix, lead.unit);
        if bare && is_factor(&self.text[..taken.start]) {
            let factors = values.iter().map(|value| words::times(*value));
            meanings.extend(factors.collect::<Vec<_>>());
        }
        self.push(
            taken.start..taken.end,
            Kind::Quantity(meanings),
            taken.states,
        );
        if let Some(number) = self.found.last_mut() {
            number.negative = lead.negative;
        }
        // In a name, letters may follow that are no unit: digits of the same name go on after it.
        if states {
            taken.end
        } else {
            end.max(range.end)
        }
    }

    fn bare(&mut self, range: Range<usize>, values: &[Decimal], states: bool) -> usize {
        let meanings = values.iter().copied().map(Meaning::bare).collect();
        let end = range.end;
        self.push(range, Kind::Quantity(meanings), states);
        end
    }

    fn push(&mut self, range: Range<usize>, kind: Kind, states: bool) {
        let number = Number {
            kind,
            negative: false,
            falls: words::falls(&self.text[..range.start]),
            names: names(&self.text[range.end..]),
            spelled: false,
            joined: false,
            states,
            range,
        };
        self.found.push(number);
    }

    /// The power of ten that the number is written with, and where it ends.
    fn exponent(&self, values: Vec<Decimal>, end: usize) -> (Vec<Decimal>, usize) {
        let after = &self.text[end..];
        let power = if values == [Decimal::of(10)] {
            raised(after).map(|(power, bytes)| (power - 1, bytes))
        } else {
            scientific(after)
        };
        match power {
            Some((power, bytes)) => {
                let values = values.into_iter().map(|value| value.shifted(power));
                (values.collect(), end + bytes)
            }
            None => (values, end),
        }
    }

    /// What stands before the digits and belongs to them.
    fn lead(&self, start: usize) -> Lead {
        let mut lead = Lead {
            start,
            negative: false,
            unit: None,
        };
        lead.sign(self.text);
        let before = &self.text[..lead.start];
        let close = before.strip_suffix([' ', '\u{a0}']).unwrap_or(before);
        if let Some((bytes, unit)) = leading_currency(close) {
            lead.start = close.len() - bytes;
            lead.unit = Some(unit);
            lead.sign(self.text);
        }
        lead
    }

    /// Whether the number only names a place: `Table 3`, `[4]`, `(2)`, the `1.` before an item.
    fn is_label(&self, taken: &Taken) -> bool {
        let before = &self.text[..taken.start];
        let after = &self.text[taken.end..];
        let short = taken.end - taken.start <= 3;
        if before.ends_with(['[', '#', '\u{a7}']) || before.ends_with("\u{a7} ") {
            return true;
        }
        if short && before.ends_with('(') && after.starts_with(')') && taken.end - taken.start <= 2
        {
            return true;
        }
        if short && before.trim().is_empty() {
            let mut after = after.chars();
            let stops = matches!(after.next(), Some('.' | ')' | ':'));
            return stops && after.next().is_none_or(char::is_whitespace);
        }
        if let Some(label) = self.labelled.filter(|label| *label <= taken.start)
            && connects(&self.text[label..taken.start]).is_some()
        {
            return true;
        }
        let trimmed = before.trim_end_matches([' ', '\u{a0}', '(', '.']);
        let word = trimmed
            .rsplit(|letter: char| !letter.is_alphabetic())
            .next()
            .unwrap_or_default();
        trimmed.len() < before.len() && LABELS.contains(&word.to_lowercase().as_str())
    }
}

/// The bytes that go on `0` in a number like `0x1F`.
fn hexadecimal(first: &str, after: &str) -> Option<usize> {
    let rest = after.strip_prefix(['x', 'X']).filter(|_| first == "0")?;
    let length = rest
        .find(|letter: char| !letter.is_ascii_hexdigit())
        .unwrap_or(rest.len());
    (length > 0).then_some(1 + length)
}

/// Whether `before` ends with the words that make a factor of the number: `by a factor of 3`.
fn is_factor(before: &str) -> bool {
    let from = before.ceil_char_boundary(before.len().saturating_sub(AROUND_BYTES));
    let near = before[from..].trim_end().to_lowercase();
    ["factor of", "factor", "faktor", "faktor von"]
        .iter()
        .any(|words| near.ends_with(words))
}

fn is_hyphen(letter: char) -> bool {
    matches!(letter, '-' | '\u{2010}' | '\u{2011}')
}

/// In `$5–10 million` the currency belongs to both numbers, and so may the magnitude.
fn spend(mine: &mut Vec<Meaning>, theirs: &mut [Meaning]) {
    let Some(unit) = mine.first().and_then(|meaning| meaning.unit) else {
        return;
    };
    let own: Vec<Meaning> = mine.clone();
    for reading in theirs.iter_mut().filter(|reading| reading.unit.is_none()) {
        reading.unit = Some(unit);
        mine.extend(own.iter().map(|meaning| Meaning {
            magnitude: reading.magnitude,
            ..*meaning
        }));
    }
}

fn is_bare(meanings: &[Meaning]) -> bool {
    meanings
        .iter()
        .all(|meaning| meaning.unit.is_none() && meaning.magnitude == 0)
}

/// In `5–10 ms` and `2.1, 3.2 and 8.9 ms` the unit belongs to every number.
fn inherit(text: &str, found: &mut [Number]) {
    for at in (1..found.len()).rev() {
        let (left, right) = found.split_at_mut(at);
        let (Some(one), Some(other)) = (left.last_mut(), right.first_mut()) else {
            continue;
        };
        if one.range.end > other.range.start || one.joined {
            continue;
        }
        let Some(range) = connects(&text[one.range.end..other.range.start]) else {
            continue;
        };
        let (Kind::Quantity(mine), Kind::Quantity(theirs)) = (&mut one.kind, &mut other.kind)
        else {
            continue;
        };
        let leads = text[one.range.clone()].starts_with(|letter: char| !letter.is_ascii_digit());
        if range && leads {
            spend(mine, theirs);
        }
        let bare = is_bare(mine);
        let inherits = theirs
            .iter()
            .any(|meaning| meaning.unit.is_some() || meaning.magnitude != 0);
        if !(bare && inherits) {
            continue;
        }
        let own = std::mem::take(mine);
        for reading in theirs.iter() {
            mine.extend(own.iter().map(|meaning| Meaning {
                plain: meaning.plain,
                ..*reading
            }));
        }
        // In a list, and before a magnitude, the number may also stand for itself.
        if !range || theirs.iter().any(|meaning| meaning.magnitude != 0) {
            mine.extend(own);
        }
    }
}
