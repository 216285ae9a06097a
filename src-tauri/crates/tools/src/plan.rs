//! `update_plan` and `finish`: what the run says of itself.

use std::sync::Arc;

use longrein_protocol::source::{PlanItem, PlanState};
use longrein_protocol::{Effect, ToolSpec};
use longrein_runtime::ports::{Fact, Tool, ToolCall, ToolError, ToolOutput};
use serde::Deserialize;
use serde_json::json;

use crate::error;
use crate::tool::{Blocking, arguments, spec};

/// The most items that a plan may have: a longer one is no longer read.
const ITEMS_LIMIT: usize = 50;
/// The longest text of an item, in characters.
const TEXT_LIMIT: usize = 500;
/// The longest summary, in characters.
const SUMMARY_LIMIT: usize = 8_000;

pub(crate) fn update_plan() -> Arc<dyn Tool> {
    let properties = json!({
        "items": {
            "type": "array",
            "maxItems": ITEMS_LIMIT,
            "description": "The whole plan in order; it replaces the plan before.",
            "items": {
                "type": "object",
                "properties": {
                    "text": {
                        "type": "string", "minLength": 1, "maxLength": TEXT_LIMIT,
                        "description": "What is to be done, in a few words.",
                    },
                    "state": {
                        "enum": ["open", "doing", "done", "dropped"],
                        "description": "At most one item is `doing`.",
                    },
                    "evidence": {
                        "type": "string", "maxLength": TEXT_LIMIT,
                        "description": "What shows it: a file, a source id, the reason for dropping it.",
                    },
                },
                "required": ["text", "state"],
                "additionalProperties": false,
            },
        },
    });
    let description = "Replaces the plan, which the person sees and you are shown with every \
        request. Call it before you begin work of more than two steps and whenever an item \
        changes its state. Give the whole list each time.";
    let spec = spec("update_plan", description, properties, &["items"]);
    Blocking::tool(
        ToolSpec {
            effect: Effect::Workspace,
            ..spec
        },
        run_update,
    )
}

#[derive(Deserialize)]
struct UpdatePlan {
    items: Vec<PlanItem>,
}

fn run_update(call: &ToolCall) -> Result<ToolOutput, ToolError> {
    let UpdatePlan { items } = arguments(call)?;
    if items.len() > ITEMS_LIMIT {
        return Err(error::invalid(format!(
            "the plan has {} items, more than {ITEMS_LIMIT}; merge some",
            items.len()
        )));
    }
    if let Some(index) = items.iter().position(|item| item.text.trim().is_empty()) {
        return Err(error::invalid(format!("item {} has no text", index + 1)));
    }
    let outcome = tally(&items);
    Ok(ToolOutput {
        facts: vec![Fact::Plan(items)],
        ..ToolOutput::text(format!("The plan is recorded: {outcome}."), outcome)
    })
}

/// `2 done, 1 doing, 3 open`.
fn tally(items: &[PlanItem]) -> String {
    let states = [
        (PlanState::Done, "done"),
        (PlanState::Doing, "doing"),
        (PlanState::Open, "open"),
        (PlanState::Dropped, "dropped"),
    ];
    let counts: Vec<String> = states
        .iter()
        .map(|(state, name)| {
            (
                items.iter().filter(|item| item.state == *state).count(),
                name,
            )
        })
        .filter(|(number, _)| *number > 0)
        .map(|(number, name)| format!("{number} {name}"))
        .collect();
    if counts.is_empty() {
        "no items".to_owned()
    } else {
        counts.join(", ")
    }
}

/// The driver acts on this tool: it starts the verifier. Running it only hands the summary on.
pub(crate) fn finish() -> Arc<dyn Tool> {
    let properties = json!({
        "summary": {
            "type": "string", "minLength": 1, "maxLength": SUMMARY_LIMIT,
            "description": "What was found and delivered, and what is left open, in a few sentences to the person.",
        },
    });
    let description = "Says that the work is done. The harness then checks the completion \
        criteria by itself; what does not hold comes back to you. Publish your artifacts first, \
        and call this last.";
    Blocking::tool(
        spec("finish", description, properties, &["summary"]),
        run_finish,
    )
}

#[derive(Deserialize)]
struct Finish {
    summary: String,
}

fn run_finish(call: &ToolCall) -> Result<ToolOutput, ToolError> {
    let Finish { summary } = arguments(call)?;
    Ok(ToolOutput::text(summary, "says it is done"))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::testing::{call, context, run, text, told};

    async fn plan(items: serde_json::Value) -> Result<ToolOutput, ToolError> {
        let folder = tempfile::tempdir().unwrap();
        run(
            &update_plan(),
            call(context(folder.path()), json!({"items": items})),
        )
        .await
    }

    #[tokio::test]
    async fn a_plan_is_recorded_and_counted() {
        let items = json!([
            {"text": "Search", "state": "done", "evidence": "S1, S2"},
            {"text": "Write", "state": "doing"},
            {"text": "Check", "state": "open"},
        ]);
        let output = plan(items).await.unwrap();
        assert_eq!(
            text(&output),
            "The plan is recorded: 1 done, 1 doing, 1 open."
        );
        let [Fact::Plan(items)] = &output.facts[..] else {
            panic!("{:?}", output.facts)
        };
        assert_eq!(
            (items.len(), items[0].evidence.as_deref()),
            (3, Some("S1, S2"))
        );
        let told = [
            told(plan(json!([])).await),
            told(plan(json!([{"text": " ", "state": "open"}])).await),
            told(plan(json!([{"text": "x", "state": "later"}])).await),
        ];
        expect![[r#"
            The plan is recorded: no items.
            invalid_arguments: item 1 has no text
            invalid_arguments: schema: "later" is not one of "open", "doing" or 2 other candidates"#]].assert_eq(&told.join("\n"));
    }

    #[tokio::test]
    async fn finishing_hands_the_summary_on() {
        let folder = tempfile::tempdir().unwrap();
        let call = call(context(folder.path()), json!({"summary": "All done."}));
        assert_eq!(text(&run(&finish(), call).await.unwrap()), "All done.");
    }
}
