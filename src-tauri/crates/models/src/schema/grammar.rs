//! The schema of a reply, and the words that explain it to the model.

use longrein_protocol::ToolSpec;
use serde_json::{Value, json};

use crate::json::quoted;
use crate::subset;

/// What grammars are made of. Lengths, patterns and ranges make them slow or are refused by
/// llama.cpp; arguments are checked against the whole schema here in any case.
const KEYWORDS: [&str; 8] = [
    "type",
    "properties",
    "required",
    "items",
    "enum",
    "const",
    "anyOf",
    "additionalProperties",
];

/// The name under which the model answers in words. No tool is called so.
pub(super) const ANSWER: &str = "answer";

/// What an answer has.
const ANSWER_ARGUMENTS: &str = r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}"#;

/// The schema of a reply: one branch per tool, and one for an answer, which has the form of a tool
/// too. A small model that may begin with another key than `tool` begins with that one, whatever
/// it is asked (seen with a model of half a milliard weights).
///
/// Written by hand, since grammars keep to the order of the properties, and the model has to name
/// the tool before it writes arguments for it.
pub(super) fn of(tools: &[ToolSpec]) -> String {
    let mut branches: Vec<String> = tools
        .iter()
        .map(|tool| branch(&tool.wire_name(), &arguments(&tool.schema).to_string()))
        .collect();
    branches.push(branch(ANSWER, ANSWER_ARGUMENTS));
    format!(r#"{{"anyOf":[{}]}}"#, branches.join(","))
}

fn branch(name: &str, arguments: &str) -> String {
    let properties = format!(
        r#""tool":{{"const":{}}},"arguments":{arguments}"#,
        quoted(name)
    );
    object(&properties, r#""tool","arguments""#)
}

fn object(properties: &str, required: &str) -> String {
    format!(
        r#"{{"type":"object","properties":{{{properties}}},"required":[{required}],"additionalProperties":false}}"#
    )
}

/// What the arguments of a tool may be. A schema that refers to parts of itself would lose them
/// as a part of another one, so that anything goes there.
fn arguments(schema: &Value) -> Value {
    if schema.to_string().contains("\"$ref\"") {
        return json!({ "type": "object" });
    }
    let mut schema = subset::of(schema, &KEYWORDS);
    schema["type"] = Value::from("object");
    schema
}

/// How to reply, and with what. Follows the system text.
pub(super) fn explained(tools: &[ToolSpec]) -> String {
    let mut text = String::from(
        "\n\nYou act by tools. Reply with one JSON object and nothing else: \
         {\"tool\": \"NAME\", \"arguments\": {…}}. The result comes in the next message; then \
         go on with the next tool. When there is something to say and nothing left to do, use \
         the tool answer.\n\nTools:",
    );
    for tool in tools {
        let description = tool.description.trim();
        text.push_str(&line(
            &tool.wire_name(),
            description,
            &tool.schema.to_string(),
        ));
    }
    text + &line(ANSWER, "Says something to the person.", ANSWER_ARGUMENTS)
}

fn line(name: &str, description: &str, arguments: &str) -> String {
    format!("\n- {name}: {description}\n  arguments: {arguments}")
}
