//! The box without an engine: each command in a bubblewrap of its own, on Linux. The resident
//! agent stands outside of it, so that receipts are out of reach and commands outlive the app here
//! too. What it does not hold, [`Bubblewrap::lacks`] says.

use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use longrein_resident::wire::{LOCK, Limits, SOCKET, Setup};
use rustix::fs::{FlockOperation, Mode, OFlags};
use tokio::net::UnixStream;
use tokio::process::Command;

use crate::container::{COMMAND_USER, WORKSPACE};
use crate::session::{Incoming, Session};
use crate::{SandboxError, resident};

/// The program, as people and packages call it.
const PROGRAM: &str = "bwrap";
/// How long trying it out may take.
const TRY_LIMIT: Duration = Duration::from_secs(10);
/// How long the agent may take to listen.
const LISTEN_LIMIT: Duration = Duration::from_secs(10);
/// How long an agent that was told to end may take; it kills what runs before.
const END_LIMIT: Duration = Duration::from_secs(15);
/// How long to wait before the next look.
const PAUSE: Duration = Duration::from_millis(5);
/// How long an agent waits for an app when nothing runs.
const IDLE_LIMIT_MS: u64 = 300_000;
/// The folder of outputs and receipts in a run's state; only the agent's owner can enter it.
const RECEIPTS: &str = "receipts";
/// The folder of sockets there.
const SOCKETS: &str = "run";
/// What of the system programs need to run; what is not there is left out.
const SYSTEM: [&str; 10] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/ssl/certs",
];

/// A bubblewrap that works here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bubblewrap {
    program: PathBuf,
}

/// Why there is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("bubblewrap can't be used: {why}; {remedy}")]
pub struct NoBubblewrap {
    /// What is missing.
    pub why: String,
    /// What a person can do.
    pub remedy: &'static str,
}

/// What a run's box is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BubblewrapSpec {
    /// The run's own folder for outputs, receipts and sockets; commands never see it.
    pub state: PathBuf,
    /// The run's workspace.
    pub workspace: PathBuf,
    /// Whether commands can only read it.
    pub read_only: bool,
    /// A folder for the agent itself; others may read it.
    pub shared: PathBuf,
    /// Size of `/tmp`.
    pub tmp_bytes: u64,
}

/// What the box holds less than a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BubblewrapLack {
    /// In one sentence.
    pub what: &'static str,
}

