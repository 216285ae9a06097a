//! The JSON Schema of agent files is generated from the types and checked in for editors.

use std::path::Path;

use longrein_core::agent_file;

/// Set to rewrite the file instead of comparing it.
const REWRITE: &str = "UPDATE_SCHEMA";

#[test]
fn the_schema_that_is_checked_in_is_the_one_of_the_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/agent.schema.json");
    let mut generated = serde_json::to_string_pretty(&agent_file::json_schema()).unwrap();
    generated.push('\n');
    if std::env::var_os(REWRITE).is_some() {
        std::fs::write(&path, &generated).unwrap();
    }
    let checked_in = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        checked_in == generated,
        "docs/agent.schema.json is stale: run the test with {REWRITE}=1"
    );
}

#[test]
fn the_schema_takes_what_ships_and_refuses_an_unknown_key() {
    let schema = agent_file::json_schema();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let shipped: toml::Table = include_str!("../agents/research.agent.toml")
        .parse()
        .unwrap();
    let mut instance = serde_json::to_value(shipped).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(&instance)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(errors, Vec::<String>::new());
    instance["budgets"] = serde_json::json!({});
    assert!(!validator.is_valid(&instance));
    instance.as_object_mut().unwrap().remove("budgets");
    instance["tools"]["exa.search"] = serde_json::json!({"effect": "sometimes"});
    assert!(!validator.is_valid(&instance));
}
