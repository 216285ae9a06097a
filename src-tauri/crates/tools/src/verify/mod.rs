//! The verifier: completion criteria, checked by the harness with evidence of its own.
//!
//! What is cited is checked in the published originals and the captured sources, which lie in the
//! run's blobs. The workspace, which the agent can write, is asked for the files that a criterion
//! names there, and whether a published copy is still the one that was published. Every check is
//! bounded in size and time; one that can't be made does not hold, and says why.

mod command;
mod evidence;
mod file;
mod judge;
mod links;
mod media;
mod pattern;
mod plan;
mod read;
mod schema;
#[cfg(test)]
mod tests;
mod text;
mod tool;

use std::time::Duration;

use async_trait::async_trait;
use longrein_protocol::agent::Criterion;
use longrein_protocol::source::CriterionResult;
use longrein_runtime::ports::{Asks, RunContext, ToolError, Verifier};

use crate::show;

/// How long one check of files, pages and sources may take.
const CHECK_LIMIT: Duration = Duration::from_secs(120);
/// How long a tool that is asked may take.
const TOOL_LIMIT: Duration = Duration::from_secs(300);
/// How long a judge may take, with every retry.
const JUDGE_LIMIT: Duration = Duration::from_secs(900);
/// How much of something foreign one line of a difference shows.
const SHOWN_BYTES: usize = 300;

/// Checks every kind of criterion.
#[derive(Clone, Copy, Debug, Default)]
pub struct HarnessVerifier;

#[async_trait]
impl Verifier for HarnessVerifier {
    async fn verify(
        &self,
        criteria: &[Criterion],
        context: &RunContext,
        asks: &dyn Asks,
    ) -> Vec<CriterionResult> {
        let mut results = Vec::with_capacity(criteria.len());
        for criterion in criteria {
            // A check that could not be made does not hold, and says why.
            let found = match tokio::time::timeout(limit(criterion), find(criterion, context, asks))
                .await
            {
                Ok(Ok(found)) => found,
                Ok(Err(problem)) => Finding::off(UNCHECKED, shown(&problem.message)),
                Err(_) => Finding::off(UNCHECKED, too_slow(criterion)),
            };
            results.push(CriterionResult {
                criterion: criterion.in_words(),
                holds: found.holds,
                waits: found.waits,
                evidence: found.evidence,
                difference: found.difference,
            });
        }
        results
    }
}

const UNCHECKED: &str = "it could not be checked";

fn limit(criterion: &Criterion) -> Duration {
    match criterion {
        Criterion::Tool(_) | Criterion::Command(_) => TOOL_LIMIT,
        Criterion::Judge(_) => JUDGE_LIMIT,
        _ => CHECK_LIMIT,
    }
}

fn too_slow(criterion: &Criterion) -> String {
    let seconds = limit(criterion).as_secs();
    match criterion {
        Criterion::Tool(tool) => format!("{} gave no answer in {seconds} seconds.", tool.tool),
        Criterion::Judge(_) => format!("The judge gave no answer in {seconds} seconds."),
        _ => format!(
            "The check took more than {seconds} seconds and was given up. Make what it reads smaller."
        ),
    }
}

async fn find(
    criterion: &Criterion,
    context: &RunContext,
    asks: &dyn Asks,
) -> Result<Finding, ToolError> {
    match criterion {
        Criterion::File(file) => file::check(file, context).await,
        Criterion::Evidence(evidence) => evidence::check(evidence, context).await,
        Criterion::Schema(schema) => schema::check(schema, context).await,
        Criterion::Text(text) => text::check(text, context).await,
        Criterion::Links(links) => links::check(links, context).await,
        Criterion::Tool(tool) => tool::check(tool, asks).await,
        Criterion::Judge(judge) => judge::check(judge, context, asks).await,
        Criterion::Command(command) => command::check(command, asks).await,
        Criterion::Plan(plan) => Ok(plan::check(plan, context)),
        Criterion::Person(_) => Ok(Finding {
            holds: false,
            waits: true,
            evidence: "a person has to accept it".to_owned(),
            difference: Vec::new(),
        }),
    }
}

/// What a check saw.
#[derive(Debug)]
struct Finding {
    holds: bool,
    waits: bool,
    evidence: String,
    difference: Vec<String>,
}

impl Finding {
    /// It holds where nothing differs.
    fn of(evidence: impl Into<String>, difference: Vec<String>) -> Self {
        Self {
            holds: difference.is_empty(),
            waits: false,
            evidence: evidence.into(),
            difference,
        }
    }

    fn off(evidence: impl Into<String>, difference: impl Into<String>) -> Self {
        Self::of(evidence, vec![difference.into()])
    }
}

/// Foreign words as one line of a difference shows them.
fn shown(words: &str) -> String {
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    show::brief(&show::safe(&line), SHOWN_BYTES)
}
