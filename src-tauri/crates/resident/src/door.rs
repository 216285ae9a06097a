//! The door of a box that another program makes, as whoever starts it sees it: it is started with a
//! socket, over which [`crate::inside`] is told what to start and says what came of it.

use std::io::{self, BufRead, BufReader, PipeReader, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::Pid;

use crate::handing;
use crate::supervise::{NotStarted, Order, Report, ended_so, started_with};

/// The most bytes that are reported from inside.
const REPORTS_MAX_BYTES: u64 = 16 * 1024;
/// The most bytes of a door's own words that are passed on.
const WORDS_MAX_BYTES: u64 = 2 * 1024;
/// How long a door may take until who is inside takes what is to be started.
const OPEN_LIMIT: Duration = Duration::from_secs(10);
/// How long a report that was sent may take: its sender is dead by then.
const REPORTS_LIMIT: Duration = Duration::from_secs(2);

/// A door that was started.
pub(crate) struct Door {
    inside: UnixStream,
    words: PipeReader,
}

impl Door {
    /// Starts the door, and hands what is to be started inside to who stands there. The command's
    /// streams are this process's own, and never the door's: what the door complains of is no
    /// output of the command.
    pub(crate) fn open(
        door: &Order,
        inside: &Order,
        input: Option<OwnedFd>,
    ) -> Result<(Pid, Self), NotStarted> {
        let failed = |error: io::Error| NotStarted(format!("its box could not be made: {error}"));
        let (ours, theirs) = UnixStream::pair().map_err(failed)?;
        let (words, complaints) = io::pipe().map_err(failed)?;
        let nothing = std::fs::File::open("/dev/null").map_err(failed)?;
        let input = input.unwrap_or_else(|| nothing.into());
        let (output, error) = (io::stdout(), io::stderr());
        ours.set_write_timeout(Some(OPEN_LIMIT)).map_err(failed)?;
        let leader = started_with(
            door,
            (
                Stdio::from(OwnedFd::from(theirs)),
                Stdio::null(),
                Stdio::from(complaints),
            ),
        )?;
        let files = [input.as_fd(), output.as_fd(), error.as_fd()];
        // Where nobody takes it, nobody says that the command was started either.
        let _ = handing::over(&ours, inside, &files);
        let inside = ours;
        Ok((leader, Self { inside, words }))
    }

    /// What came of the command, and how many processes it left behind. The door has ended, and
    /// with it all that was inside.
    pub(crate) fn told(self, end: (Option<i32>, Option<i32>)) -> (Report, u32) {
        let (mut told, mut left_behind) = (None, 0);
        // Where a limit can't be set, the end of the stream comes all the same.
        let _ = self.inside.set_read_timeout(Some(REPORTS_LIMIT));
        let lines = BufReader::new(self.inside.take(REPORTS_MAX_BYTES)).lines();
        for line in lines.map_while(Result::ok) {
            match serde_json::from_str(&line) {
                Ok(Report::Gone {
                    left_behind: left, ..
                }) => left_behind = left,
                Ok(report) => told = Some(report),
                Err(_) => {}
            }
        }
        let told = told.unwrap_or_else(|| unmade(self.words, end));
        (told, left_behind)
    }
}

/// Nothing was said from inside: the box was not made, unless somebody ended it.
fn unmade(words: PipeReader, end: (Option<i32>, Option<i32>)) -> Report {
    let mut said = Vec::new();
    // What can't be read was not said.
    let _ = words.take(WORDS_MAX_BYTES).read_to_end(&mut said);
    let said = String::from_utf8_lossy(&said);
    let said = said.trim();
    match (said.is_empty(), end) {
        (true, (_, Some(_))) => ended_so(end),
        (true, (status, _)) => {
            let status = status.unwrap_or_default();
            let why = format!("its box could not be made: the door ended with status {status}");
            Report::NotStarted { why }
        }
        (false, _) => {
            let why = format!("its box could not be made: {said}");
            Report::NotStarted { why }
        }
    }
}
