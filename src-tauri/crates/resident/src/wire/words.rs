//! The words in the frames.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The name of the agent's socket in its state folder, which commands can't enter.
pub const SOCKET: &str = "agent.sock";
/// The file in the state folder that an agent holds locked as long as it lives.
pub const LOCK: &str = "lock";

/// How an agent is set up: JSON in the only argument of `serve`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// The folder for outputs and receipts; made its owner's alone.
    pub state: PathBuf,
    /// The folder of the sockets that commands connect to.
    pub run: PathBuf,
    /// Where commands see that folder.
    pub run_inside: PathBuf,
    /// User and group of commands; the agent's own where there is none.
    pub user: Option<(u32, u32)>,
    /// What stands before each command: another program with its arguments, which makes its box.
    pub door: Vec<String>,
    /// End when no app has spoken and no command has run for so long; 0 is never.
    pub idle_limit_ms: u64,
}

/// What the app says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The answer comes under this id.
    pub id: u64,
    /// What is asked.
    pub ask: Ask,
}

/// What the app may ask for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum Ask {
    /// The first word on a pipe. It replaces whoever spoke before.
    Hello {
        /// The app's [`VERSION`].
        version: u32,
    },
    /// Start a command. One whose id is known is not started again.
    Start(Box<Start>),
    /// Output of a command from an offset on; waits until there is some, or no more will come.
    Read {
        /// The command's id.
        command: String,
        /// Which of its streams.
        stream: Stream,
        /// From which byte on.
        offset: u64,
        /// Whether to wait for bytes that are not there yet.
        wait: bool,
    },
    /// Write the body to a command's standard input; answered when it is written.
    Write {
        /// The command's id.
        command: String,
        /// Close the input after it.
        end: bool,
    },
    /// Send a signal to the command's process group.
    Signal {
        /// The command's id.
        command: String,
        /// The signal's number.
        signal: i32,
    },
    /// Kill a command and all that it started.
    Kill {
        /// The command's id.
        command: String,
    },
    /// A command's receipt; waits until it has ended.
    Wait {
        /// The command's id.
        command: String,
    },
    /// How a command stands now.
    State {
        /// The command's id.
        command: String,
    },
    /// The states of commands whose id is greater than this, in the order of their ids.
    List {
        /// Empty for the first page.
        after: String,
    },
    /// Remove a finished command's output and receipt.
    Forget {
        /// The command's id.
        command: String,
    },
    /// Answer a call; the body is the answer's JSON. A call that is not open is let pass.
    Answer {
        /// Which call.
        call: CallId,
    },
    /// Bytes for the program at a tunnel's other end.
    TunnelData {
        /// Which tunnel.
        tunnel: u64,
    },
    /// The app has read that many bytes of a tunnel.
    TunnelGrant {
        /// Which tunnel.
        tunnel: u64,
        /// How many more may be sent.
        bytes: u32,
    },
    /// The tunnel is closed.
    TunnelEnd {
        /// Which tunnel.
        tunnel: u64,
    },
    /// End all commands and the agent itself.
    Stop,
}

/// A command to start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// Its id: letters, digits, `-` and `_`.
    pub command: String,
    /// The program and its arguments.
    pub program: Vec<String>,
    /// The folder that it starts in.
    pub directory: String,
    /// All of its environment.
    pub environment: BTreeMap<String, String>,
    /// Whether its input comes from the app; else it is empty.
    pub input: bool,
    /// Whether the two output streams are one, in the order of writing.
    pub merged: bool,
    /// Whether it may reach the network through the app.
    pub egress: bool,
    /// Whether it may call tools through the app.
    pub tools: bool,
    /// Its limits.
    pub limits: Limits,
}

/// What one command may use. Memory, processes and CPU are the container's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Working time, without the time that the container stood still.
    pub time_ms: u64,
    /// Bytes of each output stream that are kept; the rest is read and counted.
    pub output_bytes: u64,
    /// The largest file that it may write.
    pub file_bytes: u64,
    /// The most files that a process may hold open.
    pub open_files: u64,
    /// Address space of each process. Only for where no container limits memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address_space_bytes: Option<u64>,
    /// Processes of the command's user. Only for where no container limits them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<u64>,
}

