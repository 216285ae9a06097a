//! The numbers of a page, held against the passages that it cites.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use longrein_core::evidence::{Cited, fold};
use longrein_protocol::SourceId;
use longrein_protocol::source::{Claim, ClaimState};

use super::ledger::{Sources, claim, place};
use super::numbers::{Convention, Held, Number, SourceNumbers, numbers};
use super::survey::{Covered, Survey};

/// The most numbers of one page that are held against its sources.
pub(super) const NUMBERS_LIMIT: usize = 4_000;
/// What is said of words of the source that the run has not seen.
pub(super) const BEYOND: &str = " (in a part that this run was not shown)";

/// The numbers of one page.
pub(super) struct Figures<'p> {
    sources: &'p Sources,
    /// How the page divides its decimals.
    convention: Convention,
    /// The quotes of the page that stand in their sources, and where.
    quoted: BTreeMap<(SourceId, String), Quoted>,
    texts: BTreeMap<SourceId, SourceNumbers<'p>>,
    held: usize,
}

/// A quote that was found.
struct Quoted {
    place: Range<usize>,
    /// Whether every word of it stands there, its numbers with them.
    verbatim: bool,
}

/// What became of a number in the best of the sources that are cited for it.
struct Found {
    source: SourceId,
    held: Held,
}

