//! One and the same answer, streamed in two ways, gives the same events.

use std::collections::HashMap;

use longrein_testkit::provider::{Manner, Setup};
use longrein_testkit::{Scripted, call, say};
use serde_json::{Value, json};

use crate::support::{Home, Provider, assert_gapless, of_type};

/// Letters of one to four bytes, so that frames cut within them.
const WORDS: &str = "Größe, 漢字, 𝛼 and a quote: \"x\".";

fn script() -> Vec<Scripted> {
    let items = json!([{"text": WORDS, "state": "doing"}, {"text": "Ende", "state": "open"}]);
    vec![
        say(WORDS)
            .and_call("write_file", json!({"path": "größe.md", "content": WORDS}))
            .and_call("update_plan", json!({"items": items})),
        call("read_file", json!({"path": "größe.md"})),
        say(&format!("Done: {WORDS}")),
    ]
}

/// Events without what differs between two runs of the same thing: ids, times, latencies, the names
/// of fences, and the hash of bodies that tell the time.
fn normal(events: Vec<Value>) -> Vec<Value> {
    let mut names = HashMap::new();
    events
        .into_iter()
        .map(|event| normal_value(event, "", &mut names))
        .collect()
}

fn normal_value(value: Value, key: &str, names: &mut HashMap<String, String>) -> Value {
    const DIFFER: &[&str] = &[
        "run",
        "at",
        "latency_ms",
        "workspace",
        "body_sha256",
        "key",
        "files",
    ];
    match value {
        _ if DIFFER.contains(&key) => Value::Null,
        Value::String(id) if key == "action" => {
            let next = format!("action {}", names.len() + 1);
            Value::String(names.entry(id).or_insert(next).clone())
        }
        Value::String(text) => Value::String(without_fences(&text)),
        Value::Object(fields) => {
            let normal = |(key, value): (String, Value)| {
                let value = normal_value(value, &key, names);
                (key, value)
            };
            Value::Object(fields.into_iter().map(normal).collect())
        }
        Value::Array(items) => Value::Array(
            items
                .into_iter()
                .map(|item| normal_value(item, "", names))
                .collect(),
        ),
        other => other,
    }
}

/// A text without the names of its fences, which are drawn by chance.
fn without_fences(text: &str) -> String {
    let mut parts = text.split("untrusted id=");
    let mut rest = parts.next().unwrap().to_owned();
    for part in parts {
        rest.push_str("untrusted");
        rest.push_str(part.trim_start_matches(|letter| letter != ' ' && letter != '>'));
    }
    rest
}

fn streamed(manner: Manner) -> Vec<Value> {
    let provider = Provider::start(Setup::scripted(script()).in_manner(manner));
    let home = Home::with(&provider);
    let agent = home.agent("[tools]\nallow = [\"files\"]\n");
    let run = home.run(&["run", &agent, "Write it down.", "--json"]);
    assert_eq!(run.status, 0, "{run}");
    let events = run.json();
    assert_gapless(&events);
    home.assert_whole();
    events
}

#[test]
fn arguments_by_the_byte_in_turns_with_cut_letters_and_comments_make_no_difference() {
    let whole = streamed(Manner::default());
    let finished = of_type(&whole, "action.finished");
    assert_eq!(finished.len(), 3, "the tools really ran");
    let read = finished[2]["result"].as_str();
    assert!(read.is_some_and(|text| text.contains(WORDS)), "{read:?}");
    let nasty = streamed(Manner::nasty());
    assert_eq!(normal(whole), normal(nasty));
}

#[test]
fn a_whole_answer_where_a_stream_was_asked_for_makes_no_difference() {
    let manner = Manner {
        whole_json: true,
        ..Manner::default()
    };
    assert_eq!(
        normal(streamed(manner)),
        normal(streamed(Manner::default()))
    );
}

#[test]
fn a_model_named_on_the_command_line_is_used_with_any_agent() {
    let provider = Provider::start(Setup::demo());
    let home = Home::with(&provider);
    home.write(
        "notes/a.md",
        "# Kettles\n\nThe copper kettle boils a litre in 212 seconds.\n",
    );
    let words = [
        "run",
        "research",
        "How fast is the copper kettle?",
        "--model",
        "local/any",
    ];
    let run = home.run(&[&words[..], &["--library", "notes", "--json"]].concat());
    assert_eq!(run.status, 0, "{run}");
    let mut all = vec![run.json()];
    all.extend(home.events_of_children(&all[0]));
    let mut answered = 0;
    for events in &all {
        let requested = of_type(events, "model.requested");
        assert!(
            requested
                .iter()
                .all(|request| request["model"] == "local/any")
        );
        answered += of_type(events, "model.responded").len();
    }
    assert_eq!(answered, provider.mock.count());
}
