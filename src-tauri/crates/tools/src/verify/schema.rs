//! `schema`: that a JSON file has the shape that it must have.

use std::error::Error;

use jsonschema::{PatternOptions, Retrieve, Uri};
use longrein_protocol::agent::SchemaCriterion;
use longrein_runtime::ports::{RunContext, ToolError};
use serde_json::Value;

use super::read::{in_workspace, text};
use super::{Finding, shown};
use crate::page::TOLD_LIMIT;
use crate::tool::blocking;
use crate::workspace::beneath;
use crate::{error, show};

/// The most faults that are counted.
const FAULTS_LIMIT: usize = 1_000;
/// How large a compiled pattern of the schema may be.
const PATTERN_LIMIT_BYTES: usize = 1024 * 1024;

pub(super) async fn check(
    criterion: &SchemaCriterion,
    context: &RunContext,
) -> Result<Finding, ToolError> {
    let path = beneath(&criterion.schema)?;
    let content = in_workspace(context, &path).await?;
    let against = criterion.against.clone();
    blocking(move || hold(&against, &path, text(&path, &content)?)).await
}

/// Schemas are read from the agent's file alone.
struct Nothing;

impl Retrieve for Nothing {
    fn retrieve(&self, _: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        Err("schemas of other places are not fetched".into())
    }
}

fn hold(against: &Value, path: &str, text: &str) -> Result<Finding, ToolError> {
    let validator = jsonschema::draft202012::options()
        .with_retriever(Nothing)
        // An engine that never goes back, so that no text makes it slow.
        .with_pattern_options(
            PatternOptions::regex()
                .size_limit(PATTERN_LIMIT_BYTES)
                .dfa_size_limit(PATTERN_LIMIT_BYTES),
        )
        .build(against)
        .map_err(|problem| {
            error::invalid(format!(
                "the schema of this agent can't be used: {}. The person has to mend it in the agent's file.",
                shown(&problem.to_string())
            ))
        })?;
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(problem) => {
            return Ok(Finding::off(
                format!("{path} is not JSON"),
                format!(
                    "{path} is not JSON: {}. Write it so that it parses.",
                    shown(&problem.to_string())
                ),
            ));
        }
    };
    let mut faults = validator.iter_errors(&value).take(FAULTS_LIMIT);
    let mut difference: Vec<String> = faults
        .by_ref()
        .take(TOLD_LIMIT)
        .map(|fault| {
            let place = match fault.instance_path().as_str() {
                "" => "the whole of it",
                pointer => pointer,
            };
            format!("{path} at {}: {}.", shown(place), shown(&fault.to_string()))
        })
        .collect();
    let more = faults.count();
    let all = difference.len() + more;
    if more > 0 {
        difference.push(format!("… and {more} more of these"));
    }
    let evidence = match all {
        0 => format!("{path} satisfies its schema"),
        all => format!(
            "{path} differs from its schema in {}",
            show::count(all, "place", "places")
        ),
    };
    Ok(Finding::of(evidence, difference))
}
