//! One research on a fresh log, from its first event to what is left in view.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use longrein_core::run::Run;
use longrein_protocol::event::{Fragment, Payload};
use longrein_protocol::view::RunState;
use longrein_protocol::{BlobHash, Body, Event, RunId};
use longrein_runtime::ports::Chance as _;
use longrein_runtime::{Driver, Ports, history, wire};
use longrein_store::log::{Log, LogError};
use longrein_store::{Store, TreeLock};
use longrein_testkit::world::SeededChance;
use serde::Serialize;

use super::Way;
use super::meter::Sent;
use super::workload::Workload;
use super::world::ResearchWorld;
use crate::bench::world::BenchClock;
use crate::failure::{Failure, Status};

/// What one research came to.
#[derive(Clone, Debug)]
pub struct Measured {
    /// What the model was sent.
    pub sent: Sent,
    /// Growth of the data folder, after a checkpoint.
    pub stored_bytes: u64,
    /// How often older parts were taken out.
    pub compactions: u32,
    /// Results that were shown by what they are made of.
    pub offloaded: u32,
    /// Requests that the log rebuilds to the hash that was recorded when they were sent.
    pub rebuilt: u32,
    /// Requests in the log.
    pub requests: u32,
    /// Why it did not come to its end; `None` where it did.
    pub stopped: Option<Stopped>,
}

/// Where a research stopped before its end.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Stopped {
    /// Steps that it had made.
    pub steps: u32,
    /// Why, in sentences.
    pub why: String,
}

/// Does the research in this way in a fresh data folder.
///
/// # Errors
/// When the disk refuses.
pub async fn research(
    folder: &Path,
    way: Way,
    workload: Arc<Workload>,
) -> Result<Measured, Failure> {
    let store = Store::open(folder)?;
    store.checkpoint().await?;
    let empty_bytes = store.bytes_on_disk();
    let (run, sent, stopped) = drive(&store, way, workload).await?;
    store.checkpoint().await?;
    let stored_bytes = store.bytes_on_disk().saturating_sub(empty_bytes);
    let events = events(&store, run).await.map_err(|error| failed(&error))?;
    let count = |name: &str| {
        let named = events.iter().filter(|event| event.payload.name() == name);
        named.count() as u32
    };
    let (requests, rebuilt) = rebuilt(&store, &events)
        .await
        .map_err(|error| failed(&error))?;
    Ok(Measured {
        sent,
        stored_bytes,
        compactions: count("context.compacted"),
        offloaded: count("result.offloaded"),
        rebuilt,
        requests,
        stopped,
    })
}

async fn drive(
    store: &Store,
    way: Way,
    workload: Arc<Workload>,
) -> Result<(RunId, Sent, Option<Stopped>), Failure> {
    let chance = Arc::new(SeededChance::new(1));
    let run = RunId::from_parts(longrein_app::now(), chance.random());
    let lock = TreeLock::acquire(store, run).await;
    let (_lock, fence) = lock.map_err(|error| failed(&error))?;
    let world = Arc::new(ResearchWorld::new(workload, store, run, way.recalls));
    let ports = Ports {
        log: Arc::new(store.clone()),
        clock: Arc::new(BenchClock::default()),
        chance,
        world: world.clone(),
    };
    let mut driver = Driver::new(ports, fence, Run::default());
    let begun = driver
        .record(ResearchWorld::created(way.agent))
        .and_then(|()| driver.say("Research it.".to_owned()));
    begun.map_err(|error| failed(&error))?;
    driver.drive(false).await.map_err(|error| failed(&error))?;
    let (state, reason, _) = driver.run().standing();
    let stopped = (state != RunState::Unverified).then(|| Stopped {
        steps: driver.run().used.steps,
        why: reason,
    });
    Ok((run, world.model().sent(), stopped))
}

async fn events(store: &Store, run: RunId) -> Result<Vec<Event>, LogError> {
    let mut events = Vec::new();
    history::each_event(store, run, &mut |event| events.push(event.clone())).await?;
    Ok(events)
}

/// How many requests there are, and how many the log rebuilds byte for byte.
async fn rebuilt(log: &dyn Log, events: &[Event]) -> Result<(u32, u32), LogError> {
    let mut fragments: Vec<Fragment> = Vec::new();
    let mut known: HashMap<BlobHash, Arc<[u8]>> = HashMap::new();
    let (mut requests, mut rebuilt) = (0, 0);
    for event in events {
        match &event.payload {
            Payload::ContextCompiled(compiled) => {
                fragments.truncate(compiled.keep as usize);
                fragments.extend(compiled.add.iter().cloned());
            }
            Payload::ModelRequested(requested) => {
                let mut bytes = Vec::with_capacity(requested.body_bytes as usize);
                for fragment in &fragments {
                    match &fragment.body {
                        Body::Text(text) => bytes.extend_from_slice(text.as_bytes()),
                        Body::Blob { blob, .. } => {
                            if !known.contains_key(blob) {
                                known.insert(*blob, log.blob(*blob).await?);
                            }
                            bytes.extend_from_slice(&known[blob]);
                        }
                    }
                }
                requests += 1;
                rebuilt += u32::from(wire::sha256(&bytes) == requested.body_sha256);
            }
            _ => {}
        }
    }
    Ok((requests, rebuilt))
}

fn failed(error: &dyn std::error::Error) -> Failure {
    let message = format!("The bench can't go on: {error}.");
    Failure::said(Status::Failed, message, "")
}
