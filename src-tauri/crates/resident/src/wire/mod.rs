//! Frames over one pipe, and the words in them.
//!
//! A frame is two lengths (`u32`, big-endian), a header in JSON, and a body of plain bytes. The app
//! asks, each [`Ask`] with an id of its own; the agent answers under the same id, in any order. Of
//! its own accord the agent says only what a program inside began: a call of a tool, a tunnel to
//! the network. Output is not pushed but asked for, from an offset and with patience, so that a
//! slow app never holds more than it asked for, and one that comes back reads on where it was.

mod frame;
mod words;

pub use frame::{Frame, FrameError, LENGTHS_BYTES, encode, lengths, read, write};
pub use words::{
    Answer, Ask, Asked, CallId, Code, End, Kept, LOCK, Limits, Receipt, SOCKET, Said, Setup, Start,
    State, Stream,
};

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
/// The most bytes of a call, which the app may hold many of: more goes into a file.
pub const CALL_MAX_BYTES: usize = 128 * 1024;
/// The most characters of a command's id.
pub const ID_MAX_CHARS: usize = 64;

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
    fn an_id_can_name_a_file_and_nothing_else() {
        assert!(is_id("01JA-run_7"));
        for wrong in ["", "..", "a/b", "a b", "é", &"x".repeat(ID_MAX_CHARS + 1)] {
            assert!(!is_id(wrong), "{wrong}");
        }
    }
}
