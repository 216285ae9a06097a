//! `text`: words that a file must have, and words that it must not have.

use longrein_protocol::agent::TextCriterion;
use longrein_runtime::ports::{RunContext, ToolError};

use super::pattern::pattern;
use super::read::{in_workspace, text};
use super::{Finding, shown};
use crate::page::TOLD_LIMIT;
use crate::show;
use crate::tool::blocking;
use crate::workspace::beneath;

pub(super) async fn check(
    criterion: &TextCriterion,
    context: &RunContext,
) -> Result<Finding, ToolError> {
    let path = beneath(&criterion.text)?;
    let content = in_workspace(context, &path).await?;
    let asked = criterion.clone();
    blocking(move || hold(&asked, &path, text(&path, &content)?)).await
}

fn hold(criterion: &TextCriterion, path: &str, text: &str) -> Result<Finding, ToolError> {
    let mut difference = Vec::new();
    for written in &criterion.must {
        if !pattern(written)?.is_match(text) {
            difference.push(format!(
                "{path} has nothing that matches “{}”, which it must have.",
                shown(written)
            ));
        }
    }
    for written in &criterion.must_not {
        if let Some(found) = pattern(written)?.find(text) {
            let line = text[..found.start()].matches('\n').count() + 1;
            difference.push(format!(
                "{path} has “{}” in line {line}, which matches “{}”; it must not have that.",
                shown(found.as_str()),
                shown(written)
            ));
        }
    }
    let patterns = criterion.must.len() + criterion.must_not.len();
    let evidence = format!(
        "{} of {} as wanted",
        patterns - difference.len(),
        show::count(patterns, "pattern", "patterns")
    );
    let more = difference.len().saturating_sub(TOLD_LIMIT);
    difference.truncate(TOLD_LIMIT);
    if more > 0 {
        difference.push(format!("… and {more} more of these"));
    }
    Ok(Finding::of(evidence, difference))
}
