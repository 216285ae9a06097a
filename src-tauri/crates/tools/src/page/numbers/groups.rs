//! Digits with the signs between them, and how a text divides its decimals.

use std::ops::Range;

use super::dates::digits;
use super::decimal::Decimal;

/// The most groups of digits in one number.
pub(super) const GROUPS_LIMIT: usize = 9;

/// Which sign divides a text's decimals, as far as it shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::page) enum Convention {
    Point,
    Comma,
    Unknown,
}

impl Convention {
    /// Reads the convention off the numbers that can be read in one way only.
    pub(in crate::page) fn of(text: &str) -> Self {
        let (mut points, mut commas) = (0usize, 0usize);
        let mut at = 0;
        while let Some(start) = next_digit(text, at) {
            let groups = Groups::at(text, start);
            at = groups.range.end;
            match groups.shows() {
                Some(Self::Point) => points += 1,
                Some(Self::Comma) => commas += 1,
                _ => {}
            }
        }
        match (points > 0, commas > 0) {
            (true, false) => Self::Point,
            (false, true) => Self::Comma,
            _ => Self::Unknown,
        }
    }
}

pub(super) fn next_digit(text: &str, from: usize) -> Option<usize> {
    let offset = text.as_bytes()[from..]
        .iter()
        .position(u8::is_ascii_digit)?;
    Some(from + offset)
}

/// Digits with signs between them, as they stand together.
pub(super) struct Groups<'t> {
    pub(super) range: Range<usize>,
    pub(super) groups: Vec<&'t str>,
    signs: Vec<char>,
}

/// What groups of digits say.
pub(super) enum Digits {
    /// One number, in one or two readings.
    Number(Vec<Decimal>),
    /// Only the first group is a number: the others are numbers of their own.
    First,
    /// `1.2.3`.
    Dotted,
}

impl<'t> Groups<'t> {
    pub(super) fn at(text: &'t str, start: usize) -> Self {
        let mut groups = Vec::new();
        let mut signs = Vec::new();
        let mut end = start;
        while groups.len() < GROUPS_LIMIT {
            let length = digits(&text[end..]);
            groups.push(&text[end..end + length]);
            end += length;
            let mut rest = text[end..].chars();
            match (rest.next(), rest.next()) {
                (Some(sign), Some(next)) if divides(sign) && next.is_ascii_digit() => {
                    signs.push(sign);
                    end += sign.len_utf8();
                }
                _ => break,
            }
        }
        signs.truncate(groups.len() - 1);
        Self {
            range: start..end,
            groups,
            signs,
        }
    }

    /// Whether every group after the first one may be three digits of one number.
    fn thousands(groups: &[&str]) -> bool {
        let [first, rest @ ..] = groups else {
            return false;
        };
        let last = rest.last().is_some_and(|last| last.len() == 3);
        // Indian texts divide hundreds of thousands.
        let inner = rest.iter().all(|group| matches!(group.len(), 2 | 3));
        last && inner && first.len() <= 3 && !first.starts_with('0')
    }

    /// The convention that the number can only be written in.
    fn shows(&self) -> Option<Convention> {
        let [before @ .., last] = &self.signs[..] else {
            return None;
        };
        let by = |decimal: bool| match (last, decimal) {
            ('.', true) | (',', false) => Some(Convention::Point),
            (',', true) | ('.', false) => Some(Convention::Comma),
            _ => None,
        };
        if before.is_empty() {
            let tail = self.groups[1].len();
            let decimal = self.groups[0] == "0" || tail != 3 || self.groups[0].len() > 3;
            // Two numbers of a list look like one with a comma.
            let list = *last == ',' && self.groups[0] != "0";
            return if decimal && !list { by(true) } else { None };
        }
        let one_kind = before.iter().all(|sign| sign == last);
        let head = &self.groups[..self.groups.len() - usize::from(!one_kind)];
        if !Self::thousands(head) {
            return None;
        }
        by(!one_kind)
    }

    pub(super) fn read(&self, convention: Convention) -> Digits {
        let whole = |groups: &[&str]| groups.concat();
        let number = |whole: String, fraction: &str| Decimal::parse(&whole, fraction);
        let all = |readings: Vec<Option<Decimal>>| {
            Digits::Number(readings.into_iter().flatten().collect())
        };
        let (groups, signs) = (&self.groups[..], &self.signs[..]);
        let thousands = Self::thousands(groups);
        match signs {
            [] => all(vec![number(whole(groups), "")]),
            [sign @ ('.' | ',')] => {
                let decimal = number(groups[0].to_owned(), groups[1]);
                let grouped = number(whole(groups), "");
                let point = (*sign == '.') == (convention == Convention::Point);
                match (convention, thousands) {
                    // Nobody writes out three zeros after a point.
                    (Convention::Unknown, true) if groups[1] == "000" => all(vec![grouped]),
                    (Convention::Unknown, true) => all(vec![decimal, grouped]),
                    (Convention::Unknown, false) => all(vec![decimal]),
                    _ if point => all(vec![decimal]),
                    (_, true) => all(vec![grouped]),
                    // `3,4` where a point divides decimals is a list; `3.4` where a comma does is
                    // still hardly anything else than a number.
                    _ if *sign == ',' => Digits::First,
                    _ => all(vec![decimal]),
                }
            }
            [first, rest @ ..] if rest.iter().all(|sign| sign == first) => match (thousands, first)
            {
                (true, _) => all(vec![number(whole(groups), "")]),
                (false, '.') => Digits::Dotted,
                (false, _) => Digits::First,
            },
            [before @ .., last] => {
                let (head, tail) = groups.split_at(groups.len() - 1);
                let one_kind = before.iter().all(|sign| *sign == before[0] && sign != last);
                if one_kind && matches!(last, '.' | ',') && Self::thousands(head) {
                    all(vec![number(whole(head), tail[0])])
                } else {
                    Digits::First
                }
            }
        }
    }
}

/// Signs that may stand within a number.
fn divides(sign: char) -> bool {
    matches!(sign, '.' | ',' | '_') || divides_thousands(sign)
}

fn divides_thousands(sign: char) -> bool {
    matches!(
        sign,
        '\'' | '\u{2019}' | '\u{a0}' | '\u{2009}' | '\u{202f}' | '\u{2007}'
    )
}
