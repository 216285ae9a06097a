//! The evidence of a page: its quotes, its numbers, and what it states without a source.

use std::sync::Arc;

use longrein_protocol::agent::EvidenceCriterion;
use longrein_protocol::source::{Claim, ClaimState};
use longrein_runtime::ports::{RunContext, ToolError};

use super::Finding;
use super::read::{not_published, published};
use crate::page::{self, Media, Permits, Sources, Tally};
use crate::sources::cited_sources;
use crate::tool::blocking;
use crate::workspace::{Workspace, beneath};
use crate::{error, show};

/// Recomputes the ledger from what was published and captured.
pub(super) async fn check(
    criterion: &EvidenceCriterion,
    context: &RunContext,
) -> Result<Finding, ToolError> {
    let path = beneath(&criterion.evidence)?;
    let Some(artifact) = published(context, &path) else {
        return Ok(not_published(&path, context));
    };
    let Some(media) = Media::named(&artifact.media_type) else {
        return Ok(Finding::off(
            format!("{path} carries no citations"),
            format!(
                "{path} is {}: only HTML and Markdown can cite. Publish the page as one of these.",
                artifact.media_type
            ),
        ));
    };
    let original = context.blobs.read(artifact.original).await?;
    let read = Arc::clone(&original);
    let cited = blocking(move || Ok(page::survey(&parsed(&read, media)?).cited())).await?;
    let sources = cited_sources(context, &cited.into_iter().collect::<Vec<_>>()).await?;
    let (root, asked) = (context.workspace.clone(), criterion.clone());
    blocking(move || {
        let mut seen = Seen::of(&original, media, &sources)?;
        // Without all of its sources the copy can't be made again, and the claims say so.
        if !states(&seen.claims, ClaimState::SourceNotRead) {
            let copy = media.rendered_path(&path);
            seen.faults.extend(changed(
                &Workspace::open(&root)?,
                &path,
                &copy,
                &seen.rendered,
            ));
        }
        Ok(held(&asked, &path, seen))
    })
    .await
}

/// What a page says and shows.
struct Seen {
    claims: Vec<Claim>,
    faults: Vec<String>,
    /// What makes the copy show something else than what it says.
    active: Vec<String>,
    /// The copy, as it was published.
    rendered: Vec<u8>,
}

impl Seen {
    fn of(original: &[u8], media: Media, sources: &Sources) -> Result<Self, ToolError> {
        let page = parsed(original, media)?;
        let survey = page::survey(&page);
        let claims = page::ledger(&survey, sources);
        let rendered = page::render(page, &survey, &claims, sources).into_bytes();
        // Asked of the copy, because that is what a browser reads.
        let active = page::survey(&parsed(&rendered, Media::Html)?).active;
        Ok(Self {
            claims,
            faults: survey.faults,
            active,
            rendered,
        })
    }
}

fn parsed(page: &[u8], media: Media) -> Result<scraper::Html, ToolError> {
    page::parse(&String::from_utf8_lossy(page), media)
        .map_err(|problem| error::failed(problem.to_string()))
}

fn states(claims: &[Claim], state: ClaimState) -> bool {
    claims.iter().any(|claim| claim.state == state)
}

/// What is wrong with the copy in the workspace, which is what the person opens.
fn changed(workspace: &Workspace, path: &str, copy: &str, rendered: &[u8]) -> Option<String> {
    let there = workspace.read(copy, rendered.len() as u64);
    if there.is_ok_and(|there| there == rendered) {
        return None;
    }
    Some(format!(
        "{copy} is no longer the copy that was published. Publish {path} again."
    ))
}

fn held(criterion: &EvidenceCriterion, path: &str, seen: Seen) -> Finding {
    let Seen {
        claims,
        faults,
        active,
        ..
    } = seen;
    let tally = Tally::of(&claims);
    let mut difference = faults;
    if criterion.uncited.is_forbid() && !active.is_empty() {
        difference.push(format!(
            "{path} has {}: what these show can't be checked. Take them out and publish it again.",
            active.join(", ")
        ));
    }
    let permits = Permits {
        uncited: criterion.uncited,
        numbers: criterion.numbers,
    };
    difference.extend(page::differences(&claims, permits));
    let (good, least) = (
        tally.verbatim + tally.plain,
        criterion.min_citations as usize,
    );
    if good < least {
        difference.push(format!(
            "Citations in {path} that hold: {good}; wanted: at least {least}. Cite the sources that its statements rest on."
        ));
    }
    let mut evidence = format!(
        "{} of {} verbatim{}",
        tally.verbatim,
        show::count(tally.quotes, "quote", "quotes"),
        tally.numbers_in_words()
    );
    if tally.plain > 0 {
        evidence.push_str(&format!(
            ", {} without words",
            show::count(tally.plain, "citation", "citations")
        ));
    }
    if tally.uncited > 0 {
        evidence.push_str(&format!(
            ", {} without a citation",
            show::count(tally.uncited, "statement", "statements")
        ));
    }
    Finding::of(evidence, difference)
}
