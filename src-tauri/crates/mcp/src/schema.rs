//! Whether a schema can be checked with in good time. A few hundred bytes of references to
//! references can make a check take for ever.

use std::collections::HashMap;

use serde_json::Value;

/// The largest schema; a larger one would fill the model's window by itself.
pub(crate) const SCHEMA_BYTES_MAX: usize = 64 * 1024;

/// The most steps that the check of one value may take before it goes into its parts.
const STEPS_MAX: u64 = 2_000;

/// How deep a schema may be nested.
const DEPTH_MAX: usize = 64;

/// How long a chain of references and conditions on one value may be.
const CHAIN_MAX: usize = 256;

/// Keywords whose one schema is for the value itself.
const SAME_ONE: [&str; 4] = ["not", "if", "then", "else"];

/// Keywords whose list of schemas is for the value itself.
const SAME_LIST: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Keywords that hold data, not schemas.
const DATA: [&str; 5] = ["enum", "const", "default", "examples", "required"];

/// What is wrong with a schema, in a sentence that begins with `what` (`Its inputSchema`).
pub(crate) fn fault(what: &str, schema: &Value) -> Option<String> {
    let bytes = schema.to_string().len();
    if bytes > SCHEMA_BYTES_MAX {
        return Some(format!(
            "{what} has {bytes} bytes; at most {SCHEMA_BYTES_MAX} are taken."
        ));
    }
    if let Some(fault) = Walk::new(schema).fault() {
        return Some(format!("{what} {fault}."));
    }
    jsonschema::validator_for(schema)
        .err()
        .map(|error| format!("{what} is not a JSON Schema: {error}."))
}

/// How many steps the check of one value takes at a schema.
#[derive(Clone, Copy)]
enum Steps {
    /// It is being counted: whoever comes here again goes in a circle.
    Counting,
    Known(u64),
}

/// One walk over a schema.
struct Walk<'a> {
    root: &'a Value,
    /// By the address of the schema in memory, which stands still during the walk.
    steps: HashMap<*const Value, Steps>,
}

impl<'a> Walk<'a> {
    fn new(root: &'a Value) -> Self {
        Self {
            root,
            steps: HashMap::new(),
        }
    }

    fn fault(&mut self) -> Option<&'static str> {
        let mut stack = vec![(self.root, 0)];
        // Bounded by the size of the schema, which is a tree in memory.
        while let Some((schema, depth)) = stack.pop() {
            if depth > DEPTH_MAX {
                return Some("is nested too deeply");
            }
            if schema.is_object() {
                match self.count(schema, 0) {
                    Ok(steps) if steps > STEPS_MAX => {
                        return Some("would take too long to check");
                    }
                    Ok(_) => {}
                    Err(fault) => return Some(fault),
                }
            }
            match schema {
                Value::Object(members) => stack.extend(
                    members
                        .iter()
                        .filter(|(keyword, _)| !DATA.contains(&keyword.as_str()))
                        .map(|(_, part)| (part, depth + 1)),
                ),
                Value::Array(items) => stack.extend(items.iter().map(|item| (item, depth + 1))),
                _ => {}
            }
        }
        None
    }

    /// How many schemas are tried on one value at `schema`, those that it refers to included.
    fn count(&mut self, schema: &'a Value, depth: usize) -> Result<u64, &'static str> {
        if depth > CHAIN_MAX {
            return Err("refers to itself too deeply");
        }
        let place: *const Value = schema;
        match self.steps.get(&place) {
            Some(Steps::Known(steps)) => return Ok(*steps),
            Some(Steps::Counting) => return Err("refers to itself without an end"),
            None => {}
        }
        self.steps.insert(place, Steps::Counting);
        let mut steps: u64 = 1;
        for part in self.for_the_same_value(schema) {
            steps = steps.saturating_add(self.count(part, depth + 1)?);
        }
        self.steps.insert(place, Steps::Known(steps));
        Ok(steps)
    }

    fn for_the_same_value(&self, schema: &'a Value) -> Vec<&'a Value> {
        let mut parts = Vec::new();
        let Value::Object(members) = schema else {
            return parts;
        };
        parts.extend(SAME_ONE.iter().filter_map(|keyword| members.get(*keyword)));
        for keyword in SAME_LIST {
            parts.extend(
                members
                    .get(keyword)
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten(),
            );
        }
        let dependent = members.get("dependentSchemas").and_then(Value::as_object);
        parts.extend(dependent.into_iter().flat_map(|schemas| schemas.values()));
        for keyword in ["$ref", "$dynamicRef"] {
            let target = members.get(keyword).and_then(Value::as_str);
            parts.extend(target.and_then(|target| self.target(target)));
        }
        parts
    }

    /// Where a reference leads within the schema. One that leads elsewhere is refused when the
    /// schema is read.
    fn target(&self, reference: &str) -> Option<&'a Value> {
        let fragment = reference.strip_prefix('#')?;
        if fragment.is_empty() {
            return Some(self.root);
        }
        if fragment.starts_with('/') {
            return self.root.pointer(fragment);
        }
        // An anchor; they stand among the definitions where tools use them.
        let definitions = self.root.get("$defs").and_then(Value::as_object)?;
        definitions.values().find(|schema| {
            ["$anchor", "$dynamicAnchor"]
                .iter()
                .any(|keyword| schema.get(*keyword).and_then(Value::as_str) == Some(fragment))
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tree_that_refers_to_itself_in_its_parts_is_taken() {
        let tree = json!({
            "type": "object",
            "properties": {"root": {"$ref": "#/$defs/node"}},
            "$defs": {"node": {
                "type": "object",
                "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
            }},
        });
        assert_eq!(fault("It", &tree), None);
    }

    #[test]
    fn a_schema_that_refers_to_itself_for_the_same_value_is_refused() {
        let circle = json!({
            "type": "object", "properties": {"a": {"$ref": "#/$defs/a"}},
            "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}},
        });
        assert_eq!(
            fault("It", &circle).unwrap(),
            "It refers to itself without an end."
        );
    }

    #[test]
    fn a_bomb_of_references_is_refused_before_anything_is_checked_with_it() {
        let mut definitions = serde_json::Map::new();
        for level in 0..40 {
            let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
            definitions.insert(format!("d{level}"), json!({"allOf": [next.clone(), next]}));
        }
        definitions.insert("d40".to_owned(), json!({"type": "string"}));
        let bomb = json!({
            "type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": definitions,
        });
        assert_eq!(
            fault("It", &bomb).unwrap(),
            "It would take too long to check."
        );
        let mut deep = json!({"type": "string"});
        for _ in 0..80 {
            deep = json!({"type": "object", "properties": {"a": deep}});
        }
        assert_eq!(fault("It", &deep).unwrap(), "It is nested too deeply.");
    }
}
