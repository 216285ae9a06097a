//! `delegate`: children that do parts of the work. The driver begins them; the tool itself is only
//! its description.

use std::sync::Arc;

use async_trait::async_trait;
use longrein_core::run::TASKS;
use longrein_protocol::ToolSpec;
use longrein_runtime::ports::{Tool, ToolCall, ToolError, ToolOutput};
use serde_json::json;

use crate::error;
use crate::tool::spec;

/// The longest title of a task, in characters.
const TITLE_LIMIT: usize = 120;
/// The longest task, in characters.
const BRIEF_LIMIT: usize = 8_000;
/// How much of an agent's description the model is shown, in characters.
const DESCRIPTION_LIMIT: usize = 240;
/// How much of the findings the model is shown.
const RESULT_TOKENS: u32 = 16_000;

/// A saved agent that work may be given to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AgentOffer {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
}

/// What the model reads of the agents.
fn described(agents: &[AgentOffer]) -> String {
    let mut words = "Who does it; without this, a helper like you. It has its own instructions \
        and, of your tools, those of its own file."
        .to_owned();
    for AgentOffer { name, description } in agents {
        let described: String = description.chars().take(DESCRIPTION_LIMIT).collect();
        words.push_str(&format!("\n{name}: {described}"));
    }
    words
}

/// The description of `delegate`.
pub(crate) struct Delegate(ToolSpec);

impl Delegate {
    pub(crate) fn tool(agents: &[AgentOffer]) -> Arc<dyn Tool> {
        let mut properties = json!({
            "tasks": {
                "type": "array", "minItems": 1, "maxItems": TASKS,
                "description": "Tasks that do not depend on each other: they are done side by side.",
                "items": {
                    "type": "object",
                    "properties": {
                        "title": {
                            "type": "string", "minLength": 1, "maxLength": TITLE_LIMIT,
                            "description": "What is to be done, in a few words.",
                        },
                        "brief": {
                            "type": "string", "minLength": 1, "maxLength": BRIEF_LIMIT,
                            "description": "The whole task: the helper sees nothing else.",
                        },
                        "tools": {
                            "type": "array", "items": {"type": "string"},
                            "description": "Which of your tools it has; without this, all of them.",
                        },
                        "budget_share": {
                            "type": "number", "exclusiveMinimum": 0, "maximum": 0.9,
                            "description": "Its part of what your budget leaves; all tasks together at most 0.9.",
                        },
                        "copy_files": {
                            "type": "boolean",
                            "description": "Whether it begins with a copy of your files; without this, with an empty folder. What it publishes is in children/ afterwards; what else it changes stays its own.",
                        },
                        "finding": {
                            "type": "object",
                            "description": "What it reports beside its words: a JSON Schema of an object. A report that does not fit comes back to it.",
                        },
                    },
                    "required": ["title", "brief"],
                    "additionalProperties": false,
                },
            },
        });
        if !agents.is_empty() {
            let names: Vec<&str> = agents.iter().map(|agent| agent.name.as_str()).collect();
            properties["tasks"]["items"]["properties"]["agent"] = json!({
                "type": "string", "enum": names,
                "description": described(agents),
            });
        }
        let description = "Gives parts of the work to helpers, which work side by side with your \
            tools and a part of your budget, and waits until all are done. Each reports what it \
            found; its sources become yours, under the ids that its report names.";
        let spec = spec("delegate", description, properties, &["tasks"]);
        Arc::new(Self(ToolSpec {
            result_tokens: RESULT_TOKENS,
            ..spec
        }))
    }
}

#[async_trait]
impl Tool for Delegate {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn run(&self, _call: ToolCall) -> Result<ToolOutput, ToolError> {
        Err(error::failed("Children are begun by the harness."))
    }
}
