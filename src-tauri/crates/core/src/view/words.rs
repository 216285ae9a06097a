//! Turning facts into a few words.

use longrein_protocol::ToolErrorClass;
use longrein_protocol::event::{Outcome, ResumeReason, Verdict};

/// The most characters of a knot's label or a card's brief.
const BRIEF_CHARS: usize = 72;

/// Cuts to `limit` bytes on a character boundary and says so.
pub fn cut(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(limit);
    format!("{}\n… {} more bytes", &text[..end], text.len() - end)
}

/// One line of at most [`BRIEF_CHARS`] characters.
pub fn brief(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(BRIEF_CHARS) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

/// Arguments in a few words: the values of the fields that say most.
pub fn arguments(tool: &str, arguments: &serde_json::Value) -> String {
    const TELLING: &[&str] = &[
        "query", "path", "pattern", "source", "title", "summary", "label", "text", "url", "name",
    ];
    if let Some(items) = arguments.get("items").and_then(|items| items.as_array()) {
        return match items.len() {
            1 => "1 item".to_owned(),
            count => format!("{count} items"),
        };
    }
    let telling = TELLING
        .iter()
        .find_map(|name| arguments.get(name)?.as_str().map(|value| (*name, value)));
    match telling {
        Some(("query" | "pattern" | "text" | "summary", value)) => format!("“{}”", brief(value)),
        Some((_, value)) => brief(value),
        None if arguments.as_object().is_none_or(|fields| fields.is_empty()) => String::new(),
        None => brief(&format!("{tool} {arguments}")),
    }
}

/// An error's class in words.
pub fn class(class: ToolErrorClass) -> &'static str {
    match class {
        ToolErrorClass::InvalidArguments => "arguments not understood",
        ToolErrorClass::NotPermitted => "not permitted",
        ToolErrorClass::NotFound => "not found",
        ToolErrorClass::Conflict => "conflict",
        ToolErrorClass::Temporary => "not now",
        ToolErrorClass::Failed => "failed",
        ToolErrorClass::Cancelled => "cancelled",
    }
}

/// Why a run goes on.
pub fn resumed(why: ResumeReason, request: bool, actions: usize, repeatable: bool) -> String {
    let before = match why {
        ResumeReason::Interrupted => "The process ended here and another one took the run up.",
        ResumeReason::TakenOver => {
            "Another process took the run over; the one before was ended first."
        }
        ResumeReason::Asked => return "You said to go on.".to_owned(),
    };
    let after = match (request, actions, repeatable) {
        (true, _, _) => {
            "A model request was on its way: it is made again, and what it cost is not known."
        }
        (false, 0, _) => "Nothing was in flight.",
        (false, _, true) => "What was in flight can be repeated safely.",
        (false, _, false) => "What was in flight is in doubt.",
    };
    format!("{before} {after}")
}

/// How a run came out.
pub fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Accepted => "Every criterion holds.",
        Outcome::Unverified => "Finished. The agent sets no criteria, so nothing was checked.",
        Outcome::Failed => "Failed: it can't go on.",
    }
}

/// What a person said of an uncertain action.
pub fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Happened => "you said that it happened",
        Verdict::NotHappened => "you said that it did not happen",
        Verdict::Retry => "you said to start it again",
    }
}

/// Milliseconds as people read them.
pub fn duration(ms: u32) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{:.1} s", f64::from(ms) / 1_000.0),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}
