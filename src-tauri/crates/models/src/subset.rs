//! The part of a JSON Schema that somebody who knows only some keywords can follow.

use serde_json::{Map, Value};

/// How deep a schema is followed; beneath that anything goes.
const DEPTH_LIMIT: u32 = 32;

/// The schema with these keywords alone. `const` becomes an `enum` of one where only that is
/// known.
pub(crate) fn of(schema: &Value, keywords: &[&str]) -> Value {
    reduce(schema, keywords, 0)
}

fn reduce(schema: &Value, keywords: &[&str], depth: u32) -> Value {
    let Some(fields) = schema.as_object() else {
        // `true` and `false` are schemas too; to most readers they are not.
        return Value::Object(Map::new());
    };
    if depth >= DEPTH_LIMIT {
        return Value::Object(Map::new());
    }
    let below = |schema: &Value| reduce(schema, keywords, depth + 1);
    let mut kept = Map::new();
    for (key, value) in fields {
        let knows = |keyword: &str| keywords.contains(&keyword);
        if key == "const" && !knows("const") && knows("enum") {
            kept.insert("enum".to_owned(), Value::from(vec![value.clone()]));
            continue;
        }
        // What is referred to is kept only where it usually stands.
        let is_lost = key == "$ref" && !value.as_str().is_some_and(|to| to.starts_with("#/$defs/"));
        if !knows(key) || is_lost {
            continue;
        }
        let value = match (key.as_str(), value) {
            ("properties" | "$defs", Value::Object(named)) => named
                .iter()
                .map(|(name, schema)| (name.clone(), below(schema)))
                .collect(),
            ("anyOf" | "oneOf" | "prefixItems", Value::Array(list)) => {
                list.iter().map(below).collect()
            }
            ("items" | "additionalProperties", Value::Object(_)) => below(value),
            _ => value.clone(),
        };
        kept.insert(key.clone(), value);
    }
    Value::Object(kept)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_known_keywords_are_kept_at_every_depth() {
        let schema = json!({
            "$schema": "x",
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "pattern": "^a$"},
                "list": {"type": "array", "items": {"const": 1, "minLength": 2}},
            },
            "additionalProperties": false,
        });
        let known = [
            "type",
            "properties",
            "items",
            "enum",
            "additionalProperties",
        ];
        assert_eq!(
            of(&schema, &known),
            json!({
                "type": "object",
                "properties": {
                    "pattern": {"type": "string"},
                    "list": {"type": "array", "items": {"enum": [1]}},
                },
                "additionalProperties": false,
            })
        );
    }
}
