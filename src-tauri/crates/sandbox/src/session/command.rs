//! A handle to one command inside.

use longrein_resident::wire::{Ask, BODY_MAX_BYTES, Receipt, State, Stream};

use super::{Piece, Session};
use crate::SandboxError;

/// A command that runs or has ended, by its id. It is only a name: dropping it changes nothing.
#[derive(Clone, Debug)]
pub struct Command {
    session: Session,
    id: String,
}

impl Command {
    pub(super) fn new(session: Session, id: String) -> Self {
        Self { session, id }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Output from an offset on; see [`Session::read`].
    ///
    /// # Errors
    /// When the command is not known, the offset is beyond its output, or the pipe ends.
    pub async fn read(
        &self,
        stream: Stream,
        offset: u64,
        wait: bool,
    ) -> Result<Piece, SandboxError> {
        self.session.read(&self.id, stream, offset, wait).await
    }

    /// A stream's output from its beginning to its end, but at most that many bytes.
    ///
    /// # Errors
    /// When the command is not known or the pipe ends.
    pub async fn read_all(
        &self,
        stream: Stream,
        limit_bytes: usize,
    ) -> Result<Vec<u8>, SandboxError> {
        let mut all = Vec::new();
        while all.len() < limit_bytes {
            let piece = self.read(stream, all.len() as u64, true).await?;
            let fits = piece.bytes.len().min(limit_bytes - all.len());
            all.extend_from_slice(&piece.bytes[..fits]);
            if piece.ended {
                break;
            }
        }
        Ok(all)
    }

    /// Writes to its input; returns when the command can read it. With `end`, no more will come.
    ///
    /// # Errors
    /// When it has no input, has ended, or the pipe ends.
    pub async fn write(&self, bytes: &[u8], end: bool) -> Result<(), SandboxError> {
        let mut rest = bytes;
        loop {
            let (piece, left) = rest.split_at(rest.len().min(BODY_MAX_BYTES));
            let ask = Ask::Write {
                command: self.id.clone(),
                end: end && left.is_empty(),
            };
            self.session.done(ask, piece).await?;
            if left.is_empty() {
                return Ok(());
            }
            rest = left;
        }
    }

    /// Sends a signal to its process group.
    ///
    /// # Errors
    /// When it has ended, the number is no signal's, or the pipe ends.
    pub async fn signal(&self, signal: i32) -> Result<(), SandboxError> {
        self.session
            .done(
                Ask::Signal {
                    command: self.id.clone(),
                    signal,
                },
                &[],
            )
            .await
    }

    /// Kills it and all that it started. Its receipt comes when nothing is left.
    ///
    /// # Errors
    /// When it is not known or the pipe ends.
    pub async fn kill(&self) -> Result<(), SandboxError> {
        self.session
            .done(
                Ask::Kill {
                    command: self.id.clone(),
                },
                &[],
            )
            .await
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// When it is not known or the pipe ends.
    pub async fn wait(&self) -> Result<Receipt, SandboxError> {
        self.session.wait(&self.id).await
    }

    /// How it stands.
    ///
    /// # Errors
    /// When it is not known or the pipe ends.
    pub async fn state(&self) -> Result<State, SandboxError> {
        self.session.state(&self.id).await
    }

    /// Removes its output and receipt, once they are kept elsewhere.
    ///
    /// # Errors
    /// When it still runs or the pipe ends.
    pub async fn forget(&self) -> Result<(), SandboxError> {
        self.session
            .done(
                Ask::Forget {
                    command: self.id.clone(),
                },
                &[],
            )
            .await
    }
}
