//! Where words go: results to standard output, progress to standard error, and on a terminal one
//! line that is rewritten in place.

use std::io::{self, IsTerminal as _, Write as _};

use longrein_protocol::Event;
use serde::Serialize;
use terminal_size::{Width, terminal_size_of};

use crate::failure::Failure;
use crate::text;

/// The columns of a terminal that does not say how wide it is.
const DEFAULT_COLUMNS: usize = 80;
/// Narrower than this nothing can be read: then lines are left to wrap.
const LEAST_COLUMNS: usize = 20;

/// How a word is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Tone {
    /// As it is.
    Plain,
    /// Less than the rest.
    Quiet,
    /// The one accent.
    Accent,
    /// It went well.
    Good,
    /// It went wrong.
    Bad,
}

impl Tone {
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Quiet => Some("2"),
            Self::Accent => Some("38;5;130"),
            Self::Good => Some("32"),
            Self::Bad => Some("31"),
        }
    }
}

/// The screen of one command.
#[derive(Debug)]
pub struct Screen {
    json: bool,
    live: bool,
    /// Whether results go to a terminal.
    is_read: bool,
    color: bool,
    color_results: bool,
    status_shown: bool,
}

impl Screen {
    /// The screen that this process has. With `json`, standard output takes JSON Lines only.
    pub fn new(json: bool) -> Self {
        let smart = std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        let paint = smart && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let live = smart && io::stderr().is_terminal();
        let is_read = io::stdout().is_terminal();
        Self {
            json,
            live,
            is_read,
            color: live && paint,
            color_results: paint && is_read,
            status_shown: false,
        }
    }

    /// Whether standard output takes JSON Lines.
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// How many columns of a result's line are left after so many: all that are wanted where no
    /// terminal cuts it.
    pub fn columns_left(&self, used: usize, wanted: usize) -> usize {
        if self.is_read {
            columns().saturating_sub(used).max(LEAST_COLUMNS)
        } else {
            wanted
        }
    }

    /// Whether there is a line that is rewritten in place.
    pub fn is_live(&self) -> bool {
        self.live
    }

    /// Writes a line of a result for people. With `--json` it goes to standard error.
    ///
    /// # Errors
    /// [`Failure::Unread`] when nobody reads it.
    pub fn result(&mut self, line: &str) -> Result<(), Failure> {
        if self.json {
            self.say(line);
            return Ok(());
        }
        self.clear_status();
        writeln!(io::stdout().lock(), "{line}")?;
        Ok(())
    }

    /// Writes an event as a line of JSON.
    ///
    /// # Errors
    /// [`Failure::Unread`] when nobody reads it.
    pub fn event(&mut self, event: &Event) -> Result<(), Failure> {
        let line = longrein_trace::line(event)?;
        self.clear_status();
        writeln!(io::stdout().lock(), "{line}")?;
        Ok(())
    }

    /// Writes anything as a line of JSON.
    ///
    /// # Errors
    /// [`Failure::Unread`] when nobody reads it.
    pub fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let line = serde_json::to_string(value)?;
        self.clear_status();
        writeln!(io::stdout().lock(), "{line}")?;
        Ok(())
    }

    /// Writes bytes of a result as they are.
    ///
    /// # Errors
    /// [`Failure::Unread`] when nobody reads them.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.clear_status();
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()?;
        Ok(())
    }

    /// Writes a line of progress. Nobody has to read it.
    pub fn say(&mut self, line: &str) {
        self.clear_status();
        let _ = writeln!(io::stderr().lock(), "{line}");
    }

    /// Rewrites the line in place. Not in a pipe.
    pub fn status(&mut self, line: &str) {
        if !self.live {
            return;
        }
        let line = text::fit(line, columns().saturating_sub(1));
        let line = self.painted(Tone::Quiet, &line);
        let _ = write!(io::stderr().lock(), "\r{line}\u{1b}[K");
        self.status_shown = true;
    }

    /// Takes the line in place away.
    pub fn clear_status(&mut self) {
        if std::mem::take(&mut self.status_shown) {
            let _ = write!(io::stderr().lock(), "\r\u{1b}[K");
        }
    }

    /// A word of progress in a tone.
    pub fn painted(&self, tone: Tone, word: &str) -> String {
        paint(self.color, tone, word)
    }

    /// A word of a result in a tone.
    pub fn result_painted(&self, tone: Tone, word: &str) -> String {
        paint(self.color_results && !self.json, tone, word)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.clear_status();
    }
}

fn paint(on: bool, tone: Tone, word: &str) -> String {
    match tone.code().filter(|_| on && !word.is_empty()) {
        Some(code) => format!("\u{1b}[{code}m{word}\u{1b}[0m"),
        None => word.to_owned(),
    }
}

/// How wide the terminal is.
pub fn columns() -> usize {
    let size = terminal_size_of(io::stderr()).or_else(|| terminal_size_of(io::stdout()));
    let columns = size.map_or(0, |(Width(columns), _)| usize::from(columns));
    if columns < LEAST_COLUMNS {
        DEFAULT_COLUMNS
    } else {
        columns
    }
}

/// Tells a failure on standard error, whether or not there is a screen.
pub fn complain(message: &str, remedy: &str) {
    let mut err = io::stderr().lock();
    let _ = writeln!(err, "longrein: {message}");
    for line in remedy.lines().filter(|line| !line.is_empty()) {
        let _ = writeln!(err, "          {line}");
    }
}
