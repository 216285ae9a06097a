//! Carries bytes between the pipe of an exec and the agent's socket. It knows nothing of what it
//! carries; when either side ends, it ends, and the commands go on.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::{Failure, Trying};

/// The bytes that are carried at a time.
const PIECE_BYTES: usize = 64 * 1024;
/// How long the agent may take to listen after the container was started.
const LISTEN_LIMIT: Duration = Duration::from_secs(10);
/// How long to wait before the next try.
const PAUSE: Duration = Duration::from_millis(5);

pub(crate) fn main(arguments: &[OsString]) -> Result<(), Failure> {
    let [socket] = arguments else {
        return Err(Failure::Usage("relay SOCKET"));
    };
    let agent = connected(Path::new(socket))?;
    let reading = agent
        .try_clone()
        .trying(|| "copying the socket".to_owned())?;
    std::thread::spawn(move || {
        let mut to = &agent;
        // How it ended makes no difference: the agent sees the end.
        let _ = carry(&mut io::stdin().lock(), &mut to);
        let _ = agent.shutdown(Shutdown::Both);
    });
    // The pipe itself: the standard output would break each piece up at its last end of a line.
    let output = io::stdout().as_fd().try_clone_to_owned();
    let mut output = output
        .map(File::from)
        .trying(|| "taking the pipe".to_owned())?;
    carry(&mut &reading, &mut output).trying(|| "carrying to the app".to_owned())
}

fn connected(socket: &Path) -> Result<UnixStream, Failure> {
    let begun = Instant::now();
    loop {
        match UnixStream::connect(socket) {
            Ok(stream) => return Ok(stream),
            Err(error) if begun.elapsed() > LISTEN_LIMIT => {
                return Err(error).trying(|| format!("connecting to {}", socket.display()));
            }
            Err(_) => std::thread::sleep(PAUSE),
        }
    }
}

/// Each piece goes on at once: neither side waits for a full buffer.
fn carry(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let count = match from.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        to.write_all(&piece[..count])?;
        to.flush()?;
    }
}
