//! Frames over one pipe, and the words in them.
//!
//! A frame is two lengths (`u32`, big-endian), a header in JSON, and a body of plain bytes. The app
//! asks, each [`Ask`] with an id of its own; the agent answers under the same id, in any order. Of
//! its own accord the agent says only what a program inside began: a call of a tool, a tunnel to
//! the network. Output is not pushed but asked for, from an offset and with patience, so that a
//! slow app never holds more than it asked for, and one that comes back reads on where it was.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// The version of these words. Both sides must say the same.
pub const VERSION: u32 = 1;
/// The most bytes of a header: a command's arguments and environment are the largest.
pub const HEADER_MAX_BYTES: usize = 512 * 1024;
/// The most bytes of a body.
pub const BODY_MAX_BYTES: usize = 1024 * 1024;
/// The most bytes of one piece of output or of a tunnel.
pub const PIECE_MAX_BYTES: usize = 128 * 1024;
/// How many bytes either side of a tunnel may send before the other one grants more.
pub const TUNNEL_WINDOW_BYTES: u32 = 256 * 1024;
/// The most asks that may be open at a time.
pub const ASKS_MAX: usize = 512;
/// The most commands that run at a time.
pub const RUNNING_MAX: usize = 64;
/// The most commands that are remembered; those that the app has forgotten don't count.
pub const RECORDS_MAX: usize = 4_096;
/// How many states one answer lists.
pub const LIST_PAGE: usize = 200;
/// The most tunnels that are open at a time.
pub const TUNNELS_MAX: usize = 64;
/// The most calls of one command that wait for an answer at a time.
pub const CALLS_MAX: usize = 32;
/// The most characters of a command's id.
pub const ID_MAX_CHARS: usize = 64;

/// A header with its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<H> {
    /// What is said.
    pub header: H,
    /// Plain bytes that go with it.
    pub body: Vec<u8>,
}

/// Why a frame can't be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The pipe failed or ended within a frame.
    #[error("the pipe to the resident agent failed: {0}")]
    Io(#[from] io::Error),
    /// A length that no frame has.
    #[error(
        "a frame has a header of {header} and a body of {body} bytes; the limits are {HEADER_MAX_BYTES} and {BODY_MAX_BYTES}"
    )]
    TooLong {
        /// Bytes of the header.
        header: usize,
        /// Bytes of the body.
        body: usize,
    },
    /// A header that is not one of these words.
    #[error("a frame's header is not understood: {0}")]
    Header(#[from] serde_json::Error),
}

/// How many bytes stand before a header.
pub const LENGTHS_BYTES: usize = 8;

/// The lengths of header and body from what stands before them.
///
/// # Errors
/// When one is beyond its limit.
pub fn lengths(bytes: [u8; LENGTHS_BYTES]) -> Result<(usize, usize), FrameError> {
    let [a, b, c, d, e, f, g, h] = bytes;
    let header = u32::from_be_bytes([a, b, c, d]) as usize;
    let body = u32::from_be_bytes([e, f, g, h]) as usize;
    if header > HEADER_MAX_BYTES || body > BODY_MAX_BYTES {
        return Err(FrameError::TooLong { header, body });
    }
    Ok((header, body))
}

/// The bytes of a frame.
///
/// # Errors
/// When it is longer than a frame may be.
pub fn encode<H: Serialize>(header: &H, body: &[u8]) -> Result<Vec<u8>, FrameError> {
    let mut bytes = vec![0; LENGTHS_BYTES];
    serde_json::to_writer(&mut bytes, header)?;
    let header = bytes.len() - LENGTHS_BYTES;
    let (Ok(header_length), Ok(body_length)) = (u32::try_from(header), u32::try_from(body.len()))
    else {
        return Err(FrameError::TooLong {
            header,
            body: body.len(),
        });
    };
    if header > HEADER_MAX_BYTES || body.len() > BODY_MAX_BYTES {
        return Err(FrameError::TooLong {
            header,
            body: body.len(),
        });
    }
    bytes[..4].copy_from_slice(&header_length.to_be_bytes());
    bytes[4..LENGTHS_BYTES].copy_from_slice(&body_length.to_be_bytes());
    bytes.extend_from_slice(body);
    Ok(bytes)
}

/// Writes one frame.
///
/// # Errors
/// When it is too long or the pipe fails.
pub fn write<H: Serialize>(to: &mut impl Write, header: &H, body: &[u8]) -> Result<(), FrameError> {
    to.write_all(&encode(header, body)?)?;
    Ok(())
}

/// Reads one frame; `None` when the pipe ends between frames.
///
/// # Errors
/// When the pipe fails or ends within a frame, or what arrives is none.
pub fn read<H: DeserializeOwned>(from: &mut impl Read) -> Result<Option<Frame<H>>, FrameError> {
    let mut start = [0; LENGTHS_BYTES];
    if from.read(&mut start[..1])? == 0 {
        return Ok(None);
    }
    from.read_exact(&mut start[1..])?;
    let (header, body) = lengths(start)?;
    let mut header = vec![0; header];
    from.read_exact(&mut header)?;
    let mut body = vec![0; body];
    from.read_exact(&mut body)?;
    Ok(Some(Frame {
        header: serde_json::from_slice(&header)?,
        body,
    }))
}

/// The name of the agent's socket in its state folder, which commands can't enter.
pub const SOCKET: &str = "agent.sock";

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

/// Whether an id can name a command.
pub fn is_id(id: &str) -> bool {
    (1..=ID_MAX_CHARS).contains(&id.len())
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_read_as_it_was_written() {
        let header = Asked {
            id: 7,
            ask: Ask::Wait {
                command: "a-1".into(),
            },
        };
        let bytes = encode(&header, b"body").expect("it is short");
        let frame = read::<Asked>(&mut bytes.as_slice()).expect("it is whole");
        assert_eq!(
            frame,
            Some(Frame {
                header,
                body: b"body".to_vec()
            })
        );
    }

    #[test]
    fn a_pipe_that_ends_between_frames_is_no_error_and_one_within_is() {
        let bytes = encode(
            &Asked {
                id: 1,
                ask: Ask::Stop,
            },
            b"x",
        )
        .expect("it is short");
        assert!(matches!(read::<Asked>(&mut [].as_slice()), Ok(None)));
        for cut in 1..bytes.len() {
            let error = read::<Asked>(&mut &bytes[..cut]).expect_err("it is cut");
            assert!(matches!(error, FrameError::Io(_)), "{cut}: {error}");
        }
    }

    #[test]
    fn no_length_makes_a_reader_reserve_more_than_a_frame_may_have() {
        let bytes = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];
        assert!(matches!(lengths(bytes), Err(FrameError::TooLong { .. })));
        let long = vec![0; BODY_MAX_BYTES + 1];
        assert!(matches!(
            encode(&Ask::Stop, &long),
            Err(FrameError::TooLong { .. })
        ));
    }

    #[test]
    fn an_id_can_name_a_file_and_nothing_else() {
        assert!(is_id("01JA-run_7"));
        for wrong in ["", "..", "a/b", "a b", "é", &"x".repeat(ID_MAX_CHARS + 1)] {
            assert!(!is_id(wrong), "{wrong}");
        }
    }
}
