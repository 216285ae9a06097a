//! The verifier: completion criteria, checked by the harness with evidence of its own.
//!
//! It reads the published originals and the captured sources from the run's blobs. The workspace,
//! which the agent can write, is only asked whether a file is there, and whether a published copy
//! is still the one that was published.

use std::sync::Arc;

use async_trait::async_trait;
use longrein_protocol::agent::{Criterion, EvidenceCriterion, FileCriterion, Uncited};
use longrein_protocol::source::{Claim, ClaimState, CriterionResult};
use longrein_runtime::ports::{PublishedArtifact, RunContext, ToolError, Verifier};

use crate::page::{self, Media, Sources};
use crate::sources::cited_sources;
use crate::tool::blocking;
use crate::workspace::{Workspace, beneath};
use crate::{error, show};

/// Checks `file` and `evidence` criteria.
#[derive(Clone, Copy, Debug, Default)]
pub struct HarnessVerifier;

#[async_trait]
impl Verifier for HarnessVerifier {
    async fn verify(&self, criteria: &[Criterion], context: &RunContext) -> Vec<CriterionResult> {
        let mut results = Vec::with_capacity(criteria.len());
        for criterion in criteria {
            let found = match criterion {
                Criterion::File(file) => self::file(file, context).await,
                Criterion::Evidence(evidence) => self::evidence(evidence, context).await,
            };
            // A check that could not be made does not hold, and says why.
            let found = found
                .unwrap_or_else(|problem| Finding::off("it could not be checked", problem.message));
            results.push(CriterionResult {
                criterion: criterion.in_words(),
                holds: found.holds,
                evidence: found.evidence,
                difference: found.difference,
            });
        }
        results
    }
}

/// What a check saw.
struct Finding {
    holds: bool,
    evidence: String,
    difference: Vec<String>,
}

impl Finding {
    fn off(evidence: impl Into<String>, difference: impl Into<String>) -> Self {
        Self {
            holds: false,
            evidence: evidence.into(),
            difference: vec![difference.into()],
        }
    }
}

async fn file(criterion: &FileCriterion, context: &RunContext) -> Result<Finding, ToolError> {
    let (root, path, least) = (
        context.workspace.clone(),
        beneath(&criterion.file)?,
        u64::from(criterion.min_bytes),
    );
    blocking(move || {
        // Opened, not only looked at: a link out, a pipe or a folder is no file.
        let (_, bytes) = match Workspace::open(&root)?.open_file(&path) {
            Ok(found) => found,
            Err(problem) => return Ok(Finding::off(format!("no file {path}"), problem.message)),
        };
        let evidence = format!(
            "{path} has {}",
            show::count(bytes as usize, "byte", "bytes")
        );
        if bytes >= least {
            return Ok(Finding {
                holds: true,
                evidence,
                difference: Vec::new(),
            });
        }
        let difference = format!("{evidence}, and at least {least} are wanted.");
        Ok(Finding::off(evidence, difference))
    })
    .await
}

async fn evidence(
    criterion: &EvidenceCriterion,
    context: &RunContext,
) -> Result<Finding, ToolError> {
    let path = beneath(&criterion.evidence)?;
    // A later publication replaces an earlier one.
    let Some(artifact) = context
        .artifacts
        .iter()
        .rfind(|artifact| artifact.path == path)
    else {
        return Ok(not_published(&path, &context.artifacts));
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

fn not_published(path: &str, artifacts: &[PublishedArtifact]) -> Finding {
    let mut published: Vec<&str> = artifacts
        .iter()
        .map(|artifact| artifact.path.as_str())
        .collect();
    published.sort_unstable();
    published.dedup();
    let others = if published.is_empty() {
        "Nothing is published yet".to_owned()
    } else {
        format!("Published are: {}", published.join(", "))
    };
    Finding::off(
        format!("{path} is not published"),
        format!(
            "{path} is not published. {others}. Write it and call publish_artifact with path {path}."
        ),
    )
}

fn held(criterion: &EvidenceCriterion, path: &str, seen: Seen) -> Finding {
    let Seen {
        claims,
        faults,
        active,
        ..
    } = seen;
    let count = |state: ClaimState| claims.iter().filter(|claim| claim.state == state).count();
    let (verbatim, plain, uncited) = (
        count(ClaimState::Verbatim),
        count(ClaimState::Cited),
        count(ClaimState::Uncited),
    );
    let quotes = verbatim + count(ClaimState::Near) + count(ClaimState::NotFound);
    let mut difference = faults;
    let forbid = criterion.uncited == Uncited::Forbid;
    if forbid && !active.is_empty() {
        difference.push(format!(
            "{path} has {}: what these show can't be checked. Take them out and publish it again.",
            active.join(", ")
        ));
    }
    difference.extend(page::differences(&claims, forbid));
    let (good, least) = (verbatim + plain, criterion.min_citations as usize);
    if good < least {
        difference.push(format!(
            "Citations in {path} that hold: {good}; wanted: at least {least}. Cite the sources that its statements rest on."
        ));
    }
    let mut evidence = format!(
        "{verbatim} of {} verbatim",
        show::count(quotes, "quote", "quotes")
    );
    if plain > 0 {
        evidence.push_str(&format!(
            ", {} without words",
            show::count(plain, "citation", "citations")
        ));
    }
    if uncited > 0 {
        evidence.push_str(&format!(
            ", {} without a citation",
            show::count(uncited, "statement", "statements")
        ));
    }
    Finding {
        holds: difference.is_empty(),
        evidence,
        difference,
    }
}
