//! Words that both forms of a transcript use.

use jiff::Timestamp;
use longrein_core::view::{dollars, thousands};
use longrein_protocol::gate::CheckName;
use longrein_protocol::source::{ClaimState, PlanState};
use longrein_protocol::view::{ActionState, RunHead, RunState};

/// A moment to the second, as machines and people read it: `2026-11-30 14:05:12 UTC`.
pub(crate) fn moment(at_ms: i64) -> String {
    let moment = Timestamp::from_millisecond(at_ms).unwrap_or_default();
    moment.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// The same for a machine.
pub(crate) fn machine_moment(at_ms: i64) -> String {
    let moment = Timestamp::from_millisecond(at_ms).unwrap_or_default();
    moment.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A text without letters that nobody sees and that turn what is read around, or that a terminal takes
/// as orders.
pub(crate) fn tame(text: &str) -> String {
    let tamed = text.chars().map(|letter| match letter {
        '\t' | '\n' => letter,
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => '\u{FFFD}',
        letter if letter.is_control() => '\u{FFFD}',
        letter => letter,
    });
    tamed.collect()
}

/// What a run used, in facts that stand in a row.
pub(crate) fn facts(head: &RunHead) -> Vec<String> {
    let mut facts = vec![head.agent.clone(), head.model.clone()];
    facts.push(format!("{} steps", head.steps.used));
    let tokens = u64::from(head.tokens_in.used) + u64::from(head.tokens_out.used);
    facts.push(format!("{} tokens", thousands(tokens)));
    if head.money.known && !head.demo {
        let about = if head.money.estimated { "about " } else { "" };
        facts.push(format!("{about}{}", dollars(head.money.used_micro)));
    }
    facts.push(format!("{} s of work", head.working_seconds.used));
    facts
}

/// The state of a run.
pub(crate) fn of_run(state: RunState) -> &'static str {
    match state {
        RunState::Running => "Working",
        RunState::Waiting => "Waiting for you",
        RunState::Paused => "Paused",
        RunState::HandedOff => "Handed off to you",
        RunState::Accepted => "Accepted",
        RunState::Unverified => "Finished, not verified",
        RunState::Failed => "Failed",
        RunState::Cancelled => "Cancelled",
        RunState::Interrupted => "Interrupted",
        RunState::Unreadable => "Can’t be read on",
    }
}

/// The state of an action.
pub(crate) fn of_action(state: ActionState) -> &'static str {
    match state {
        ActionState::Proposed => "asked for",
        ActionState::Rejected => "arguments refused",
        ActionState::Asked => "waits for an approval",
        ActionState::AsksYou => "waits for an answer",
        ActionState::Allowed => "allowed",
        ActionState::Denied => "denied",
        ActionState::Withdrawn => "withdrawn",
        ActionState::Started => "runs",
        ActionState::Succeeded => "done",
        ActionState::Failed => "failed",
        ActionState::FindingOut => "being found out",
        ActionState::Uncertain => "may or may not have happened",
        ActionState::Unknown => "nobody knows whether it happened",
    }
}

/// The state of an item of a plan.
pub(crate) fn of_plan(state: PlanState) -> &'static str {
    match state {
        PlanState::Open => "open",
        PlanState::Doing => "at work",
        PlanState::Done => "done",
        PlanState::Dropped => "dropped",
    }
}

/// What was found of a claim.
pub(crate) fn of_claim(state: ClaimState) -> &'static str {
    match state {
        ClaimState::Verbatim => "word for word in the source",
        ClaimState::Near => "nearly so in the source",
        ClaimState::NotFound => "not found in the source",
        ClaimState::Cited => "cited without a quote",
        ClaimState::SourceNotRead => "the source was not read",
        ClaimState::Uncited => "without a citation",
        ClaimState::NumberFound => "the number stands in the source",
        ClaimState::NumberNotFound => "the number does not stand in the source",
    }
}

/// A check of the gate.
pub(crate) fn of_check(check: CheckName) -> &'static str {
    match check {
        CheckName::Granted => "Granted",
        CheckName::Schema => "Arguments",
        CheckName::Effect => "Effect",
        CheckName::Secrets => "Secrets",
        CheckName::Reach => "Reach",
        CheckName::Budget => "Budget",
        CheckName::Rules => "Rules",
        CheckName::Taint => "Untrusted text",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_that_nobody_sees_become_ones_that_everybody_sees() {
        assert_eq!(
            tame("a\u{1b}[2Jb\u{202e}c\0\td\n"),
            "a\u{FFFD}[2Jb\u{FFFD}c\u{FFFD}\td\n"
        );
    }

    #[test]
    fn a_moment_is_told_in_universal_time() {
        assert_eq!(moment(1_796_047_512_345), "2026-11-30 14:05:12 UTC");
        assert_eq!(machine_moment(0), "1970-01-01T00:00:00Z");
    }
}
