//! Arguments as a person edits them: they have to satisfy the tool's schema before anything is
//! said to the run.

use std::io::Read as _;
use std::path::Path;

use longrein_app::given_file;
use longrein_core::run::Run;
use longrein_protocol::ToolSpec;
use longrein_runtime::world::check_arguments;
use serde_json::Value;

use crate::failure::Failure;

/// The most bytes of edited arguments.
const EDIT_LIMIT_BYTES: u64 = 4 << 20;
/// The most arguments of a tool that a remedy lists.
const ARGUMENTS_TOLD: usize = 24;

/// The text that `--edit` names: JSON as it was typed, or the content of `@FILE`.
///
/// # Errors
/// When the file can't be read, or holds too much.
pub fn text(given: &str) -> Result<String, Failure> {
    match given.strip_prefix('@') {
        Some(file) => file_text(file, EDIT_LIMIT_BYTES),
        None => Ok(given.to_owned()),
    }
}

/// A file of a person's as text.
///
/// # Errors
/// When it can't be read, is no text, or holds more than `limit` bytes.
pub fn file_text(file: &str, limit: u64) -> Result<String, Failure> {
    let unreadable = |error: std::io::Error| {
        let remedy = "Name a file that you may read, and that holds UTF-8 text.";
        Failure::usage(format!("{file} can't be read: {error}."), remedy)
    };
    let mut text = String::new();
    let opened = given_file::open(Path::new(file)).map_err(unreadable)?;
    let read = opened.take(limit + 1).read_to_string(&mut text);
    if read.map_err(unreadable)? as u64 > limit {
        let message = format!("{file} holds more than {} MB.", limit >> 20);
        return Err(Failure::usage(message, "Give less."));
    }
    Ok(text)
}

/// Checks edited arguments against the schema of the tool as the run knows it.
///
/// # Errors
/// What is off and where, and what the tool takes.
pub fn check(run: &Run, tool: &str, text: &str) -> Result<(), Failure> {
    let Some(spec) = run.tool(tool) else {
        let message = format!("{tool} is not among the tools of this run any more.");
        return Err(Failure::usage(message, "Deny it, with a reason."));
    };
    match check_arguments(spec, text) {
        Ok(_) => Ok(()),
        Err(bad) => Err(Failure::usage(
            format!(
                "Edited so, {tool} can't start. {}",
                sentence(&bad.to_string())
            ),
            format!("{} Nothing was sent.", takes(spec)),
        )),
    }
}

/// With a full stop at its end.
fn sentence(words: &str) -> String {
    format!("{}.", words.trim_end_matches('.'))
}

/// What a tool takes, in a sentence.
fn takes(spec: &ToolSpec) -> String {
    let required = spec.schema.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|names| names.iter().any(|required| required == name));
    let properties = spec.schema.get("properties").and_then(Value::as_object);
    let names: Vec<String> = properties
        .into_iter()
        .flatten()
        .take(ARGUMENTS_TOLD)
        .map(|(name, schema)| {
            let mut words: Vec<&str> = schema
                .get("type")
                .and_then(Value::as_str)
                .into_iter()
                .collect();
            if is_required(name) {
                words.push("required");
            }
            match words.join(", ") {
                words if words.is_empty() => name.clone(),
                words => format!("{name} ({words})"),
            }
        })
        .collect();
    if names.is_empty() {
        return format!("{} takes no arguments that it names.", spec.name);
    }
    format!("{} takes: {}.", spec.name, names.join(", "))
}

#[cfg(test)]
mod tests {
    use longrein_protocol::{Effect, Repeat};
    use serde_json::json;

    use super::*;

    fn run() -> Run {
        let schema = json!({
            "type": "object",
            "properties": {"label": {"type": "string"}, "times": {"type": "integer"}},
            "required": ["label"],
            "additionalProperties": false,
        });
        let spec = ToolSpec {
            name: "counter.mark".to_owned(),
            description: String::new(),
            schema,
            effect: Effect::Irreversible,
            repeat: Repeat::Once,
            timeout_ms: 1,
            result_tokens: 1,
            path_arguments: Vec::new(),
            untrusted: true,
            reach: Default::default(),
            recovery: Default::default(),
        };
        Run {
            tools: vec![spec],
            ..Run::default()
        }
    }

    fn told(text: &str) -> String {
        match check(&run(), "counter.mark", text) {
            Ok(()) => "fits".to_owned(),
            Err(Failure::Said {
                message, remedy, ..
            }) => format!("{message} {remedy}"),
            Err(unread) => unread.to_string(),
        }
    }

    #[test]
    fn edited_arguments_have_to_satisfy_the_schema_of_the_tool() {
        assert_eq!(told(r#"{"label": "a", "times": 2}"#), "fits");
        let takes =
            "counter.mark takes: label (string, required), times (integer). Nothing was sent.";
        let cases = [
            (
                r#"{"label": 3}"#,
                "counter.mark can't start. The arguments do not fit: /label: 3 is not of type",
            ),
            (r#"{"lable": "a"}"#, "'lable'"),
            ("[1]", "have to be a JSON object."),
            (r#"{"label": "a""#, "not valid JSON: EOF"),
        ];
        for (text, fault) in cases {
            let told = told(text);
            assert!(
                told.contains(fault) && told.ends_with(takes),
                "{text}: {told}"
            );
        }
    }

    #[test]
    fn a_file_that_is_none_is_named_and_one_that_is_too_large_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        let file = path("edit.json");
        std::fs::write(&file, "{\"label\": \"a\"}").unwrap();
        assert_eq!(text(&format!("@{file}")).unwrap(), "{\"label\": \"a\"}");
        assert_eq!(text("{}").unwrap(), "{}");
        for (given, limit) in [(path("none"), 100), (file, 3)] {
            let error = file_text(&given, limit).unwrap_err().to_string();
            assert!(error.contains(&given), "{error}");
        }
    }
}
