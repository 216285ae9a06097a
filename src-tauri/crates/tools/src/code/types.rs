//! What a JSON Schema says of an argument, as a hint of Python.

use serde_json::Value;

/// How deep a schema is looked into; below that it is anything.
const DEPTH: usize = 4;
/// The most words of a choice; a longer one is a text like any other.
const CHOICES: usize = 16;
/// What says nothing.
const ANY: &str = "Any";

/// The hint for a schema.
pub(super) fn hint(schema: &Value) -> String {
    at_depth(schema, DEPTH)
}

fn at_depth(schema: &Value, depth: usize) -> String {
    let Some(below) = depth.checked_sub(1) else {
        return ANY.to_owned();
    };
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        return choice(choices);
    }
    if let Some(only) = schema.get("const") {
        return choice(std::slice::from_ref(only));
    }
    for word in ["anyOf", "oneOf"] {
        if let Some(parts) = schema.get(word).and_then(Value::as_array) {
            return union(parts.iter().map(|part| at_depth(part, below)));
        }
    }
    match schema.get("type") {
        Some(Value::String(name)) => named(name, schema, below),
        Some(Value::Array(names)) => union(
            names
                .iter()
                .map(|name| named(name.as_str().unwrap_or_default(), schema, below)),
        ),
        _ => ANY.to_owned(),
    }
}

fn named(name: &str, schema: &Value, below: usize) -> String {
    match name {
        "string" => "str".to_owned(),
        "integer" => "int".to_owned(),
        "number" => "float".to_owned(),
        "boolean" => "bool".to_owned(),
        "null" => "None".to_owned(),
        "array" => match schema.get("items") {
            Some(items) => format!("list[{}]", at_depth(items, below)),
            None => format!("list[{ANY}]"),
        },
        "object" => format!("dict[str, {ANY}]"),
        _ => ANY.to_owned(),
    }
}

/// One of these values, where they are few and plain.
fn choice(values: &[Value]) -> String {
    let words: Option<Vec<String>> = values
        .iter()
        .map(|value| match value {
            Value::String(_) => Some(value.to_string()),
            Value::Number(number) if number.is_i64() || number.is_u64() => Some(number.to_string()),
            Value::Bool(true) => Some("True".to_owned()),
            Value::Bool(false) => Some("False".to_owned()),
            Value::Null => Some("None".to_owned()),
            _ => None,
        })
        .collect();
    match words {
        Some(words) if (1..=CHOICES).contains(&words.len()) => {
            format!("Literal[{}]", words.join(", "))
        }
        _ if values.iter().all(Value::is_string) => "str".to_owned(),
        _ => ANY.to_owned(),
    }
}

/// Any of these, each once.
fn union(parts: impl Iterator<Item = String>) -> String {
    let mut all: Vec<String> = Vec::new();
    for part in parts {
        if part == ANY {
            return part;
        }
        if !all.contains(&part) {
            all.push(part);
        }
    }
    if all.is_empty() {
        return ANY.to_owned();
    }
    all.join(" | ")
}
