//! What a person types, line by line. A line that nobody waits for any more is left to whoever
//! reads next, an editor for example, and not taken away by a reader that was forgotten.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::task::JoinHandle;

/// The most bytes of a line.
const LINE_LIMIT_BYTES: usize = 64 << 10;

/// What was typed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Typed {
    /// A line, without its end.
    Line(String),
    /// The end of what is typed: Ctrl-D.
    Ended,
}

/// One line that is waited for. Dropping it stops the reading.
#[derive(Debug)]
pub struct Keys {
    given_up: Arc<AtomicBool>,
    reading: JoinHandle<io::Result<Typed>>,
}

impl Keys {
    /// Begins to wait for a line.
    pub fn wait() -> Self {
        let given_up = Arc::new(AtomicBool::new(false));
        let flag = given_up.clone();
        let reading = tokio::task::spawn_blocking(move || read_line(&flag));
        Self { given_up, reading }
    }

    /// The line. Cancel-safe.
    ///
    /// # Errors
    /// When the terminal can't be read.
    pub async fn line(&mut self) -> io::Result<Typed> {
        (&mut self.reading).await.map_err(io::Error::other)?
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.given_up.store(true, Ordering::Relaxed);
    }
}

/// Forgets what was typed before: nothing that was meant for something else answers a question
/// that was not seen yet.
#[cfg(unix)]
pub fn forget_what_was_typed() {
    use rustix::termios::{QueueSelector, tcflush};
    // Without a terminal there is nothing to forget.
    let _ = tcflush(rustix::stdio::stdin(), QueueSelector::IFlush);
}

/// The same where the system has no way to do it.
#[cfg(not(unix))]
pub fn forget_what_was_typed() {}

#[cfg(unix)]
fn read_line(given_up: &AtomicBool) -> io::Result<Typed> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    /// How often it is looked whether anybody still waits.
    const LOOK: Timespec = Timespec {
        tv_sec: 0,
        tv_nsec: 50_000_000,
    };
    let stdin = rustix::stdio::stdin();
    let mut line = Vec::new();
    let mut piece = [0; 4096];
    while !given_up.load(Ordering::Relaxed) && line.len() < LINE_LIMIT_BYTES {
        let ready = poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&LOOK));
        match ready {
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        // A terminal gives one line at a time.
        match rustix::io::read(stdin, &mut piece) {
            Ok(0) => break,
            Ok(read) => line.extend_from_slice(&piece[..read]),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if line.ends_with(b"\n") {
            break;
        }
    }
    Ok(typed(&line))
}

#[cfg(not(unix))]
fn read_line(_given_up: &AtomicBool) -> io::Result<Typed> {
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    Ok(typed(line.as_bytes()))
}

fn typed(line: &[u8]) -> Typed {
    if line.is_empty() {
        return Typed::Ended;
    }
    let line = String::from_utf8_lossy(line);
    Typed::Line(line.trim_end_matches(['\n', '\r']).to_owned())
}