/// A command's output stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Standard output, and standard error as well where they are merged.
    Output,
    /// Standard error.
    Error,
}

/// A call of a tool by a program inside.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallId {
    /// The command whose program calls.
    pub command: String,
    /// Its calls are counted from 1.
    pub number: u32,
}

/// What the agent says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub enum Said {
    /// The answer to an ask.
    Answer {
        /// The ask's id.
        id: u64,
        /// What came of it.
        answer: Answer,
    },
    /// A program calls a tool; the body is its JSON. Said again after each hello until answered.
    Call {
        /// Which call.
        call: CallId,
    },
    /// A program opened a connection to the network.
    TunnelOpened {
        /// Which tunnel.
        tunnel: u64,
        /// The command that may use it.
        command: String,
    },
    /// Bytes from the program.
    TunnelData {
        /// Which tunnel.
        tunnel: u64,
    },
    /// The program has read that many bytes.
    TunnelGrant {
        /// Which tunnel.
        tunnel: u64,
        /// How many more may be sent.
        bytes: u32,
    },
    /// The program closed its connection.
    TunnelEnd {
        /// Which tunnel.
        tunnel: u64,
    },
}

/// What came of an ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// It was done.
    Done,
    /// The agent's version and its life.
    Hello {
        /// The agent's [`VERSION`].
        version: u32,
        /// Differs each time that the agent starts. A command that it does not know was never
        /// started if this is the life that was running when it was asked for; else nobody knows.
        life: String,
    },
    /// A command was started, or had been before.
    Started {
        /// Whether this ask started it.
        now: bool,
    },
    /// Output, in the body.
    Output {
        /// Where the body begins.
        offset: u64,
        /// No more will come after it.
        ended: bool,
    },
    /// A command's state.
    State(State),
    /// A page of states.
    States {
        /// At most [`LIST_PAGE`], in the order of their ids.
        states: Vec<State>,
    },
    /// It was not done.
    Refused {
        /// Which kind of refusal.
        code: Code,
        /// A sentence for people.
        message: String,
    },
}

/// Why the agent refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// No command has this id.
    UnknownCommand,
    /// The command has ended, or its input is closed.
    Ended,
    /// The command has not ended.
    Running,
    /// A limit of the agent is reached.
    TooMany,
    /// The ask itself is wrong.
    Invalid,
    /// The two versions differ.
    OtherVersion,
    /// The system refused.
    Failed,
}

/// How a command stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Its id.
    pub command: String,
    /// When it was started, in milliseconds since 1970 by the container's clock.
    pub started_at_ms: u64,
    /// Bytes that its output streams hold.
    pub output_bytes: u64,
    /// The same of its standard error, 0 where they are merged.
    pub error_bytes: u64,
    /// What is left of it, once it has ended.
    pub receipt: Option<Receipt>,
}

/// What is left of a command that has ended. It lies where commands can't write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The command's id.
    pub command: String,
    /// How it ended.
    pub end: End,
    /// When it was started, in milliseconds since 1970 by the container's clock.
    pub started_at_ms: u64,
    /// When it ended, by the same clock.
    pub ended_at_ms: u64,
    /// How long it worked, without the time that the container stood still.
    pub working_ms: u64,
    /// What became of its standard output.
    pub output: Kept,
    /// What became of its standard error.
    pub error: Kept,
    /// How often the system killed a process of the container for its memory meanwhile.
    pub memory_kills: u64,
    /// How many processes it left behind, which were killed.
    pub left_behind: u32,
}

/// What became of an output stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Bytes that are kept.
    pub bytes: u64,
    /// Bytes beyond the limit, which are not.
    pub dropped_bytes: u64,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum End {
    /// By itself.
    Exited {
        /// Its exit status.
        status: i32,
    },
    /// By a signal that the agent did not send.
    Signalled {
        /// The signal's number.
        signal: i32,
    },
    /// It never ran.
    NotStarted {
        /// Why, as the system says it.
        why: String,
    },
    /// Its working time was used up.
    TimedOut,
    /// It was asked to be killed.
    Killed,
    /// The agent was told to stop.
    Stopped,
    /// The agent ended before it, and how it ended is not known.
    Lost,
}
