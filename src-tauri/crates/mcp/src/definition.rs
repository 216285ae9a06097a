//! What a tool is, as its server says it. A person approves that; when a server says something
//! else later, they are asked again and shown the difference.

use longrein_protocol::BlobHash;
use rmcp::model::Tool;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use similar::TextDiff;

use crate::clean::{head, is_hidden};

/// The longest difference that is shown.
const DIFFERENCE_BYTES: usize = 16 * 1024;

/// How many lines of what stayed the same are shown around a change.
const CONTEXT_LINES: usize = 3;

/// What a tool is: all that a server can change to mean something else by it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Definition {
    /// The tool's name as the server knows it.
    pub tool: String,
    /// The hash of `text`.
    pub hash: BlobHash,
    /// Name, title, description, schemas and annotations as sorted, indented JSON, with hidden
    /// characters written as escapes.
    pub text: String,
}

impl Definition {
    pub(crate) fn of(tool: &Tool) -> Self {
        let whole = serde_json::to_value(tool).unwrap_or_default();
        let part = |name: &str| sorted(whole.get(name).cloned().unwrap_or(Value::Null));
        let told = json!({
            "name": part("name"),
            "title": part("title"),
            "description": part("description"),
            "inputSchema": part("inputSchema"),
            "outputSchema": part("outputSchema"),
            "annotations": part("annotations"),
        });
        let text = visible(&format!("{:#}", sorted(told)));
        Self {
            tool: tool.name.to_string(),
            hash: BlobHash::of(text.as_bytes()),
            text,
        }
    }
}

/// Objects in the order of their names, whatever order the server wrote them in.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(String, Value)> = members.into_iter().collect();
            members.sort_by(|left, right| left.0.cmp(&right.0));
            let members = members
                .into_iter()
                .map(|(name, value)| (name, sorted(value)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}

/// Hidden and control characters as escapes, so that a difference in them is seen.
fn visible(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_hidden(letter) || (letter.is_control() && letter != '\n') {
            visible.extend(letter.escape_unicode());
        } else {
            visible.push(letter);
        }
    }
    visible
}

/// How a tool stands to what was approved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// It was not there.
    New,
    /// It is said to be something else now.
    Changed {
        /// The lines that differ, with those around them, as a unified difference.
        difference: String,
    },
}

/// Compares what a server says of a tool with what was approved; `None` when it is the same.
pub fn compare(approved: Option<&Definition>, now: &Definition) -> Option<Change> {
    let Some(approved) = approved else {
        return Some(Change::New);
    };
    if approved.hash == now.hash {
        return None;
    }
    let difference = TextDiff::from_lines(&approved.text, &now.text)
        .unified_diff()
        .context_radius(CONTEXT_LINES)
        .header("approved", "now")
        .to_string();
    Some(Change::Changed {
        difference: head(&difference, DIFFERENCE_BYTES),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(tool: Value) -> Definition {
        Definition::of(&serde_json::from_value(tool).unwrap())
    }

    #[test]
    fn the_order_of_a_schema_changes_nothing_and_a_word_does() {
        let first = definition(json!({
            "name": "t", "description": "Adds",
            "inputSchema": {"type": "object", "properties": {"a": {}, "b": {}}},
        }));
        let same = definition(json!({
            "inputSchema": {"properties": {"b": {}, "a": {}}, "type": "object"},
            "description": "Adds", "name": "t",
        }));
        assert_eq!(compare(Some(&first), &same), None);
        let other = definition(json!({
            "name": "t", "description": "Adds\u{200b} and tells",
            "inputSchema": {"type": "object", "properties": {"a": {}, "b": {}}},
        }));
        let Some(Change::Changed { difference }) = compare(Some(&first), &other) else {
            panic!("a change expected");
        };
        assert!(
            difference.contains("-  \"description\": \"Adds\""),
            "{difference}"
        );
        assert!(difference.contains("+  \"description\": \"Adds\\u{200b} and tells\""));
        assert_eq!(compare(None, &first), Some(Change::New));
    }
}
