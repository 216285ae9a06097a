//! The parent of one command. Whatever the command starts stays its descendant, because it adopts
//! what loses its parent; so it can end all of it, and it says when nothing is left.
//!
//! Its standard input is a socket to the agent; its output streams are the command's. It is a
//! process of its own, since a group or a session can be left and descent can't.
//!
//! Where a door makes the command's box, what starts the command stands inside of it
//! ([`crate::inside`]); this one starts the door, and passes on what is reported from inside.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use longrein_resident::wire::Limits;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal, WaitStatus, kill_process_group, set_child_subreaper};
use serde::{Deserialize, Serialize};

use crate::door::Door;
use crate::{Failure, Trying, handing, limit, tree};

/// What to start, as [`handing`] hands it over, with the command's input if it has one.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) program: Vec<String>,
    pub(crate) directory: Option<String>,
    pub(crate) environment: std::collections::BTreeMap<String, String>,
    /// The user and the group that the command runs as; as the agent itself where there is none.
    pub(crate) user: Option<(u32, u32)>,
    /// Set here, unless another program stands between and sets them.
    pub(crate) limits: Option<Limits>,
    /// Where the socket lies that leads to the network, for who is inside of a door.
    #[serde(default)]
    pub(crate) network: Option<std::path::PathBuf>,
    /// What is started inside, where `program` is a door.
    #[serde(default)]
    pub(crate) inside: Option<Box<Order>>,
}

/// What a supervisor says, each a line of JSON.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Report {
    /// The command could not be started.
    NotStarted { why: String },
    /// The command itself has ended; what it left is killed now.
    Ended {
        status: Option<i32>,
        signal: Option<i32>,
    },
    /// Nothing is left of it.
    Gone { left_behind: u32, all: bool },
}

/// The byte that asks to kill everything.
pub(crate) const KILL: u8 = 0;

pub(crate) fn main() -> Result<(), Failure> {
    set_child_subreaper(Some(rustix::process::getpid()))
        .trying(|| "adopting orphans".to_owned())?;
    // Before the command is started, so that its end can't be missed.
    let (ended, wake) = UnixStream::pair().trying(|| "making a pipe".to_owned())?;
    ended
        .set_nonblocking(true)
        .trying(|| "preparing a pipe".to_owned())?;
    signal_hook::low_level::pipe::register(signal_hook::consts::SIGCHLD, wake)
        .trying(|| "listening for the end".to_owned())?;
    let control = control()?;
    let (order, files) = handing::taken(&control).trying(|| "reading the order".to_owned())?;
    let input = files.into_iter().next();
    // The agent may be killed for its memory last: all else here is of less use.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    let started = match &order.inside {
        None => started(&order, input).map(|leader| (leader, None)),
        Some(inside) => {
            Door::open(&order, inside, input).map(|(leader, door)| (leader, Some(door)))
        }
    };
    let (leader, door) = match started {
        Ok(started) => started,
        Err(NotStarted(why)) => return say(&control, &Report::NotStarted { why }),
    };
    // The streams end when the last process of the command ends, so they are not held here.
    let nothing = std::fs::OpenOptions::new().write(true).open("/dev/null");
    let nothing = nothing.trying(|| "opening /dev/null".to_owned())?;
    rustix::stdio::dup2_stdout(&nothing).trying(|| "closing the output".to_owned())?;
    rustix::stdio::dup2_stderr(&nothing).trying(|| "closing the errors".to_owned())?;
    watch(&control, &ended, leader, order.user, door)
}

/// Standard input as a socket.
pub(crate) fn control() -> Result<UnixStream, Failure> {
    let input = io::stdin().as_fd().try_clone_to_owned();
    input
        .map(UnixStream::from)
        .trying(|| "taking the control socket".to_owned())
}

pub(crate) fn say(control: &UnixStream, report: &Report) -> Result<(), Failure> {
    let mut line = serde_json::to_vec(report)
        .map_err(io::Error::from)
        .trying(|| "reporting".to_owned())?;
    line.push(b'\n');
    (&mut &*control)
        .write_all(&line)
        .trying(|| "reporting".to_owned())
}

/// Starts the command; an error is what its receipt says.
fn started(order: &Order, input: Option<OwnedFd>) -> Result<Pid, NotStarted> {
    let (output, error) = (Stdio::inherit(), Stdio::inherit());
    started_with(
        order,
        (input.map_or_else(Stdio::null, Stdio::from), output, error),
    )
}

