//! Numbers in texts: what stands there, and whether two of them say the same.
//!
//! A number is read with its sign, its magnitude (`million`, `k`) and its unit, in the ways in which
//! English and German texts write them. What can be read in two ways (`1.234`, `5 m`) is read in
//! both, unless the rest of the text shows which one its writer uses. Numbers that are parts of
//! names (`S12`, `GPT-4`, `recall@10`), labels (`Table 3`, `[4]`, the `1.` before an item) and
//! addresses are told apart, for they state nothing. Digits other than 0 to 9 are not read.

mod dates;
mod decimal;
mod groups;
mod index;
mod labels;
mod lead;
mod passage;
mod powers;
mod same;
mod scan;
mod suffix;
mod units;
mod words;

#[cfg(test)]
mod tests;

use std::ops::Range;

use decimal::Decimal;
use units::Unit;

pub(super) use groups::Convention;
pub(super) use passage::{Held, SourceNumbers};
pub(super) use scan::numbers;

/// One number as it stands in a text.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Number {
    /// Its bytes, with its sign and its unit.
    pub(super) range: Range<usize>,
    kind: Kind,
    /// Whether it stands with a minus sign.
    negative: bool,
    /// Whether the words before it say that something became or was less, which says the same as
    /// a minus sign.
    falls: bool,
    /// Whether the name of what is counted follows.
    names: bool,
    /// Whether it is written in words.
    spelled: bool,
    /// Whether it is two or more numbers unless the blanks in it divide thousands.
    joined: bool,
    /// Whether it states something, and is no part of a name, a label or a date.
    states: bool,
}

#[derive(Clone, PartialEq, Debug)]
enum Kind {
    /// The ways in which it can be read; at least one.
    Quantity(Vec<Meaning>),
    Date(Date),
    /// A time, a ratio, a version: compared as it is written.
    Written(String),
}

/// One way to read a number.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Meaning {
    /// The digits alone.
    plain: Decimal,
    /// The power of ten of `million` and the like.
    magnitude: i32,
    unit: Option<Unit>,
    /// What the unit is divided by, as in `MB/s`.
    per: Option<Unit>,
}

/// A day, a month or both, with or without the year.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Date {
    year: Option<u32>,
    month: Option<u32>,
    day: Option<u32>,
    /// Whether month and day may be the other way round, as in `4/3/2029`.
    either: bool,
}

impl Number {
    /// Whether a page that writes it states something that its sources have to say.
    pub(super) fn is_claim(&self) -> bool {
        self.states && !(self.spelled && self.is_figure_of_speech())
    }

    /// Whether blanks in it may divide two numbers or thousands.
    pub(super) fn is_joined(&self) -> bool {
        self.joined
    }

    /// The number, where it is whole and has no unit.
    pub(super) fn counts(&self) -> Option<u32> {
        let [meaning] = self.meanings() else {
            return None;
        };
        let bare = meaning.unit.is_none() && meaning.magnitude == 0 && !self.negative;
        bare.then(|| meaning.plain.small()).flatten()
    }

    fn meanings(&self) -> &[Meaning] {
        match &self.kind {
            Kind::Quantity(meanings) => meanings,
            Kind::Date(_) | Kind::Written(_) => &[],
        }
    }

    /// Words like `two` or `three times` are often no measurement; with a unit they are.
    fn is_figure_of_speech(&self) -> bool {
        let meanings = self.meanings();
        meanings.iter().all(|meaning| match meaning.unit {
            Some(unit) => unit.of == units::TIMES || meaning.amount() == Decimal::of(1),
            // `a hundred` and `a thousand` are often said of what nobody counted.
            None => {
                meaning.magnitude == 0 || meaning.plain == Decimal::of(1) && meaning.magnitude < 6
            }
        })
    }
}

impl Meaning {
    fn bare(plain: Decimal) -> Self {
        Self {
            plain,
            magnitude: 0,
            unit: None,
            per: None,
        }
    }

    /// The number with its magnitude, in its own unit.
    fn amount(&self) -> Decimal {
        self.plain.shifted(self.magnitude)
    }

    /// The number in the first unit of its kind.
    fn scaled(&self) -> Option<Decimal> {
        let amount = self.amount();
        match self.unit {
            None => Some(amount),
            Some(unit) => Some(amount.times(unit.factor)?.shifted(unit.exponent)),
        }
    }
}
