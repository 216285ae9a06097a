//! Process 1 of the container: takes asks from one app at a time and keeps what commands leave.
//! It outlives the app; commands outlive both.

mod calls;
mod connection;
mod gates;
mod job;
mod launch;
mod link;
mod output;
mod records;
mod socket;
mod tunnels;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use longrein_resident::wire::{Code, End, LOCK, SOCKET, Setup};
use signal_hook::consts::{SIGCHLD, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::{Failure, Trying, tree};
use job::Job;
use link::Link;

/// How often time limits are looked at.
const TICK: Duration = Duration::from_millis(200);
/// A tick that takes longer was a time in which the container stood still.
const STANDSTILL: Duration = Duration::from_secs(2);
/// How long commands may take to end when the agent is told to stop.
const STOP_LIMIT: Duration = Duration::from_secs(5);
/// The number of the last of the three streams that each program is given.
const LAST_STREAM: i32 = 2;
/// Threads are many and small.
const STACK_BYTES: usize = 256 * 1024;

/// Why an ask is refused.
#[derive(Debug)]
pub(crate) struct Refused(pub(crate) Code, pub(crate) String);

impl From<std::io::Error> for Refused {
    fn from(error: std::io::Error) -> Self {
        Self(Code::Failed, error.to_string())
    }
}

pub(crate) struct Server {
    pub(crate) setup: Setup,
    life: String,
    jobs: Mutex<BTreeMap<String, Arc<Job>>>,
    /// Whoever spoke last; nobody else is answered.
    link: Mutex<Option<Arc<Link>>>,
    tunnels: tunnels::Tunnels,
    /// The processes that are nobody's leftover.
    supervisors: Mutex<BTreeSet<i32>>,
    /// How long the container stood still, all in all.
    standstill_ms: AtomicU64,
    stopping: AtomicBool,
}

/// A lock whose holder panicked still guards what is consistent: each is held for one change.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a thread that may not be had when the container's processes are used up.
pub(crate) fn thread(name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let builder = std::thread::Builder::new()
        .name(name.to_owned())
        .stack_size(STACK_BYTES);
    builder.spawn(work).map(drop)
}

pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

pub(crate) fn main(arguments: &[OsString]) -> Result<(), Failure> {
    const USAGE: &str = "serve SETUP";
    let [setup] = arguments else {
        return Err(Failure::Usage(USAGE));
    };
    let setup = setup
        .to_str()
        .and_then(|json| serde_json::from_str(json).ok());
    let setup: Setup = setup.ok_or(Failure::Usage(USAGE))?;
    alone();
    // Before anything that a command could have put there is believed.
    prepare(&setup.state, 0o700)?;
    prepare(&setup.run, 0o755)?;
    let _only = only(&setup.state)?;
    // Whoever started it may end with its session; what runs here does not. Process 1 has one.
    let _ = rustix::process::setsid();
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .trying(|| "adopting orphans".to_owned())?;
    let life = fs::read_to_string("/proc/sys/kernel/random/uuid");
    let life = life
        .trying(|| "drawing a name for this life".to_owned())?
        .trim()
        .to_owned();
    let jobs = records::load(&setup.state)?;
    let server = Arc::new(Server {
        life,
        jobs: Mutex::new(jobs),
        link: Mutex::new(None),
        tunnels: tunnels::Tunnels::default(),
        supervisors: Mutex::new(BTreeSet::new()),
        standstill_ms: AtomicU64::new(0),
        stopping: AtomicBool::new(false),
        setup,
    });
    let signals = Signals::new([SIGCHLD, SIGTERM, SIGINT]);
    let signals = signals.trying(|| "listening for signals".to_owned())?;
    let heard = Arc::clone(&server);
    thread("signals", move || heard.hear(signals)).trying(|| "starting a thread".to_owned())?;
    let timed = Arc::clone(&server);
    thread("time", move || timed.keep_time()).trying(|| "starting a thread".to_owned())?;
    server.listen()
}

/// Closes what whoever started this one had open, and did not mean for it: it outlives them, and
/// would hold their locks, their pipes and their files.
fn alone() {
    let Ok(open) = fs::read_dir("/proc/self/fd") else {
        return;
    };
    let numbers = open
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|number| *number > LAST_STREAM);
    let numbers: Vec<i32> = numbers.collect();
    for number in numbers {
        // The one by which the folder was read is closed already.
        let _ = nix::unistd::close(number);
    }
}

