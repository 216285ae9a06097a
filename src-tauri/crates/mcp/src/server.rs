//! A running server.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use longrein_protocol::HARNESS_VERSION;
use longrein_protocol::ToolErrorClass;
use longrein_protocol::agent::ToolSettings;
use longrein_runtime::ports::{Tool, ToolError};
use longrein_store::groups::{MARK, mark_value, note_group};
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, Peer, RoleClient, RunningService,
    RunningServiceCancellationToken, ServiceError,
};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::bounded::{BoundedLines, LINE_BYTES_MAX};
use crate::clean::{Secrets, head, plain};
use crate::error::McpError;
use crate::group::{Group, start_watchdog};
use crate::leader::Leader;
use crate::listing::{self, Listing, ToolProblem};
use crate::stderr::LastWords;
use crate::tool::McpTool;

/// How long a server has from its start until its tools are listed.
const START_LIMIT: Duration = Duration::from_secs(20);

/// How long a server may take to end by itself after its input was closed.
const CLOSE_GRACE: Duration = Duration::from_millis(1_500);

/// How long what a server has written before it ended is still read.
const DRAIN_LIMIT: Duration = Duration::from_secs(2);

/// How long anything waits for a killed server to be gone.
const GONE_LIMIT: Duration = Duration::from_secs(5);

/// The longest name of a server.
const NAME_LETTERS_MAX: usize = 40;

/// The longest reason that a message carries.
const REASON_BYTES: usize = 600;

/// What a server gets from our own environment; all else is granted by name.
const PASSED_VARIABLES: [&str; 3] = ["PATH", "HOME", "LANG"];

/// How to start a server.
#[derive(Clone)]
pub struct ServerConfig {
    /// The name before the dot of its tools' names.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The variables that the person granted, with their values; the values are masked in
    /// whatever the server says.
    pub env: BTreeMap<String, String>,
    /// Whether the person believes what the server says about its tools.
    pub trusted: bool,
    /// The folder that it works in: the run's workspace.
    pub cwd: PathBuf,
    /// The file where process groups are noted (`longrein_store::groups::groups_file`). Its folder
    /// must exist.
    pub groups_file: PathBuf,
}

/// A running server. It ends with its whole process group when this is closed or dropped, even
/// while tools of it are still held; those then answer that it has ended.
pub struct McpServer {
    connection: Arc<Connection>,
    listing: Listing,
}

impl McpServer {
    /// Starts the server and lists its tools. Must be called within a Tokio runtime. Nothing is
    /// sent to it before its process group is on record.
    pub async fn start(config: ServerConfig) -> Result<Self, McpError> {
        check(&config)?;
        let secrets = Secrets::of(config.env.values());
        let words = LastWords::new(secrets.clone());
        let Spawned {
            mut leader,
            group,
            stdin,
            stdout,
            mut listening,
        } = spawn(&config, &words)?;
        let group = Arc::new(group);
        let fault = Arc::new(OnceLock::new());
        let transport = (
            BoundedLines::new(stdout, LINE_BYTES_MAX, fault.clone()),
            stdin,
        );
        let greeted = tokio::select! {
            greeted = timeout(START_LIMIT, greet(transport)) => greeted,
            () = leader.ended() => Ok(Err(Failure::Closed)),
        };
        match greeted {
            Ok(Ok((service, listing))) => {
                let (ended, ending) = watch::channel(None);
                let connection = Arc::new(Connection {
                    name: config.name,
                    trusted: config.trusted,
                    secrets,
                    peer: service.peer().clone(),
                    group: group.clone(),
                    ending,
                    close: Mutex::new(Some(service.cancellation_token())),
                });
                let warden = Warden {
                    leader,
                    group,
                    words,
                    listening,
                    fault,
                    ended,
                };
                tokio::spawn(warden.watch(service));
                Ok(Self {
                    connection,
                    listing,
                })
            }
            failed => {
                let failure = failed.map_or(Failure::Silent, |result| {
                    result.err().unwrap_or(Failure::Closed)
                });
                let exited = timeout(CLOSE_GRACE, leader.ended()).await.is_ok();
                group.end();
                let status = leader.reap(GONE_LIMIT).await;
                let _ = timeout(DRAIN_LIMIT, &mut listening).await;
                let reason = reason(fault.get(), status.filter(|_| exited), &words);
                Err(failure.into_error(&config, reason, &words))
            }
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.connection.name
    }

    /// Its tools, with what the person says of each (`[tools."server.tool"]`) filled in.
    pub fn tools(&self, settings: &BTreeMap<String, ToolSettings>) -> Vec<Arc<dyn Tool>> {
        self.listing
            .tools
            .iter()
            .map(|tool| {
                let tool = McpTool::new(tool, settings, self.connection.clone());
                Arc::new(tool) as Arc<dyn Tool>
            })
            .collect()
    }

    /// The tools that it offers and that can't be used.
    pub fn problems(&self) -> &[ToolProblem] {
        &self.listing.problems
    }

    /// Why it has ended; `None` while it runs.
    pub fn ended(&self) -> Option<String> {
        self.connection.ending.borrow().clone()
    }

    /// Closes its input, waits a moment for it to end by itself, and ends its process group.
    pub async fn close(&self) {
        self.connection.close();
        let mut ending = self.connection.ending.clone();
        let limit = CLOSE_GRACE + GONE_LIMIT;
        // Whether it ended in time or not, nothing of it is left after this.
        let _ = timeout(limit, ending.wait_for(Option::is_some)).await;
        self.connection.group.end();
    }
}

impl Drop for McpServer {
    fn drop(&mut self) {
        self.connection.close();
        self.connection.group.end();
    }
}

/// What the tools of a server share.
pub(crate) struct Connection {
    name: String,
    trusted: bool,
    secrets: Secrets,
    peer: Peer<RoleClient>,
    group: Arc<Group>,
    ending: watch::Receiver<Option<String>>,
    /// Ends the connection; gone once it was used.
    close: Mutex<Option<RunningServiceCancellationToken>>,
}

impl Connection {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn is_trusted(&self) -> bool {
        self.trusted
    }