/// The same with these as its input, its output and its errors.
pub(crate) fn started_with(
    order: &Order,
    (input, output, error): (Stdio, Stdio, Stdio),
) -> Result<Pid, NotStarted> {
    let [program, arguments @ ..] = order.program.as_slice() else {
        return Err(NotStarted("no program is named".to_owned()));
    };
    if let Some(limits) = &order.limits {
        limit::set(limits).map_err(|failure| NotStarted(failure.to_string()))?;
    }
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(&order.environment)
        .process_group(0)
        .stdin(input)
        .stdout(output)
        .stderr(error);
    if let Some(directory) = &order.directory {
        command.current_dir(directory);
    }
    if let Some((user, group)) = order.user {
        command.uid(user).gid(group);
    }
    let child = command
        .spawn()
        .map_err(|error| NotStarted(format!("{program}: {error}")))?;
    i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| NotStarted("its process has no id".to_owned()))
}

/// What a receipt says of a command that never ran.
pub(crate) struct NotStarted(pub(crate) String);

/// The command's own process, and how it ended once it has.
pub(crate) struct Leader {
    pub(crate) pid: Pid,
    pub(crate) end: Option<(Option<i32>, Option<i32>)>,
}

impl Leader {
    pub(crate) fn note(&mut self, pid: Pid, status: WaitStatus) {
        if pid == self.pid {
            self.end = Some((status.exit_status(), status.terminating_signal()));
        }
    }
}

/// Waits for the command's end or for a word to end it, and ends what is left.
fn watch(
    control: &UnixStream,
    ended: &UnixStream,
    leader: Pid,
    user: Option<(u32, u32)>,
    door: Option<Door>,
) -> Result<(), Failure> {
    let mut leader = Leader {
        pid: leader,
        end: None,
    };
    let mut is_told = false;
    while !is_told && leader.end.is_none() {
        let mut waiting = [
            PollFd::new(control, PollFlags::IN),
            PollFd::new(ended, PollFlags::IN),
        ];
        match poll(&mut waiting, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error).trying(|| "waiting".to_owned()),
        }
        let has_word = !waiting[0].revents().is_empty();
        // The bytes only wake; what has ended is asked of the system.
        while matches!((&mut &*ended).read(&mut [0; 64]), Ok(count) if count > 0) {}
        tree::reap(|pid, status| leader.note(pid, status));
        is_told = has_word && hear(control, leader.pid);
    }
    let by_itself = leader.end;
    let mut of_inside = 0;
    if let Some(end) = by_itself {
        let (told, left_behind) = match door {
            None => (ended_so(end), 0),
            Some(door) => door.told(end),
        };
        of_inside = left_behind;
        say(control, &told)?;
    }
    let mut halted = Halted::of(user);
    let (killed, all) = tree::kill_descendants(
        &BTreeSet::new(),
        || halted.stop(),
        |pid, status| leader.note(pid, status),
    );
    halted.go_on();
    if let (None, Some(end)) = (by_itself, leader.end) {
        say(control, &ended_so(end))?;
    }
    let left_behind = if by_itself.is_some() {
        killed + of_inside
    } else {
        0
    };
    say(control, &Report::Gone { left_behind, all })
}

/// What is said of a process that has ended.
pub(crate) fn ended_so((status, signal): (Option<i32>, Option<i32>)) -> Report {
    Report::Ended { status, signal }
}

/// Takes one word of the agent; true when it wants an end, or is gone itself.
fn hear(control: &UnixStream, leader: Pid) -> bool {
    let mut byte = [KILL];
    match (&mut &*control).read(&mut byte) {
        Ok(1) if byte[0] != KILL => {
            if let Some(signal) = Signal::from_named_raw(i32::from(byte[0])) {
                // What is gone already needs no signal.
                let _ = kill_process_group(leader, signal);
            }
            false
        }
        _ => true,
    }
}

/// Everything of the commands' user, stopped at once: other commands too, for the moment that it
/// takes to kill one that forks faster than it can be followed.
struct Halted {
    /// `None` where the agent is not process 1: there the user may be somebody with other work.
    user: Option<(u32, u32)>,
    is_stopped: bool,
}

impl Halted {
    fn of(user: Option<(u32, u32)>) -> Self {
        let is_inside = rustix::process::getppid() == Some(Pid::INIT);
        Self {
            user: user.filter(|_| is_inside),
            is_stopped: false,
        }
    }

    fn stop(&mut self) {
        self.is_stopped |= self.say("STOP");
    }

    fn go_on(&self) {
        if self.is_stopped {
            self.say("CONT");
        }
    }

    /// Whether it was said: without a process to spare it can't be, and then nothing can fork.
    fn say(&self, word: &str) -> bool {
        let Some((user, group)) = self.user else {
            return false;
        };
        let Ok(agent) = std::env::current_exe() else {
            return false;
        };
        let mut halt = Command::new(agent);
        halt.args(["halt", word]).env_clear().uid(user).gid(group);
        halt.stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        halt.status().is_ok_and(|status| status.success())
    }
}
