//! The evidence ledger: each claim of a page, held against the bytes that the run captured.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use longrein_core::evidence::{QuoteMatch, SourceText as Folded, is_too_short, page_at};
use longrein_protocol::SourceId;
use longrein_protocol::agent::Permit;
use longrein_protocol::source::{Claim, ClaimState, SourceMeta, TextRange};

use super::TOLD_LIMIT;
use super::figures::{BEYOND, Figures, NUMBERS_LIMIT};
use super::survey::{OWN_STATEMENTS, Survey};
use crate::show;

/// How much of a sentence or a quote a message shows.
const SHOWN_BYTES: usize = 160;

/// A captured source, as far as a page needs it.
#[derive(Clone, Debug)]
pub(crate) struct SourceText {
    pub(crate) meta: SourceMeta,
    pub(crate) text: Arc<str>,
    /// The ranges of it that the run was shown.
    pub(crate) shown: Vec<TextRange>,
}

/// The sources that a page names and the run has.
pub(crate) type Sources = BTreeMap<SourceId, SourceText>;

/// One claim per citation, per statement without one and per number that a citation covers, in the
/// order of the page.
pub(crate) fn ledger(survey: &Survey, sources: &Sources) -> Vec<Claim> {
    let cited = citations(survey, sources);
    let mut figures = Figures::new(survey, sources, cited.iter().flatten());
    let mut claims = Vec::new();
    let mut covered = survey.covered.iter().peekable();
    for (place, of_statement) in cited.into_iter().enumerate() {
        while let Some(sentence) = covered.next_if(|covered| covered.after <= place) {
            figures.hold(sentence, &mut claims);
        }
        claims.extend(of_statement);
    }
    covered.for_each(|sentence| figures.hold(sentence, &mut claims));
    claims
}

/// The claims of each statement, numbers aside.
fn citations(survey: &Survey, sources: &Sources) -> Vec<Vec<Claim>> {
    let mut folded: BTreeMap<SourceId, Folded<'_>> = sources
        .iter()
        .map(|(id, source)| (*id, Folded::new(&source.text)))
        .collect();
    let mut claims = Vec::with_capacity(survey.statements.len());
    for statement in &survey.statements {
        let sentence = &statement.sentence;
        let Some(token) = &statement.token else {
            claims.push(vec![claim(
                sentence,
                String::new(),
                None,
                ClaimState::Uncited,
            )]);
            continue;
        };
        let mut of_statement = Vec::with_capacity(token.cited.len());
        for cited in &token.cited {
            let state = match (&cited.quote, folded.contains_key(&cited.source)) {
                (_, false) => ClaimState::SourceNotRead,
                (None, true) => ClaimState::Cited,
                (Some(_), true) => ClaimState::NotFound,
            };
            let source = cited.source.to_string();
            let mut claim = claim(sentence, source, cited.quote.clone(), state);
            if let (Some(quote), Some(text)) = (&cited.quote, folded.get_mut(&cited.source))
                && !is_too_short(quote)
            {
                let paged = sources
                    .get(&cited.source)
                    .is_some_and(|source| source.meta.pdf.is_some());
                hold(&mut claim, text.find(quote), text.text(), paged);
            }
            of_statement.push(claim);
        }
        claims.push(of_statement);
    }
    claims
}

/// Whether a claim is a citation, and neither a number nor a statement without one.
pub(crate) fn is_citation(state: ClaimState) -> bool {
    match state {
        ClaimState::Verbatim
        | ClaimState::Near
        | ClaimState::NotFound
        | ClaimState::Cited
        | ClaimState::SourceNotRead => true,
        ClaimState::Uncited | ClaimState::NumberFound | ClaimState::NumberNotFound => false,
    }
}

/// How many claims are in each state, in the words that a person and a model are told.
pub(crate) struct Tally {
    pub(crate) citations: usize,
    pub(crate) verbatim: usize,
    pub(crate) quotes: usize,
    pub(crate) plain: usize,
    pub(crate) uncited: usize,
    pub(crate) numbers: usize,
    pub(crate) numbers_found: usize,
}

impl Tally {
    pub(crate) fn of(claims: &[Claim]) -> Self {
        let count = |state: ClaimState| claims.iter().filter(|claim| claim.state == state).count();
        let verbatim = count(ClaimState::Verbatim);
        let numbers_found = count(ClaimState::NumberFound);
        Self {
            citations: claims
                .iter()
                .filter(|claim| is_citation(claim.state))
                .count(),
            verbatim,
            quotes: verbatim + count(ClaimState::Near) + count(ClaimState::NotFound),
            plain: count(ClaimState::Cited),
            uncited: count(ClaimState::Uncited),
            numbers: numbers_found + count(ClaimState::NumberNotFound),
            numbers_found,
        }
    }

