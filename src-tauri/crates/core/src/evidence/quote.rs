//! Where quoted words stand in a text.

use std::ops::Range;

use super::fold::{Folded, Hyphens, LINE_END, fold, fold_with};
use super::words::{Closest, Word, closest, words};

/// A match at least this good counts as near.
const NEAR_RATIO: f32 = 0.6;
/// The most places where words are compared hyphen by hyphen.
const HYPHEN_PLACES_LIMIT: usize = 256;

/// A quote of fewer words shows something only if it has letters enough.
const WORDS_LEAST: usize = 3;
/// A quote of fewer letters and digits shows something only if it has words enough.
const LETTERS_LEAST: usize = 12;

/// Whether `quote` is so short that it stands in nearly every text, and shows nothing by that.
pub fn is_too_short(quote: &str) -> bool {
    let words = quote
        .split_whitespace()
        .filter(|word| word.contains(char::is_alphanumeric));
    let letters = quote.chars().filter(|letter| letter.is_alphanumeric());
    words.count() < WORDS_LEAST && letters.count() < LETTERS_LEAST
}

/// What became of a quote.
#[derive(Clone, PartialEq, Debug)]
pub enum QuoteMatch {
    /// The words stand there.
    Verbatim {
        /// Where, in bytes of the source.
        range: Range<usize>,
    },
    /// Much the same words stand there.
    Near {
        /// Where, in bytes of the source.
        range: Range<usize>,
        /// The words that do stand there, white space folded.
        difference: String,
        /// How much is the same, from 0.6 up to 1.
        ratio: f32,
    },
    /// Nothing like it stands there.
    NotFound,
}

/// A source's text, folded once for all quotes from it.
pub struct SourceText<'a> {
    text: &'a str,
    joined: Folded,
    /// For the words that a hyphen divides; made when the first quote needs it.
    bare: Option<Folded>,
    /// For the closest words; made when the first quote needs them.
    words: Option<Vec<Word>>,
}

/// Looks for `quote` in one text. For many quotes of the same text, see [`SourceText`].
pub fn find_quote(quote: &str, source_text: &str) -> QuoteMatch {
    SourceText::new(source_text).find(quote)
}

impl<'a> SourceText<'a> {
    /// Folds `text`.
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            joined: fold(text),
            bare: None,
            words: None,
        }
    }

    /// The text as it was given.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Looks for `quote`: for its very words first, for the closest ones then.
    pub fn find(&mut self, quote: &str) -> QuoteMatch {
        let folded = fold(quote);
        let needle = essence(folded.text());
        if !needle.contains(char::is_alphanumeric) {
            return QuoteMatch::NotFound;
        }
        if let Some(range) = whole_words(self.joined.text(), needle).next() {
            return QuoteMatch::Verbatim {
                range: self.joined.source_range(range),
            };
        }
        if let Some(range) = self.find_divided(quote) {
            return QuoteMatch::Verbatim { range };
        }
        let joined = &self.joined;
        let there = self.words.get_or_insert_with(|| words(joined.text()));
        match closest(needle, joined, there) {
            Some(Closest { range, ratio }) if ratio >= NEAR_RATIO => {
                let difference = fold_with(&self.text[range.clone()], Hyphens::Join)
                    .text()
                    .to_owned();
                QuoteMatch::Near {
                    range,
                    difference,
                    ratio,
                }
            }
            _ => QuoteMatch::NotFound,
        }
    }

    /// A hyphen at the end of a line may belong to its word (`well-known`) or not (`exam-ple`):
    /// looks for the words without any hyphens, then holds the hyphens of each place against
    /// those of the quote.
    fn find_divided(&mut self, quote: &str) -> Option<Range<usize>> {
        let folded = fold_with(quote, Hyphens::Omit);
        let needle = essence(folded.text());
        let marked = fold_with(quote, Hyphens::Mark);
        let text = self.text;
        let bare = self
            .bare
            .get_or_insert_with(|| fold_with(text, Hyphens::Omit));
        whole_words(bare.text(), needle)
            .take(HYPHEN_PLACES_LIMIT)
            .map(|range| bare.source_range(range))
            .find(|range| {
                let there = fold_with(&text[range.clone()], Hyphens::Mark);
                same_but_for_line_ends(essence(there.text()), essence(marked.text()))
            })
    }
}

/// The words of a quote without the stop or the ellipsis that its writer put around them.
fn essence(folded: &str) -> &str {
    folded
        .trim_start_matches(['.', ' '])
        .trim_end_matches(['.', ',', ';', ':', ' '])
}

/// Every place where `needle` stands and no word is cut through.
fn whole_words<'t>(text: &'t str, needle: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
    let first = needle.chars().next().is_some_and(char::is_alphanumeric);
    let last = needle
        .chars()
        .next_back()
        .is_some_and(char::is_alphanumeric);
    text.match_indices(needle)
        .filter_map(move |(start, found)| {
            let end = start + found.len();
            let begins = !(first && text[..start].ends_with(char::is_alphanumeric));
            let ends = !(last && text[end..].starts_with(char::is_alphanumeric));
            (begins && ends).then_some(start..end)
        })
}

/// Whether two marked texts are the same, where a hyphen at the end of a line in one may be a
/// hyphen or nothing in the other.
fn same_but_for_line_ends(left: &str, right: &str) -> bool {
    let mut left = left.chars().peekable();
    let mut right = right.chars().peekable();
    loop {
        match (left.peek().copied(), right.peek().copied()) {
            (None, None) => return true,
            (Some(LINE_END), _) => {
                left.next();
                skip_hyphen(&mut right);
            }
            (_, Some(LINE_END)) => {
                right.next();
                skip_hyphen(&mut left);
            }
            (one, other) if one == other => {
                left.next();
                right.next();
            }
            _ => return false,
        }
    }
}

fn skip_hyphen(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    if letters.next_if(|letter| matches!(*letter, '-' | LINE_END)) == Some('-') {
        letters.next_if_eq(&' ');
    }
}
