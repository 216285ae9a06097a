//! Which sentences answer a question: those with its terms, rare ones first, of several
//! documents.

use longrein_protocol::SourceId;

use super::request::Passage;
use super::text::{quotable, same_word, terms, words};

/// The most quotes on a page.
const QUOTES: usize = 9;
/// The most quotes of one document, where few documents speak and where many do.
const QUOTES_PER_DOCUMENT: [usize; 2] = [3, 2];
/// A question with no more terms than this may be answered by a sentence with one of them.
const SHORT_QUESTION: usize = 3;
/// Until so many are chosen, a quote with one term is better than none.
const FEW: usize = 4;
/// So many documents are many.
const MANY_DOCUMENTS: usize = 4;
/// Sentences looked at; those that come later are of worse passages anyway.
const SENTENCES_LIMIT: usize = 2_000;
/// How many of the best sentences are compared with each other.
const FRONT_RUNNERS: usize = 60;
/// How much of the best score a quote needs.
const SHARE_OF_BEST: f64 = 0.15;
/// How much a quote loses that says again what is said already.
const REPETITION: f64 = 1.2;
/// What a term is still worth for each quote that has it already.
const NEXT_TIME: f64 = 0.6;
/// What a figure adds: a sentence that measures says more than one that asserts.
const FIGURE: f64 = 0.4;

/// A sentence that may be quoted.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Quote {
    pub source: SourceId,
    /// The document's title.
    pub title: String,
    /// The document's file or address.
    pub place: String,
    /// Verbatim, in one line.
    pub words: String,
    /// Which of the question's terms it has, by their number.
    pub terms: Vec<usize>,
    /// What it is worth beside its terms.
    standing: f64,
}

/// The terms of a question with what was found of them.
#[derive(Default, Debug)]
pub(crate) struct Ranking {
    /// The question's terms.
    pub terms: Vec<String>,
    /// How rare each term is.
    pub weights: Vec<f64>,
    /// The quotes that were chosen, best first.
    pub quotes: Vec<Quote>,
    /// How many sentences were looked at.
    pub sentences: usize,
}

/// Ranks what was read. `banned`: quotes that did not hold.
pub(crate) fn rank(asked: &str, passages: &[Passage], banned: &dyn Fn(&str) -> bool) -> Ranking {
    let terms = terms(asked);
    let mut candidates = candidates(&terms, passages);
    let sentences = candidates.len();
    let weights: Vec<f64> = (0..terms.len())
        .map(|term| {
            let with = candidates
                .iter()
                .filter(|quote| quote.terms.contains(&term))
                .count();
            (1.0 + sentences as f64 / (1.0 + with as f64)).ln()
        })
        .collect();
    // One word of many says little: only where others say more is it worth a look.
    let enough = if terms.len() > SHORT_QUESTION { 2 } else { 1 };
    if candidates.iter().all(|quote| quote.terms.len() < enough) {
        candidates.clear();
    }
    candidates.retain(|quote| !quote.terms.is_empty() && !banned(&quote.words));
    let quotes = Choice {
        enough,
        weights: &weights,
        chosen: Vec::new(),
    }
    .choose(candidates);
    Ranking {
        terms,
        weights,
        quotes,
        sentences,
    }
}

/// Every sentence once, with the terms that it has.
fn candidates(terms: &[String], passages: &[Passage]) -> Vec<Quote> {
    let mut candidates: Vec<Quote> = Vec::new();
    for (rank, passage) in passages.iter().enumerate() {
        let about: Vec<String> = words(&passage.title);
        for sentence in quotable(&passage.text) {
            if candidates.len() == SENTENCES_LIMIT {
                return candidates;
            }
            if candidates
                .iter()
                .any(|known| known.source == passage.source && overlaps(&known.words, &sentence))
            {
                continue;
            }
            let said = words(&sentence);
            let has = |term: &usize| said.iter().any(|word| same_word(word, &terms[*term]));
            let found: Vec<usize> = (0..terms.len()).filter(has).collect();
            // A document about the matter counts more, what is found late counts less.
            let titled = terms
                .iter()
                .filter(|term| about.iter().any(|word| same_word(word, term)))
                .count();
            let has_figure = sentence.contains(|letter: char| letter.is_numeric());
            let figure = if has_figure { FIGURE } else { 0.0 };
            let standing = figure + 0.15 * titled as f64 - 0.02 * rank as f64;
            candidates.push(Quote {
                source: passage.source,
                title: passage.title.clone(),
                place: passage.place.clone(),
                words: sentence,
                terms: found,
                standing,
            });
        }
    }
    candidates
}

fn overlaps(one: &str, other: &str) -> bool {
    one.contains(other) || other.contains(one)
}

/// What was chosen so far.
struct Choice<'a> {
    /// Terms that a quote has to have once a few are chosen.
    enough: usize,
    weights: &'a [f64],
    chosen: Vec<Quote>,
}

