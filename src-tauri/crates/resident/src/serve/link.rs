//! The pipe to the app that spoke last. Saying something never blocks: what can't be taken at once
//! is the app's fault, which asked for more than it reads, and ends the pipe; it comes back and
//! reads on.

use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use longrein_resident::wire::{ASKS_MAX, Answer, Said, TUNNELS_MAX, encode};

/// One answer for each open ask, and what tunnels and calls may say beside.
const QUEUE_MAX: usize = ASKS_MAX + TUNNELS_MAX * 16;

pub(crate) struct Link {
    stream: UnixStream,
    queue: SyncSender<Vec<u8>>,
}

impl Link {
    /// A link that writes to this stream, by a thread of its own.
    pub(crate) fn open(stream: UnixStream) -> std::io::Result<Self> {
        let (queue, taken) = sync_channel(QUEUE_MAX);
        let writing = stream.try_clone()?;
        super::thread("link", move || carry(writing, &taken))?;
        Ok(Self { stream, queue })
    }

    pub(crate) fn say(&self, said: &Said, body: &[u8]) {
        let is_taken = encode(said, body).is_ok_and(|bytes| self.queue.try_send(bytes).is_ok());
        if !is_taken {
            self.close();
        }
    }

    pub(crate) fn answer(&self, id: u64, answer: Answer, body: &[u8]) {
        self.say(&Said::Answer { id, answer }, body);
    }

    pub(crate) fn close(&self) {
        // Closed already is closed.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

fn carry(mut stream: UnixStream, queue: &Receiver<Vec<u8>>) {
    while let Ok(bytes) = queue.recv() {
        if stream.write_all(&bytes).is_err() {
            let _ = stream.shutdown(Shutdown::Both);
            return;
        }
    }
}
