//! One connection of a program to the network, as a plain stream for whoever carries it.

use std::sync::Arc;

use longrein_resident::wire::{Ask, Asked, PIECE_MAX_BYTES, TUNNEL_WINDOW_BYTES, encode};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf, duplex, split};
use tokio::sync::{Semaphore, mpsc};

use super::NO_ANSWER;

/// What the stream holds between the pipe and its carrier.
const STREAM_BYTES: usize = 64 * 1024;
/// The pieces that one window may come in: more of them are more than was granted.
const PIECES_MAX: usize = TUNNEL_WINDOW_BYTES as usize;

/// A connection that a program opened. Dropping its stream closes it.
#[derive(Debug)]
pub struct Tunnel {
    /// The command that may use it.
    pub command: String,
    /// What the program sends, and what it reads.
    pub stream: DuplexStream,
}

/// The pipe's side of a tunnel.
pub(super) struct Inward {
    /// `None` once the program says no more.
    pieces: Option<mpsc::Sender<Vec<u8>>>,
    granted: Arc<Semaphore>,
}

impl Inward {
    pub(super) fn take(&mut self, bytes: Vec<u8>) {
        // More than was granted breaks the connection.
        let is_taken = self
            .pieces
            .as_ref()
            .is_some_and(|pieces| pieces.try_send(bytes).is_ok());
        if !is_taken {
            self.pieces = None;
        }
    }

    pub(super) fn end(&mut self) {
        self.pieces = None;
    }

    /// Whether nothing more goes either way.
    pub(super) fn is_over(&self) -> bool {
        self.pieces.is_none() && Arc::strong_count(&self.granted) == 1
    }

    pub(super) fn grant(&self, bytes: u32) {
        let window = TUNNEL_WINDOW_BYTES as usize;
        let room = window.saturating_sub(self.granted.available_permits());
        self.granted.add_permits(room.min(bytes as usize));
    }
}

impl Tunnel {
    pub(super) fn open(
        number: u64,
        command: String,
        asks: mpsc::Sender<Vec<u8>>,
    ) -> (Self, Inward) {
        let (stream, ours) = duplex(STREAM_BYTES);
        let (from_carrier, to_carrier) = split(ours);
        let (pieces, taken) = mpsc::channel(PIECES_MAX);
        let granted = Arc::new(Semaphore::new(TUNNEL_WINDOW_BYTES as usize));
        tokio::spawn(inward(number, taken, to_carrier, asks.clone()));
        tokio::spawn(outward(number, from_carrier, Arc::clone(&granted), asks));
        (
            Self { command, stream },
            Inward {
                pieces: Some(pieces),
                granted,
            },
        )
    }
}

async fn say(asks: &mpsc::Sender<Vec<u8>>, ask: Ask, body: &[u8]) -> Option<()> {
    let frame = encode(&Asked { id: NO_ANSWER, ask }, body).ok()?;
    asks.send(frame).await.ok()
}

/// From the program to its carrier.
async fn inward(
    tunnel: u64,
    mut pieces: mpsc::Receiver<Vec<u8>>,
    mut to: WriteHalf<DuplexStream>,
    asks: mpsc::Sender<Vec<u8>>,
) {
    while let Some(piece) = pieces.recv().await {
        if to.write_all(&piece).await.is_err() {
            break;
        }
        let bytes = u32::try_from(piece.len()).unwrap_or(u32::MAX);
        if say(&asks, Ask::TunnelGrant { tunnel, bytes }, &[])
            .await
            .is_none()
        {
            break;
        }
    }
    // The carrier sees the end; that it is gone already is the same.
    let _ = to.shutdown().await;
}

/// From the carrier to the program.
async fn outward(
    tunnel: u64,
    mut from: ReadHalf<DuplexStream>,
    granted: Arc<Semaphore>,
    asks: mpsc::Sender<Vec<u8>>,
) {
    let mut piece = vec![0; PIECE_MAX_BYTES];
    loop {
        let Ok(one) = granted.acquire().await else {
            break;
        };
        one.forget();
        let more = granted.forget_permits(piece.len() - 1);
        let room = more + 1;
        let count = match from.read(&mut piece[..room]).await {
            Ok(count) if count > 0 => count,
            _ => break,
        };
        granted.add_permits(room - count);
        if say(&asks, Ask::TunnelData { tunnel }, &piece[..count])
            .await
            .is_none()
        {
            break;
        }
    }
    // Without a pipe there is nobody to tell.
    let _ = say(&asks, Ask::TunnelEnd { tunnel }, &[]).await;
}
