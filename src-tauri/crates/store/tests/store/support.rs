//! What the tests share.

use std::future::Future;
use std::path::Path;

use longrein_protocol::body::NewBlob;
use longrein_protocol::view::{KnotShape, RunLine, RunState};
use longrein_protocol::wish::Wish;
use longrein_protocol::{Event, Millis, RunId};
use longrein_store::{Append, Fence, Log, LogError, MemoryLog, RunAppend, Store};
use rusqlite::Connection;

use crate::sample::Sample;

/// What the runs of the tests are about: other words than the dictionary was trained on.
pub const TOPIC: &[&str] = &[
    "vector",
    "index",
    "recall",
    "latency",
    "graph",
    "quantised",
    "shards",
    "disk",
    "memory",
    "neighbours",
    "benchmark",
    "million",
    "inserts",
    "filtered",
    "queries",
    "hybrid",
    "ranking",
    "embedding",
    "cosine",
    "product",
    "clusters",
    "pruning",
    "throughput",
    "seconds",
    "gigabytes",
    "machine",
    "open",
    "licence",
    "paper",
    "figure",
    "the",
    "of",
    "and",
    "to",
    "in",
    "is",
    "with",
    "for",
    "on",
    "by",
];

/// How many appends a test has in flight at once; up to thirty `join_all` starts in order.
pub const IN_FLIGHT: usize = 24;

/// Runs a test's future on a single thread.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(future)
}

/// What both logs have beside the port.
pub trait AnyLog: Log {
    fn fence(&self, tree: RunId) -> impl Future<Output = Result<Fence, LogError>>;
    fn post(
        &self,
        run: RunId,
        wish: Wish,
        at: Millis,
    ) -> impl Future<Output = Result<i64, LogError>>;
    fn lines(
        &self,
        limit: u32,
        before: Option<RunId>,
    ) -> impl Future<Output = Result<Vec<RunLine>, LogError>>;
    fn line(&self, run: RunId) -> impl Future<Output = Result<RunLine, LogError>>;
}

impl AnyLog for Store {
    async fn fence(&self, tree: RunId) -> Result<Fence, LogError> {
        self.take_fence(tree).await
    }
    async fn post(&self, run: RunId, wish: Wish, at: Millis) -> Result<i64, LogError> {
        self.post_wish(run, wish, at).await
    }
    async fn lines(&self, limit: u32, before: Option<RunId>) -> Result<Vec<RunLine>, LogError> {
        self.runs(limit, before).await
    }
    async fn line(&self, run: RunId) -> Result<RunLine, LogError> {
        self.run_line(run).await
    }
}

impl AnyLog for MemoryLog {
    async fn fence(&self, tree: RunId) -> Result<Fence, LogError> {
        self.take_fence(tree).await
    }
    async fn post(&self, run: RunId, wish: Wish, at: Millis) -> Result<i64, LogError> {
        self.post_wish(run, wish, at).await
    }
    async fn lines(&self, limit: u32, before: Option<RunId>) -> Result<Vec<RunLine>, LogError> {
        self.runs(limit, before).await
    }
    async fn line(&self, run: RunId) -> Result<RunLine, LogError> {
        self.run_line(run).await
    }
}

/// The line of a run as it stands.
pub fn line_of(sample: &Sample) -> RunLine {
    RunLine {
        cost_micro: None,
        cost_estimated: false,
        run: sample.run.to_string(),
        parent: None,
        root: None,
        title: "Which index fits on one machine?".to_owned(),
        agent: "research".to_owned(),
        model: "local/any".to_owned(),
        demo: false,
        state: RunState::Running,
        reason: String::new(),
        since: sample.at,
        created_at: 1_764_000_000_000,
        updated_at: sample.at,
        steps: sample.steps,
        tokens_in: sample.steps * 2_000,
        tokens_out: sample.steps * 60,
        working_ms: sample.steps * 900,
        seq: sample.seq,
        rein: vec![KnotShape::Ring; sample.steps.min(24) as usize],
    }
}

/// An append of events of one run.
pub fn append(fence: Fence, sample: &Sample, events: Vec<Event>) -> Append {
    Append {
        fence,
        runs: vec![RunAppend {
            run: sample.run,
            events,
            line: line_of(sample),
        }],
        blobs: Vec::new(),
        taken: Vec::new(),
    }
}

/// A run that has begun, with the right to go on.
pub async fn begun(log: &impl AnyLog, seed: u64) -> (Sample, Fence) {
    let mut sample = Sample::new(seed, TOPIC);
    let fence = log.fence(sample.run).await.unwrap();
    let events = sample.beginning();
    log.append(append(fence, &sample, events)).await.unwrap();
    (sample, fence)
}

/// Takes `steps` more steps and returns their events.
pub async fn go_on(log: &impl Log, sample: &mut Sample, fence: Fence, steps: u32) -> Vec<Event> {
    let mut all = Vec::new();
    for _ in 0..steps {
        for events in sample.step() {
            all.extend(events.iter().cloned());
            log.append(append(fence, sample, events)).await.unwrap();
        }
    }
    all
}

/// Takes `steps` more steps, with several of them in flight at once.
pub async fn run_on(log: &impl Log, sample: &mut Sample, fence: Fence, steps: u32) {
    let mut left = steps;
    while left > 0 {
        let now = left.min(IN_FLIGHT as u32 / 3);
        let mut waiting = Vec::new();
        for _ in 0..now {
            for events in sample.step() {
                waiting.push(log.append(append(fence, sample, events)));
            }
        }
        for outcome in futures::future::join_all(waiting).await {
            outcome.unwrap();
        }
        left -= now;
    }
}

/// Bytes that don't shrink.
pub fn noise(seed: u64, bytes: usize) -> NewBlob {
    let mut numbers = crate::sample::Numbers(seed);
    NewBlob::of(
        (0..bytes.div_ceil(8))
            .flat_map(|_| numbers.next().to_be_bytes())
            .take(bytes)
            .collect(),
    )
}

/// A connection of a stranger, to spoil things.
pub fn raw(data_dir: &Path) -> Connection {
    Connection::open(data_dir.join("longrein.db")).unwrap()
}

/// Events read and those expected, without a flood of output when they differ.
pub fn assert_same(read: &[Event], expected: &[Event]) {
    assert_eq!(read.len(), expected.len(), "the number of events");
    for (read, expected) in read.iter().zip(expected) {
        assert_eq!(read, expected);
    }
}
