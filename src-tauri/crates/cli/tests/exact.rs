//! Every request of a long run can be rebuilt byte for byte, and a run's storage grows linearly.

use std::fs;
use std::path::Path;
use std::thread;

use longrein_runtime::ports::ReplyBlock;
use longrein_testkit::provider::{Content, Setup};
use longrein_testkit::reply::reply_of;
use rusqlite::Connection;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::support::{Home, Provider, of_type};

/// Steps of the long run, and of the one that it is compared with.
const LONG: u32 = 300;
const SHORT: u32 = 50;
/// Commands that look at the requests at the same time.
const READERS: u32 = 4;

const AGENT: &str = "window_tokens = 4000000\n\n[tools]\nallow = [\"files\"]\n\n[budget]\nsteps = 400\nactions = 400\ntokens_in = 400000000\ntokens_out = 4000000\nworking_minutes = 60\n";

/// A model that writes one file after the other, and is done after so many.
fn writing(files: u32) -> Setup {
    Setup::of(move |request| {
        let count = request.replies();
        let block = match count < files {
            true => ReplyBlock::ToolUse {
                id: format!("call_{count}"),
                name: "write_file".to_owned(),
                arguments: json!({
                    "path": format!("{count}.md"),
                    "content": format!("Note {count}: {}", noise(count)),
                })
                .to_string(),
                raw: None,
            },
            false => ReplyBlock::Text {
                text: "Done.".to_owned(),
                raw: None,
            },
        };
        Content::Reply(reply_of(vec![block], request)).into()
    })
}

/// Words that no two steps share, so that nothing is stored once for many.
fn noise(seed: u32) -> String {
    let hash = |place: u32| sha256(format!("{seed} {place}").as_bytes()) + " ";
    (0..6).map(hash).collect()
}

/// What `sha256sum` would say.
fn sha256(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

struct Written {
    home: Home,
    run: String,
    bytes: u64,
}

/// A run of so many steps, in a format.
fn written(format: &str, files: u32) -> Written {
    let provider = Provider::start(writing(files));
    let home = Home::new();
    let base_url = match format {
        "openai-chat" => provider.mock.base_url(),
        _ => provider.mock.origin(),
    };
    home.configure(&format!(
        "[providers.local]\nformat = \"{format}\"\nbase_url = \"{base_url}\"\n"
    ));
    let before = stored(&home);
    let run = home.run(&["run", &home.agent(AGENT), "Write."]);
    assert_eq!(run.status, 0, "{run}");
    assert_eq!(provider.mock.count() as u32, files + 1);
    let bytes = stored(&home) - before;
    let run = run.run_id();
    Written { home, run, bytes }
}

/// Bytes of all that is kept. A process may end before its write-ahead log is emptied into the
/// database, so that is done before they are counted.
fn stored(home: &Home) -> u64 {
    if home.database().exists() {
        let database = Connection::open(home.database()).unwrap();
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        database.query_row(checkpoint, [], |_| Ok(())).unwrap();
    }
    size(&home.data())
}

/// Bytes of all files of a folder.
fn size(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0;
    };
    let sizes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

/// The hash of what `show --raw` writes of a request.
fn hash_of(written: &Written, number: u32) -> String {
    let words = [
        "show",
        &written.run,
        "--request",
        &number.to_string(),
        "--raw",
    ];
    let shown = written.home.command(&words).output().unwrap();
    assert!(shown.status.success(), "request {number}");
    sha256(&shown.stdout)
}

/// Checks every request of a run against the hash that was recorded when it was sent.
fn assert_exact(written: &Written) {
    let events = written.home.events(&written.run);
    let recorded: Vec<&str> = of_type(&events, "model.requested")
        .into_iter()
        .map(|event: &Value| event["body_sha256"].as_str().unwrap())
        .collect();
    assert_eq!(recorded.len() as u32, LONG + 1);
    thread::scope(|scope| {
        for reader in 0..READERS {
            let recorded = &recorded;
            scope.spawn(move || {
                for (number, hash) in (1..).zip(recorded) {
                    if number % READERS == reader {
                        assert_eq!(hash_of(written, number), *hash, "request {number}");
                    }
                }
            });
        }
    });
}

/// What a run costs that does next to nothing is not counted: tables, indexes, the agent.
fn exact_and_linear(format: &str) {
    let [none, short, long] = [1, SHORT, LONG].map(|files| written(format, files));
    assert_exact(&long);
    let a_step = |run: &Written, files: u32| (run.bytes - none.bytes) / u64::from(files - 1);
    let (few, many) = (a_step(&short, SHORT), a_step(&long, LONG));
    println!("{format}: {few} bytes a step after {SHORT}, {many} after {LONG}");
    let apart = few.abs_diff(many);
    assert!(apart * 10 <= few, "from {few} to {many} bytes a step");
}

#[test]
fn every_request_of_a_long_chat_is_rebuilt_and_its_storage_grows_linearly() {
    exact_and_linear("openai-chat");
}

#[test]
fn every_request_of_a_long_conversation_in_messages_is_rebuilt_and_its_storage_grows_linearly() {
    exact_and_linear("anthropic");
}