impl Bubblewrap {
    /// Looks for it and tries it out: some systems have it and forbid what it needs.
    ///
    /// # Errors
    /// When it is not there or does not work.
    pub async fn find() -> Result<Self, NoBubblewrap> {
        let none = |why: String, remedy| NoBubblewrap { why, remedy };
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let program = std::env::split_paths(&paths)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(PROGRAM))
            .find(|path| path.is_file());
        let program = program.ok_or_else(|| {
            none(
                "it is not installed".to_owned(),
                "install the package 'bubblewrap'",
            )
        })?;
        let tried = Command::new(&program)
            .args([
                "--unshare-all",
                "--unshare-user",
                "--disable-userns",
                "--ro-bind",
                "/",
                "/",
            ])
            .arg("true")
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let remedy = "update it to 0.8 or newer, and let users make user namespaces (sysctl \
            kernel.unprivileged_userns_clone, or AppArmor's profile for bwrap)";
        match tokio::time::timeout(TRY_LIMIT, tried).await {
            Ok(Ok(output)) if output.status.success() => Ok(Self { program }),
            Ok(Ok(output)) => Err(none(
                String::from_utf8_lossy(&output.stderr).trim().to_owned(),
                remedy,
            )),
            Ok(Err(error)) => Err(none(error.to_string(), remedy)),
            Err(_) => Err(none("it does not end".to_owned(), remedy)),
        }
    }

    /// What it does not hold, for `doctor` and for the person who starts an agent with it.
    pub fn lacks() -> [BubblewrapLack; 4] {
        [
            "memory is limited for each process, and not for all of them together",
            "processor time is not limited",
            "calls of the kernel are not filtered",
            "commands have no way to the network, not even to listed hosts",
        ]
        .map(|what| BubblewrapLack { what })
    }

    /// The limits of one command that stand in for a container's.
    pub fn limits(limits: Limits, memory_bytes: u64, processes: u64) -> Limits {
        Limits {
            address_space_bytes: Some(memory_bytes),
            processes: Some(processes),
            ..limits
        }
    }

    /// Connects to the run's agent, which is started if there is none.
    ///
    /// # Errors
    /// When the agent can't be started or does not answer.
    pub async fn connect(
        &self,
        spec: &BubblewrapSpec,
    ) -> Result<(Session, Incoming), SandboxError> {
        let socket = spec.state.join(RECEIPTS).join(SOCKET);
        let stream = match connected(&socket).await {
            Ok(stream) => stream,
            Err(_) => {
                self.start(spec)?;
                listening(&socket).await?
            }
        };
        let (reader, writer) = stream.into_split();
        Session::open(reader, writer).await
    }

    /// Ends a run's agent with all that runs there, if there is one: for a run that is over, and
    /// for what an app left that did not come back.
    ///
    /// # Errors
    /// When the agent is there and does not answer.
    pub async fn stop(state: &Path) -> Result<(), SandboxError> {
        let socket = state.join(RECEIPTS).join(SOCKET);
        let Ok(stream) = connected(&socket).await else {
            return Ok(());
        };
        let (reader, writer) = stream.into_split();
        let (session, _incoming) = Session::open(reader, writer).await?;
        session.stop().await?;
        gone(&state.join(RECEIPTS)).await
    }

    /// Starts an agent that outlives this process. It ends by itself when nobody needs it.
    fn start(&self, spec: &BubblewrapSpec) -> Result<(), SandboxError> {
        let agent = resident::put(&spec.shared)?;
        std::fs::create_dir_all(&spec.state).map_err(SandboxError::file(&spec.state))?;
        let run = spec.state.join(SOCKETS);
        let is_root = rustix::process::geteuid().is_root();
        if is_root {
            reachable(&spec.workspace)?;
            reachable(&spec.state)?;
        }
        let setup = Setup {
            state: spec.state.join(RECEIPTS),
            run: run.clone(),
            run_inside: crate::container::RUN.into(),
            // As root, the agent starts commands as somebody else; as anybody else it can't.
            user: is_root.then_some(COMMAND_USER),
            door: self.door(spec, &agent, &run),
            idle_limit_ms: IDLE_LIMIT_MS,
        };
        let setup = serde_json::to_string(&setup).map_err(|error| SandboxError::File {
            path: spec.state.clone(),
            error: error.into(),
        })?;
        let started = Command::new(&agent)
            .arg("serve")
            .arg(setup)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        started.map(drop).map_err(SandboxError::file(agent))
    }

    /// What stands before each command.
    fn door(&self, spec: &BubblewrapSpec, agent: &Path, run: &Path) -> Vec<String> {
        let mut door = vec![self.program.display().to_string()];
        let mut add = |words: &[&str]| door.extend(words.iter().map(|word| (*word).to_owned()));
        add(&[
            "--unshare-all",
            "--unshare-user",
            "--disable-userns",
            "--die-with-parent",
        ]);
        add(&[
            "--new-session",
            "--cap-drop",
            "ALL",
            "--hostname",
            "longrein",
        ]);
        for path in SYSTEM {
            // A link is made again, so that it leads to what is there inside.
            match std::fs::read_link(path) {
                Ok(target) => add(&["--symlink", &target.display().to_string(), path]),
                Err(_) => add(&["--ro-bind-try", path, path]),
            }
        }
        let workspace = if spec.read_only {
            "--ro-bind"
        } else {
            "--bind"
        };
        add(&["--proc", "/proc", "--dev", "/dev"]);
        add(&["--size", &spec.tmp_bytes.to_string(), "--tmpfs", "/tmp"]);
        add(&[workspace, &spec.workspace.display().to_string(), WORKSPACE]);
        add(&["--ro-bind", &agent.display().to_string(), resident::INSIDE]);
        add(&[
            "--ro-bind",
            &run.display().to_string(),
            crate::container::RUN,
        ]);
        add(&["--remount-ro", "/"]);
        door
    }
}

/// As root, commands are somebody else, who must be able to come to their workspace.
fn reachable(path: &Path) -> Result<(), SandboxError> {
    use std::os::unix::fs::PermissionsExt;
    let closed = path.ancestors().skip(1).find(|folder| {
        let metadata = std::fs::metadata(folder);
        metadata.is_ok_and(|metadata| metadata.permissions().mode() & 0o001 == 0)
    });
    match closed {
        None => Ok(()),
        Some(folder) => Err(SandboxError::Unusable {
            why: format!(
                "as root, bubblewrap runs commands as another user, who can't enter {}; use \
                 Podman or Docker, or don't be root",
                folder.display()
            ),
        }),
    }
}

/// Connects to a socket whose path may be longer than a socket's address: the kernel takes it for
/// one by way of its folder.
async fn connected(socket: &Path) -> std::io::Result<UnixStream> {
    let (Some(folder), Some(name)) = (socket.parent(), socket.file_name()) else {
        return Err(std::io::ErrorKind::InvalidInput.into());
    };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::open(folder, flags, Mode::empty())?;
    let short = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string());
    UnixStream::connect(short.join(name)).await
}

/// Waits until an agent holds its folder no more: one that ends would take the socket of its
/// successor away.
async fn gone(receipts: &Path) -> Result<(), SandboxError> {
    let path = receipts.join(LOCK);
    let lock = match std::fs::File::open(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        opened => opened.map_err(SandboxError::file(path))?,
    };
    let begun = Instant::now();
    while rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
        if begun.elapsed() > END_LIMIT {
            return Err(SandboxError::TimedOut {
                what: "ending the box".to_owned(),
                limit_s: END_LIMIT.as_secs(),
            });
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}

async fn listening(socket: &Path) -> Result<UnixStream, SandboxError> {
    let begun = Instant::now();
    loop {
        match connected(socket).await {
            Ok(stream) => return Ok(stream),
            Err(error) if begun.elapsed() > LISTEN_LIMIT => {
                return Err(SandboxError::file(socket)(error));
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}
