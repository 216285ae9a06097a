//! A provider server on this machine: a real socket that speaks all four formats, by the path of
//! the request; scripted answers; and every fault that providers have been seen with.

mod answer;
mod control;
mod format;
mod http;
mod manner;
mod refusal;
mod script;
mod stream;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use longrein_models::demo;
use longrein_runtime::ports::ModelReply;
use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinSet};

use crate::gate::Gate;
use crate::reply::Scripted;
use crate::request::SeenRequest;

pub use longrein_models::Format;
pub use manner::{Fault, Manner};
pub use refusal::{Refusal, Trouble, WaitSaid};
pub use script::{Entry, Script, ScriptError};

/// The bytes of a streamed reply, as the server would send them, for who wants to cut them himself.
pub fn stream_bytes(format: Format, reply: &ModelReply, manner: &Manner) -> Vec<u8> {
    let sending = format::Sending {
        reply,
        model: "any",
        manner,
    };
    stream::bytes(format, sending)
}

/// Connections served at the same time; more wait.
const CONNECTION_LIMIT: usize = 64;

/// How long to wait after a connection that could not be taken.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// What to answer a request.
pub type Brain = Arc<dyn Fn(&SeenRequest) -> Answer + Send + Sync>;

/// One answer, with the way in which it is sent.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What is sent.
    pub content: Content,
    /// How; the server's own manner where it says nothing.
    pub manner: Option<Manner>,
}

/// What is sent.
#[derive(Clone, Debug)]
pub enum Content {
    /// A reply of the model.
    Reply(ModelReply),
    /// A stream that was recorded, byte for byte.
    Recorded(Arc<str>),
    /// A refusal, as the format's provider would say it.
    Refusal(Refusal),
    /// An error, whatever the format.
    Status {
        /// The status code.
        status: u16,
        /// More headers.
        headers: Vec<(String, String)>,
        /// The body.
        body: String,
    },
}

impl From<Content> for Answer {
    fn from(content: Content) -> Self {
        Self {
            content,
            manner: None,
        }
    }
}

/// How a server is set up.
#[derive(Clone)]
pub struct Setup {
    /// What it answers.
    pub brain: Brain,
    /// How it sends what it answers.
    pub manner: Manner,
    /// The key that it wants; without one it takes every request.
    pub key: Option<String>,
    /// The models that it lists.
    pub models: Vec<String>,
    /// The port; 0 takes a free one.
    pub port: u16,
}

impl Setup {
    /// A server that answers by a rule.
    pub fn of(brain: impl Fn(&SeenRequest) -> Answer + Send + Sync + 'static) -> Self {
        Self {
            brain: Arc::new(brain),
            manner: Manner::default(),
            key: None,
            models: vec!["any".to_owned()],
            port: 0,
        }
    }

    /// A server that thinks like the demonstration model.
    pub fn demo() -> Self {
        Self::of(|request| Content::Reply(demo::reply(&request.body)).into())
    }

    /// A server that gives these answers one after the other. Gates do not hold here; see
    /// [`Manner::hold_after`].
    pub fn scripted(script: impl IntoIterator<Item = Scripted>) -> Self {
        let script: Vec<Scripted> = script.into_iter().collect();
        Self::of(
            move |request| match script.get(request.number as usize - 1) {
                Some(scripted) => answer::of_scripted(scripted, request),
                None => answer::no_more(request),
            },
        )
    }

    /// The same server with another manner.
    #[must_use]
    pub fn in_manner(mut self, manner: Manner) -> Self {
        self.manner = manner;
        self
    }
}

/// A running server. It ends when this is dropped.
pub struct MockProvider {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: AbortHandle,
}

struct Shared {
    setup: Setup,
    gate: Gate,
    state: Mutex<State>,
}

/// What the server has seen and sent.
#[derive(Default)]
struct State {
    seen: Vec<SeenRequest>,
    tokens_in: u64,
    tokens_out: u64,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere leaves nothing half done in here.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MockProvider {
    /// Starts a server on a port of the loopback address.
    pub async fn start(setup: Setup) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, setup.port)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            setup,
            gate: Gate::new(),
            state: Mutex::default(),
        });
        let server = tokio::spawn(serve(listener, shared.clone())).abort_handle();
        Ok(Self {
            address,
            shared,
            server,
        })
    }

    /// What goes into a configuration; for Gemini's format see [`MockProvider::origin`].
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The address without a path.
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests for a reply, with their exact bodies, oldest first.
    pub fn seen(&self) -> Vec<SeenRequest> {
        self.shared.state().seen.clone()
    }

    /// How many requests for a reply came.
    pub fn count(&self) -> usize {
        self.shared.state().seen.len()
    }

    /// Tokens that the server said were used: in and out.
    pub fn tokens(&self) -> (u64, u64) {
        let state = self.shared.state();
        (state.tokens_in, state.tokens_out)
    }

    /// Where replies with [`Manner::hold_after`] wait.
    pub fn gate(&self) -> &Gate {
        &self.shared.gate
    }
}

impl Drop for MockProvider {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    // Dropped with this task, and all connections with it.
    let mut connections = JoinSet::new();
    loop {
        while connections.len() >= CONNECTION_LIMIT {
            connections.join_next().await;
        }
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(control::connection(stream, shared.clone()));
                }
                // Gone before it was taken, or no descriptor is free just now.
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}
