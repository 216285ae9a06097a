//! What stands on the card of an action.

use longrein_protocol::agent::{Decision, PolicyRule};
use longrein_protocol::block::Trust;
use longrein_protocol::event::ActionDecided;
use longrein_protocol::gate::CheckName;
use longrein_protocol::tool::Effect;
use longrein_protocol::view::{ActionRow, ActionState, Knot, KnotShape, KnotTone, RuleOffer};
use longrein_protocol::{ActionId, Body};

use super::rows::new_knot;
use super::{ROW_TEXT_BYTES, words};
use crate::policy;

pub(super) fn new_action(
    action: &ActionId,
    tool: &str,
    effect: Effect,
    arguments: &str,
) -> ActionRow {
    let mut row = ActionRow {
        action: action.0.clone(),
        tool: tool.to_owned(),
        by_person: false,
        undoes: String::new(),
        child: String::new(),
        brief: String::new(),
        arguments: String::new(),
        hidden_bytes: 0,
        proposed: String::new(),
        effect,
        state: ActionState::Proposed,
        decision: String::new(),
        checks: Vec::new(),
        decided_by: None,
        seen: String::new(),
        offers: Vec::new(),
        review: String::new(),
        question: None,
        server_questions: Vec::new(),
        said: Vec::new(),
        result: String::new(),
        outcome: String::new(),
        error: None,
        trust: Trust::Trusted,
        sources: Vec::new(),
        latency_ms: None,
        attempt: 0,
        undo: false,
        undone: false,
    };
    set_arguments(&mut row, arguments);
    row
}

/// The arguments as JSON with indents, or as they stand where they are none.
pub fn pretty(arguments: &str) -> String {
    serde_json::from_str::<serde_json::Value>(arguments)
        .ok()
        .and_then(|value| serde_json::to_string_pretty(&value).ok())
        .unwrap_or_else(|| arguments.to_owned())
}

fn set_arguments(row: &mut ActionRow, arguments: &str) {
    let parsed: Option<serde_json::Value> = serde_json::from_str(arguments).ok();
    row.brief = parsed
        .as_ref()
        .map(|value| words::arguments(&row.tool, value))
        .unwrap_or_default();
    let pretty = pretty(arguments);
    row.hidden_bytes = words::hidden(&pretty, ROW_TEXT_BYTES);
    row.arguments = words::cut(&pretty, ROW_TEXT_BYTES);
}

pub(super) fn take_edit(row: &mut ActionRow, edited: &str) {
    if row.proposed.is_empty() {
        row.proposed = std::mem::take(&mut row.arguments);
    }
    set_arguments(row, edited);
}

pub(super) fn no_longer_asked(row: &mut ActionRow) {
    row.seen.clear();
    row.offers.clear();
    row.review.clear();
}

/// What the person is shown beside the arguments, where they have to look at a skill.
pub(super) fn review(decided: &ActionDecided) -> Option<&Body> {
    let asks = decided.decision == Decision::Ask;
    decided
        .facts
        .skill
        .as_ref()
        .filter(|_| asks)?
        .review
        .as_ref()
}

/// The check by which an action was decided: the one whose facts are the reason, else the first
/// that says the same.
pub(super) fn deciding(decided: &ActionDecided) -> Option<CheckName> {
    let mut same = decided
        .checks
        .iter()
        .filter(|check| check.decision == decided.decision);
    let with_the_reason = same
        .clone()
        .find(|check| !check.facts.is_empty() && check.facts == decided.why);
    let first = match decided.decision {
        Decision::Allow => None,
        Decision::Ask | Decision::Deny => same.next(),
    };
    with_the_reason.or(first).map(|check| check.check)
}

pub(super) fn offer(rule: &PolicyRule) -> Option<RuleOffer> {
    let json = serde_json::to_string(rule).ok()?;
    Some(RuleOffer {
        words: policy::in_words(rule),
        rule: json,
    })
}

pub(super) fn waiting(label: &str, detail: &str) -> Knot {
    new_knot(KnotShape::Break, KnotTone::Waiting, label, detail)
}

pub(super) fn title(row: &ActionRow) -> String {
    let verb = match row.tool.as_str() {
        "update_plan" => "Plan:",
        "pin_note" => "Pin a note:",
        "recall" => "Recall",
        "search_library" => "Search",
        "read_source" => "Read on in",
        "read_file" => "Read",
        "write_file" => "Write",
        "edit_file" => "Edit",
        "list_files" => "List",
        "search_files" => "Search files",
        "publish_artifact" => "Publish",
        "load_skill" => "Load the skill",
        "find_tools" => "Find tools",
        "ask_person" => "Ask you",
        "finish" => "Finish",
        tool => tool,
    };
    let verb = match row.undoes.is_empty() {
        true => verb.to_owned(),
        false => format!("Take back: {verb}"),
    };
    format!("{verb} {}", row.brief)
        .trim_end_matches([' ', ':'])
        .to_owned()
}
