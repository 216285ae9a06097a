//! A line that is typed and not shown: a key, a passphrase.

use std::io::{self, Read as _};

use longrein_keys::SecretText;
use longrein_keys::check::SECRET_MAX_BYTES;

use crate::ask;
use crate::failure::{Failure, Status};
use crate::screen::Screen;

/// Asks for a line without showing it; `None` when the person would rather not.
///
/// # Errors
/// When nobody is there to ask, or the terminal can't be read.
pub async fn ask(prompt: &str, screen: &mut Screen) -> Result<Option<SecretText>, Failure> {
    if !ask::somebody_is_there(screen) {
        return Err(Failure::usage(
            "There is no terminal to ask on.",
            "Give it on standard input with --stdin, or read: longrein keys --help",
        ));
    }
    screen.clear_status();
    let prompt = prompt.to_owned();
    let typed = tokio::task::spawn_blocking(move || terminal::line(&prompt)).await;
    let typed = typed.map_err(io::Error::other).and_then(|typed| typed);
    typed.map_err(|error| {
        let message = format!("The terminal can't be read: {error}.");
        Failure::said(Status::Failed, message, "Give it with --stdin.")
    })
}

/// Reads what is given on standard input, to its end.
///
/// # Errors
/// When it can't be read, is no text, or is longer than any secret.
pub async fn given() -> Result<SecretText, Failure> {
    let read = tokio::task::spawn_blocking(|| {
        let mut bytes = Vec::new();
        let limit = SECRET_MAX_BYTES as u64 + 1;
        io::stdin().lock().take(limit).read_to_end(&mut bytes)?;
        let no_text = || io::Error::new(io::ErrorKind::InvalidData, "it is no text");
        SecretText::from_utf8(bytes).ok_or_else(no_text)
    });
    let read = read.await.map_err(io::Error::other).and_then(|read| read);
    read.map_err(|error| {
        let message = format!("Standard input can't be read: {error}.");
        Failure::usage(message, "Give one line of text.")
    })
}

#[cfg(unix)]
mod terminal {
    use std::io::{self, Write as _};

    use longrein_keys::SecretText;
    use longrein_keys::check::SECRET_MAX_BYTES;
    use rustix::termios::{
        LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr,
    };

    /// What keys send that mean something.
    const INTERRUPT: u8 = 0x03;
    const END: u8 = 0x04;
    const BACKSPACE: u8 = 0x08;
    const CLEAR: u8 = 0x15;
    const ERASE: u8 = 0x7f;

    /// Shows nothing of what is typed until it is dropped, and then forgets what was typed beyond
    /// the line: the rest of a paste is for no shell.
    struct Hidden(Termios);

    impl Hidden {
        fn begin() -> io::Result<Self> {
            let stdin = rustix::stdio::stdin();
            let before = tcgetattr(stdin)?;
            let mut modes = before.clone();
            // Not by line, since a line of a terminal is at most 4 KB; and Ctrl-C must not end the
            // process before the terminal is as it was.
            modes.local_modes -= LocalModes::ECHO
                | LocalModes::ECHONL
                | LocalModes::ICANON
                | LocalModes::ISIG
                | LocalModes::IEXTEN;
            tcsetattr(stdin, OptionalActions::Flush, &modes)?;
            Ok(Self(before))
        }
    }

    impl Drop for Hidden {
        fn drop(&mut self) {
            let stdin = rustix::stdio::stdin();
            // A terminal that is gone needs nothing back.
            let _ = tcflush(stdin, QueueSelector::IFlush);
            let _ = tcsetattr(stdin, OptionalActions::Now, &self.0);
        }
    }

    /// One line; `None` when the person stops.
    pub fn line(prompt: &str) -> io::Result<Option<SecretText>> {
        let hidden = Hidden::begin()?;
        let mut err = io::stderr().lock();
        write!(err, "{prompt} ")?;
        err.flush()?;
        let mut typed = Vec::with_capacity(SECRET_MAX_BYTES + 1);
        let mut key = [0; 1];
        let mut ended = false;
        while typed.len() <= SECRET_MAX_BYTES {
            match rustix::io::read(rustix::stdio::stdin(), &mut key) {
                Ok(0) => break,
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            match key[0] {
                b'\n' | b'\r' => {
                    ended = true;
                    break;
                }
                INTERRUPT => break,
                END if typed.is_empty() => break,
                BACKSPACE | ERASE => erase(&mut typed),
                CLEAR => typed.clear(),
                byte => typed.push(byte),
            }
        }
        // One that is too long is said to be by whoever takes it.
        ended |= typed.len() > SECRET_MAX_BYTES;
        drop(hidden);
        // The line break that was typed was not shown either.
        let _ = writeln!(err);
        if !ended {
            drop(SecretText::from_utf8(typed));
            return Ok(None);
        }
        let no_text = || io::Error::new(io::ErrorKind::InvalidData, "it is no text");
        SecretText::from_utf8(typed).map(Some).ok_or_else(no_text)
    }

    /// Takes the last character back, all of its bytes.
    fn erase(typed: &mut Vec<u8>) {
        while let Some(byte) = typed.pop() {
            let is_first = byte & 0b1100_0000 != 0b1000_0000;
            if is_first {
                return;
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn one_press_of_a_key_takes_one_character_back() {
            let mut typed = "aä€".as_bytes().to_vec();
            erase(&mut typed);
            assert_eq!(typed, "aä".as_bytes());
            erase(&mut typed);
            erase(&mut typed);
            erase(&mut typed);
            assert!(typed.is_empty());
        }
    }
}

#[cfg(not(unix))]
mod terminal {
    use std::io;

    use longrein_keys::SecretText;

    /// A terminal of this system can't be told to show nothing.
    pub fn line(_prompt: &str) -> io::Result<Option<SecretText>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
