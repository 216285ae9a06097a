//! Starting a server that is a program, and watching it to its end.

use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use longrein_store::groups::{MARK, mark_value, note_group};
use rmcp::service::{RoleClient, RunningService};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::bounded::{BoundedLines, LINE_BYTES_MAX};
use crate::config::ProcessConfig;
use crate::confine::{self, Confinement};
use crate::error::McpError;
use crate::group::{Group, start_watchdog};
use crate::host::Host;
use crate::leader::Leader;
use crate::stderr::LastWords;

/// How long a server may take to end by itself after its input was closed.
pub(crate) const CLOSE_GRACE: Duration = Duration::from_millis(1_500);

/// How long what a server has written before it ended is still read.
pub(crate) const DRAIN_LIMIT: Duration = Duration::from_secs(2);

/// How long anything waits for a killed server to be gone.
pub(crate) const GONE_LIMIT: Duration = Duration::from_secs(5);

/// What a server gets from our own environment; all else is granted by name.
const PASSED_VARIABLES: [&str; 3] = ["PATH", "HOME", "LANG"];

/// A program that has been told nothing yet.
pub(crate) struct Spawned {
    leader: Leader,
    pub(crate) group: Arc<Group>,
    pub(crate) words: LastWords,
    pub(crate) confinement: Confinement,
    /// Ends when everything that the server said was kept.
    listening: JoinHandle<()>,
    fault: Arc<OnceLock<String>>,
}

/// What is spoken over.
pub(crate) type Pipes = (BoundedLines<ChildStdout>, ChildStdin);

impl Spawned {
    /// Starts the program in a process group of its own. Nothing is sent to it before its group is
    /// on record.
    pub(crate) fn start(
        name: &str,
        config: &ProcessConfig,
        folder: &Path,
        words: LastWords,
    ) -> Result<(Self, Pipes), McpError> {
        let server = || name.to_owned();
        if !is_there(&config.command[0], folder, config.env.get("PATH")) {
            return Err(McpError::NoProgram {
                server: server(),
                program: config.command[0].clone(),
            });
        }
        let mut watchdog = start_watchdog().map_err(|source| McpError::Watchdog {
            server: server(),
            source,
        })?;
        let confinement = confine::offered();
        let failed = |source| spawn_error(name, config, source);
        let mut child = match command(config, folder, &confinement).spawn() {
            Ok(child) => child,
            Err(source) => {
                let _ = watchdog.kill().and_then(|()| watchdog.wait());
                return Err(failed(source));
            }
        };
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let led = Leader::of(child);
        let (Ok((leader, id)), (Some(stdin), Some(stdout), Some(stderr))) = (led, pipes) else {
            let _ = watchdog.kill().and_then(|()| watchdog.wait());
            return Err(failed(io::Error::other(
                "it ended before it could be watched",
            )));
        };
        let group = Arc::new(Group::guard(id, watchdog));
        let number = id.as_raw_nonzero().get().cast_unsigned();
        note_group(&config.groups_file, number).map_err(|source| McpError::GroupsFile {
            server: server(),
            path: config.groups_file.clone(),
            source,
        })?;
        let fault = Arc::new(OnceLock::new());
        let stdout = BoundedLines::new(stdout, LINE_BYTES_MAX, fault.clone());
        let listening = tokio::spawn(words.clone().keep(stderr));
        let spawned = Self {
            leader,
            group,
            words,
            confinement,
            listening,
            fault,
        };
        Ok((spawned, (stdout, stdin)))
    }

    /// Returns when the program has ended. May be dropped and asked again.
    pub(crate) async fn ended(&mut self) {
        self.leader.ended().await;
    }

    /// Ends what could not be greeted and says why it ended.
    pub(crate) async fn give_up(mut self) -> String {
        let exited = timeout(CLOSE_GRACE, self.leader.ended()).await.is_ok();
        self.group.end();
        let status = self.leader.reap(GONE_LIMIT).await;
        let _ = timeout(DRAIN_LIMIT, &mut self.listening).await;
        reason(self.fault.get(), status.filter(|_| exited), &self.words)
    }

    /// Watches it to its end; returns when nothing of it is left.
    pub(crate) async fn watch(
        mut self,
        service: RunningService<RoleClient, Host>,
        ended: watch::Sender<Option<String>>,
    ) {
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
        ended.send_replace(Some(reason));
    }
}

/// Why a server ended: what we hold against it, else its status, with its last words.
fn reason(fault: Option<&String>, status: Option<ExitStatus>, words: &LastWords) -> String {
    let cause = match (fault, status) {
        (Some(fault), _) => fault.clone(),
        (None, Some(status)) => confine::in_words(status),
        (None, None) => "it closed the connection".to_owned(),
    };
    match words.quoted() {
        Some(said) => format!("{cause}; it said: {said}"),
        None => cause,
    }
}

fn command(config: &ProcessConfig, folder: &Path, confinement: &Confinement) -> Command {
    let mut command = match confinement {
        Confinement::Bubblewrap(program) => {
            let mut command = Command::new(program);
            command
                .args(confine::arguments(&config.hidden, folder))
                .arg("--")
                .args(&config.command);
            command
        }
        Confinement::None(_) => {
            let mut command = Command::new(&config.command[0]);
            command.args(&config.command[1..]);
            command
        }
    };
    command
        .env_clear()
        .current_dir(folder)
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

/// Whether the system finds the program of a command. Asked beforehand, since what confines a
/// server would only say that it ended.
fn is_there(program: &str, folder: &Path, granted: Option<&String>) -> bool {
    if program.contains('/') {
        return folder.join(program).is_file();
    }
    let path = granted
        .map(std::ffi::OsString::from)
        .or_else(|| std::env::var_os("PATH"))
        .unwrap_or_default();
    std::env::split_paths(&path).any(|place| folder.join(place).join(program).is_file())
}

fn spawn_error(name: &str, config: &ProcessConfig, source: io::Error) -> McpError {
    McpError::Spawn {
        server: name.to_owned(),
        program: config.command[0].clone(),
        source,
    }
}
