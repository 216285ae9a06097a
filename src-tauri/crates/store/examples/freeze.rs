//! Freezes a database of the present schema, once per schema, for the tests of every later
//! version: a whole run, one with an event of the future, and one with a damaged row.
//!
//! ```text
//! cargo run -p longrein-store --example freeze -- tests/store/frozen/schema-1.db.zst
//! ```

use std::error::Error;
use std::path::{Path, PathBuf};

use longrein_core::run::Run;
use longrein_protocol::ActionId;
use longrein_store::{Append, Log, LogError, RunAppend, Store};
use rusqlite::Connection;

#[path = "../tests/store/forged.rs"]
mod forged;
#[path = "../tests/store/sample.rs"]
mod sample;

use sample::Sample;

/// What the frozen runs are about.
const WORDS: &[&str] = &[
    "rein", "horse", "furrow", "harness", "the", "of", "and", "field",
];

/// Steps of the whole run.
const STEPS: u32 = 3;

/// Small files are worth the time.
const LEVEL: i32 = 19;

fn main() -> Result<(), Box<dyn Error>> {
    let target = PathBuf::from(std::env::args().nth(1).ok_or("name the file to write")?);
    let folder = tempfile::tempdir()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut samples: Vec<Sample> = (1..=3).map(|seed| Sample::new(seed, WORDS)).collect();
    samples.sort_by_key(|sample| sample.run);
    runtime.block_on(async {
        let store = Store::open(folder.path())?;
        for (place, sample) in samples.iter_mut().enumerate() {
            let steps = if place == 0 { STEPS } else { 0 };
            write(&store, sample, steps).await?;
        }
        store.checkpoint().await
    })?;
    let database = folder.path().join("longrein.db");
    spoil(&database, &samples)?;
    let frozen = zstd::bulk::compress(&std::fs::read(&database)?, LEVEL)?;
    std::fs::write(&target, &frozen)?;
    println!("{} bytes in {}", frozen.len(), target.display());
    Ok(())
}

/// Writes what a run begins with, and for the whole one some steps.
async fn write(store: &Store, sample: &mut Sample, steps: u32) -> Result<(), LogError> {
    let fence = store.take_fence(sample.run).await?;
    let mut events = sample.beginning();
    for _ in 0..steps {
        events.extend(sample.step().into_iter().flatten());
    }
    if steps > 0 {
        events.extend(sample.seldom(&ActionId::from_random(7)));
    }
    let run = RunAppend {
        run: sample.run,
        line: Run::fold(&events).line(),
        events,
    };
    let append = Append {
        fence,
        runs: vec![run],
        blobs: Vec::new(),
        taken: Vec::new(),
    };
    store.append(append).await
}

/// Damages the second run and gives the third one an event of the future.
fn spoil(database: &Path, samples: &[Sample]) -> rusqlite::Result<()> {
    let connection = Connection::open(database)?;
    let cut = "UPDATE events SET payload = substr(payload, 2) WHERE run = ?1 AND seq = 2";
    connection.execute(cut, [samples[1].run.0.0.to_be_bytes()])?;
    let json = br#"{"crater":"Tycho"}"#;
    forged::add_row(&connection, samples[2].run, "moon.landed", 1, json)
}
