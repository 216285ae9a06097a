//! The log in memory, with faults on demand, for the simulation. No threads, no clock: the same
//! calls give the same answers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use futures::FutureExt;
use futures::future::{self, BoxFuture};
use longrein_protocol::view::RunLine;
use longrein_protocol::wish::Wish;
use longrein_protocol::{BlobHash, Event, Millis, RunId};

use crate::log::{Append, Fence, Log, LogError, Reading};

/// Where errors of this log are said to happen.
const PLACE: &str = "memory";

/// A fault of one append.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Which append of this log, counted from 1.
    pub append: u64,
    /// Whether its facts became durable.
    pub moment: Moment,
    /// What happens.
    pub kind: FaultKind,
}

/// When a fault strikes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moment {
    /// Nothing is durable.
    BeforeCommit,
    /// Everything is durable, and the caller is not told so.
    AfterCommit,
}

/// What a fault does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// The process ends: this call and every later one says [`LogError::Closed`], until the log
    /// is opened again.
    Crash,
    /// The disk is full, this once.
    Full,
    /// The file system refuses, this once.
    Io,
    /// Another process keeps the database locked while the caller is asked again this often;
    /// then the append goes on.
    Busy(u32),
}

/// The log in memory. [`MemoryLog::reopen`] gives another one over the same durable facts, as
/// another process would have.
pub struct MemoryLog {
    disk: Arc<Mutex<Disk>>,
    process: Mutex<Process>,
}

/// What outlives a process.
#[derive(Default)]
struct Disk {
    runs: BTreeMap<RunId, StoredRun>,
    blobs: BTreeMap<BlobHash, Arc<[u8]>>,
    fences: BTreeMap<RunId, u64>,
    inbox: Vec<StoredWish>,
    commits: u64,
}

struct StoredRun {
    tree: RunId,
    events: Vec<Event>,
    line: RunLine,
}

struct StoredWish {
    run: RunId,
    wish: Wish,
    taken: bool,
}

/// What ends with a process.
#[derive(Default)]
struct Process {
    closed: bool,
    appends: u64,
    faults: Vec<Fault>,
}

impl Default for MemoryLog {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryLog {
    /// An empty log.
    pub fn new() -> Self {
        Self {
            disk: Arc::default(),
            process: Mutex::default(),
        }
    }

    /// The same durable facts, opened again: open, without faults, counting appends from 1.
    pub fn reopen(&self) -> Self {
        Self {
            disk: Arc::clone(&self.disk),
            process: Mutex::default(),
        }
    }

    /// Plans a fault.
    pub fn inject(&self, fault: Fault) {
        self.process().faults.push(fault);
    }

    /// Ends the process now: every later call says [`LogError::Closed`].
    pub fn crash(&self) {
        self.process().closed = true;
    }

    /// How many appends were asked of this log since it was opened.
    pub fn appends(&self) -> u64 {
        self.process().appends
    }

    /// How many appends became durable, by whichever process.
    pub fn commits(&self) -> u64 {
        self.disk().commits
    }

    /// Takes the next fencing number of a tree, as [`crate::TreeLock::acquire`] does.
    ///
    /// # Errors
    /// [`LogError::Closed`].
    pub async fn take_fence(&self, tree: RunId) -> Result<Fence, LogError> {
        self.is_open()?;
        let mut disk = self.disk();
        let number = disk.fences.entry(tree).or_default();
        *number += 1;
        Ok(Fence {
            tree,
            number: *number,
        })
    }

    /// Puts a wish into the inbox of a run and returns its row number. A secret that this process
    /// knows is masked in it.
    ///
    /// # Errors
    /// [`LogError::NoRun`], [`LogError::Closed`].
    pub async fn post_wish(&self, run: RunId, wish: Wish, _at: Millis) -> Result<i64, LogError> {
        self.is_open()?;
        let mut disk = self.disk();
        if !disk.runs.contains_key(&run) {
            return Err(LogError::NoRun(run));
        }
        disk.inbox.push(StoredWish {
            run,
            wish: crate::wishes::masked(wish),
            taken: false,
        });
        Ok(disk.inbox.len() as i64)
    }

    /// Lines of runs, newest first, at most `limit`, older than `before`.
    ///
    /// # Errors
    /// [`LogError::Closed`].
    pub async fn runs(&self, limit: u32, before: Option<RunId>) -> Result<Vec<RunLine>, LogError> {
        self.is_open()?;
        let disk = self.disk();
        let older = disk
            .runs
            .iter()
            .rev()
            .filter(|(run, _)| before.is_none_or(|before| **run < before));
        Ok(older
            .take(limit as usize)
            .map(|(_, stored)| stored.line.clone())
            .collect())
    }

    /// The line of one run.
    ///
    /// # Errors
    /// [`LogError::NoRun`], [`LogError::Closed`].
    pub async fn run_line(&self, run: RunId) -> Result<RunLine, LogError> {
        self.is_open()?;
        let disk = self.disk();
        disk.runs
            .get(&run)
            .map(|stored| stored.line.clone())
            .ok_or(LogError::NoRun(run))
    }

    /// All events of a run, whatever has happened to this process: for what a test asserts.
    pub fn durable(&self, run: RunId) -> Vec<Event> {
        self.disk()
            .runs
            .get(&run)
            .map(|stored| stored.events.clone())
            .unwrap_or_default()
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn process(&self) -> MutexGuard<'_, Process> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_open(&self) -> Result<(), LogError> {
        if self.process().closed {
            Err(LogError::Closed)
        } else {
            Ok(())
        }
    }