fn prepare(folder: &Path, mode: u32) -> Result<(), Failure> {
    fs::create_dir_all(folder)
        .and_then(|()| fs::set_permissions(folder, fs::Permissions::from_mode(mode)))
        .trying(|| format!("preparing {}", folder.display()))
}

/// Takes the state folder for as long as the result lives: two agents would each take what the
/// other runs for lost.
fn only(state: &Path) -> Result<fs::File, Failure> {
    let path = state.join(LOCK);
    let file = fs::File::create(&path).trying(|| format!("making {}", path.display()))?;
    rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive)
        .trying(|| format!("taking {}, which another agent has", path.display()))?;
    Ok(file)
}

impl Server {
    fn listen(self: &Arc<Self>) -> Result<(), Failure> {
        let path = self.setup.state.join(SOCKET);
        // One of an earlier life is nobody's.
        let _ = fs::remove_file(&path);
        let listener = socket::listen(&path)
            .and_then(|listener| {
                fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
                Ok(listener)
            })
            .trying(|| format!("listening at {}", path.display()))?;
        loop {
            let (stream, _) = listener
                .accept()
                .trying(|| "accepting the app".to_owned())?;
            let server = Arc::clone(self);
            // Without a thread to spare the app sees its pipe end, and tries again.
            let _ = thread("app", move || connection::serve(&server, stream));
        }
    }

    fn hear(&self, mut signals: Signals) {
        for signal in &mut signals {
            if signal == SIGCHLD {
                tree::reap(|pid, _| {
                    lock(&self.supervisors).remove(&pid.as_raw_nonzero().get());
                });
            } else {
                self.stop();
            }
        }
    }

    /// Looks at every running command's time, and notices when the container stood still.
    fn keep_time(&self) {
        let mut last = Instant::now();
        let mut idle = Duration::ZERO;
        loop {
            std::thread::sleep(TICK);
            let passed = last.elapsed();
            last = Instant::now();
            if passed > STANDSTILL {
                let still = u64::try_from((passed - TICK).as_millis()).unwrap_or(u64::MAX);
                self.standstill_ms.fetch_add(still, Ordering::Relaxed);
            }
            let running = self.running();
            for job in &running {
                if job.working_ms(self.still_ms()) > job.limits().time_ms {
                    job.end(End::TimedOut);
                }
            }
            let is_used = !running.is_empty() || lock(&self.link).is_some();
            idle = if is_used { Duration::ZERO } else { idle + TICK };
            let limit = self.setup.idle_limit_ms;
            if limit > 0 && idle >= Duration::from_millis(limit) {
                self.stop();
            }
        }
    }

    pub(crate) fn still_ms(&self) -> u64 {
        self.standstill_ms.load(Ordering::Relaxed)
    }

    pub(crate) fn running(&self) -> Vec<Arc<Job>> {
        lock(&self.jobs)
            .values()
            .filter(|job| job.is_running())
            .cloned()
            .collect()
    }

    pub(crate) fn job(&self, id: &str) -> Result<Arc<Job>, Refused> {
        lock(&self.jobs)
            .get(id)
            .cloned()
            .ok_or_else(|| Refused(Code::UnknownCommand, format!("no command is named {id}")))
    }

    pub(crate) fn link(&self) -> Option<Arc<Link>> {
        lock(&self.link).clone()
    }

    /// Kills what lost its supervisor, which only happens when the system killed that.
    pub(crate) fn sweep(&self) {
        let spared = lock(&self.supervisors).clone();
        tree::kill_descendants(
            &spared,
            || {},
            |pid, _| {
                lock(&self.supervisors).remove(&pid.as_raw_nonzero().get());
            },
        );
    }

    /// Ends every command, waits for the receipts and ends the agent.
    pub(crate) fn stop(&self) {
        if self.stopping.swap(true, Ordering::SeqCst) {
            return;
        }
        for job in self.running() {
            job.end(End::Stopped);
        }
        let begun = Instant::now();
        while !self.running().is_empty() && begun.elapsed() < STOP_LIMIT {
            std::thread::sleep(TICK / 20);
        }
        let _ = fs::remove_file(self.setup.state.join(SOCKET));
        std::process::exit(0);
    }
}
