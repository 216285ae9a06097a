//! The app's end of the pipe to a resident agent: asks with answers, output as a stream that can be
//! taken up anywhere, and what programs inside begin.

mod command;
mod pipe;
#[cfg(all(test, target_os = "linux"))]
mod tests;
mod tunnel;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use longrein_resident::wire::{
    ASKS_MAX, Answer, Ask, Asked, CALLS_MAX, CallId, RUNNING_MAX, Receipt, Start, State, Stream,
    TUNNELS_MAX, VERSION, encode,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::AbortHandle;

pub use command::Command;
pub use tunnel::Tunnel;

use crate::SandboxError;

/// How long the agent may take for its first word.
const HELLO_LIMIT: Duration = Duration::from_secs(20);
/// Frames on their way to the pipe.
const OUTGOING_MAX: usize = 64;
/// The id under which nothing is answered.
const NO_ANSWER: u64 = 0;
/// How many pages of states are read: as many as the agent remembers.
const PAGES_MAX: usize = 64;

/// A piece of a command's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where it begins.
    pub offset: u64,
    /// Its bytes; empty where there are none yet, or no more.
    pub bytes: Vec<u8>,
    /// No more will come after it.
    pub ended: bool,
}

/// A call of a tool by a program inside. It is told again after each connecting until it is
/// answered, so it may be one that was seen before: `id` says which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Which command's, and which of its calls.
    pub id: CallId,
    /// What the program sent: JSON, unless the program made its own line.
    pub body: Vec<u8>,
}

/// What programs inside begin. Dropping it leaves calls unanswered and refuses the network.
#[derive(Debug)]
pub struct Incoming {
    /// Calls of tools.
    pub calls: mpsc::Receiver<Call>,
    /// Connections to the network.
    pub tunnels: mpsc::Receiver<Tunnel>,
}

type Open = HashMap<u64, oneshot::Sender<(Answer, Vec<u8>)>>;

struct Inner {
    life: String,
    asks: mpsc::Sender<Vec<u8>>,
    open: Mutex<Option<Open>>,
    /// As many asks as the agent takes.
    room: Semaphore,
    last: AtomicU64,
    tasks: Mutex<Vec<AbortHandle>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        let tasks = self.tasks.get_mut().unwrap_or_else(PoisonError::into_inner);
        for task in tasks.drain(..) {
            task.abort();
        }
    }
}

/// A connected resident agent. Clones are the same connection, which ends with the last of them;
/// what runs inside goes on.
#[derive(Clone)]
pub struct Session {
    inner: Arc<Inner>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Session")
            .field("life", &self.inner.life)
            .finish_non_exhaustive()
    }
}

impl Session {
    /// Says hello over a pipe and takes the agent over from whoever spoke with it before.
    ///
    /// # Errors
    /// When the pipe ends, the agent says nothing within 20 s, or it is another version.
    pub async fn open(
        mut reader: impl AsyncRead + Unpin + Send + 'static,
        mut writer: impl AsyncWrite + Unpin + Send + 'static,
    ) -> Result<(Self, Incoming), SandboxError> {
        let hello = Asked {
            id: NO_ANSWER,
            ask: Ask::Hello { version: VERSION },
        };
        let greeting = pipe::greet(&mut reader, &mut writer, &hello);
        let life = tokio::time::timeout(HELLO_LIMIT, greeting)
            .await
            .map_err(|_| SandboxError::TimedOut {
                what: "connecting to the resident agent".to_owned(),
                limit_s: HELLO_LIMIT.as_secs(),
            })??;
        let (asks, outgoing) = mpsc::channel(OUTGOING_MAX);
        let (call, calls) = mpsc::channel(CALLS_MAX * RUNNING_MAX);
        let (opened, tunnels) = mpsc::channel(TUNNELS_MAX);
        let inner = Arc::new(Inner {
            life,
            asks,
            open: Mutex::new(Some(Open::new())),
            room: Semaphore::new(ASKS_MAX),
            last: AtomicU64::new(NO_ANSWER),
            tasks: Mutex::default(),
        });
        let writing = tokio::spawn(pipe::write(writer, outgoing));
        let taking = pipe::Taking::new(&inner, call, opened);
        let reading = tokio::spawn(pipe::read(reader, taking));
        if let Ok(mut tasks) = inner.tasks.lock() {
            tasks.extend([writing.abort_handle(), reading.abort_handle()]);
        }
        Ok((Self { inner }, Incoming { calls, tunnels }))
    }

    /// The agent's life: it differs each time that the agent starts. A command that it does not
    /// know never ran if this is the life that was there when it was to be started.
    pub fn life(&self) -> &str {
        &self.inner.life
    }

    /// Whether the pipe is still there.
    pub fn is_open(&self) -> bool {
        self.inner.open.lock().is_ok_and(|open| open.is_some())
    }

