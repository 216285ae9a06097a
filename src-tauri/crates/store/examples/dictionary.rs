//! Writes sample payloads, from which the dictionary of the codec is trained:
//!
//! ```text
//! cargo run -p longrein-store --example dictionary -- samples
//! zstd --train samples/* --maxdict=16384 --dictID=1 -o src/dictionary-1.zdict
//! ```
//!
//! A dictionary that has shipped is never changed: a better one gets the next number.

use std::path::PathBuf;

use longrein_protocol::{ActionId, Event};

#[path = "../tests/store/sample.rs"]
mod sample;

use sample::Sample;

/// How many runs the samples are of, and how long each is.
const RUNS: u64 = 40;
const STEPS: u64 = 12;

/// Words that any run has; what a run is about is not for the dictionary to know.
const WORDS: &[&str] = &[
    "the", "of", "and", "to", "in", "a", "is", "that", "for", "it", "as", "with", "on", "by",
    "this", "are", "be", "from", "at", "or", "an", "which", "was", "not", "have", "has", "but",
    "what", "all", "were", "when", "we", "there", "can", "more", "if", "no", "will", "each",
    "about", "how", "up", "out", "them", "then", "these", "so", "some", "into", "other", "its",
    "than", "only", "between", "result", "search", "library", "document", "source", "file", "page",
    "read", "notes", "found", "error", "table", "section", "results", "data", "passages", "lines",
];

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(
        std::env::args()
            .nth(1)
            .unwrap_or_else(|| "samples".to_owned()),
    );
    std::fs::create_dir_all(&folder)?;
    let mut count = 0;
    for seed in 1..=RUNS {
        for event in events(seed) {
            count += 1;
            std::fs::write(folder.join(format!("{count:05}.json")), payload(&event)?)?;
        }
    }
    println!("{count} samples in {}", folder.display());
    Ok(())
}

fn events(seed: u64) -> Vec<Event> {
    let mut sample = Sample::new(seed, WORDS);
    let mut events = sample.beginning();
    for _ in 0..STEPS {
        events.extend(sample.step().into_iter().flatten());
    }
    events.extend(sample.seldom(&ActionId::from_random(u128::from(seed) << 40)));
    events
}

/// The payload as it is stored: an object without its `type`.
fn payload(event: &Event) -> std::io::Result<String> {
    let json = serde_json::to_string(&event.payload)?;
    let tag = format!(r#"{{"type":"{}","#, event.payload.name());
    Ok(match json.strip_prefix(&tag) {
        Some(fields) => format!("{{{fields}"),
        None => "{}".to_owned(),
    })
}
