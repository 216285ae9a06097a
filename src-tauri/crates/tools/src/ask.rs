//! `ask_person`: a question to the person.

use std::sync::Arc;

use longrein_runtime::ports::{Tool, ToolCall, ToolError, ToolOutput};
use serde_json::json;

use crate::error;
use crate::tool::{Blocking, spec};

/// The longest question, in characters.
const QUESTION_LIMIT: usize = 2_000;
/// The most answers that are offered.
const OPTIONS_LIMIT: usize = 8;
/// The longest of them, in characters.
const OPTION_LIMIT: usize = 200;

/// The driver acts on this tool: it parks the run until the person has answered, and the answer is
/// the result.
pub(crate) fn ask_person() -> Arc<dyn Tool> {
    let properties = json!({
        "question": {
            "type": "string", "minLength": 1, "maxLength": QUESTION_LIMIT,
            "description": "One question that can be answered without knowing what you did, with what depends on it.",
        },
        "options": {
            "type": "array", "minItems": 1, "maxItems": OPTIONS_LIMIT, "uniqueItems": true,
            "items": { "type": "string", "minLength": 1, "maxLength": OPTION_LIMIT },
            "description": "Answers to choose from, if there are few. The person may answer something else.",
        },
    });
    let description = "Asks the person and waits for the answer, however long that takes. Ask only \
        what you can't find out and can't decide: a choice that is theirs, a right that you lack, \
        something that only they know. Do first what does not depend on it.";
    Blocking::tool(
        spec("ask_person", description, properties, &["question"]),
        run,
    )
}

fn run(_call: &ToolCall) -> Result<ToolOutput, ToolError> {
    Err(error::failed(
        "the question did not reach the person: the harness asks, and this tool does nothing by itself",
    ))
}