    /// `, 3 of 4 numbers found`; nothing where no number is held against a source.
    pub(crate) fn numbers_in_words(&self) -> String {
        if self.numbers == 0 {
            return String::new();
        }
        let of = show::count(self.numbers, "number", "numbers");
        format!(", {} of {of} found", self.numbers_found)
    }
}

pub(super) fn claim(
    sentence: &str,
    source: String,
    quote: Option<String>,
    state: ClaimState,
) -> Claim {
    Claim {
        sentence: sentence.to_owned(),
        source,
        quote,
        found: None,
        state,
        difference: None,
    }
}

fn hold(claim: &mut Claim, found: QuoteMatch, text: &str, paged: bool) {
    let place = |range| place(range, text, paged);
    match found {
        QuoteMatch::Verbatim { range } => {
            claim.state = ClaimState::Verbatim;
            claim.found = Some(place(range));
        }
        QuoteMatch::Near {
            range, difference, ..
        } => {
            claim.state = ClaimState::Near;
            claim.found = Some(place(range));
            claim.difference = Some(difference);
        }
        QuoteMatch::NotFound => {}
    }
}

/// `range` of a source's text, with its page.
pub(super) fn place(range: Range<usize>, text: &str, paged: bool) -> TextRange {
    TextRange {
        start: u32::try_from(range.start).unwrap_or(u32::MAX),
        end: u32::try_from(range.end).unwrap_or(u32::MAX),
        page: paged.then(|| page_at(text, range.start)),
    }
}

/// Which claims are let through though they don't hold.
#[derive(Clone, Copy)]
pub(crate) struct Permits {
    pub(crate) uncited: Permit,
    pub(crate) numbers: Permit,
}

impl Permits {
    /// Nothing is let through.
    pub(crate) const NONE: Self = Self {
        uncited: Permit::Forbid,
        numbers: Permit::Forbid,
    };
}

/// What a model has to mend, one line for each claim that does not hold and is not let through.
pub(crate) fn differences(claims: &[Claim], permits: Permits) -> Vec<String> {
    let lines: Vec<String> = claims
        .iter()
        .filter_map(|claim| difference(claim, permits))
        .collect();
    let more = lines.len().saturating_sub(TOLD_LIMIT);
    let mut lines: Vec<String> = lines.into_iter().take(TOLD_LIMIT).collect();
    if more > 0 {
        lines.push(format!("… and {more} more of these"));
    }
    lines
}

fn difference(claim: &Claim, permits: Permits) -> Option<String> {
    let source = &claim.source;
    let sentence = show::brief(&claim.sentence, SHOWN_BYTES);
    let quote = show::brief(claim.quote.as_deref().unwrap_or_default(), SHOWN_BYTES);
    match claim.state {
        ClaimState::Verbatim | ClaimState::Cited | ClaimState::NumberFound => None,
        ClaimState::Near => Some(format!(
            "The quote “{quote}” is not in {source}; the closest words there are “{}”. Quote the words as they stand.",
            claim.difference.as_deref().unwrap_or_default()
        )),
        ClaimState::NotFound if claim.quote.as_deref().is_some_and(is_too_short) => Some(format!(
            "The quote “{quote}” (at “{sentence}”) is too short to show anything. Quote three words of {source} or more."
        )),
        ClaimState::NotFound => Some(format!(
            "The quote “{quote}” (at “{sentence}”) is not in {source}, nor anything like it. Quote words that stand there, or drop the claim."
        )),
        ClaimState::SourceNotRead => Some(format!(
            "“{sentence}” cites {source}, and this run has no such source. Cite one that it read."
        )),
        ClaimState::NumberNotFound => permits.numbers.is_forbid().then(|| {
            if source.is_empty() {
                return format!(
                    "The numbers from “{sentence}” on were not checked: a page may have {NUMBERS_LIMIT} of them. Divide it."
                );
            }
            let there = match claim.difference.as_deref().map(|words| (words, words.strip_suffix(BEYOND))) {
                Some((_, Some(words))) => format!(
                    "“{words}” stands in a part that this run was not shown; read_source shows it"
                ),
                Some((words, None)) => format!("the source says “{words}”"),
                None => "nothing like it stands there".to_owned(),
            };
            format!(
                "The number “{quote}” (at “{sentence}”) is not in what the page cites of {source}: {there}. Write the number and its unit as the source has them, cite the source that has them, or drop the number."
            )
        }),
        ClaimState::Uncited => permits.uncited.is_forbid().then(|| {
            format!(
                "“{sentence}” carries no citation, and neither does its paragraph, row or item. Cite a source there, or move words of your own into a <header>, <aside> or <footer>, which hold at most {OWN_STATEMENTS} such sentences each."
            )
        }),
    }
}
