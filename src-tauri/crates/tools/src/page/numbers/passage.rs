//! What a source says in numbers, where a page cites it.

use std::ops::Range;

use longrein_protocol::source::{SourceMeta, TextRange};

use super::decimal::Decimal;
use super::index::Index;
use super::same::{Named, around, same};
use super::scan::numbers;
use super::{Convention, Kind, Meaning, Number};

/// How far around quoted words their passage reaches, in a source without pages.
const AROUND_BYTES: usize = 1_500;
/// A longer text is not looked through for what stands beyond the cited passages.
const WHOLE_LIMIT_BYTES: usize = 2 * 1024 * 1024;
/// How much of a text is read for how it writes its decimals.
const CONVENTION_BYTES: usize = 256 * 1024;
/// How much of a text may say when it was written.
const HEAD_BYTES: usize = 2_000;
/// What is read as a year there.
const YEARS: Range<u32> = 1_400..2_200;
/// The longest word that the end of a passage may cut.
const WORD_LIMIT_BYTES: usize = 40;

/// The numbers of a source: in the passages that were shown and around the words that are quoted.
pub(in crate::page) struct SourceNumbers<'s> {
    text: &'s str,
    convention: Convention,
    passages: Vec<Range<usize>>,
    numbers: Index,
    named: Named,
    /// What title, date and name of the source say; they are no part of its text.
    about: Vec<Number>,
    /// The whole text's numbers, once they were needed.
    whole: Option<Index>,
}

/// What became of a number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::page) enum Held {
    /// It stands there; without a place where it belongs to the source's title or date.
    Found(Option<Range<usize>>),
    /// It stands in the source, beyond what was shown and cited.
    Beyond(Range<usize>),
    /// Another one stands there that may be meant.
    Near(Range<usize>),
    /// Nothing like it stands there.
    Missing,
}

impl<'s> SourceNumbers<'s> {
    /// `quoted`: where words of the source are quoted.
    pub(in crate::page) fn new(
        text: &'s str,
        meta: &SourceMeta,
        shown: &[TextRange],
        quoted: &[Range<usize>],
    ) -> Self {
        let start = &text[..text.floor_char_boundary(CONVENTION_BYTES.min(text.len()))];
        let convention = Convention::of(start);
        let shown = shown
            .iter()
            .map(|range| range.start as usize..range.end as usize);
        let near = quoted
            .iter()
            .map(|quote| around_quote(text, quote, meta.pdf.is_some()));
        let passages = merged(text, shown.chain(near).collect());
        let mut found = Vec::new();
        let mut named = Named::default();
        for passage in &passages {
            let words = &text[passage.clone()];
            named.take(words);
            let mut of_passage = numbers(words, convention);
            left_out(words, &mut of_passage);
            found.extend(of_passage.into_iter().map(|number| Number {
                range: passage.start + number.range.start..passage.start + number.range.end,
                ..number
            }));
        }
        Self {
            text,
            convention,
            passages,
            numbers: Index::new(found),
            named,
            about: about(meta, text),
            whole: None,
        }
    }

    /// Looks for what a page writes; nearest to the words that it quotes there.
    pub(in crate::page) fn find(&mut self, wanted: &Number, quoted: &[Range<usize>]) -> Held {
        if let Some(held) = self.found(wanted, quoted) {
            return held;
        }
        if let Some(range) = self.beyond(wanted) {
            return Held::Beyond(range);
        }
        let nearest = self.numbers.nearest(wanted, |number| off(number, quoted));
        nearest.map_or(Held::Missing, |number| Held::Near(number.range.clone()))
    }

    fn found(&self, wanted: &Number, quoted: &[Range<usize>]) -> Option<Held> {
        let holds = |number: &&Number| {
            same(wanted, number, &self.named) && self.year_agrees(wanted, number)
        };
        let mut there = self.numbers.candidates(wanted).filter(holds);
        let number = if quoted.is_empty() {
            there.next()
        } else {
            there.min_by_key(|number| off(number, quoted))
        };
        if let Some(number) = number {
            return Some(Held::Found(Some(number.range.clone())));
        }
        let told = self.about.iter().any(|number| holds(&number)) || self.has_parts(wanted);
        told.then_some(Held::Found(None))
    }

    /// The source's words around a place that was found.
    pub(in crate::page) fn words(&self, range: &Range<usize>) -> String {
        around(self.text, range)
    }

    /// A day without its year is the wanted one only if the source names that year elsewhere.
    fn year_agrees(&self, wanted: &Number, there: &Number) -> bool {
        let (Kind::Date(wanted), Kind::Date(there)) = (&wanted.kind, &there.kind) else {
            return true;
        };
        match (wanted.year, there.year) {
            (Some(year), None) => self.counts(year),
            _ => true,
        }
    }

    /// Whether the source names this whole number anywhere in its passages or of itself.
    fn counts(&self, wanted: u32) -> bool {
        let mut there = self
            .numbers
            .of_value(Decimal::of(wanted))
            .chain(&self.about);
        there.any(|number| number.counts() == Some(wanted))
    }

