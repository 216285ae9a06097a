//! A connection that lives: greeted, its tools listed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ProtocolVersion, SubscriptionFilter};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, Peer, RoleClient, RunningService,
    RunningServiceCancellationToken, ServiceError,
};
use rmcp::transport::IntoTransport;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::clean::{head, plain};
use crate::config::{Reach, ServerConfig, shown};
use crate::confine::Confinement;
use crate::error::McpError;
use crate::group::Group;
use crate::host::{Host, lifecycle};
use crate::http;
use crate::listing::{self, Listing};
use crate::stderr::LastWords;
use crate::stdio::{CLOSE_GRACE, DRAIN_LIMIT, GONE_LIMIT, Spawned};

/// The longest reason that a message carries.
const REASON_BYTES: usize = 600;

/// A connection from its greeting to its end.
pub(crate) struct Live {
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) host: Host,
    /// What the server offers now.
    listing: watch::Sender<Arc<Listing>>,
    ending: watch::Receiver<Option<String>>,
    /// Ends the connection; gone once it was used.
    close: Mutex<Option<RunningServiceCancellationToken>>,
    /// The program behind it, where there is one.
    pub(crate) program: Option<Program>,
}

/// The program behind a connection.
pub(crate) struct Program {
    pub(crate) group: Arc<Group>,
    pub(crate) words: LastWords,
    pub(crate) confinement: Confinement,
}

impl Live {
    /// Starts or reaches the server, greets it and lists its tools. A server that answers the
    /// newer greeting with something else than it should is greeted again, the older way alone.
    pub(crate) async fn open(config: &ServerConfig) -> Result<Arc<Self>, McpError> {
        match Self::attempt(config, lifecycle()).await {
            Ok(live) => Ok(live),
            Err(failed) if failed.is_confused => {
                let again = Self::attempt(config, ClientLifecycleMode::Initialize).await;
                again.map_err(|failed| failed.error)
            }
            Err(failed) => Err(failed.error),
        }
    }

    async fn attempt(
        config: &ServerConfig,
        lifecycle: ClientLifecycleMode,
    ) -> Result<Arc<Self>, Failed> {
        match &config.reach {
            Reach::Process(process) => {
                let words = LastWords::new(config.secrets());
                let (mut spawned, pipes) =
                    Spawned::start(&config.name, process, &config.workspace, words)?;
                let host = Host::new(config);
                let greeted = tokio::select! {
                    greeted = timeout(config.limits.start, greet(host.clone(), pipes, lifecycle)) => greeted,
                    () = spawned.ended() => Ok(Err(Failure::Closed(String::new()))),
                };
                match greeted {
                    Ok(Ok(greeted)) => Ok(Self::of_program(greeted, host, spawned)),
                    failed => {
                        let words = spawned.words.clone();
                        let reason = spawned.give_up().await;
                        let command = process.command.join(" ");
                        let how = How::Command(config.secrets().mask(command));
                        Err(failed
                            .map_or(Failure::Silent, |result| result.err().unwrap_or_default())
                            .into_error(config, how, reason, words.quoted()))
                    }
                }
            }
            Reach::Address(address) => {
                let transport = http::transport(&config.name, address)?;
                let host = Host::new(config);
                match timeout(
                    config.limits.start,
                    greet(host.clone(), transport, lifecycle),
                )
                .await
                {
                    Ok(Ok(greeted)) => Ok(Self::of_address(greeted, host)),
                    failed => {
                        let failure = failed
                            .map_or(Failure::Silent, |result| result.err().unwrap_or_default());
                        let asks_to_sign_in = matches!(failure, Failure::SignIn(_));
                        if !asks_to_sign_in && http::speaks_the_old_way(&config.name, address).await
                        {
                            return Err(McpError::OldWay {
                                server: config.name.clone(),
                                url: shown(&address.url),
                            }
                            .into());
                        }
                        let how = How::Address(shown(&address.url));
                        Err(failure.into_error(config, how, String::new(), None))
                    }
                }
            }
        }
    }

