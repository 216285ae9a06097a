//! One command, from its start to its receipt and for as long as it is remembered.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use longrein_resident::wire::{Answer, Code, End, Limits, Receipt, State, Stream};

use super::calls::Calls;
use super::output::{Due, Output};
use super::{Refused, lock, now_ms, records};
use crate::measure::memory_kills;
use crate::supervise::{KILL, Report};

/// How many asks may wait for one receipt.
const WAITING_MAX: usize = 16;
/// How long the streams may stay open after nothing is left of a command: only another command
/// that was handed its pipe could hold it.
const STREAMS_LIMIT: Duration = Duration::from_secs(1);

/// A piece of input, and who waits for it to be written.
pub(crate) struct Input {
    pub(crate) bytes: Vec<u8>,
    pub(crate) end: bool,
    pub(crate) due: Due,
}

/// Where the app's input for a command goes.
pub(crate) enum Inlet {
    /// It was started without an input.
    Missing,
    Open(SyncSender<Input>),
    /// It takes no more.
    Closed,
}

/// What only a running command has.
pub(crate) struct Running {
    pub(crate) control: UnixStream,
    pub(crate) inlet: Inlet,
    pub(crate) limits: Limits,
    pub(crate) begun: Instant,
    pub(crate) still_ms: u64,
    pub(crate) memory_kills: u64,
}

pub(crate) struct Job {
    pub(crate) id: String,
    folder: PathBuf,
    started_at_ms: u64,
    shared: Mutex<Shared>,
    streams_ended: Condvar,
    pub(crate) calls: Calls,
}

struct Shared {
    running: Option<Running>,
    output: Output,
    error: Output,
    /// What the agent did to end it; the first reason counts.
    ending: Option<End>,
    receipt: Option<Receipt>,
    waiting: Vec<Due>,
}

impl Job {
    pub(crate) fn begun(
        id: String,
        folder: PathBuf,
        started_at_ms: u64,
        streams: (Output, Output),
        running: Running,
    ) -> Self {
        Self {
            id,
            folder,
            started_at_ms,
            shared: Mutex::new(Shared {
                running: Some(running),
                output: streams.0,
                error: streams.1,
                ending: None,
                receipt: None,
                waiting: Vec::new(),
            }),
            streams_ended: Condvar::new(),
            calls: Calls::default(),
        }
    }

