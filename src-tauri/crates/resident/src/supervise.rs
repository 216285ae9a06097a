//! The parent of one command. Whatever the command starts stays its descendant, because it adopts
//! what loses its parent; so it can end all of it, and it says when nothing is left.
//!
//! Its standard input is a socket to the agent; its output streams are the command's. It is a
//! process of its own, since a group or a session can be left and descent can't.

use std::collections::BTreeSet;
use std::io::{self, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use longrein_resident::wire::Limits;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::{Pid, Signal, WaitStatus, kill_process_group, set_child_subreaper};
use serde::{Deserialize, Serialize};

use crate::{Failure, Trying, limit, tree};

/// The most bytes of what the agent sends first: a command with its environment.
const ORDER_MAX_BYTES: usize = 600 * 1024;

/// How many bytes say how long the order is.
pub(crate) const ORDER_LENGTH_BYTES: usize = 4;

/// What to start: its length as `u32`, big-endian, and JSON; with the first byte comes the
/// command's input, if it has one.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) program: Vec<String>,
    pub(crate) directory: Option<String>,
    pub(crate) environment: std::collections::BTreeMap<String, String>,
    /// The user and the group that the command runs as; as the agent itself where there is none.
    pub(crate) user: Option<(u32, u32)>,
    /// Set here, unless another program stands between and sets them.
    pub(crate) limits: Option<Limits>,
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
    let (order, input) = ordered(&control).trying(|| "reading the order".to_owned())?;
    // The agent may be killed for its memory last: all else here is of less use.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    let leader = match started(&order, input) {
        Ok(leader) => leader,
        Err(NotStarted(why)) => return say(&control, &Report::NotStarted { why }),
    };
    // The streams end when the last process of the command ends, so they are not held here.
    let nothing = std::fs::OpenOptions::new().write(true).open("/dev/null");
    let nothing = nothing.trying(|| "opening /dev/null".to_owned())?;
    rustix::stdio::dup2_stdout(&nothing).trying(|| "closing the output".to_owned())?;
    rustix::stdio::dup2_stderr(&nothing).trying(|| "closing the errors".to_owned())?;
    watch(&control, &ended, leader, order.user)
}

/// Standard input as a socket.
fn control() -> Result<UnixStream, Failure> {
    let input = io::stdin().as_fd().try_clone_to_owned();
    input
        .map(UnixStream::from)
        .trying(|| "taking the control socket".to_owned())
}

fn say(control: &UnixStream, report: &Report) -> Result<(), Failure> {
    let mut line = serde_json::to_vec(report)
        .map_err(io::Error::from)
        .trying(|| "reporting".to_owned())?;
    line.push(b'\n');
    (&mut &*control)
        .write_all(&line)
        .trying(|| "reporting".to_owned())
}

/// Reads the order, and what comes with its first bytes. No byte more: a word may follow at once.
fn ordered(control: &UnixStream) -> io::Result<(Order, Option<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut length = [0; ORDER_LENGTH_BYTES];
    let first = recvmsg(
        control,
        &mut [IoSliceMut::new(&mut length)],
        &mut ancillary,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    let input = ancillary.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut files) => files.next(),
        _ => None,
    });
    (&mut &*control).read_exact(&mut length[first.bytes..])?;
    let length = u32::from_be_bytes(length) as usize;
    if length > ORDER_MAX_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut order = vec![0; length];
    (&mut &*control).read_exact(&mut order)?;
    Ok((serde_json::from_slice(&order)?, input))
}

/// Starts the command; an error is what its receipt says.
fn started(order: &Order, input: Option<OwnedFd>) -> Result<Pid, NotStarted> {
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
        .stdin(input.map_or_else(Stdio::null, Stdio::from))
        .stdout(Stdio::inherit())
        .stderr(Stdio::inherit());
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
struct NotStarted(String);

/// The command's own process, and how it ended once it has.
struct Leader {
    pid: Pid,
    end: Option<(Option<i32>, Option<i32>)>,
}

impl Leader {
    fn note(&mut self, pid: Pid, status: WaitStatus) {
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
    if let Some((status, signal)) = by_itself {
        say(control, &Report::Ended { status, signal })?;
    }
    let mut halted = Halted::of(user);
    let (killed, all) = tree::kill_descendants(
        &BTreeSet::new(),
        || halted.stop(),
        |pid, status| leader.note(pid, status),
    );
    halted.go_on();
    if let (None, Some((status, signal))) = (by_itself, leader.end) {
        say(control, &Report::Ended { status, signal })?;
    }
    let left_behind = if by_itself.is_some() { killed } else { 0 };
    say(control, &Report::Gone { left_behind, all })
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
