//! `command`: that a command ends as it must.

use longrein_protocol::agent::CommandCriterion;
use longrein_runtime::ports::{Asks, ToolError};

use super::pattern::pattern;
use super::{Finding, shown};
use crate::show;

/// How much of the end of a command's output is told where it is not as it must be.
const TOLD_BYTES: usize = 2_000;
/// The most lines of it.
const TOLD_LINES: usize = 20;

pub(super) async fn check(
    criterion: &CommandCriterion,
    asks: &dyn Asks,
) -> Result<Finding, ToolError> {
    let expects = criterion.matches.as_deref().map(pattern).transpose()?;
    let ended = asks.command(&criterion.command).await?;
    let command = shown(&criterion.command);
    let mut difference = Vec::new();
    if ended.status != i32::try_from(criterion.status).ok() {
        difference.push(format!(
            "The command {command}: {}, and it has to end with status {}.",
            ended.how, criterion.status
        ));
    }
    if let (Some(expects), Some(wanted)) = (expects, &criterion.matches)
        && !expects.is_match(&ended.output)
    {
        difference.push(format!(
            "The output of {command} does not match “{}”.",
            shown(wanted)
        ));
    }
    if !difference.is_empty() {
        difference.extend(last_lines(&ended.output));
    }
    Ok(Finding::of(format!("{command}: {}", ended.how), difference))
}

/// The end of an output, which says most where something went wrong.
fn last_lines(output: &str) -> Vec<String> {
    let begin = output.ceil_char_boundary(output.len().saturating_sub(TOLD_BYTES));
    let lines: Vec<&str> = output[begin..]
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let first = lines.len().saturating_sub(TOLD_LINES);
    lines[first..]
        .iter()
        .map(|line| show::safe(line).into_owned())
        .collect()
}
