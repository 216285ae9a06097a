//! The closest words of a text: a window of as many words as the quote has, then an alignment
//! word by word. Bounded in the quote's length, linear in the text's.

use std::collections::BTreeMap;
use std::ops::Range;

use super::fold::{Folded, Hyphens, fold, fold_with};

/// A quote of fewer words has no neighbours worth naming.
const WORDS_LEAST: usize = 3;
/// Of a longer quote only so many words are looked for.
const WORDS_LIMIT: usize = 200;
/// In a longer text nothing near is looked for.
const TEXT_LIMIT_BYTES: usize = 16 * 1024 * 1024;
/// The most windows that are aligned word by word.
const WINDOWS_LIMIT: usize = 4;
/// What a window must share with the quote to be aligned, in hundredths.
const SHARED_LEAST_PERCENT: usize = 40;
/// The cost of a word that is missing, added or another one.
const OTHER_WORD: u32 = 4;
/// The cost of a word that differs in case or punctuation only.
const OTHER_FORM: u32 = 1;

/// The place of a text that is most like a quote.
pub(super) struct Closest {
    /// In bytes of the source.
    pub(super) range: Range<usize>,
    /// How much is the same, from 0 to 1.
    pub(super) ratio: f32,
}

/// The words of `text` that are most like `quote`, white space folded; `None` when nothing is.
pub fn closest_words(quote: &str, text: &str) -> Option<String> {
    let folded = fold(text);
    let Closest { range, .. } = closest(fold(quote).text(), &folded, &words(folded.text()))?;
    Some(fold_with(&text[range], Hyphens::Join).text().to_owned())
}

/// The page that `offset` lies on, counted from 1, in a text whose pages are divided by form feeds.
pub fn page_at(text: &str, offset: usize) -> u32 {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let pages = before.iter().filter(|byte| **byte == 0xc).count();
    u32::try_from(pages).unwrap_or(u32::MAX - 1) + 1
}

pub(super) fn closest(quote: &str, folded: &Folded, there: &[Word]) -> Option<Closest> {
    let mut wanted = words(quote);
    wanted.truncate(WORDS_LIMIT);
    if wanted.len() < WORDS_LEAST {
        return None;
    }
    let texts = Texts {
        wanted: quote,
        there: folded.text(),
    };
    windows(&wanted, there)
        .into_iter()
        .map(|window| texts.align(&wanted, there, window))
        .min_by_key(|(cost, _)| *cost)
        .filter(|(_, range)| !range.is_empty())
        .map(|(cost, range)| {
            let range = there[range.start].range.start..there[range.end - 1].range.end;
            let most = OTHER_WORD * wanted.len() as u32;
            Closest {
                range: folded.source_range(range),
                ratio: 1.0 - cost.min(most) as f32 / most as f32,
            }
        })
}

/// One word of a folded text: a digest of its letters and digits in lower case, and where it is.
pub(super) struct Word {
    digest: u64,
    range: Range<usize>,
}

/// The words of a folded text; none when it is so long that nothing near is looked for.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    if text.len() > TEXT_LIMIT_BYTES {
        return words;
    }
    let mut start = 0;
    for written in text.split(' ') {
        let range = start..start + written.len();
        start = range.end + 1;
        if let Some(digest) = digest(written) {
            words.push(Word { digest, range });
        }
    }
    words
}

/// FNV-1a over what counts of a word; `None` where nothing does. Two words with one digest would
/// only make a near match look nearer.
fn digest(written: &str) -> Option<u64> {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let mut digest = None;
    for letter in written.chars().filter(|letter| letter.is_alphanumeric()) {
        for letter in letter.to_lowercase() {
            let before: u64 = digest.unwrap_or(OFFSET);
            digest = Some((before ^ u64::from(u32::from(letter))).wrapping_mul(PRIME));
        }
    }
    digest
}

/// The best places for an alignment, as ranges of word numbers with room on both sides.
fn windows(wanted: &[Word], there: &[Word]) -> Vec<Range<usize>> {
    // How many of each wanted word the window does not hold yet; below zero, how many too many.
    let mut left: BTreeMap<u64, i64> = BTreeMap::new();
    for word in wanted {
        *left.entry(word.digest).or_default() += 1;
    }
    let length = wanted.len();
    let least = (length * SHARED_LEAST_PERCENT).div_ceil(100).max(2);
    let mut shared = 0;
    let mut best: Vec<(usize, usize)> = Vec::new();
    for end in 0..there.len() {
        if let Some(left) = left.get_mut(&there[end].digest) {
            shared += usize::from(*left > 0);
            *left -= 1;
        }
        let gone = end.checked_sub(length).map(|gone| there[gone].digest);
        if let Some(left) = gone.and_then(|gone| left.get_mut(&gone)) {
            *left += 1;
            shared -= usize::from(*left > 0);
        }
        if shared >= least {
            keep(&mut best, shared, (end + 1).saturating_sub(length), length);
        }
    }
    let room = length / 2 + 2;
    best.into_iter()
        .map(|(_, start)| start.saturating_sub(room)..(start + length + room).min(there.len()))
        .collect()
}

/// Keeps the best windows, one of each neighbourhood.
fn keep(best: &mut Vec<(usize, usize)>, shared: usize, start: usize, length: usize) {
    if let Some(neighbour) = best
        .iter_mut()
        .find(|(_, other)| start.abs_diff(*other) < length)
    {
        if shared > neighbour.0 {
            *neighbour = (shared, start);
        }
        return;
    }
    best.push((shared, start));
    best.sort_by_key(|(shared, start)| (std::cmp::Reverse(*shared), *start));
    best.truncate(WINDOWS_LIMIT);
}

/// The two folded texts that words are compared in.
struct Texts<'t> {
    wanted: &'t str,
    there: &'t str,
}

impl Texts<'_> {
    /// The cheapest alignment of all wanted words with any run of words in the window: its cost,
    /// and that run as word numbers.
    fn align(&self, wanted: &[Word], there: &[Word], window: Range<usize>) -> (u32, Range<usize>) {
        let (rows, columns) = (wanted.len(), window.len());
        // Each cell: the cost so far, and where in the window the run began.
        let mut before: Vec<(u32, usize)> = (0..=columns).map(|column| (0, column)).collect();
        for row in 1..=rows {
            let mut current = Vec::with_capacity(columns + 1);
            current.push((row as u32 * OTHER_WORD, 0));
            for column in 1..=columns {
                let pair = self.difference(&wanted[row - 1], &there[window.start + column - 1]);
                let together = (before[column - 1].0 + pair, before[column - 1].1);
                let missing = (before[column].0 + OTHER_WORD, before[column].1);
                let added = (current[column - 1].0 + OTHER_WORD, current[column - 1].1);
                current.push(together.min(missing).min(added));
            }
            before = current;
        }
        let (end, (cost, start)) = before
            .into_iter()
            .enumerate()
            .min_by_key(|(_, (cost, _))| *cost)
            .unwrap_or((0, (u32::MAX, 0)));
        (cost, window.start + start..window.start + end.max(start))
    }

    fn difference(&self, wanted: &Word, there: &Word) -> u32 {
        if wanted.digest != there.digest {
            OTHER_WORD
        } else if self.wanted[wanted.range.clone()] == self.there[there.range.clone()] {
            0
        } else {
            OTHER_FORM
        }
    }
}