    fn of_program(greeted: Greeted, host: Host, spawned: Spawned) -> Arc<Self> {
        let (ended, ending) = watch::channel(None);
        let live = Arc::new(Self {
            peer: greeted.service.peer().clone(),
            host,
            listing: watch::Sender::new(Arc::new(greeted.listing)),
            ending,
            close: Mutex::new(Some(greeted.service.cancellation_token())),
            program: Some(Program {
                group: spawned.group.clone(),
                words: spawned.words.clone(),
                confinement: spawned.confinement.clone(),
            }),
        });
        tokio::spawn(spawned.watch(greeted.service, ended));
        tokio::spawn(follow(Arc::downgrade(&live)));
        live
    }

    fn of_address(greeted: Greeted, host: Host) -> Arc<Self> {
        let (ended, ending) = watch::channel(None);
        let live = Arc::new(Self {
            peer: greeted.service.peer().clone(),
            host,
            listing: watch::Sender::new(Arc::new(greeted.listing)),
            ending,
            close: Mutex::new(Some(greeted.service.cancellation_token())),
            program: None,
        });
        let service = greeted.service;
        tokio::spawn(async move {
            let why = match service.waiting().await {
                Ok(_) => "the connection was closed".to_owned(),
                Err(error) => head(&plain(&error.to_string()), REASON_BYTES),
            };
            ended.send_replace(Some(why));
        });
        tokio::spawn(follow(Arc::downgrade(&live)));
        live
    }

    /// What the server offers now.
    pub(crate) fn listing(&self) -> Arc<Listing> {
        self.listing.borrow().clone()
    }

    /// Whether it can be spoken to.
    pub(crate) fn is_open(&self) -> bool {
        lock(&self.close).is_some()
            && self.ending.borrow().is_none()
            && !self.peer.is_transport_closed()
    }

    /// Why it has ended; `None` while it lives.
    pub(crate) fn ended(&self) -> Option<String> {
        self.ending.borrow().clone()
    }

    /// Waits a moment until it is known why it ended.
    pub(crate) async fn why_ended(&self) -> String {
        let mut ending = self.ending.clone();
        match timeout(DRAIN_LIMIT + CLOSE_GRACE, ending.wait_for(Option::is_some)).await {
            Ok(Ok(why)) => why.clone().unwrap_or_default(),
            _ => "the connection was closed".to_owned(),
        }
    }

    /// Begins to end it.
    pub(crate) fn begin_to_close(&self) {
        if let Some(close) = lock(&self.close).take() {
            close.cancel();
        }
    }