    /// Starts a command, unless one with its id was started before; says whether it did now.
    ///
    /// # Errors
    /// When the agent refuses, or the pipe ends: then the command may run, and asking again with
    /// the same id is safe.
    pub async fn start(&self, start: Start) -> Result<bool, SandboxError> {
        match self.ask(Ask::Start(Box::new(start)), &[]).await?.0 {
            Answer::Started { now } => Ok(now),
            other => Err(unexpected(&other)),
        }
    }

    /// A handle to a command, whether it runs or has ended.
    pub fn command(&self, id: &str) -> Command {
        Command::new(self.clone(), id.to_owned())
    }

    /// Output from an offset on: at least one byte, or the end. Without `wait`, what there is.
    ///
    /// # Errors
    /// When the command is not known, the offset is beyond its output, or the pipe ends.
    pub async fn read(
        &self,
        command: &str,
        stream: Stream,
        offset: u64,
        wait: bool,
    ) -> Result<Piece, SandboxError> {
        let ask = Ask::Read {
            command: command.to_owned(),
            stream,
            offset,
            wait,
        };
        match self.ask(ask, &[]).await? {
            (Answer::Output { offset, ended }, bytes) => Ok(Piece {
                offset,
                bytes,
                ended,
            }),
            (other, _) => Err(unexpected(&other)),
        }
    }

    /// Waits for a command's end.
    ///
    /// # Errors
    /// When the command is not known or the pipe ends.
    pub async fn wait(&self, command: &str) -> Result<Receipt, SandboxError> {
        let state = self
            .state_of(Ask::Wait {
                command: command.to_owned(),
            })
            .await?;
        state.receipt.ok_or_else(|| SandboxError::Gone {
            why: " within an answer".to_owned(),
        })
    }

    /// How a command stands.
    ///
    /// # Errors
    /// When the command is not known or the pipe ends.
    pub async fn state(&self, command: &str) -> Result<State, SandboxError> {
        self.state_of(Ask::State {
            command: command.to_owned(),
        })
        .await
    }

    /// All commands that the agent remembers, in the order of their ids.
    ///
    /// # Errors
    /// When the pipe ends.
    pub async fn list(&self) -> Result<Vec<State>, SandboxError> {
        let mut all: Vec<State> = Vec::new();
        for _ in 0..PAGES_MAX {
            let after = all
                .last()
                .map(|state| state.command.clone())
                .unwrap_or_default();
            match self.ask(Ask::List { after }, &[]).await?.0 {
                Answer::States { states } if states.is_empty() => break,
                Answer::States { states } => all.extend(states),
                other => return Err(unexpected(&other)),
            }
        }
        Ok(all)
    }

    /// Answers a call of a tool. An answer to one that is answered already does nothing.
    ///
    /// # Errors
    /// When the pipe ends or the answer is longer than a frame: give a path instead.
    pub async fn answer(&self, call: CallId, body: &[u8]) -> Result<(), SandboxError> {
        self.done(Ask::Answer { call }, body).await
    }

    /// Ends all commands and the agent, and with it the container.
    ///
    /// # Errors
    /// When the pipe ended before; that it ends now is what was asked for.
    pub async fn stop(&self) -> Result<(), SandboxError> {
        match self.done(Ask::Stop, &[]).await {
            Err(error) if error.is_gone() => Ok(()),
            other => other,
        }
    }

    async fn state_of(&self, ask: Ask) -> Result<State, SandboxError> {
        match self.ask(ask, &[]).await?.0 {
            Answer::State(state) => Ok(state),
            other => Err(unexpected(&other)),
        }
    }

    pub(crate) async fn done(&self, ask: Ask, body: &[u8]) -> Result<(), SandboxError> {
        match self.ask(ask, body).await?.0 {
            Answer::Done => Ok(()),
            other => Err(unexpected(&other)),
        }
    }

    async fn ask(&self, ask: Ask, body: &[u8]) -> Result<(Answer, Vec<u8>), SandboxError> {
        let _room = self.inner.room.acquire().await.map_err(|_| gone())?;
        let id = self.inner.last.fetch_add(1, Ordering::Relaxed) + 1;
        let frame = encode(&Asked { id, ask }, body)?;
        let (answer, answered) = oneshot::channel();
        {
            let mut open = self
                .inner
                .open
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            open.as_mut().ok_or_else(gone)?.insert(id, answer);
        }
        let _waiting = Waiting {
            inner: &self.inner,
            id,
        };
        self.inner.asks.send(frame).await.map_err(|_| gone())?;
        match answered.await.map_err(|_| gone())? {
            (Answer::Refused { code, message }, _) => Err(SandboxError::Refused { code, message }),
            answered => Ok(answered),
        }
    }
}

/// Whoever stops waiting for an answer leaves nothing behind.
struct Waiting<'a> {
    inner: &'a Inner,
    id: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut open = self
            .inner
            .open
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = open.as_mut() {
            open.remove(&self.id);
        }
    }
}

fn gone() -> SandboxError {
    SandboxError::Gone { why: String::new() }
}

fn unexpected(answer: &Answer) -> SandboxError {
    SandboxError::Gone {
        why: format!(" with an answer that nobody asked for: {answer:?}"),
    }
}