    pub(crate) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// The way to the server; `None` once it has ended or was closed.
    pub(crate) fn peer(&self) -> Option<&Peer<RoleClient>> {
        let is_open = lock(&self.close).is_some()
            && self.ending.borrow().is_none()
            && !self.peer.is_transport_closed();
        is_open.then_some(&self.peer)
    }

    /// The error of a call that never reached the server.
    pub(crate) async fn gone(&self, tool: &str) -> ToolError {
        let why = self.why_ended().await;
        ToolError::new(
            ToolErrorClass::Temporary,
            format!("{tool} was not called: its server has ended ({why})."),
        )
    }

    /// Waits a moment until it is known why the server ended.
    pub(crate) async fn why_ended(&self) -> String {
        let mut ending = self.ending.clone();
        match timeout(DRAIN_LIMIT + CLOSE_GRACE, ending.wait_for(Option::is_some)).await {
            Ok(Ok(why)) => why.clone().unwrap_or_default(),
            _ => "the connection was closed".to_owned(),
        }
    }

    fn close(&self) {
        if let Some(close) = lock(&self.close).take() {
            close.cancel();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Watches one server to its end.
struct Warden {
    leader: Leader,
    group: Arc<Group>,
    words: LastWords,
    /// Ends when everything that the server said was kept.
    listening: JoinHandle<()>,
    fault: Arc<OnceLock<String>>,
    ended: watch::Sender<Option<String>>,
}

impl Warden {
    /// Returns when nothing of the server is left.
    async fn watch(mut self, service: RunningService<RoleClient, ClientConfig>) {
        let mut served = std::pin::pin!(service.waiting());
        let closed_first = tokio::select! {
            () = self.leader.ended() => false,
            _ = &mut served => true,
        };
        // Its input is closed by now, so that a good server ends by itself and tells its status.
        let by_itself = !closed_first || timeout(CLOSE_GRACE, self.leader.ended()).await.is_ok();
        self.group.end();
        let status = self.leader.reap(GONE_LIMIT).await;
        if !closed_first {
            // An answer that was written before the end still counts.
            let _ = timeout(DRAIN_LIMIT, &mut served).await;
        }
        let _ = timeout(DRAIN_LIMIT, &mut self.listening).await;
        let reason = reason(self.fault.get(), status.filter(|_| by_itself), &self.words);
        self.ended.send_replace(Some(reason));
    }
}

/// Why a server ended: what we hold against it, else its status, with its last words.
fn reason(fault: Option<&String>, status: Option<ExitStatus>, words: &LastWords) -> String {
    let cause = match (fault, status) {
        (Some(fault), _) => fault.clone(),
        (None, Some(status)) => status.to_string(),
        (None, None) => "it closed the connection".to_owned(),
    };
    match words.quoted() {
        Some(said) => format!("{cause}; it said: {said}"),
        None => cause,
    }
}

fn check(config: &ServerConfig) -> Result<(), McpError> {
    let server = || config.name.clone();
    let sound = (1..=NAME_LETTERS_MAX).contains(&config.name.len())
        && config
            .name
            .bytes()
            .all(|letter| letter.is_ascii_alphanumeric() || b"-_".contains(&letter));
    if !sound {
        return Err(McpError::Name {
            server: head(&plain(&config.name), NAME_LETTERS_MAX),
            limit: NAME_LETTERS_MAX,
        });
    }
    if config.command.first().is_none_or(String::is_empty) {
        return Err(McpError::NoCommand { server: server() });
    }
    std::fs::read_dir(&config.cwd).map_err(|source| McpError::Folder {
        server: server(),
        folder: config.cwd.clone(),
        source,
    })?;
    Ok(())
}

/// A server that has been told nothing yet.
struct Spawned {
    leader: Leader,
    group: Group,
    stdin: ChildStdin,
    stdout: ChildStdout,
    listening: JoinHandle<()>,
}

fn spawn(config: &ServerConfig, words: &LastWords) -> Result<Spawned, McpError> {
    let server = || config.name.clone();
    let mut watchdog = start_watchdog().map_err(|source| McpError::Watchdog {
        server: server(),
        source,
    })?;
    let mut child = match command(config).spawn() {
        Ok(child) => child,
        Err(source) => {
            let _ = watchdog.kill().and_then(|()| watchdog.wait());
            return Err(spawn_error(config, source));
        }
    };
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let led = Leader::of(child);
    let (Ok((leader, id)), (Some(stdin), Some(stdout), Some(stderr))) = (led, pipes) else {
        let _ = watchdog.kill().and_then(|()| watchdog.wait());
        let source = io::Error::other("it ended before it could be watched");
        return Err(spawn_error(config, source));
    };
    let group = Group::guard(id, watchdog);
    let number = id.as_raw_nonzero().get().cast_unsigned();
    note_group(&config.groups_file, number).map_err(|source| McpError::GroupsFile {
        server: server(),
        path: config.groups_file.clone(),
        source,
    })?;
    Ok(Spawned {
        leader,
        group,
        stdin,
        stdout,
        listening: tokio::spawn(words.clone().keep(stderr)),
    })
}

fn command(config: &ServerConfig) -> Command {
    let mut command = Command::new(&config.command[0]);
    command
        .args(&config.command[1..])
        .env_clear()
        .current_dir(&config.cwd)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    for variable in PASSED_VARIABLES {
        if let Some(value) = std::env::var_os(variable) {
            command.env(variable, value);
        }
    }
    command
        .envs(&config.env)
        .env(MARK, mark_value(std::process::id()));
    command
}

fn spawn_error(config: &ServerConfig, source: io::Error) -> McpError {
    let server = config.name.clone();
    let program = config.command[0].clone();
    if source.kind() == io::ErrorKind::NotFound && !Path::new(&program).exists() {
        return McpError::NoProgram { server, program };
    }
    McpError::Spawn {
        server,
        program,
        source,
    }
}

/// Why a server could not be greeted.
enum Failure {
    Closed,
    Silent,
    Protocol(String),
}

impl Failure {
    fn into_error(self, config: &ServerConfig, reason: String, words: &LastWords) -> McpError {
        let server = config.name.clone();
        match self {
            Self::Closed => McpError::Ended {
                server,
                reason,
                command: Secrets::of(config.env.values()).mask(config.command.join(" ")),
            },
            Self::Silent => McpError::Silent {
                server,
                limit_seconds: START_LIMIT.as_secs(),
                said: words
                    .quoted()
                    .map(|said| format!("; it said: {said}"))
                    .unwrap_or_default(),
            },
            Self::Protocol(reason) => McpError::Protocol { server, reason },
        }
    }
}

impl From<ClientInitializeError> for Failure {
    fn from(error: ClientInitializeError) -> Self {
        match error {
            ClientInitializeError::ConnectionClosed(_)
            | ClientInitializeError::TransportError { .. } => Self::Closed,
            ClientInitializeError::LegacyFallbackFailed { fallback, .. } => (*fallback).into(),
            other => Self::Protocol(head(&plain(&other.to_string()), REASON_BYTES)),
        }
    }
}

impl From<ServiceError> for Failure {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::TransportClosed | ServiceError::TransportSend(_) => Self::Closed,
            other => Self::Protocol(head(&plain(&other.to_string()), REASON_BYTES)),
        }
    }
}

/// Does the handshake, the newer one first, and lists the tools.
async fn greet(
    transport: (BoundedLines<ChildStdout>, ChildStdin),
) -> Result<(RunningService<RoleClient, ClientConfig>, Listing), Failure> {
    let us = Implementation::new("longrein", HARNESS_VERSION);
    let client = ClientConfig::new(ClientCapabilities::default(), us);
    let lifecycle = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    };
    let service = client.serve_with_lifecycle(transport, lifecycle).await?;
    let listing = listing::read(service.peer()).await?;
    Ok((service, listing))
}
