//! The ways in which providers send one and the same reply, whatever its format.

use serde::Deserialize;

use super::format::Event;
use super::refusal::Trouble;

/// How a reply is sent. The default is the plainest way: one event per block.
#[derive(Clone, PartialEq, Eq, Default, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Manner {
    /// How long the first byte takes.
    pub latency_ms: Option<u64>,
    /// Words and arguments come one character at a time.
    pub by_character: bool,
    /// Parallel calls take turns, in the chat format.
    pub interleaved: bool,
    /// Everything is cut into frames of so many bytes; 1 cuts within characters.
    pub frame_bytes: Option<usize>,
    /// How long it takes from one frame to the next.
    pub pause_ms: Option<u64>,
    /// Comments come between the events.
    pub keep_alive: bool,
    /// Lines end with carriage return and line feed, and `data:` has no space after it.
    pub crlf: bool,
    /// Calls carry no index, in the chat format; their ids tell them apart.
    pub without_index: bool,
    /// The usage is not told.
    pub without_usage: bool,
    /// The whole reply is one JSON text, though streaming was asked for.
    pub whole_json: bool,
    /// After so many events the reply waits at the gate.
    pub hold_after: Option<usize>,
    /// What goes wrong.
    pub fault: Option<Fault>,
}

/// What goes wrong. Events and bytes are counted from the beginning of the reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// Not even a status line comes.
    Silence,
    /// The connection ends before the status line.
    Hangup,
    /// Nothing more comes after so many events, and the connection stays open.
    StallAfter(usize),
    /// Nothing but signs of life comes after so many events.
    SignsOfLifeAfter(usize),
    /// The connection breaks after so many events.
    DropAfter(usize),
    /// The connection breaks after so many bytes.
    DropAtByte(usize),
    /// The stream ends as if it were whole after so many events.
    EndAfter(usize),
    /// The stream ends as if it were whole after so many bytes.
    EndAtByte(usize),
    /// An error of the server comes after so many events.
    ErrorAfter(usize),
    /// The provider breaks off after so many events, and says why as its format does.
    BreakOffAfter(usize, Trouble),
    /// Something that is not JSON comes after so many events.
    GarbageAfter(usize),
    /// Words without end come after so many events, this many bytes of them.
    FloodAfter(usize, usize),
}

impl Manner {
    /// Every difference that must make no difference, at once.
    pub fn nasty() -> Self {
        Self {
            by_character: true,
            interleaved: true,
            frame_bytes: Some(1),
            keep_alive: true,
            crlf: true,
            ..Self::default()
        }
    }

    /// The same with a fault.
    #[must_use]
    pub fn with(self, fault: Fault) -> Self {
        Self {
            fault: Some(fault),
            ..self
        }
    }

    /// An event as it is written on the wire.
    pub(super) fn frame(&self, event: &Event) -> String {
        let (space, end) = if self.crlf { ("", "\r\n") } else { (" ", "\n") };
        let name = event.name.as_ref();
        let name = name.map_or_else(String::new, |name| format!("event:{space}{name}{end}"));
        format!("{name}data:{space}{}{end}{end}", event.data)
    }

    /// A sign of life.
    pub(super) fn comment(&self) -> &'static str {
        if self.crlf {
            ": keep-alive\r\n\r\n"
        } else {
            ": keep-alive\n\n"
        }
    }
}
