//! Connections to the network, as pairs of byte streams to the app. The agent knows nothing of
//! what they carry: which hosts may be reached is the app's to say. Either side sends only what
//! the other has granted, so that none holds more than a window of it.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex};

use longrein_resident::wire::{PIECE_MAX_BYTES, Said, TUNNEL_WINDOW_BYTES, TUNNELS_MAX};

use super::link::Link;
use super::{Server, lock, thread};

/// The pieces that one window may come in: more of them are more than was granted.
const PIECES_MAX: usize = 1_024;

#[derive(Default)]
pub(crate) struct Tunnels {
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    last: u64,
    tunnels: BTreeMap<u64, Arc<Tunnel>>,
}

struct Tunnel {
    stream: Way,
    /// Towards the program; `None` ends it.
    pieces: SyncSender<Option<Vec<u8>>>,
    /// What may still be sent to the app.
    granted: Mutex<Option<u32>>,
    changed: Condvar,
    /// Which of the two directions are over: the tunnel is when both are.
    over: AtomicU8,
}

/// A program's connection: by the loopback, or by a socket in a folder where its box has a loopback
/// of its own.
pub(crate) enum Way {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Way {
    fn try_clone(&self) -> std::io::Result<Self> {
        Ok(match self {
            Self::Tcp(stream) => Self::Tcp(stream.try_clone()?),
            Self::Unix(stream) => Self::Unix(stream.try_clone()?),
        })
    }

    fn read(&self, bytes: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Tcp(stream) => (&mut &*stream).read(bytes),
            Self::Unix(stream) => (&mut &*stream).read(bytes),
        }
    }

    fn write_all(&self, bytes: &[u8]) -> std::io::Result<()> {
        match self {
            Self::Tcp(stream) => (&mut &*stream).write_all(bytes),
            Self::Unix(stream) => (&mut &*stream).write_all(bytes),
        }
    }

    /// What is closed already is closed.
    fn shutdown(&self, how: Shutdown) {
        let _ = match self {
            Self::Tcp(stream) => stream.shutdown(how),
            Self::Unix(stream) => stream.shutdown(how),
        };
    }
}

/// How many directions a tunnel has.
const DIRECTIONS: u8 = 2;

impl Tunnel {
    fn close(&self) {
        *lock(&self.granted) = None;
        self.changed.notify_all();
        self.stream.shutdown(Shutdown::Both);
        let _ = self.pieces.try_send(None);
    }

    /// Waits until something may be sent; how much, or `None` when the tunnel is closed.
    fn grant(&self) -> Option<usize> {
        let mut granted = lock(&self.granted);
        loop {
            match *granted {
                None => return None,
                Some(0) => {
                    let waited = self.changed.wait(granted);
                    granted = waited.unwrap_or_else(std::sync::PoisonError::into_inner);
                }
                Some(bytes) => return Some(bytes as usize),
            }
        }
    }

    fn spend(&self, bytes: usize) {
        if let Some(granted) = lock(&self.granted).as_mut() {
            *granted = granted.saturating_sub(u32::try_from(bytes).unwrap_or(u32::MAX));
        }
    }
}

impl Tunnels {
    pub(crate) fn data(&self, tunnel: u64, bytes: Vec<u8>) {
        let found = lock(&self.open).tunnels.get(&tunnel).cloned();
        if let Some(tunnel) = found
            && tunnel.pieces.try_send(Some(bytes)).is_err()
        {
            tunnel.close();
        }
    }

    pub(crate) fn grant(&self, tunnel: u64, bytes: u32) {
        let found = lock(&self.open).tunnels.get(&tunnel).cloned();
        if let Some(tunnel) = found {
            if let Some(granted) = lock(&tunnel.granted).as_mut() {
                *granted = granted.saturating_add(bytes).min(TUNNEL_WINDOW_BYTES);
            }
            tunnel.changed.notify_all();
        }
    }

    /// The app will send no more: what it sent goes to the program first.
    pub(crate) fn end(&self, tunnel: u64) {
        let found = lock(&self.open).tunnels.get(&tunnel).cloned();
        if let Some(tunnel) = found
            && tunnel.pieces.try_send(None).is_err()
        {
            tunnel.close();
        }
    }

    /// One direction is over.
    fn over(&self, number: u64, tunnel: &Tunnel) {
        if tunnel.over.fetch_add(1, Ordering::SeqCst) + 1 == DIRECTIONS {
            lock(&self.open).tunnels.remove(&number);
        }
    }

    /// The app is gone, and with it all that it reached.
    pub(crate) fn close_all(&self) {
        let open = std::mem::take(&mut lock(&self.open).tunnels);
        for tunnel in open.values() {
            tunnel.close();
        }
    }
}

/// Takes a program's connection. Without an app to carry it, or with too many, it is closed.
pub(crate) fn accept(server: &Arc<Server>, command: &str, stream: Way) {
    let Some(link) = server.link() else { return };
    let (pieces, taken) = sync_channel(PIECES_MAX);
    let Ok(kept) = stream.try_clone() else { return };
    let tunnel = Arc::new(Tunnel {
        stream: kept,
        pieces,
        granted: Mutex::new(Some(TUNNEL_WINDOW_BYTES)),
        changed: Condvar::new(),
        over: AtomicU8::new(0),
    });
    let number = {
        let mut open = lock(&server.tunnels.open);
        if open.tunnels.len() >= TUNNELS_MAX {
            return;
        }
        open.last += 1;
        let number = open.last;
        open.tunnels.insert(number, Arc::clone(&tunnel));
        number
    };
    link.say(
        &Said::TunnelOpened {
            tunnel: number,
            command: command.to_owned(),
        },
        &[],
    );
    let (inward, writing, closing) = (Arc::clone(&link), Arc::clone(&tunnel), Arc::clone(server));
    let (reading, ending) = (tunnel, Arc::clone(server));
    let started = thread("inward", move || {
        write(&inward, number, &writing, &taken);
        closing.tunnels.over(number, &writing);
    })
    .and_then(|()| {
        thread("outward", move || {
            if read(&link, number, &reading, &stream).is_none() {
                reading.close();
            }
            link.say(&Said::TunnelEnd { tunnel: number }, &[]);
            ending.tunnels.over(number, &reading);
        })
    });
    if started.is_err()
        && let Some(tunnel) = lock(&server.tunnels.open).tunnels.remove(&number)
    {
        tunnel.close();
    }
}

/// From the program to the app, until the program says no more; `None` when the connection broke.
fn read(link: &Link, number: u64, tunnel: &Tunnel, stream: &Way) -> Option<()> {
    let mut piece = vec![0; PIECE_MAX_BYTES];
    loop {
        let room = tunnel.grant()?.min(piece.len());
        let count = stream.read(&mut piece[..room]).ok()?;
        if count == 0 {
            return Some(());
        }
        tunnel.spend(count);
        link.say(&Said::TunnelData { tunnel: number }, &piece[..count]);
    }
}

/// From the app to the program.
fn write(link: &Link, number: u64, tunnel: &Tunnel, pieces: &Receiver<Option<Vec<u8>>>) {
    while let Ok(Some(piece)) = pieces.recv() {
        if tunnel.stream.write_all(&piece).is_err() {
            break;
        }
        let bytes = u32::try_from(piece.len()).unwrap_or(u32::MAX);
        link.say(
            &Said::TunnelGrant {
                tunnel: number,
                bytes,
            },
            &[],
        );
    }
    // The program may go on sending.
    tunnel.stream.shutdown(Shutdown::Write);
}