    /// Counts an append and takes the fault that is planned for it.
    fn begin(&self) -> Result<Option<Fault>, LogError> {
        self.is_open()?;
        let mut process = self.process();
        process.appends += 1;
        let number = process.appends;
        let planned = process
            .faults
            .iter()
            .position(|fault| fault.append == number);
        Ok(planned.map(|place| process.faults.remove(place)))
    }

    fn strike(&self, kind: FaultKind) -> Result<(), LogError> {
        match kind {
            FaultKind::Busy(_) => Ok(()),
            FaultKind::Crash => {
                self.crash();
                Err(LogError::Closed)
            }
            FaultKind::Full => Err(LogError::Full {
                path: PLACE.to_owned(),
            }),
            FaultKind::Io => Err(LogError::Io {
                path: PLACE.to_owned(),
                message: "a fault was asked for".to_owned(),
            }),
        }
    }

    async fn append_with_faults(&self, append: Append) -> Result<(), LogError> {
        let fault = self.begin()?;
        if let Some(FaultKind::Busy(times)) = fault.map(|fault| fault.kind) {
            stay_busy(times).await;
            self.is_open()?;
        }
        let at = |moment| {
            fault
                .filter(|fault| fault.moment == moment)
                .map(|fault| fault.kind)
        };
        if let Some(kind) = at(Moment::BeforeCommit) {
            self.strike(kind)?;
        }
        self.disk().commit(append)?;
        match at(Moment::AfterCommit) {
            Some(kind) => self.strike(kind),
            None => Ok(()),
        }
    }
}

/// Lets the executor ask again `times` times.
async fn stay_busy(mut times: u32) {
    future::poll_fn(|context| {
        if times == 0 {
            return Poll::Ready(());
        }
        times -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl Disk {
    /// Everything is checked before anything is changed, so that a refusal leaves no trace.
    fn commit(&mut self, append: Append) -> Result<(), LogError> {
        let fence = append.fence;
        if self.fences.get(&fence.tree).copied().unwrap_or(0) != fence.number {
            return Err(LogError::Fenced);
        }
        let mut lasts = BTreeMap::new();
        for part in &append.runs {
            let stored = self.runs.get(&part.run);
            if stored.is_some_and(|stored| stored.tree != fence.tree) {
                return Err(LogError::Fenced);
            }
            let last = lasts
                .entry(part.run)
                .or_insert(stored.map_or(0, |stored| stored.events.len() as u32));
            for event in &part.events {
                if event.run != part.run || event.seq != *last + 1 {
                    return Err(LogError::Sequence {
                        run: event.run,
                        last: *last,
                        given: event.seq,
                    });
                }
                *last = event.seq;
            }
        }
        self.write(append);
        Ok(())
    }

    fn write(&mut self, append: Append) {
        for part in append.runs {
            let stored = self.runs.entry(part.run).or_insert_with(|| StoredRun {
                tree: append.fence.tree,
                events: Vec::new(),
                line: part.line.clone(),
            });
            stored.events.extend(part.events);
            stored.line = part.line;
        }
        for blob in append.blobs {
            self.blobs
                .entry(blob.hash)
                .or_insert_with(|| blob.bytes.into());
        }
        for id in append.taken {
            let place = usize::try_from(id - 1).ok();
            if let Some(wish) = place.and_then(|place| self.inbox.get_mut(place)) {
                wish.taken = true;
            }
        }
        self.commits += 1;
    }

    fn read(&self, run: RunId, from: u32, limit: u32) -> Result<Reading, LogError> {
        let stored = self.runs.get(&run).ok_or(LogError::NoRun(run))?;
        let events = stored
            .events
            .iter()
            .skip(from.max(1) as usize - 1)
            .take(limit as usize);
        Ok(Reading {
            events: events.cloned().collect(),
            damage: None,
        })
    }
}

impl Log for MemoryLog {
    fn append(&self, append: Append) -> BoxFuture<'_, Result<(), LogError>> {
        self.append_with_faults(append).boxed()
    }

    fn read(&self, run: RunId, from: u32, limit: u32) -> BoxFuture<'_, Result<Reading, LogError>> {
        let answer = self
            .is_open()
            .and_then(|()| self.disk().read(run, from, limit));
        future::ready(answer).boxed()
    }

    fn blob(&self, hash: BlobHash) -> BoxFuture<'_, Result<Arc<[u8]>, LogError>> {
        let found = || {
            self.disk()
                .blobs
                .get(&hash)
                .cloned()
                .ok_or(LogError::Blob(hash))
        };
        future::ready(self.is_open().and_then(|()| found())).boxed()
    }

    fn wishes(&self, run: RunId) -> BoxFuture<'_, Result<Vec<(i64, Wish)>, LogError>> {
        let open = |disk: &Disk| {
            let rows = disk.inbox.iter().zip(1_i64..);
            let open = rows.filter(|(stored, _)| stored.run == run && !stored.taken);
            open.map(|(stored, id)| (id, stored.wish.clone())).collect()
        };
        future::ready(self.is_open().map(|()| open(&self.disk()))).boxed()
    }
}
