//! Calls of tools by programs inside: a line of JSON each way. A call is kept until it is answered
//! and told again to each app that comes; it never gets lost between two of them, and is known by
//! its number, so that an app can tell what it has done already.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use longrein_resident::wire::{CALL_MAX_BYTES, CALLS_MAX, CallId, Said};

use super::job::Job;
use super::link::Link;
use super::{Server, lock, thread};

/// What a program is told whose call is longer than one may be.
const TOO_LONG: &[u8] = b"{\"error\":{\"class\":\"invalid_arguments\",\"message\":\"The call is longer than a call may be: lay long texts down in files, and name them.\"}}\n";
/// What one is told whose call has no end.
const CUT_OFF: &[u8] = b"{\"error\":{\"class\":\"invalid_arguments\",\"message\":\"The call was cut off: a call is a whole line.\"}}\n";

/// The open calls of one command.
#[derive(Default)]
pub(crate) struct Calls {
    open: Mutex<Open>,
    connections: Mutex<usize>,
    room: Condvar,
}

#[derive(Default)]
struct Open {
    last: u32,
    calls: BTreeMap<u32, OpenCall>,
}

/// A call, and whoever waits for its answer.
struct OpenCall {
    body: Arc<Vec<u8>>,
    answer: SyncSender<Vec<u8>>,
}

impl Calls {
    fn begin(&self, body: Vec<u8>) -> (u32, Arc<Vec<u8>>, Receiver<Vec<u8>>) {
        let (answer, answered) = sync_channel(1);
        let body = Arc::new(body);
        let mut open = lock(&self.open);
        open.last += 1;
        let number = open.last;
        open.calls.insert(
            number,
            OpenCall {
                body: Arc::clone(&body),
                answer,
            },
        );
        (number, body, answered)
    }

    /// Hands a call its answer. One that is not open is answered already, or its program is gone.
    pub(crate) fn answer(&self, number: u32, body: Vec<u8>) {
        if let Some(call) = lock(&self.open).calls.remove(&number) {
            // The program may be gone.
            let _ = call.answer.try_send(body);
        }
    }

    /// Lets a connection in once there is room for it; not when the command has ended by then.
    fn enter(&self, job: &Job) -> bool {
        let mut connections = lock(&self.connections);
        while *connections >= CALLS_MAX {
            if !job.is_running() {
                return false;
            }
            let waited = self.room.wait_timeout(connections, super::STANDSTILL);
            (connections, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        *connections += 1;
        true
    }

    fn leave(&self) {
        *lock(&self.connections) -= 1;
        self.room.notify_one();
    }

    fn forget(&self, number: u32) {
        lock(&self.open).calls.remove(&number);
    }

    /// Tells all open calls again, in their order.
    pub(crate) fn tell_again(&self, command: &str, link: &Link) {
        let open: Vec<(u32, Arc<Vec<u8>>)> = lock(&self.open)
            .calls
            .iter()
            .map(|(number, call)| (*number, Arc::clone(&call.body)))
            .collect();
        for (number, body) in open {
            tell(command, number, &body, link);
        }
    }
}

fn tell(command: &str, number: u32, body: &[u8], link: &Link) {
    let call = CallId {
        command: command.to_owned(),
        number,
    };
    link.say(&Said::Call { call }, body);
}

/// Takes a program's connection, once it has not too many: the others wait for their turn.
pub(crate) fn accept(server: &Arc<Server>, job: &Arc<Job>, stream: UnixStream) {
    if !job.calls.enter(job) {
        return;
    }
    let (server, serving) = (Arc::clone(server), Arc::clone(job));
    let taken = thread("call", move || {
        serve(&server, &serving, &stream);
        serving.calls.leave();
    });
    if taken.is_err() {
        job.calls.leave();
    }
}

/// One call after the other, until the program closes its connection.
fn serve(server: &Server, job: &Job, stream: &UnixStream) {
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    loop {
        let mut line = Vec::new();
        let limit = CALL_MAX_BYTES as u64;
        match reader.by_ref().take(limit).read_until(b'\n', &mut line) {
            Ok(count) if count > 0 => {}
            _ => return,
        }
        if line.pop_if(|last| *last == b'\n').is_none() {
            if line.len() < CALL_MAX_BYTES {
                // Nobody may listen any more.
                let _ = writer.write_all(CUT_OFF);
                return;
            }
            // The rest of it is read as well, and kept nowhere: what comes next is a call again.
            let skipped = reader.skip_until(b'\n');
            if skipped.is_err() || writer.write_all(TOO_LONG).is_err() {
                return;
            }
            continue;
        }
        let (number, body, answered) = job.calls.begin(line);
        if let Some(link) = server.link() {
            tell(&job.id, number, &body, &link);
        }
        let Some(mut answer) = wait(job, &answered) else {
            job.calls.forget(number);
            return;
        };
        answer.push(b'\n');
        if writer.write_all(&answer).is_err() {
            return;
        }
    }
}

/// Waits for an answer for as long as the command runs.
fn wait(job: &Job, answered: &Receiver<Vec<u8>>) -> Option<Vec<u8>> {
    loop {
        match answered.recv_timeout(super::STANDSTILL) {
            Ok(answer) => return Some(answer),
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) if job.is_running() => {}
            Err(_) => return None,
        }
    }
}
