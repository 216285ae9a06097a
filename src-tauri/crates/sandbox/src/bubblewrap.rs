//! The box without an engine: each command in a bubblewrap of its own, on Linux. The resident
//! agent stands outside of it, so that receipts are out of reach and commands outlive the app here
//! too. What it does not hold, [`Bubblewrap::lacks`] says.
//!
//! As root, commands are somebody else, who may not come to where the run's folders lie. Then the
//! agent itself stands in a bubblewrap that hides nothing and shows those folders at a place that
//! everybody comes to.

use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use longrein_resident::wire::{LOCK, Limits, SOCKET, Setup};
use rustix::fs::{FlockOperation, Mode, OFlags};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};

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
/// Where a hall shows what commands need: a folder that each system has and that is meant for such.
const HALL: &str = "/mnt";
/// Memory that programs share by `/dev/shm`.
const SHARED_MEMORY_BYTES: u64 = 64 << 20;
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
    pub fn lacks() -> [BubblewrapLack; 3] {
        [
            "memory is limited for each process, and not for all of them together",
            "processor time is not limited",
            "calls of the kernel are not filtered",
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
                let started = self.start(spec)?;
                listening(&socket, started).await?
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
        let receipts = state.join(RECEIPTS);
        let begun = Instant::now();
        loop {
            match connected(&receipts.join(SOCKET)).await {
                Ok(stream) => {
                    let ended = match told_to_end(stream).await {
                        Ok(()) => gone(&receipts).await,
                        Err(error) => Err(error),
                    };
                    let Err(error) = ended else { return Ok(()) };
                    // An agent of another version, or one that hangs, is ended all the same; what
                    // it runs ends with it.
                    tracing::warn!(%error, "an agent does not end by a word");
                    kill_holder(&receipts)?;
                    return gone(&receipts).await;
                }
                // Held, the folder has an agent that does not listen yet, or does no more.
                Err(_) if is_held(&receipts)? && begun.elapsed() < LISTEN_LIMIT => {
                    tokio::time::sleep(PAUSE).await;
                }
                Err(_) => {
                    kill_holder(&receipts)?;
                    return gone(&receipts).await;
                }
            }
        }
    }

    /// Starts an agent that outlives this process. It ends by itself when nobody needs it.
    fn start(&self, spec: &BubblewrapSpec) -> Result<Started, SandboxError> {
        let agent = resident::put(&spec.shared)?;
        let run = spec.state.join(SOCKETS);
        std::fs::create_dir_all(&run).map_err(SandboxError::file(&run))?;
        let is_root = rustix::process::geteuid().is_root();
        let seen = Seen {
            workspace: spec.workspace.clone(),
            run,
            agent: agent.clone(),
        };
        let closed = seen.all().into_iter().find_map(closed_to_others);
        let closed = closed.filter(|_| is_root);
        let (hall, seen) = match closed {
            Some(_) => {
                let shown = seen.shown();
                (self.hall(&seen, &shown), shown)
            }
            None => (Vec::new(), seen),
        };
        let setup = Setup {
            state: spec.state.join(RECEIPTS),
            run: seen.run.clone(),
            run_inside: crate::container::RUN.into(),
            // As root, the agent starts commands as somebody else; as anybody else it can't.
            user: is_root.then_some(COMMAND_USER),
            door: self.door(spec, &seen),
            idle_limit_ms: IDLE_LIMIT_MS,
        };
        let setup = serde_json::to_string(&setup).map_err(|error| SandboxError::File {
            path: spec.state.clone(),
            error: error.into(),
        })?;
        let mut words = hall;
        words.extend([agent.display().to_string(), "serve".to_owned(), setup]);
        let started = Command::new(&words[0])
            .args(&words[1..])
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Ok(Started {
            process: started.map_err(SandboxError::file(agent))?,
            closed,
        })
    }

    /// What stands before the agent where commands could not come to what they need: nothing is
    /// hidden from the agent, and what they need is shown where everybody comes to.
    fn hall(&self, from: &Seen, to: &Seen) -> Vec<String> {
        let mut hall = vec![self.program.display().to_string()];
        let mut add = |words: &[&str]| hall.extend(words.iter().map(|word| (*word).to_owned()));
        // It keeps its rights: it starts commands as somebody else, and ends them.
        add(&["--dev-bind", "/", "/", "--cap-add", "ALL", "--tmpfs", HALL]);
        for (way, (from, to)) in ["--bind", "--bind", "--ro-bind"]
            .into_iter()
            .zip(from.all().into_iter().zip(to.all()))
        {
            add(&[way, &from.display().to_string(), &to.display().to_string()]);
        }
        add(&["--"]);
        hall
    }

    /// What stands before each command.
    fn door(&self, spec: &BubblewrapSpec, seen: &Seen) -> Vec<String> {
        let mut door = vec![self.program.display().to_string()];
        let mut add = |words: &[&str]| door.extend(words.iter().map(|word| (*word).to_owned()));
        add(&[
            "--unshare-all",
            "--unshare-user",
            "--disable-userns",
            "--die-with-parent",
            // The agent has a part of its own for that: it ends when the command does, and says
            // what the command left.
            "--as-pid-1",
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
        // What is written beneath it is memory, which nothing else would limit.
        let shared = SHARED_MEMORY_BYTES.to_string();
        add(&["--size", &shared, "--tmpfs", "/dev/shm"]);
        add(&["--remount-ro", "/dev"]);
        add(&["--size", &spec.tmp_bytes.to_string(), "--tmpfs", "/tmp"]);
        for (way, from, to) in [
            (workspace, &seen.workspace, WORKSPACE),
            ("--ro-bind", &seen.agent, resident::INSIDE),
            ("--ro-bind", &seen.run, crate::container::RUN),
        ] {
            add(&[way, &from.display().to_string(), to]);
        }
        add(&["--remount-ro", "/"]);
        door
    }
}

/// Where commands find what they need.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    workspace: PathBuf,
    run: PathBuf,
    agent: PathBuf,
}

impl Seen {
    fn all(&self) -> [&Path; 3] {
        [&self.workspace, &self.run, &self.agent]
    }

    /// The same, shown by a hall.
    fn shown(&self) -> Self {
        let hall = Path::new(HALL);
        Self {
            workspace: hall.join("workspace"),
            run: hall.join("run"),
            agent: hall.join("resident"),
        }
    }
}

/// An agent that was started, or what stands before it.
struct Started {
    process: Child,
    /// The folder for whose sake something stands before it.
    closed: Option<PathBuf>,
}

/// The folder on the way to a path that whoever has no rights of their own can't pass.
fn closed_to_others(path: &Path) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let closed = path.ancestors().skip(1).find(|folder| {
        let metadata = std::fs::metadata(folder);
        !metadata.is_ok_and(|metadata| metadata.permissions().mode() & 0o001 != 0)
    });
    closed.map(Path::to_owned)
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

async fn told_to_end(stream: UnixStream) -> Result<(), SandboxError> {
    let (reader, writer) = stream.into_split();
    let (session, _incoming) = Session::open(reader, writer).await?;
    session.stop().await
}

/// Kills the agent that holds a folder, if there is one: the system lists who holds which file. An
/// app that looks whether one does holds it for a moment itself, and does not name the folder when
/// it is started.
fn kill_holder(receipts: &Path) -> Result<(), SandboxError> {
    use std::os::unix::fs::MetadataExt;
    let Some(lock) = lock(receipts)? else {
        return Ok(());
    };
    let locks = Path::new("/proc/locks");
    let held = std::fs::read_to_string(locks).map_err(SandboxError::file(locks))?;
    let inode = lock.metadata().map_err(SandboxError::file(receipts))?.ino();
    for line in held.lines() {
        // As in `1: FLOCK  ADVISORY  WRITE 4711 08:01:1234 0 EOF`.
        let mut words = line.split_ascii_whitespace().skip(1);
        let is_flock = words.next() == Some("FLOCK");
        let holder = words.nth(2).and_then(|pid| pid.parse().ok());
        let of = words.next().and_then(|file| file.rsplit_once(':'));
        if is_flock
            && of.is_some_and(|(_, of)| of.parse() == Ok(inode))
            && let Some(holder) = holder.and_then(rustix::process::Pid::from_raw)
            && names(holder, receipts)
        {
            // Gone meanwhile is gone.
            let _ = rustix::process::kill_process(holder, rustix::process::Signal::KILL);
        }
    }
    Ok(())
}

/// Whether a process was started with a path in its arguments.
fn names(process: rustix::process::Pid, path: &Path) -> bool {
    use std::os::unix::ffi::OsStrExt;
    let line = Path::new("/proc").join(process.as_raw_nonzero().to_string());
    let line = std::fs::read(line.join("cmdline")).unwrap_or_default();
    let path = path.as_os_str().as_bytes();
    line.windows(path.len()).any(|part| part == path)
}

/// Whether an agent holds its folder.
fn is_held(receipts: &Path) -> Result<bool, SandboxError> {
    let Some(lock) = lock(receipts)? else {
        return Ok(false);
    };
    Ok(rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err())
}

/// The file that an agent holds; `None` where none was ever there.
fn lock(receipts: &Path) -> Result<Option<std::fs::File>, SandboxError> {
    let path = receipts.join(LOCK);
    match std::fs::File::open(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        opened => opened.map(Some).map_err(SandboxError::file(path)),
    }
}

/// Waits until an agent holds its folder no more: one that ends would take the socket of its
/// successor away.
async fn gone(receipts: &Path) -> Result<(), SandboxError> {
    let Some(lock) = lock(receipts)? else {
        return Ok(());
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

async fn listening(socket: &Path, mut started: Started) -> Result<UnixStream, SandboxError> {
    let begun = Instant::now();
    loop {
        let has_ended = matches!(started.process.try_wait(), Ok(Some(_)));
        match (connected(socket).await, &started.closed) {
            (Ok(stream), _) => return Ok(stream),
            (Err(_), Some(closed)) if has_ended => {
                return Err(SandboxError::Unusable {
                    why: format!(
                        "as root, bubblewrap runs commands as another user, who can't enter {}, \
                         and this system lets nothing be shown elsewhere; let others pass that \
                         folder (chmod o+x), name another one with --data-dir, use Podman or \
                         Docker, or don't be root",
                        closed.display()
                    ),
                });
            }
            (Err(error), _) if begun.elapsed() > LISTEN_LIMIT => {
                return Err(SandboxError::file(socket)(error));
            }
            (Err(_), _) => tokio::time::sleep(PAUSE).await,
        }
    }
}
