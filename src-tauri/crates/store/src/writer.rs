//! The one thread that writes. It groups what waits into one transaction, so that many appends
//! share one sync; each keeps a savepoint of its own, so that none takes its neighbours down.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode};
use tokio::sync::{mpsc, watch};

use crate::codec::Encoder;
use crate::fault::{self, Failure};
use crate::log::LogError;

/// How many pieces of work may wait; who comes then waits with his.
const QUEUE_LIMIT: usize = 256;

/// How many pieces of work share one transaction at most.
const GROUP_LIMIT: usize = 64;

/// A piece of work for the writer.
pub(crate) trait Work: Send {
    /// What can be done before the database is locked.
    fn prepare(&mut self, encoder: &mut Encoder) -> Result<(), LogError>;

    /// Does it inside a transaction. May be called again after the transaction was rolled back.
    fn apply(&mut self, connection: &Connection) -> Result<(), Failure>;

    /// Tells the one who asked; `Ok` only when it is on disk.
    fn answer(self: Box<Self>, outcome: Result<(), LogError>);
}

/// What the writer has done since the store was opened.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct WriterStats {
    /// Pieces of work that became durable.
    pub works: u64,
    /// Transactions that were committed: with several writers at once fewer than `works`.
    pub commits: u64,
    /// Time spent in `COMMIT`, which is nearly all waiting for the disk, in microseconds.
    pub commit_us: u64,
    /// The processor's part of that time, which is the system's work for the sync, in
    /// microseconds.
    pub commit_cpu_us: u64,
}

/// The writer's thread and the way to it. Ends, with what waits, when it is dropped.
pub(crate) struct Writer {
    queue: Option<mpsc::Sender<Box<dyn Work>>>,
    thread: Option<JoinHandle<()>>,
    stats: Arc<Mutex<WriterStats>>,
}

impl Writer {
    /// Starts the thread on `connection`; `changes` counts up with every commit.
    pub(crate) fn start(
        connection: Connection,
        path: PathBuf,
        changes: watch::Sender<u64>,
    ) -> Result<Self, LogError> {
        let encoder = Encoder::new().map_err(|error| fault::file(&path, &error))?;
        let (queue, work) = mpsc::channel(QUEUE_LIMIT);
        let stats = Arc::new(Mutex::new(WriterStats::default()));
        let file = path.clone();
        let mut desk = Desk {
            connection,
            path,
            encoder,
            changes,
            stats: Arc::clone(&stats),
        };
        let thread = std::thread::Builder::new()
            .name("log writer".to_owned())
            .spawn(move || desk.run(work))
            .map_err(|error| fault::file(&file, &error))?;
        Ok(Self {
            queue: Some(queue),
            thread: Some(thread),
            stats,
        })
    }

    /// Hands over a piece of work; waits while the queue is full.
    pub(crate) async fn send(&self, work: Box<dyn Work>) -> Result<(), LogError> {
        let queue = self.queue.as_ref().ok_or(LogError::Closed)?;
        queue.send(work).await.map_err(|_| LogError::Closed)
    }

    pub(crate) fn stats(&self) -> WriterStats {
        *self.stats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // It only fails if the thread panicked, which its senders have seen as `Closed`.
            let _ = thread.join();
        }
    }
}

struct Desk {
    connection: Connection,
    path: PathBuf,
    encoder: Encoder,
    changes: watch::Sender<u64>,
    stats: Arc<Mutex<WriterStats>>,
}

impl Desk {
    fn run(&mut self, mut work: mpsc::Receiver<Box<dyn Work>>) {
        while let Some(first) = work.blocking_recv() {
            let mut group = VecDeque::with_capacity(1);
            self.take(first, &mut group);
            while group.len() < GROUP_LIMIT {
                match work.try_recv() {
                    Ok(next) => self.take(next, &mut group),
                    Err(_) => break,
                }
            }
            self.write(group);
        }
    }

    fn take(&mut self, mut work: Box<dyn Work>, group: &mut VecDeque<Box<dyn Work>>) {
        match work.prepare(&mut self.encoder) {
            Ok(()) => group.push_back(work),
            Err(error) => work.answer(Err(error)),
        }
    }

    /// Commits the group together; when that fails, each piece alone, so that one which is too
    /// large for the disk does not stop the small ones beside it.
    fn write(&mut self, mut group: VecDeque<Box<dyn Work>>) {
        if group.is_empty() {
            return;
        }
        match self.commit(&mut group) {
            Ok(outcomes) => answer_all(group, outcomes),
            Err(error) if group.len() == 1 || is_busy(&error) => {
                let error = fault::database(&self.path, &error);
                let outcomes = vec![Err(error); group.len()];
                answer_all(group, outcomes);
            }
            Err(_) => {
                for work in group {
                    self.write(VecDeque::from([work]));
                }
            }
        }
    }

    fn commit(
        &mut self,
        group: &mut VecDeque<Box<dyn Work>>,
    ) -> rusqlite::Result<Vec<Result<(), LogError>>> {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let outcomes = self.apply_and_commit(group);
        if outcomes.is_err() && !self.connection.is_autocommit() {
            // Nothing of the group is durable; when even this fails, the next BEGIN says so.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        outcomes
    }

    fn apply_and_commit(
        &mut self,
        group: &mut VecDeque<Box<dyn Work>>,
    ) -> rusqlite::Result<Vec<Result<(), LogError>>> {
        let mut outcomes = Vec::with_capacity(group.len());
        for work in group.iter_mut() {
            self.connection
                .prepare_cached("SAVEPOINT work")?
                .execute([])?;
            let outcome = match work.apply(&self.connection) {
                Ok(()) => Ok(()),
                Err(Failure::Refused(error)) => {
                    self.connection
                        .prepare_cached("ROLLBACK TO work")?
                        .execute([])?;
                    Err(error)
                }
                Err(Failure::Database(error)) => return Err(error),
            };
            self.connection
                .prepare_cached("RELEASE work")?
                .execute([])?;
            outcomes.push(outcome);
        }
        let (begin, begin_cpu_us) = (Instant::now(), thread_cpu_us());
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        let cpu_us = thread_cpu_us().saturating_sub(begin_cpu_us);
        self.count(&outcomes, begin.elapsed(), cpu_us);
        Ok(outcomes)
    }

    fn count(&self, outcomes: &[Result<(), LogError>], time: Duration, cpu_us: u64) {
        let works = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
        let mut stats = self.stats.lock().unwrap_or_else(PoisonError::into_inner);
        stats.works += works as u64;
        stats.commits += 1;
        stats.commit_us += time.as_micros() as u64;
        stats.commit_cpu_us += cpu_us;
        if works > 0 {
            self.changes.send_modify(|count| *count += 1);
        }
    }
}

/// What this thread has used of the processor.
fn thread_cpu_us() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec.unsigned_abs() * 1_000_000 + time.tv_nsec.unsigned_abs() / 1_000
}

/// Whether another process kept the database for longer than anyone should: then it does so
/// for each piece alone as well.
fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
}

fn answer_all(group: VecDeque<Box<dyn Work>>, outcomes: Vec<Result<(), LogError>>) {
    for (work, outcome) in group.into_iter().zip(outcomes) {
        work.answer(outcome);
    }
}

#[cfg(test)]
mod tests;
