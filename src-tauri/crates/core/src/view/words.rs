//! Turning facts into a few words.

use longrein_protocol::Media;
use longrein_protocol::ToolErrorClass;
use longrein_protocol::event::{
    ActionQueried, ApprovalResolved, JobFinished, JobStarted, Limit, Limits, NetworkRequest,
    Outcome, Purpose, ResumeReason, StatusAnswer, Verdict,
};
use longrein_protocol::gate::{Always, Scope, Surface};
use longrein_protocol::host_rule::with_port;

use crate::policy;

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

/// Cuts to `limit` bytes in the middle and says so: of what a command said, the end counts most.
pub fn ends(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(limit / 2);
    let tail = text.ceil_char_boundary(text.len() - limit / 2);
    format!(
        "{}\n… {} more bytes …\n{}",
        &text[..head],
        tail - head,
        &text[tail..]
    )
}

/// How many bytes [`cut`] leaves out.
pub fn hidden(text: &str, limit: usize) -> u32 {
    let end = text.floor_char_boundary(limit);
    u32::try_from(text.len() - end).unwrap_or(u32::MAX)
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
        "intent", "query", "path", "pattern", "source", "title", "summary", "question", "label",
        "text", "url", "name",
    ];
    if let Some(items) = arguments.get("items").and_then(|items| items.as_array()) {
        return match items.len() {
            1 => "1 item".to_owned(),
            count => format!("{count} items"),
        };
    }
    if let Some(tasks) = arguments.get("tasks").and_then(|tasks| tasks.as_array()) {
        let titles = tasks.iter().filter_map(|task| task.get("title")?.as_str());
        let titles = titles.collect::<Vec<_>>().join(" · ");
        return match tasks.len() {
            0 | 1 => brief(&titles),
            count => brief(&format!("{count} tasks: {titles}")),
        };
    }
    let telling = TELLING
        .iter()
        .find_map(|name| arguments.get(name)?.as_str().map(|value| (*name, value)));
    match telling {
        Some(("intent", value)) => brief(value),
        Some(("query" | "pattern" | "text" | "summary" | "question", value)) => {
            format!("“{}”", brief(value))
        }
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

/// What was said of an action whose end nobody knew.
pub fn verdict(verdict: Verdict, by: Option<Surface>) -> &'static str {
    match (verdict, by) {
        (Verdict::Happened, Some(_)) => "you said that it happened",
        (Verdict::NotHappened, Some(_)) => "you said that it did not happen",
        (Verdict::Retry, Some(_)) => "you said to start it again",
        (Verdict::Happened, None) => "its status tool says that it happened",
        (Verdict::NotHappened, None) => "its status tool says that it did not happen",
        (Verdict::Retry, None) => "its status tool says that it may start again",
    }
}

/// What a person answered to the question whether an action may start.
pub fn answered(resolved: &ApprovalResolved) -> String {
    let mut words = match (resolved.approved, &resolved.arguments) {
        (true, None) => "approved".to_owned(),
        (true, Some(_)) => "approved with other arguments".to_owned(),
        (false, _) => "refused".to_owned(),
    };
    if let Some(always) = &resolved.always {
        words.push_str(&rules_made(always));
    }
    words
}

fn rules_made(always: &Always) -> String {
    let reach = match (always.scope, always.tainted) {
        (Scope::Run, false) => "this run",
        (Scope::Run, true) => "this run, also after untrusted text",
        (Scope::Agent, _) => "every run of this agent",
        (Scope::Everywhere, _) => "every run",
    };
    let rules: Vec<String> = always.rules.iter().map(policy::in_words).collect();
    format!(", from now on for {reach}: {}", rules.join("; "))
}

/// What a status tool says of an action.
pub fn status(queried: &ActionQueried) -> String {
    match (queried.answer, queried.attempt) {
        (StatusAnswer::Done, _) => "its status tool says that it happened".to_owned(),
        (StatusAnswer::NotDone, _) => "its status tool says that it did not happen".to_owned(),
        (StatusAnswer::Unknown, 1) => "its status tool can't say yet".to_owned(),
        (StatusAnswer::Unknown, times) => {
            format!("its status tool can't say yet, asked {times} times")
        }
    }
}

/// That a command runs beside the steps.
pub fn job_started(started: &JobStarted) -> String {
    format!("Job {} runs: {}", started.job, brief(&started.intent))
}

/// That it ended.
pub fn job_finished(finished: &JobFinished) -> String {
    format!("Job {} ended: {}", finished.job, finished.outcome)
}

/// A request of a command to the network.
pub fn network(request: &NetworkRequest) -> String {
    let NetworkRequest {
        method, host, port, ..
    } = request;
    let place = with_port(host, *port);
    let path = request.path.as_deref().unwrap_or_default();
    match &request.refused {
        None => format!("network: {method} {place}{path}"),
        Some(why) => format!("network: {method} {place}{path}, refused: {why}"),
    }
}

/// What a request beside the steps is for.
pub fn purpose(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Judge => "A judge is asked about a criterion",
        Purpose::Summary => "A model sums up the older part",
    }
}

