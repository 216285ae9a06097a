//! Process 1 of a box that a door makes: starts the command, reaps what loses its parent, and says
//! over its standard input, which is a socket, how the command ended and how many processes it left.
//! When it ends, the system ends all of them.
//!
//! The command runs as the same user, and is kept from its files: its streams are others than this
//! one's, and nobody may trace what is not dumpable.

use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use longrein_resident::wire::TUNNELS_MAX;
use rustix::process::{DumpableBehavior, Pid, WaitOptions, WaitStatus, set_dumpable_behavior};

use crate::supervise::{Leader, NotStarted, Order, Report, control, ended_so, say, started_with};
use crate::{Failure, PROXY_VARIABLES, Trying, handing, tree};

/// Threads here are many and small.
const STACK_BYTES: usize = 128 * 1024;

/// `inside`: takes an order from its standard input.
pub(crate) fn main() -> Result<(), Failure> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .trying(|| "keeping commands out".to_owned())?;
    let control = control()?;
    let (order, files) = handing::taken(&control).trying(|| "reading the order".to_owned())?;
    match begun(order, files) {
        Ok(leader) => {
            let end = ended(leader).trying(|| "waiting".to_owned())?;
            say(&control, &ended_so(end))?;
            let left_behind = tree::others();
            say(
                &control,
                &Report::Gone {
                    left_behind,
                    all: true,
                },
            )
        }
        Err(NotStarted(why)) => say(&control, &Report::NotStarted { why }),
    }
}

fn begun(mut order: Order, files: Vec<OwnedFd>) -> Result<Pid, NotStarted> {
    let failed = |error: io::Error| NotStarted(error.to_string());
    let mut files = files.into_iter().map(Stdio::from);
    let (Some(input), Some(output), Some(error)) = (files.next(), files.next(), files.next())
    else {
        return Err(NotStarted("it was given no streams".to_owned()));
    };
    if let Some(directory) = &order.directory {
        std::env::set_current_dir(directory)
            .map_err(|error| NotStarted(format!("{directory}: {error}")))?;
    }
    if let Some(socket) = order.network.take() {
        let address = network(socket).map_err(failed)?;
        for name in PROXY_VARIABLES {
            let address = format!("http://{address}");
            order.environment.insert(name.to_owned(), address);
        }
    }
    started_with(&order, (input, output, error))
}

/// Waits for the command's end, reaping all that ends before.
fn ended(leader: Pid) -> io::Result<(Option<i32>, Option<i32>)> {
    let mut leader = Leader {
        pid: leader,
        end: None,
    };
    loop {
        let waited: rustix::io::Result<Option<(Pid, WaitStatus)>> =
            rustix::process::wait(WaitOptions::empty());
        match waited {
            Ok(Some((pid, status))) => leader.note(pid, status),
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if let Some(end) = leader.end {
            return Ok(end);
        }
    }
}

/// Carries connections to the box's own loopback to a socket outside of it; says where it listens.
fn network(socket: PathBuf) -> io::Result<std::net::SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let open = Arc::new(AtomicUsize::new(0));
    thread(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { return };
            if open.fetch_add(1, Ordering::SeqCst) < TUNNELS_MAX {
                let (socket, closing) = (socket.clone(), Arc::clone(&open));
                let carried = thread(move || {
                    carry(&stream, &socket);
                    closing.fetch_sub(1, Ordering::SeqCst);
                });
                if carried.is_ok() {
                    continue;
                }
            }
            // Without room or a thread to spare the connection is closed.
            open.fetch_sub(1, Ordering::SeqCst);
        }
    })?;
    Ok(address)
}

fn thread(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
    builder.spawn(work).map(drop)
}

/// Both ways, each until its sender says no more.
fn carry(inside: &TcpStream, socket: &Path) {
    let Ok(outside) = UnixStream::connect(socket) else {
        return;
    };
    let (Ok(from_inside), Ok(to_outside)) = (inside.try_clone(), outside.try_clone()) else {
        return;
    };
    let outward = thread(move || {
        // However it ends, the other side is told.
        let _ = io::copy(&mut &from_inside, &mut &to_outside);
        let _ = to_outside.shutdown(Shutdown::Write);
    });
    if outward.is_ok() {
        let _ = io::copy(&mut &outside, &mut &*inside);
        let _ = inside.shutdown(Shutdown::Write);
    }
}
