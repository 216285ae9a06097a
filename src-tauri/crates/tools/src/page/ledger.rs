//! The evidence ledger: each claim of a page, held against the bytes that the run captured.

use std::collections::BTreeMap;
use std::sync::Arc;

use longrein_core::evidence::{QuoteMatch, SourceText as Folded, is_too_short, page_at};
use longrein_protocol::SourceId;
use longrein_protocol::source::{Claim, ClaimState, SourceMeta, TextRange};

use super::TOLD_LIMIT;
use super::survey::{OWN_STATEMENTS, Survey};
use crate::show;

/// How much of a sentence or a quote a message shows.
const SHOWN_BYTES: usize = 160;

/// A captured source, as far as a page needs it.
#[derive(Clone, Debug)]
pub(crate) struct SourceText {
    pub(crate) meta: SourceMeta,
    pub(crate) text: Arc<str>,
}

/// The sources that a page names and the run has.
pub(crate) type Sources = BTreeMap<SourceId, SourceText>;

/// One claim per citation and per statement without one, in the order of the page.
pub(crate) fn ledger(survey: &Survey, sources: &Sources) -> Vec<Claim> {
    let mut folded: BTreeMap<SourceId, Folded<'_>> = sources
        .iter()
        .map(|(id, source)| (*id, Folded::new(&source.text)))
        .collect();
    let mut claims = Vec::new();
    for statement in &survey.statements {
        let Some(token) = &statement.token else {
            claims.push(claim(
                &statement.sentence,
                String::new(),
                None,
                ClaimState::Uncited,
            ));
            continue;
        };
        for cited in &token.cited {
            let state = match (&cited.quote, folded.contains_key(&cited.source)) {
                (_, false) => ClaimState::SourceNotRead,
                (None, true) => ClaimState::Cited,
                (Some(_), true) => ClaimState::NotFound,
            };
            let mut claim = claim(
                &statement.sentence,
                cited.source.to_string(),
                cited.quote.clone(),
                state,
            );
            if let (Some(quote), Some(text)) = (&cited.quote, folded.get_mut(&cited.source))
                && !is_too_short(quote)
            {
                let paged = sources
                    .get(&cited.source)
                    .is_some_and(|source| source.meta.pdf.is_some());
                hold(&mut claim, text.find(quote), text.text(), paged);
            }
            claims.push(claim);
        }
    }
    claims
}

fn claim(sentence: &str, source: String, quote: Option<String>, state: ClaimState) -> Claim {
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
    let place = |range: std::ops::Range<usize>| TextRange {
        start: u32::try_from(range.start).unwrap_or(u32::MAX),
        end: u32::try_from(range.end).unwrap_or(u32::MAX),
        page: paged.then(|| page_at(text, range.start)),
    };
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

/// What a model has to mend, one line for each claim that does not hold. `uncited`: whether
/// statements without a citation are among them.
pub(crate) fn differences(claims: &[Claim], uncited: bool) -> Vec<String> {
    let lines: Vec<String> = claims
        .iter()
        .filter_map(|claim| difference(claim, uncited))
        .collect();
    let more = lines.len().saturating_sub(TOLD_LIMIT);
    let mut lines: Vec<String> = lines.into_iter().take(TOLD_LIMIT).collect();
    if more > 0 {
        lines.push(format!("… and {more} more of these"));
    }
    lines
}

fn difference(claim: &Claim, uncited: bool) -> Option<String> {
    let source = &claim.source;
    let sentence = show::brief(&claim.sentence, SHOWN_BYTES);
    let quote = show::brief(claim.quote.as_deref().unwrap_or_default(), SHOWN_BYTES);
    match claim.state {
        ClaimState::Verbatim | ClaimState::Cited => None,
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
        ClaimState::Uncited => uncited.then(|| {
            format!(
                "“{sentence}” carries no citation, and neither does its paragraph, row or item. Cite a source there, or move words of your own into a <header>, <aside> or <footer>, which hold at most {OWN_STATEMENTS} such sentences each."
            )
        }),
    }
}