impl<'p> Figures<'p> {
    /// `cited`: the claims of all citations of the page.
    pub(super) fn new<'c>(
        survey: &Survey,
        sources: &'p Sources,
        cited: impl Iterator<Item = &'c Claim>,
    ) -> Self {
        let mut all = String::new();
        for covered in &survey.covered {
            all.push_str(&covered.sentence);
            all.push('\n');
        }
        let quoted = cited.filter_map(|claim| {
            let (quote, found) = (claim.quote.clone()?, claim.found?);
            let quoted = Quoted {
                place: found.start as usize..found.end as usize,
                verbatim: claim.state == ClaimState::Verbatim,
            };
            Some(((claim.source.parse().ok()?, quote), quoted))
        });
        Self {
            sources,
            convention: Convention::of(&all),
            quoted: quoted.collect(),
            texts: BTreeMap::new(),
            held: 0,
        }
    }

    /// Adds a claim for each number of the sentence that no quote covers.
    pub(super) fn hold(&mut self, covered: &Covered, claims: &mut Vec<Claim>) {
        let sentence = &covered.sentence;
        let ids: BTreeSet<SourceId> = covered
            .cited
            .iter()
            .map(|cited| cited.source)
            .filter(|id| self.sources.contains_key(id))
            .collect();
        // The claims that no source was read say so already.
        if ids.is_empty() || !sentence.contains(|letter: char| letter.is_alphanumeric()) {
            return;
        }
        let repeated = self.repeated(sentence, &covered.cited);
        let mut told = BTreeSet::new();
        let mut joined: Option<Range<usize>> = None;
        for number in numbers(sentence, self.convention) {
            let range = &number.range;
            let covers =
                |outer: &Range<usize>| outer.start <= range.start && range.end <= outer.end;
            let is_part = !number.is_joined() && joined.as_ref().is_some_and(covers);
            if is_part
                || !number.is_claim()
                || repeated.iter().any(covers)
                || is_rank(&number, covered)
            {
                continue;
            }
            if self.held >= NUMBERS_LIMIT {
                return self.stop(sentence, claims);
            }
            let found = self.find(&number, &ids, &covered.cited);
            let holds = matches!(found.held, Held::Found(_));
            if number.is_joined() {
                // Its blanks divide two numbers, then, which follow.
                if !holds {
                    continue;
                }
                joined = Some(range.clone());
            }
            let written = sentence[range.clone()].to_owned();
            if told.insert(written.clone()) {
                self.held += 1;
                claims.push(self.claim(sentence, written, found));
            }
        }
    }

    /// The parts of the sentence that repeat the words of a quote which stands in its source.
    fn repeated(&self, sentence: &str, cited: &[Cited]) -> Vec<Range<usize>> {
        let said = fold(sentence);
        let bare = said
            .text()
            .trim_matches(|letter: char| !letter.is_alphanumeric());
        let quotes = cited.iter().filter_map(|cited| {
            let quote = cited.quote.clone()?;
            let quoted = self.quoted.get(&(cited.source, quote.clone()))?;
            quoted.verbatim.then_some(quote)
        });
        let mut repeated = Vec::new();
        for quote in quotes {
            let quote = fold(&quote);
            let words = quote
                .text()
                .trim_matches(|letter: char| !letter.is_alphanumeric());
            if place_of(bare, quote.text()).is_some() {
                return std::iter::once(0..sentence.len()).collect();
            }
            repeated.extend(place_of(words, said.text()).map(|range| said.source_range(range)));
        }
        repeated
    }

    fn find(&mut self, number: &Number, ids: &BTreeSet<SourceId>, cited: &[Cited]) -> Found {
        let mut best: Option<Found> = None;
        for id in ids {
            let places: Vec<Range<usize>> = cited
                .iter()
                .filter(|cited| cited.source == *id)
                .filter_map(|cited| self.quoted.get(&(*id, cited.quote.clone()?)))
                .map(|quoted| quoted.place.clone())
                .collect();
            let Some(text) = self.text(*id) else {
                continue;
            };
            let found = Found {
                source: *id,
                held: text.find(number, &places),
            };
            if best
                .as_ref()
                .is_none_or(|best| worth(&found.held) > worth(&best.held))
            {
                best = Some(found);
            }
        }
        // There is at least one id, and each has its source.
        best.unwrap_or(Found {
            source: SourceId(0),
            held: Held::Missing,
        })
    }

    /// The numbers of one source, read when the first of the page's needs them.
    fn text(&mut self, id: SourceId) -> Option<&mut SourceNumbers<'p>> {
        let source = self.sources.get(&id)?;
        let quoted = &self.quoted;
        let numbers = self.texts.entry(id).or_insert_with(|| {
            let places: Vec<Range<usize>> = quoted
                .iter()
                .filter(|((of, _), _)| *of == id)
                .map(|(_, quoted)| quoted.place.clone())
                .collect();
            SourceNumbers::new(&source.text, &source.meta, &source.shown, &places)
        });
        Some(numbers)
    }

    fn claim(&self, sentence: &str, written: String, found: Found) -> Claim {
        let Found { source, held } = found;
        let words = |range: &Range<usize>| self.texts.get(&source).map(|text| text.words(range));
        let (state, difference) = match &held {
            Held::Found(_) => (ClaimState::NumberFound, None),
            Held::Near(range) => (ClaimState::NumberNotFound, words(range)),
            Held::Beyond(range) => (
                ClaimState::NumberNotFound,
                words(range).map(|words| format!("{words}{BEYOND}")),
            ),
            Held::Missing => (ClaimState::NumberNotFound, None),
        };
        let range = match held {
            Held::Found(range) => range,
            Held::Near(range) | Held::Beyond(range) => Some(range),
            Held::Missing => None,
        };
        let text = self.sources.get(&source);
        let found = range
            .zip(text)
            .map(|(range, source)| place(range, &source.text, source.meta.pdf.is_some()));
        Claim {
            found,
            difference,
            ..claim(sentence, source.to_string(), Some(written), state)
        }
    }

    /// Says that the rest of the page's numbers was not held against anything.
    fn stop(&mut self, sentence: &str, claims: &mut Vec<Claim>) {
        if self.held == NUMBERS_LIMIT {
            self.held += 1;
            claims.push(claim(
                sentence,
                String::new(),
                None,
                ClaimState::NumberNotFound,
            ));
        }
    }
}

/// A number at the beginning of a table's row that counts the rows.
fn is_rank(number: &Number, covered: &Covered) -> bool {
    let counted = number.counts().filter(|_| number.range.start == 0);
    counted.is_some_and(|counted| covered.ranks.is_some_and(|ranks| ranks.contains(&counted)))
}

fn worth(held: &Held) -> u8 {
    match held {
        Held::Found(_) => 3,
        Held::Beyond(_) => 2,
        Held::Near(_) => 1,
        Held::Missing => 0,
    }
}

/// Where `words` stand in `text` without cutting through a word or a number.
fn place_of(words: &str, text: &str) -> Option<Range<usize>> {
    if words.is_empty() {
        return None;
    }
    text.match_indices(words)
        .map(|(start, _)| start..start + words.len())
        .find(|range| {
            let before = text[..range.start].chars().next_back();
            let after = text[range.end..].chars().next();
            ![before, after]
                .into_iter()
                .flatten()
                .any(char::is_alphanumeric)
        })
}