impl Choice<'_> {
    /// Takes the best one after the other, each time counting off what is said already. If
    /// another document has anything to say, at least two documents speak.
    fn choose(mut self, candidates: Vec<Quote>) -> Vec<Quote> {
        let (mut candidates, documents) = self.front_runners(candidates);
        let most = QUOTES_PER_DOCUMENT[usize::from(documents >= MANY_DOCUMENTS)];
        let best = candidates.first().map_or(0.0, |quote| self.worth(quote));
        while self.chosen.len() < QUOTES {
            let open = candidates
                .iter()
                .enumerate()
                .filter(|(_, quote)| self.chosen.len() < FEW || quote.terms.len() >= self.enough)
                .filter(|(_, quote)| self.of_same(quote) < most);
            let worths = open.map(|(position, quote)| (position, self.worth(quote)));
            let next =
                worths.max_by(|one, other| one.1.total_cmp(&other.1).then(other.0.cmp(&one.0)));
            match next {
                Some((position, worth))
                    if worth >= best * SHARE_OF_BEST || self.chosen.is_empty() =>
                {
                    self.chosen.push(candidates.remove(position));
                }
                _ => break,
            }
        }
        if let Some(only) = self.chosen.first().map(|quote| quote.source)
            && self.chosen.iter().all(|quote| quote.source == only)
            && let Some(second) = candidates.into_iter().find(|quote| quote.source != only)
        {
            self.chosen.truncate(QUOTES - 1);
            self.chosen.push(second);
        }
        self.chosen
    }

    /// The best ones, best first, and the best one of every document; and how many documents
    /// there are.
    fn front_runners(&self, mut candidates: Vec<Quote>) -> (Vec<Quote>, usize) {
        candidates.sort_by(|one, other| self.worth(other).total_cmp(&self.worth(one)));
        let mut documents: Vec<SourceId> = Vec::new();
        let mut kept: Vec<Quote> = Vec::new();
        for quote in candidates {
            let first = !documents.contains(&quote.source);
            if first {
                documents.push(quote.source);
            }
            if first || kept.len() < FRONT_RUNNERS {
                kept.push(quote);
            }
        }
        (kept, documents.len())
    }

    fn of_same(&self, quote: &Quote) -> usize {
        self.chosen
            .iter()
            .filter(|other| other.source == quote.source)
            .count()
    }

    /// What a quote adds to those that are chosen: its terms, each worth less the more often it
    /// was there already.
    fn worth(&self, quote: &Quote) -> f64 {
        let fresh = |term: &usize| {
            let before = self
                .chosen
                .iter()
                .filter(|other| other.terms.contains(term))
                .count();
            self.weights[*term] * NEXT_TIME.powf(before as f64)
        };
        let found: f64 = quote.terms.iter().map(fresh).sum();
        let repeats = self
            .chosen
            .iter()
            .map(|other| likeness(other, quote))
            .fold(0.0, f64::max);
        found + quote.standing - REPETITION * repeats - 0.3 * self.of_same(quote) as f64
    }
}

/// From 0 to 1: how much two quotes share of their words.
fn likeness(one: &Quote, other: &Quote) -> f64 {
    let (one, other) = (words(&one.words), words(&other.words));
    let shared = one.iter().filter(|word| other.contains(word)).count();
    2.0 * shared as f64 / (one.len() + other.len()).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(source: u32, title: &str, text: &str) -> Passage {
        Passage {
            source: SourceId(source),
            title: title.into(),
            place: format!("{title}.md"),
            range: None,
            text: text.into(),
        }
    }

    fn chosen(question: &str, passages: &[Passage]) -> Vec<(u32, String)> {
        let ranking = rank(question, passages, &|_| false);
        ranking
            .quotes
            .into_iter()
            .map(|quote| (quote.source.0, quote.words))
            .collect()
    }

    #[test]
    fn two_documents_speak_where_there_are_two() {
        let rich = "The vector index holds many vectors in memory. A vector index on disk is slower by half. \
                    The vector index was built in two hours. Every vector index needs a plan for deletes.";
        let poor = "Somebody once drew an index of vectors by hand.";
        let quotes = chosen(
            "vector index",
            &[passage(1, "rich", rich), passage(2, "poor", poor)],
        );
        assert!(quotes.iter().any(|(source, _)| *source == 2), "{quotes:?}");
        assert!(quotes.iter().filter(|(source, _)| *source == 1).count() <= QUOTES_PER_DOCUMENT[0]);
    }

    #[test]
    fn every_part_of_a_question_gets_its_quote() {
        let text = "The index has a good recall of the words. The index has a good recall of the names. \
                    The index has a good recall of the lines. Its latency was measured once on a Monday.";
        let quotes = chosen("recall of the index, latency", &[passage(1, "notes", text)]);
        assert!(
            quotes
                .iter()
                .take(2)
                .any(|(_, words)| words.contains("latency")),
            "{quotes:?}"
        );
    }

    #[test]
    fn nothing_matches_gives_nothing() {
        let passages = [passage(
            1,
            "bread",
            "Knead the dough for ten minutes and let it rest.",
        )];
        assert!(chosen("vector index recall on one machine", &passages).is_empty());
        assert!(chosen("?", &passages).is_empty());
    }

    #[test]
    fn a_banned_quote_is_left_out() {
        let passages = [passage(
            1,
            "bread",
            "Knead the dough for ten minutes. Let the dough rest for a night.",
        )];
        let ranking = rank("dough", &passages, &|words| words.starts_with("Knead"));
        let words: Vec<&str> = ranking
            .quotes
            .iter()
            .map(|quote| quote.words.as_str())
            .collect();
        assert_eq!(words, ["Let the dough rest for a night."]);
    }
}
