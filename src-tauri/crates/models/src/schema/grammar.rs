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

/// The schema of a reply: one branch per tool, and one for an answer. Written by hand, since
/// grammars keep to the order of the properties, and the model has to name the tool before it
/// writes arguments for it.
pub(super) fn of(tools: &[ToolSpec]) -> String {
    let mut branches: Vec<String> = tools.iter().map(branch).collect();
    branches.push(object("\"answer\":{\"type\":\"string\"}", "\"answer\""));
    format!(r#"{{"anyOf":[{}]}}"#, branches.join(","))
}

fn branch(tool: &ToolSpec) -> String {
    let properties = format!(
        r#""tool":{{"const":{}}},"arguments":{}"#,
        quoted(&tool.wire_name()),
        arguments(&tool.schema)
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
        "\n\nReply with one JSON object and nothing else.\n\
         To use a tool: {\"tool\": \"NAME\", \"arguments\": {…}}. Use one tool at a time; its \
         result comes in the next message.\n\
         To answer in words: {\"answer\": \"…\"}.\n\nTools:",
    );
    for tool in tools {
        text.push_str(&format!(
            "\n- {}: {}\n  arguments: {}",
            tool.wire_name(),
            tool.description.trim(),
            tool.schema
        ));
    }
    text
}
