//! Frames over an asynchronous pipe, and where they go.

use std::collections::HashMap;
use std::sync::{PoisonError, Weak};

use longrein_resident::wire::{
    Answer, Asked, Frame, FrameError, LENGTHS_BYTES, Said, VERSION, encode, lengths,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

use super::tunnel::{Inward, Tunnel};
use super::{Call, Inner, gone};
use crate::SandboxError;

/// Says hello and hears the agent's life.
pub(super) async fn greet(
    reader: &mut (impl AsyncRead + Unpin),
    writer: &mut (impl AsyncWrite + Unpin),
    hello: &Asked,
) -> Result<String, SandboxError> {
    let failed = |error| SandboxError::Frame(FrameError::Io(error));
    writer
        .write_all(&encode(hello, &[])?)
        .await
        .map_err(failed)?;
    writer.flush().await.map_err(failed)?;
    let said = frame(reader).await?.ok_or_else(gone)?;
    match said.header {
        Said::Answer {
            answer:
                Answer::Hello {
                    version: VERSION,
                    life,
                },
            ..
        } => Ok(life),
        Said::Answer {
            answer: Answer::Hello { version, .. },
            ..
        } => Err(SandboxError::OtherVersion { theirs: version }),
        _ => Err(gone()),
    }
}

async fn frame(reader: &mut (impl AsyncRead + Unpin)) -> Result<Option<Frame<Said>>, FrameError> {
    let mut start = [0; LENGTHS_BYTES];
    if reader.read(&mut start[..1]).await? == 0 {
        return Ok(None);
    }
    reader.read_exact(&mut start[1..]).await?;
    let (header, body) = lengths(start)?;
    let mut header = vec![0; header];
    reader.read_exact(&mut header).await?;
    let mut body = vec![0; body];
    reader.read_exact(&mut body).await?;
    Ok(Some(Frame {
        header: serde_json::from_slice(&header)?,
        body,
    }))
}

/// Writes frames until nobody has any more.
pub(super) async fn write(
    mut writer: impl AsyncWrite + Unpin,
    mut frames: mpsc::Receiver<Vec<u8>>,
) {
    while let Some(frame) = frames.recv().await {
        if writer.write_all(&frame).await.is_err() || writer.flush().await.is_err() {
            // The reader sees the end and tells all who wait.
            return;
        }
    }
}

/// Where what the agent says goes.
pub(super) struct Taking {
    inner: Weak<Inner>,
    asks: mpsc::WeakSender<Vec<u8>>,
    calls: mpsc::Sender<Call>,
    opened: mpsc::Sender<Tunnel>,
    tunnels: HashMap<u64, Inward>,
}

impl Taking {
    pub(super) fn new(
        inner: &std::sync::Arc<Inner>,
        calls: mpsc::Sender<Call>,
        opened: mpsc::Sender<Tunnel>,
    ) -> Self {
        Self {
            inner: std::sync::Arc::downgrade(inner),
            asks: inner.asks.downgrade(),
            calls,
            opened,
            tunnels: HashMap::new(),
        }
    }

    /// Never waits: the agent says only as much as was asked for or granted.
    fn take(&mut self, said: Said, body: Vec<u8>) {
        match said {
            Said::Answer { id, answer } => {
                let Some(inner) = self.inner.upgrade() else {
                    return;
                };
                let mut open = inner.open.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(waiting) = open.as_mut().and_then(|open| open.remove(&id)) {
                    // Whoever asked may have stopped waiting.
                    let _ = waiting.send((answer, body));
                }
            }
            Said::Call { call } => {
                // A call that is not taken is told again after the next hello.
                let _ = self.calls.try_send(Call { id: call, body });
            }
            Said::TunnelOpened { tunnel, command } => self.opened(tunnel, command),
            Said::TunnelData { tunnel } => {
                if let Some(inward) = self.tunnels.get_mut(&tunnel) {
                    inward.take(body);
                }
            }
            Said::TunnelGrant { tunnel, bytes } => {
                if let Some(inward) = self.tunnels.get(&tunnel) {
                    inward.grant(bytes);
                }
            }
            Said::TunnelEnd { tunnel } => {
                if let Some(inward) = self.tunnels.get_mut(&tunnel) {
                    inward.end();
                }
            }
        }
    }

    fn opened(&mut self, number: u64, command: String) {
        let Some(asks) = self.asks.upgrade() else {
            return;
        };
        self.tunnels.retain(|_, inward| !inward.is_over());
        let (tunnel, inward) = Tunnel::open(number, command, asks);
        // Nobody there to carry it: dropped, it ends.
        if self.opened.try_send(tunnel).is_ok() {
            self.tunnels.insert(number, inward);
        }
    }
}

/// Takes in what the agent says until its pipe ends; then nobody waits for it any more.
pub(super) async fn read(mut reader: impl AsyncRead + Unpin, mut taking: Taking) {
    loop {
        match frame(&mut reader).await {
            Ok(Some(frame)) => taking.take(frame.header, frame.body),
            Ok(None) => break,
            Err(error) => {
                tracing::debug!(%error, "the pipe to a resident agent failed");
                break;
            }
        }
    }
    if let Some(inner) = taking.inner.upgrade() {
        inner
            .open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }
}