    /// Whether the numbers that a ratio or two years are made of stand there one by one.
    fn has_parts(&self, wanted: &Number) -> bool {
        let Kind::Written(written) = &wanted.kind else {
            return false;
        };
        !written.contains('.')
            && written
                .split([':', '/'])
                .all(|part| part.parse().is_ok_and(|part| self.counts(part)))
    }

    fn beyond(&mut self, wanted: &Number) -> Option<Range<usize>> {
        if self.text.len() > WHOLE_LIMIT_BYTES {
            return None;
        }
        let (text, convention) = (self.text, self.convention);
        let whole = self
            .whole
            .get_or_insert_with(|| Index::new(numbers(text, convention)));
        let inside = |range: &Range<usize>| {
            self.passages
                .iter()
                .any(|passage| passage.start <= range.start && range.end <= passage.end)
        };
        let nothing = Named::default();
        whole
            .candidates(wanted)
            .find(|number| same(wanted, number, &nothing) && !inside(&number.range))
            .map(|number| number.range.clone())
    }
}

/// `It costs 5 crowns, the other 3 and the third 2`: what a sentence said once may be left out after
/// that, so each such number is read with the unit before it, too.
fn left_out(text: &str, found: &mut [Number]) {
    for at in 1..found.len() {
        let (before, rest) = found.split_at_mut(at);
        let Some((number, last)) = rest.first_mut().zip(before.last()) else {
            continue;
        };
        let near = text.get(last.range.end..number.range.start);
        if number.names || number.spelled || !near.is_some_and(leaves_out) {
            continue;
        }
        let (Kind::Quantity(mine), Kind::Quantity(theirs)) = (&mut number.kind, &last.kind) else {
            continue;
        };
        if mine.iter().any(|meaning| meaning.unit.is_some()) {
            continue;
        }
        let own = mine.clone();
        for reading in theirs.iter().filter(|reading| reading.unit.is_some()) {
            mine.extend(own.iter().map(|meaning| Meaning {
                unit: reading.unit,
                per: reading.per,
                ..*meaning
            }));
        }
    }
}

/// Whether the words between two numbers go on the same sentence, and do not say themselves what the
/// second number is (`a recall of 0.972`).
fn leaves_out(between: &str) -> bool {
    /// A longer part of a sentence says enough by itself.
    const BETWEEN_BYTES: usize = 80;
    let own = [
        " of ", " to ", " from ", " at ", " by ", " was ", " is ", " bei ", " von ",
    ];
    between.len() <= BETWEEN_BYTES
        && between.contains(char::is_alphabetic)
        && !between.contains(['.', ';', ':', '?', '!', '|', '(', ')'])
        && !own.iter().any(|word| between.ends_with(word))
}

/// The numbers that a source's records say of it, and the days and years at the beginning of its
/// text, where a document without records says when it was written.
fn about(meta: &SourceMeta, text: &str) -> Vec<Number> {
    let told = [Some(&meta.title), meta.date.as_ref(), meta.file.as_ref()];
    let head = &text[..text.floor_char_boundary(HEAD_BYTES)];
    let dated = numbers(head, Convention::Unknown)
        .into_iter()
        .filter(|number| match number.kind {
            Kind::Date(_) => true,
            _ => number.counts().is_some_and(|year| YEARS.contains(&year)),
        });
    told.into_iter()
        .flatten()
        .flat_map(|text| numbers(text, Convention::Unknown))
        .chain(dated)
        .collect()
}

/// The page that a quote stands on, or some text on both sides of it.
fn around_quote(text: &str, quote: &Range<usize>, paged: bool) -> Range<usize> {
    let (start, end) = (quote.start.min(text.len()), quote.end.min(text.len()));
    if paged {
        let begin = text[..start].rfind('\u{c}').map_or(0, |feed| feed + 1);
        let finish = text[end..]
            .find('\u{c}')
            .map_or(text.len(), |feed| end + feed);
        return begin..finish;
    }
    let begin = text.floor_char_boundary(start.saturating_sub(AROUND_BYTES));
    let finish = text.ceil_char_boundary((end + AROUND_BYTES).min(text.len()));
    begin..finish
}

/// The ranges in order, without overlaps, on whole words.
fn merged(text: &str, mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    for range in &mut ranges {
        let start = text.floor_char_boundary(range.start.min(text.len()));
        let end = text.ceil_char_boundary(range.end.min(text.len()));
        let back = text[..start]
            .bytes()
            .rev()
            .take(WORD_LIMIT_BYTES)
            .take_while(|byte| !byte.is_ascii_whitespace())
            .count();
        let on = text[end..]
            .bytes()
            .take(WORD_LIMIT_BYTES)
            .take_while(|byte| !byte.is_ascii_whitespace())
            .count();
        *range = text.floor_char_boundary(start - back)..text.ceil_char_boundary(end + on);
    }
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// How far a number is from the nearest of the quoted words.
fn off(number: &Number, quoted: &[Range<usize>]) -> usize {
    let apart = quoted.iter().map(|quote| apart(&number.range, quote));
    apart.min().unwrap_or(0)
}

/// How far two ranges are apart; 0 where they overlap.
fn apart(one: &Range<usize>, other: &Range<usize>) -> usize {
    one.start
        .saturating_sub(other.end)
        .max(other.start.saturating_sub(one.end))
}
