//! What changed of the run's files.

use longrein_protocol::event::{Event, LeftOut, LeftOutWhy, SnapshotTaken};
use longrein_protocol::view::RowContent;

use super::{View, words};

/// The most files that a row names.
const NAMED: usize = 3;

impl View {
    /// Where only folders came or went there is nothing to be said.
    pub(super) fn files_changed(&mut self, event: &Event, taken: &SnapshotTaken) -> Vec<String> {
        let left_out = left_out_words(&taken.left_out);
        let count = changed(taken);
        if count == 0 && left_out.is_empty() {
            return Vec::new();
        }
        let text = match count {
            0 => "The files are as they were.".to_owned(),
            1 => format!("1 file changed{}", named(taken, count)),
            count => format!(
                "{} files changed{}",
                words::thousands(count),
                named(taken, count)
            ),
        };
        self.plain(event, RowContent::Files { text, left_out }, None)
    }
}

fn changed(taken: &SnapshotTaken) -> u64 {
    [taken.added, taken.changed, taken.removed]
        .map(u64::from)
        .iter()
        .sum()
}

fn named(taken: &SnapshotTaken, count: u64) -> String {
    let names: Vec<&str> = taken.paths.iter().map(String::as_str).take(NAMED).collect();
    if names.is_empty() {
        return String::new();
    }
    let rest = count - (names.len() as u64).min(count);
    let more = match rest {
        0 => String::new(),
        rest => format!(" and {} more", words::thousands(rest)),
    };
    format!(": {}{more}", names.join(", "))
}

/// What a snapshot left out, in words; empty where it left out nothing.
pub fn left_out_words(left_out: &[LeftOut]) -> String {
    let each = left_out.iter().map(|part| {
        let why = match part.why {
            LeftOutWhy::TooLarge => "too large",
            LeftOutWhy::Full => "beyond what is recorded in all",
            LeftOutWhy::TooMany => "too many",
            LeftOutWhy::TooDeep => "too deep",
            LeftOutWhy::Special => "no file (a pipe, a socket or a device)",
            LeftOutWhy::Name => "with a name that is no text",
            LeftOutWhy::Unreadable => "not readable",
            LeftOutWhy::Changing => "still being written",
        };
        let more = if part.count > 1 { ", …" } else { "" };
        format!(
            "{} {why} ({}{more})",
            words::thousands(part.count.into()),
            part.first
        )
    });
    each.collect::<Vec<_>>().join("; ")
}