/// That a limit comes near.
pub fn nearly_used(limit: Limit, used: u64, of: u64) -> String {
    let is = match limit {
        Limit::Money => "is",
        _ => "are",
    };
    let used = match limit {
        Limit::Money => dollars(used),
        _ => thousands(used),
    };
    format!("{used} of {} {is} used.", amount(limit, of))
}

/// Limits that a person set anew.
pub fn raised(limits: &Limits, by: Surface) -> String {
    let set = [
        (Limit::Steps, limits.steps.map(u64::from)),
        (Limit::TokensIn, limits.tokens_in.map(u64::from)),
        (Limit::TokensOut, limits.tokens_out.map(u64::from)),
        (Limit::WorkingMinutes, limits.working_minutes.map(u64::from)),
        (Limit::Actions, limits.actions.map(u64::from)),
        (Limit::Money, limits.money_micro),
    ];
    let set: Vec<String> = set
        .into_iter()
        .filter_map(|(limit, value)| Some(amount(limit, value?)))
        .collect();
    format!(
        "New limits, set from {}: {}.",
        by.in_words(),
        set.join(", ")
    )
}

/// So much of a limit, with its unit.
pub fn amount(limit: Limit, value: u64) -> String {
    let unit = match (limit, value) {
        (Limit::Money, _) => return dollars(value),
        (Limit::Steps, 1) => "step",
        (Limit::Steps, _) => "steps",
        (Limit::TokensIn, _) => "tokens in",
        (Limit::TokensOut, _) => "tokens out",
        (Limit::WorkingMinutes, 1) => "minute of work",
        (Limit::WorkingMinutes, _) => "minutes of work",
        (Limit::Actions, 1) => "action",
        (Limit::Actions, _) => "actions",
    };
    format!("{} {unit}", thousands(value))
}

/// Money as people read it: cents, and more digits only below a cent.
pub fn dollars(micro: u64) -> String {
    const MICRO: u64 = 1_000_000;
    const CENT: u64 = 10_000;
    if micro > 0 && micro < CENT {
        return format!("$0.{micro:06}").trim_end_matches('0').to_owned();
    }
    let cents = micro.saturating_add(CENT / 2) / CENT;
    let (whole, rest) = (cents / (MICRO / CENT), cents % (MICRO / CENT));
    format!("${}.{rest:02}", thousands(whole))
}

/// `2,000,000`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut words = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            words.push(',');
        }
        words.push(digit);
    }
    words
}

/// Milliseconds as people read them.
pub fn duration(ms: u32) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{:.1} s", f64::from(ms) / 1_000.0),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

/// That another model took over.
pub(super) fn switched(from: &str, to: &str, why: &str) -> String {
    format!("{to} takes over from {from}. {why}")
}

/// A text with a line for each thing that came with it.
pub(super) fn with_media(mut text: String, media: &[Media]) -> String {
    for item in media {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("[{}]", item.in_words()));
    }
    text
}

/// What the model refused, and what it is sent instead.
pub(super) fn reduced(refused: Option<&Media>, copy: Option<&Media>) -> String {
    let what = refused.map_or_else(|| "something it was shown".to_owned(), Media::in_words);
    let instead = match copy.map(|copy| (copy.width, copy.height)) {
        Some((Some(width), Some(height))) => {
            format!("a copy of {width} × {height} pixels is sent in its place")
        }
        Some(_) => "a smaller copy is sent in its place".to_owned(),
        None => "a note that says what was there is sent in its place".to_owned(),
    };
    format!("The model refused {what}: {instead}. The original stays in the log.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_a_command_said_both_ends_are_kept() {
        assert_eq!(ends("short", 8), "short");
        assert_eq!(ends("begin éé end", 8), "begi\n… 6 more bytes …\n end");
        assert_eq!(ends("ééééé", 6), "é\n… 6 more bytes …\né");
    }

    #[test]
    fn limits_are_told_with_their_numbers_and_units() {
        let told = [
            nearly_used(Limit::Steps, 64, 80),
            nearly_used(Limit::TokensIn, 1_600_000, 2_000_000),
            nearly_used(Limit::WorkingMinutes, 48, 60),
            nearly_used(Limit::Money, 2_400_000, 3_000_000),
        ];
        assert_eq!(
            told,
            [
                "64 of 80 steps are used.",
                "1,600,000 of 2,000,000 tokens in are used.",
                "48 of 60 minutes of work are used.",
                "$2.40 of $3.00 is used.",
            ]
        );
        let limits = Limits {
            steps: Some(1),
            money_micro: Some(1_234_500_000),
            ..Limits::default()
        };
        assert_eq!(
            raised(&limits, Surface::Window),
            "New limits, set from the window: 1 step, $1,234.50."
        );
    }

    #[test]
    fn money_has_cents_and_more_digits_only_below_one() {
        let told = [0, 900, 9_999, 10_000, 46_300, 999_999].map(dollars);
        assert_eq!(
            told,
            ["$0.00", "$0.0009", "$0.009999", "$0.01", "$0.05", "$1.00"]
        );
    }
}