    pub(crate) fn finished(folder: PathBuf, receipt: Receipt) -> Self {
        let stream = |stream, kept| Output::ended(records::output(&folder, stream), kept);
        Self {
            id: receipt.command.clone(),
            started_at_ms: receipt.started_at_ms,
            shared: Mutex::new(Shared {
                running: None,
                output: stream(Stream::Output, receipt.output),
                error: stream(Stream::Error, receipt.error),
                ending: None,
                receipt: Some(receipt),
                waiting: Vec::new(),
            }),
            streams_ended: Condvar::new(),
            calls: Calls::default(),
            folder,
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn is_running(&self) -> bool {
        lock(&self.shared).receipt.is_none()
    }

    pub(crate) fn limits(&self) -> Limits {
        let none = Limits {
            time_ms: u64::MAX,
            output_bytes: 0,
            file_bytes: 0,
            open_files: 0,
            address_space_bytes: None,
            processes: None,
        };
        lock(&self.shared)
            .running
            .as_ref()
            .map_or(none, |running| running.limits)
    }

    /// How long it has worked, without the time that the container stood still.
    pub(crate) fn working_ms(&self, still_ms: u64) -> u64 {
        let shared = lock(&self.shared);
        shared
            .running
            .as_ref()
            .map_or(0, |running| worked(running, still_ms))
    }

    pub(crate) fn state(&self) -> State {
        let shared = lock(&self.shared);
        State {
            command: self.id.clone(),
            started_at_ms: self.started_at_ms,
            output_bytes: shared.output.kept.bytes,
            error_bytes: shared.error.kept.bytes,
            receipt: shared.receipt.clone(),
        }
    }

    /// Kills the whole tree. Its receipt says why: for the first reason given.
    pub(crate) fn end(&self, why: End) {
        let mut shared = lock(&self.shared);
        if shared.ending.is_some() {
            return;
        }
        if let Some(running) = &shared.running
            && (&mut &running.control).write_all(&[KILL]).is_ok()
        {
            shared.ending = Some(why);
        }
    }

    pub(crate) fn signal(&self, signal: i32) -> Result<(), Refused> {
        let number = u8::try_from(signal).ok().filter(|number| *number != KILL);
        let number = number.ok_or_else(|| {
            Refused(
                Code::Invalid,
                format!("{signal} is the number of no signal"),
            )
        })?;
        let shared = lock(&self.shared);
        let running = shared.running.as_ref().ok_or_else(|| ended(&self.id))?;
        Ok((&mut &running.control).write_all(&[number])?)
    }

    pub(crate) fn read(
        &self,
        stream: Stream,
        due: Due,
        offset: u64,
        wait: bool,
    ) -> Result<(), Refused> {
        let mut shared = lock(&self.shared);
        match stream {
            Stream::Output => shared.output.read(due, offset, wait),
            Stream::Error => shared.error.read(due, offset, wait),
        }
    }

    pub(crate) fn write(&self, input: Input) -> Result<(), Refused> {
        let shared = lock(&self.shared);
        let running = shared.running.as_ref().ok_or_else(|| ended(&self.id))?;
        let queue = match &running.inlet {
            Inlet::Open(queue) => queue,
            Inlet::Closed => return Err(ended(&self.id)),
            Inlet::Missing => {
                let message = "the command was started without an input";
                return Err(Refused(Code::Invalid, message.to_owned()));
            }
        };
        queue.try_send(input).map_err(|error| match error {
            TrySendError::Full(_) => Refused(
                Code::TooMany,
                "an earlier input is not written yet".to_owned(),
            ),
            TrySendError::Disconnected(_) => ended(&self.id),
        })
    }

    /// From now on it takes no input; what came before is in the queue.
    pub(crate) fn close_inlet(&self) {
        if let Some(running) = &mut lock(&self.shared).running {
            running.inlet = Inlet::Closed;
        }
    }

    pub(crate) fn wait(&self, due: Due) -> Result<(), Refused> {
        let mut shared = lock(&self.shared);
        if shared.receipt.is_some() {
            drop(shared);
            due.answer(Answer::State(self.state()), &[]);
            return Ok(());
        }
        shared.waiting.retain(|due| due.link.strong_count() > 0);
        if shared.waiting.len() >= WAITING_MAX {
            let message = "too many asks wait for this command's end";
            return Err(Refused(Code::TooMany, message.to_owned()));
        }
        shared.waiting.push(due);
        Ok(())
    }

    /// Takes in what the command wrote.
    pub(crate) fn keep(&self, stream: Stream, bytes: &[u8]) {
        let mut shared = lock(&self.shared);
        let limit = shared
            .running
            .as_ref()
            .map_or(0, |running| running.limits.output_bytes);
        match stream {
            Stream::Output => shared.output.keep(bytes, limit),
            Stream::Error => shared.error.keep(bytes, limit),
        }
    }

    /// The command will write no more to this stream.
    pub(crate) fn close(&self, stream: Stream) {
        let mut shared = lock(&self.shared);
        match stream {
            Stream::Output => shared.output.end(),
            Stream::Error => shared.error.end(),
        }
        self.streams_ended.notify_all();
    }

    /// Writes the receipt and tells all who wait.
    pub(crate) fn conclude(&self, reports: &[Report], still_ms: u64) {
        let mut shared = lock(&self.shared);
        let begun = Instant::now();
        while !(shared.output.ended && shared.error.ended) {
            let left = STREAMS_LIMIT.saturating_sub(begun.elapsed());
            if left.is_zero() {
                break;
            }
            let waited = self.streams_ended.wait_timeout(shared, left);
            shared = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
        shared.output.end();
        shared.error.end();
        let running = shared.running.take();
        let kills = running.as_ref().map_or(0, |running| running.memory_kills);
        let receipt = Receipt {
            command: self.id.clone(),
            end: shared.ending.take().unwrap_or_else(|| how(reports)),
            started_at_ms: self.started_at_ms,
            ended_at_ms: now_ms(),
            working_ms: running
                .as_ref()
                .map_or(0, |running| worked(running, still_ms)),
            output: shared.output.kept,
            error: shared.error.kept,
            memory_kills: memory_kills().saturating_sub(kills),
            left_behind: left_behind(reports),
        };
        // Where the disk takes no receipt, it is still told, and lost to the next life.
        let _ = records::conclude(&self.folder, &receipt);
        shared.receipt = Some(receipt);
        let waiting = std::mem::take(&mut shared.waiting);
        drop(shared);
        let state = self.state();
        for due in waiting {
            due.answer(Answer::State(state.clone()), &[]);
        }
    }
}

fn worked(running: &Running, still_ms: u64) -> u64 {
    let passed = u64::try_from(running.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    passed.saturating_sub(still_ms.saturating_sub(running.still_ms))
}

pub(crate) fn ended(id: &str) -> Refused {
    Refused(
        Code::Ended,
        format!("the command {id} has ended, or its input is closed"),
    )
}

/// How a command ended that the agent did not end. One whose supervisor said nothing went with it.
fn how(reports: &[Report]) -> End {
    let end = reports.iter().find_map(|report| match report {
        Report::NotStarted { why } => Some(End::NotStarted { why: why.clone() }),
        Report::Ended {
            status: Some(status),
            ..
        } => Some(End::Exited { status: *status }),
        Report::Ended {
            signal: Some(signal),
            ..
        } => Some(End::Signalled { signal: *signal }),
        _ => None,
    });
    end.unwrap_or(End::Signalled {
        signal: rustix::process::Signal::KILL.as_raw(),
    })
}

fn left_behind(reports: &[Report]) -> u32 {
    let counted = reports.iter().find_map(|report| match report {
        Report::Gone { left_behind, .. } => Some(*left_behind),
        _ => None,
    });
    counted.unwrap_or(0)
}