    /// Closes its input, waits a moment for it to end by itself, and ends its process group.
    pub(crate) async fn close(&self) {
        self.begin_to_close();
        let mut ending = self.ending.clone();
        // Whether it ended in time or not, nothing of it is left after this.
        let _ = timeout(CLOSE_GRACE + GONE_LIMIT, ending.wait_for(Option::is_some)).await;
        if let Some(program) = &self.program {
            program.group.end();
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.begin_to_close();
        if let Some(program) = &self.program {
            program.group.end();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lists the tools again whenever the server says that they have changed, until the connection
/// ends. On newer connections that has to be asked for.
async fn follow(live: std::sync::Weak<Live>) {
    let (peer, host, mut ending) = {
        let Some(live) = live.upgrade() else {
            return;
        };
        (live.peer.clone(), live.host.clone(), live.ending.clone())
    };
    let told = peer.peer_info().is_some_and(|info| {
        let tools = info.capabilities.tools.as_ref();
        tools.is_some_and(|tools| tools.list_changed == Some(true))
    });
    if !told {
        return;
    }
    let asks = peer
        .peer_info()
        .is_some_and(|info| info.protocol_version >= ProtocolVersion::V_2026_07_28);
    let listening = asks.then(|| tokio::spawn(listen(peer.clone(), host.clone())));
    let mut changes = host.changes();
    loop {
        tokio::select! {
            changed = changes.changed() => if changed.is_err() { break },
            _ = ending.wait_for(Option::is_some) => break,
        }
        let listed = listing::read(&peer).await;
        let Some(live) = live.upgrade() else {
            break;
        };
        if let Ok(listed) = listed {
            live.listing.send_replace(Arc::new(listed));
        }
    }
    if let Some(listening) = listening {
        listening.abort();
    }
}

async fn listen(peer: Peer<RoleClient>, host: Host) {
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    let Ok(mut subscription) = peer.listen(filter).await else {
        return;
    };
    while let Ok(Some(_)) = subscription.next().await {
        host.tools_changed();
    }
}

struct Greeted {
    service: RunningService<RoleClient, Host>,
    listing: Listing,
}

/// Does the handshake, the newer one first, and lists the tools.
async fn greet<T, E, A>(
    host: Host,
    transport: T,
    lifecycle: ClientLifecycleMode,
) -> Result<Greeted, Failure>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let service = host.serve_with_lifecycle(transport, lifecycle).await?;
    let listing = listing::read(service.peer()).await?;
    Ok(Greeted { service, listing })
}

/// An attempt that failed.
struct Failed {
    error: McpError,
    /// Whether the server answered the greeting with something that is no answer to it.
    is_confused: bool,
}

impl From<McpError> for Failed {
    fn from(error: McpError) -> Self {
        Self {
            error,
            is_confused: false,
        }
    }
}

/// How the server was to be reached, in the person's words.
enum How {
    Command(String),
    Address(String),
}

/// Why a server could not be greeted.
#[derive(Default)]
enum Failure {
    /// It is gone; over HTTP, why.
    Closed(String),
    #[default]
    Silent,
    Protocol(String),
    /// It answered the greeting with something else.
    Confused(String),
    /// The person has to sign in; what the server said of how.
    SignIn(Option<String>),
}

impl Failure {
    fn into_error(
        self,
        config: &ServerConfig,
        how: How,
        reason: String,
        said: Option<String>,
    ) -> Failed {
        let server = config.name.clone();
        let secrets = config.secrets();
        let is_confused = matches!(self, Self::Confused(_));
        let error = match (self, how) {
            (Self::SignIn(challenge), How::Address(url)) => McpError::SignIn {
                server,
                url,
                challenge,
            },
            (Self::Closed(_), How::Command(command)) => McpError::Ended {
                server,
                reason,
                command,
            },
            (Self::Closed(why), How::Address(url)) => McpError::Unreachable {
                server,
                url,
                reason: secrets.mask(why),
            },
            (Self::Silent, how) => McpError::Silent {
                server,
                limit_seconds: config.limits.start.as_secs(),
                said: said
                    .map(|said| format!("; it said: {said}"))
                    .unwrap_or_default(),
                hint: how.hint(),
            },
            (Self::Protocol(reason) | Self::Confused(reason), how) => McpError::Protocol {
                server,
                reason: secrets.mask(reason),
                hint: how.hint(),
            },
            (Self::SignIn(_), How::Command(_)) => McpError::Protocol {
                server,
                reason: "it asks to sign in, which a program can't".to_owned(),
                hint: "",
            },
        };
        Failed { error, is_confused }
    }
}

impl How {
    fn hint(&self) -> &'static str {
        match self {
            Self::Command(_) => {
                " Check that its command starts an MCP server that speaks over standard input and output."
            }
            Self::Address(_) => {
                " Check that its url is that of an MCP server that speaks streamable HTTP."
            }
        }
    }
}

fn short(text: &str) -> String {
    head(&plain(text), REASON_BYTES)
}

impl From<ClientInitializeError> for Failure {
    fn from(error: ClientInitializeError) -> Self {
        if error.is_authorization_required() || error.auth_challenge().is_some() {
            return Self::SignIn(error.auth_challenge().map(str::to_owned));
        }
        match error {
            ClientInitializeError::ConnectionClosed(why) => Self::Closed(short(&why)),
            ClientInitializeError::TransportError { error, .. } => {
                Self::Closed(short(&http::innermost(error.error.as_ref())))
            }
            ClientInitializeError::LegacyFallbackFailed { fallback, .. } => (*fallback).into(),
            ClientInitializeError::ExpectedInitResult(_) => {
                Self::Confused("it answered the greeting with something else".to_owned())
            }
            other => Self::Protocol(short(&other.to_string())),
        }
    }
}

impl From<ServiceError> for Failure {
    fn from(error: ServiceError) -> Self {
        if error.is_authorization_required() || error.auth_challenge().is_some() {
            return Self::SignIn(error.auth_challenge().map(str::to_owned));
        }
        match error {
            ServiceError::TransportClosed => Self::Closed(String::new()),
            ServiceError::TransportSend(error) => {
                Self::Closed(short(&http::innermost(error.error.as_ref())))
            }
            other => Self::Protocol(short(&other.to_string())),
        }
    }
}
