//! The built-in tools as a model is told of them, written out whole in `docs/tools.md`, so that a
//! change of a word is seen in review. `UPDATE_EXPECT=1` writes the file anew.

use std::collections::BTreeMap;

use expect_test::expect_file;
use longrein_protocol::{Effect, Repeat, ToolSpec};
use serde_json::Value;

use crate::{ToolsConfig, builtin_tools, finding};

/// The longest description that a model is told at every request, in bytes.
const DESCRIPTION_BYTES_MAX: usize = 700;
/// The most that all of them may take of every request, in bytes: a quarter of it in tokens.
const ALL_BYTES_MAX: usize = 24_000;

const HEAD: &str = "\
# The built-in tools

What a model is told of each tool, word for word, and what the harness knows of it besides. This
file is made by a test and compared by it: `UPDATE_EXPECT=1 cargo nextest run -p longrein-tools
interface` writes it anew.
";

fn specs() -> Vec<ToolSpec> {
    let mut tools = builtin_tools(ToolsConfig::default());
    tools.extend(finding(Vec::new(), BTreeMap::new()));
    tools.iter().map(|tool| tool.spec().clone()).collect()
}

#[test]
fn the_whole_interface_is_written_down() {
    let sections: Vec<String> = specs().iter().map(section).collect();
    let whole = format!("{HEAD}\n{}", sections.join("\n"));
    expect_file![concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../docs/tools.md"
    )]
    .assert_eq(&whole);
}

fn section(spec: &ToolSpec) -> String {
    let effect = match spec.effect {
        Effect::Read => "reads",
        Effect::Workspace => "changes the workspace or the run",
        Effect::Reversible => "changes something outside that can be taken back",
        Effect::Irreversible => "changes something outside for good",
    };
    let repeat = match spec.repeat {
        Repeat::Repeatable => "may be repeated",
        Repeat::Keyed => "takes a key",
        Repeat::Queryable => "can be asked about",
        Repeat::Reattach => "is found again where it runs",
        Repeat::Replay => "is found again where it runs, or begun anew with what it was told",
        Repeat::Once => "once",
    };
    let mut facts = vec![
        effect.to_owned(),
        repeat.to_owned(),
        format!("at most {} s", spec.timeout_ms / 1_000),
        format!("shows {} tokens", spec.result_tokens),
    ];
    let named = |what: &str, names: &[String]| {
        (!names.is_empty()).then(|| format!("{what} in {}", names.join(", ")))
    };
    facts.extend(named("paths", &spec.path_arguments));
    facts.extend(named("addresses", &spec.reach.urls));
    facts.extend(named("commands", &spec.reach.commands));
    let marks = [
        (spec.untrusted, "its results are untrusted"),
        (spec.reach.private, "its results are the person's own"),
        (spec.reach.egress, "it may reach the network"),
    ];
    let marks = marks.iter().filter(|(holds, _)| *holds);
    facts.extend(marks.map(|(_, words)| (*words).to_owned()));
    let mut schema = spec.schema.clone();
    if let Some(schema) = schema.as_object_mut() {
        // The same for all of them.
        schema.remove("$schema");
    }
    let schema = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    format!(
        "## {}\n\n{}.\n\n> {}\n\n```json\n{schema}\n```\n",
        spec.name,
        facts.join("; "),
        spec.description
    )
}

#[test]
fn every_tool_and_every_argument_is_described_for_a_model() {
    for spec in specs() {
        let name = &spec.name;
        let description = spec.description.as_str();
        assert!(description.ends_with('.'), "{name}: {description}");
        assert!(!description.contains("  "), "{name}: {description}");
        assert!(description.len() <= DESCRIPTION_BYTES_MAX, "{name}");
        described(name, &spec.schema);
    }
}

/// Every property, at any depth, says what it is, and what has a default says which.
fn described(place: &str, schema: &Value) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let place = format!("{place}.{name}");
        let words = property.get("description").and_then(Value::as_str);
        let words = words.unwrap_or_default();
        assert!(!words.is_empty(), "{place} is not described");
        described(&place, property);
        if let Some(items) = property.get("items") {
            described(&place, items);
        }
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = required.is_some_and(|names| names.iter().any(|one| one == name));
        let is_number = property.get("type").is_some_and(|kind| kind == "integer");
        if is_number && !is_required {
            assert!(words.contains("Default"), "{place} has no default: {words}");
        }
    }
}

#[test]
fn all_tools_together_leave_room_for_the_work() {
    let bytes: usize = specs()
        .iter()
        .map(|spec| spec.name.len() + spec.description.len() + spec.schema.to_string().len())
        .sum();
    assert!(bytes <= ALL_BYTES_MAX, "{bytes}");
}
