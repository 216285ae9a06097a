//! Agent files: an `*.agent.toml` read into a specification, with every mistake at once.

mod choices;
mod criteria;
mod json;
mod keys;
#[cfg(test)]
mod mistakes;
mod policy;
mod problem;
pub mod reader;
mod recovery;
pub mod rules;
mod sandbox;
mod sections;
mod settings;
mod stages;
#[cfg(test)]
mod tests;
mod tools;
mod values;
mod write;

use longrein_protocol::{AgentSpec, BlobHash};
use serde_json::Value;

pub use problem::{Problem, Severity};

use reader::Reader;

/// What was read of a file.
#[derive(Clone, PartialEq, Debug)]
pub struct Checked {
    /// The specification, its defaults filled in; `None` when a problem is an error.
    pub spec: Option<AgentSpec>,
    /// Every mistake, in the order of the file.
    pub problems: Vec<Problem>,
}

/// Reads an agent file and tells warnings too. `name_hint` is the file's name without its folder:
/// the agent is called after it when the file gives no name.
pub fn check(text: &str, name_hint: &str) -> Checked {
    let (document, mut reader) = Reader::open(text, keys::PLACES);
    let spec = sections::read(&mut reader, &document, name_hint);
    let problems = reader.into_problems();
    let usable = problems
        .iter()
        .all(|problem| problem.severity != Severity::Error);
    Checked {
        spec: usable.then_some(spec),
        problems,
    }
}

/// Reads an agent file. Errors: every mistake in it; warnings alone are none.
pub fn parse(text: &str, name_hint: &str) -> Result<AgentSpec, Vec<Problem>> {
    let checked = check(text, name_hint);
    checked.spec.ok_or(checked.problems)
}

/// Whether a text is the name of an agent: lower-case letters, digits and hyphens.
pub fn is_agent_name(name: &str) -> bool {
    sections::is_agent_name(name)
}

/// Whether a text is the name of a model, `provider/model`.
pub fn is_model_name(name: &str) -> bool {
    sections::is_model_name(name)
}

/// The file that says all of a specification, defaults filled in. Reading it gives the same
/// specification.
pub fn to_toml(spec: &AgentSpec) -> String {
    write::to_toml(spec)
}

/// The hash by which a run pins its agent: of what it says, not of how its file is laid out.
pub fn hash(spec: &AgentSpec) -> BlobHash {
    BlobHash::of(&serde_json::to_vec(spec).unwrap_or_else(|error| {
        // Every map of a specification has texts for keys, and nothing in it writes or reads.
        unreachable!("a specification is always JSON: {error}")
    }))
}

/// The JSON Schema (draft 2020-12) of an agent file.
pub fn json_schema() -> Value {
    let mut schema = schemars::schema_for!(AgentSpec);
    schema.insert("title".to_owned(), "Longrein agent file".into());
    // A file without a name is called after itself.
    schema.remove("required");
    let mut schema = schema.to_value();
    // A decision and a condition.
    if let Some(rule) = schema.pointer_mut("/$defs/PolicyRule") {
        rule["minProperties"] = 2.into();
    }
    for (kind, key, range) in keys::WHOLE_RANGES {
        bound(
            &mut schema,
            (kind, key),
            (*range.start()).into(),
            (*range.end()).into(),
        );
    }
    for (kind, key, range) in keys::FRACTION_RANGES {
        bound(
            &mut schema,
            (kind, key),
            (*range.start()).into(),
            (*range.end()).into(),
        );
    }
    schema
}

/// Says the range of a number that the reader holds it to.
fn bound(schema: &mut Value, (kind, key): (&str, &str), least: Value, most: Value) {
    let number = schema.pointer_mut(&format!("/$defs/{kind}/properties/{key}"));
    if let Some(number) = number.and_then(Value::as_object_mut) {
        number.insert("minimum".to_owned(), least);
        number.insert("maximum".to_owned(), most);
    }
}
