//! Finding words in all runs.

use std::fs;

use longrein_testkit::provider::Setup;
use longrein_testkit::reply::{call, say};
use serde_json::{Value, json};

use crate::support::{Home, Outcome, Provider};

const AGENT: &str = "[tools]\nallow = [\"files\"]\n";

fn two_runs() -> Home {
    let script = vec![
        call(
            "write_file",
            json!({"path": "notes.txt", "content": "The Café has a wobbly table."}),
        ),
        call("read_file", json!({"path": "notes.txt"})),
        say("The **wobbly** table stands in the café."),
        say("Nothing of that kind. Only needles."),
    ];
    let provider = Provider::start(Setup::scripted(script));
    let home = Home::with(&provider);
    for question in ["Which table is it?", "And elsewhere?"] {
        let run = home.run(&["run", &home.agent(AGENT), question]);
        assert_eq!(run.status, 0, "{run}");
    }
    home
}

fn good(outcome: Outcome) -> Outcome {
    assert_eq!(outcome.status, 0, "{outcome}");
    outcome
}

fn found(home: &Home, words: &[&str]) -> Vec<Value> {
    good(home.run(&[&["search", "--json"], words].concat())).json()
}

/// The marked parts of a hit.
fn marked(hit: &Value) -> Vec<String> {
    let units: Vec<u16> = hit["text"].as_str().unwrap().encode_utf16().collect();
    let marks = hit["marks"].as_array().unwrap().iter();
    let place = |mark: &Value, end: &str| mark[end].as_u64().unwrap() as usize;
    let part = |mark| String::from_utf16(&units[place(mark, "from")..place(mark, "to")]).unwrap();
    marks.map(part).collect()
}

#[test]
fn words_are_found_in_all_that_was_said_and_found_with_their_place() {
    let home = two_runs();
    let hits = found(&home, &["wobbly", "cafe"]);
    let kinds: Vec<&str> = hits
        .iter()
        .map(|hit| hit["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["answer", "result", "request"], "{hits:?}");
    assert_eq!(marked(&hits[0]), ["wobbly", "café"]);
    assert_eq!(marked(&hits[1]), ["Café", "wobbly"]);
    let run = hits[0]["run"]["run"].as_str().unwrap();
    let events = home.events(run);
    for hit in &hits {
        let event = &events[hit["seq"].as_u64().unwrap() as usize - 1];
        let row = hit["row"].as_str().unwrap();
        let names = event["action"]
            .as_str()
            .map_or(format!("e{}", event["seq"]), str::to_owned);
        assert_eq!(row, names, "{hit}");
    }
    let shown = good(home.run(&["search", "wobbly"]));
    assert!(
        shown.out.contains("Which table is it?") && shown.out.contains("wobbly"),
        "{shown}"
    );
    assert_eq!(found(&home, &["\"table wobbly\""]), Vec::<Value>::new());
    assert_eq!(found(&home, &["\"wobbly table\""]).len(), 3);
    let nothing = home.run(&["search", "…"]);
    assert_eq!(nothing.status, 2, "{nothing}");
}

#[test]
fn a_search_may_be_for_one_run_one_agent_or_one_state() {
    let home = two_runs();
    let all = found(&home, &["no"]);
    let run = all[0]["run"]["run"].as_str().unwrap().to_owned();
    let one = found(&home, &["no", "--run", &run]);
    assert!(!one.is_empty() && one.len() < all.len(), "{one:?}");
    assert_eq!(
        found(&home, &["no", "--state", "finished"]).len(),
        all.len()
    );
    assert_eq!(found(&home, &["no", "--state", "failed"]).len(), 0);
    assert_eq!(found(&home, &["no", "--agent", "nobody"]).len(), 0);
    assert_eq!(found(&home, &["no", "--limit", "1"]).len(), 1);
}

#[test]
fn the_index_holds_no_text_and_is_made_anew_from_the_log() {
    let home = two_runs();
    let before = found(&home, &["wobbly"]);
    let index = home.path().join("data/search.db");
    let bytes = fs::read(&index).unwrap();
    let holds = |words: &[u8]| bytes.windows(words.len()).any(|part| part == words);
    assert!(!holds(b"wobbly table"), "the index repeats the log");
    for content in [
        None,
        Some("no database, and never one; long enough to be looked at"),
    ] {
        fs::remove_file(&index).unwrap();
        for suffix in ["-wal", "-shm"] {
            let _ = fs::remove_file(home.path().join(format!("data/search.db{suffix}")));
        }
        if let Some(content) = content {
            fs::write(&index, content).unwrap();
        }
        assert_eq!(found(&home, &["wobbly"]), before);
    }
    good(home.run(&["log", "rebuild"]));
    assert_eq!(found(&home, &["wobbly"]), before);
    home.assert_whole();
}
