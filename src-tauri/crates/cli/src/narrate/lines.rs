//! A row of the story as lines.

use longrein_protocol::view::{
    AcceptanceState, ActionRow, ActionState, KnotShape, Listed, Row, RowContent, RuleLine,
    SaidLine, ServerQuestionLine, ServerQuestionState, SideState,
};

use super::Line;
use crate::screen::Tone;
use crate::text;

/// The most characters of somebody's words on a line.
const WORDS_LIMIT: usize = 100;
/// The most characters of one line of a note.
const NOTE_LIMIT: usize = 400;

/// The lines of a row.
pub fn lines_of(row: &Row) -> Vec<Line> {
    let step = if row.step > 0 {
        format!("step {} · ", row.step)
    } else {
        String::new()
    };
    let one = |tone, text: String| vec![Line::new(tone, text)];
    match &row.content {
        RowContent::Question { text } => one(Tone::Plain, format!("you · {}", brief(text))),
        RowContent::Answer { text, .. } if text.is_empty() => Vec::new(),
        RowContent::Answer { text, .. } => one(Tone::Quiet, format!("{step}{}", brief(text))),
        RowContent::Action(action) => action_lines(&step, action),
        // What begins a new part of the work is no note beside it.
        RowContent::Notice { text } if is_square(row) => one(Tone::Accent, text::plain(text)),
        RowContent::Notice { text } => notes(&step, text),
        RowContent::Verification { .. } => checked(row),
        RowContent::Acceptance { text, state, said } => acceptance(text, *state, said.as_ref()),
        RowContent::Rules {
            text,
            added,
            removed,
        } => rules(text, added, removed),
        RowContent::Budget { text, raised } => {
            let tone = if *raised { Tone::Plain } else { Tone::Accent };
            one(tone, format!("budget · {}", brief(text)))
        }
        RowContent::Side { .. } => side(row),
        RowContent::Splice { text } => one(Tone::Accent, format!("resumed · {}", brief(text))),
        RowContent::Files { text, left_out } => files(&step, text, left_out),
        RowContent::Compacted { text, details } => compacted(text, details),
        RowContent::ModelTrouble { text, retrying } => {
            let then = if *retrying { " · trying again" } else { "" };
            one(Tone::Bad, format!("{step}{}{then}", text::plain(text)))
        }
        // How a run stopped is said at the end, with what can be done.
        RowContent::Stop { .. } => Vec::new(),
    }
}

fn is_square(row: &Row) -> bool {
    let knot = row.knot.as_ref();
    knot.is_some_and(|knot| knot.shape == KnotShape::Square)
}

fn brief(words: &str) -> String {
    text::brief(words, WORDS_LIMIT)
}

/// A note is said whole, as far as a screen has room: nothing else says it.
fn notes(step: &str, text: &str) -> Vec<Line> {
    let said = text.lines().map(|line| text::brief(line, NOTE_LIMIT));
    let lines = said.map(|line| Line::new(Tone::Quiet, format!("{step}note · {line}")));
    lines.collect()
}

/// What was left out and what is kept, each in a line.
fn compacted(text: &str, details: &[Listed]) -> Vec<Line> {
    let mut lines = vec![Line::new(Tone::Quiet, text::plain(text))];
    lines.extend(details.iter().map(|part| {
        let said = part.lines.join(" · ");
        let line = format!("{}: {said}", part.title.to_lowercase());
        Line::new(Tone::Quiet, format!("  {}", text::brief(&line, NOTE_LIMIT)))
    }));
    lines
}

fn files(step: &str, text: &str, left_out: &str) -> Vec<Line> {
    let mut lines = vec![Line::new(
        Tone::Quiet,
        format!("{step}files · {}", brief(text)),
    )];
    if !left_out.is_empty() {
        let text = format!("  not recorded: {}", text::plain(left_out));
        lines.push(Line::new(Tone::Accent, text));
    }
    lines
}

fn checked(row: &Row) -> Vec<Line> {
    let RowContent::Verification { results, accepted } = &row.content else {
        return Vec::new();
    };
    let held = results.iter().filter(|result| result.holds).count();
    let fails = results.iter().any(|result| !result.holds && !result.waits);
    let tone = match (*accepted, fails) {
        (true, _) => Tone::Good,
        (false, true) => Tone::Bad,
        (false, false) => Tone::Plain,
    };
    let head = format!("checked · {held} of {} hold", results.len());
    let mut lines = vec![Line::new(tone, head)];
    for result in results.iter().filter(|result| !result.holds) {
        let tone = if result.waits {
            Tone::Accent
        } else {
            Tone::Bad
        };
        let evidence = if result.waits {
            "waits for you".to_owned()
        } else {
            brief(&result.evidence)
        };
        let text = format!("  {}: {evidence}", brief(&result.criterion));
        lines.push(Line::new(tone, text));
    }
    lines
}

fn acceptance(text: &str, state: AcceptanceState, said: Option<&SaidLine>) -> Vec<Line> {
    let (tone, words) = match state {
        AcceptanceState::Asked => (Tone::Accent, "waits for you to accept it"),
        AcceptanceState::Accepted => (Tone::Good, "accepted"),
        AcceptanceState::Refused => (Tone::Accent, "sent back"),
        AcceptanceState::Withdrawn => (Tone::Quiet, "no longer asked"),
    };
    let by = said.map(said_by).unwrap_or_default();
    vec![Line::new(
        tone,
        format!("result · {words}{by} · {}", brief(text)),
    )]
}

/// From where somebody spoke, and their own words.
fn said_by(said: &SaidLine) -> String {
    let from = said
        .from
        .map(|from| format!(" from {}", from.in_words()))
        .unwrap_or_default();
    match brief(&said.note) {
        note if note.is_empty() => from,
        note => format!("{from}: {note}"),
    }
}

fn rules(text: &str, added: &[RuleLine], removed: &[RuleLine]) -> Vec<Line> {
    let mut lines = vec![Line::new(Tone::Plain, brief(text))];
    let marked = |mark: &'static str| {
        move |rule: &RuleLine| Line::new(Tone::Quiet, format!("  {mark} {}", rule_words(rule)))
    };
    lines.extend(added.iter().map(marked("+")));
    lines.extend(removed.iter().map(marked("−")));
    lines
}

/// A rule that is in force, on one line.
pub fn rule_words(rule: &RuleLine) -> String {
    use longrein_protocol::agent::Decision;
    use longrein_protocol::gate::Scope;
    let says = match rule.decision {
        Decision::Allow => "lets start",
        Decision::Ask => "asks about",
        Decision::Deny => "denies",
    };
    let reach = match rule.scope {
        Scope::Run if rule.tainted => "in this run, after untrusted text too".to_owned(),
        Scope::Run => "in this run".to_owned(),
        Scope::Agent => format!("in every run of {}", text::plain(&rule.agent)),
        Scope::Everywhere => "in every run".to_owned(),
    };
    format!("{says} {} · {reach} · {}", brief(&rule.words), rule.id)
}

fn side(row: &Row) -> Vec<Line> {
    let RowContent::Side {
        text,
        model,
        state,
        answer,
        latency_ms,
    } = &row.content
    else {
        return Vec::new();
    };
    let took = latency_ms.map(|ms| format!(" · {}", text::duration(ms.into())));
    let took = took.unwrap_or_default();
    let (tone, answer) = match state {
        SideState::Asked => return Vec::new(),
        SideState::Answered => (Tone::Quiet, brief(answer)),
        SideState::Failed => (Tone::Bad, brief(answer)),
    };
    let answer = match answer.is_empty() {
        true => answer,
        false => format!(" · {answer}"),
    };
    let text = format!("{} · {}{answer}{took}", brief(text), text::plain(model));
    vec![Line::new(tone, text)]
}

fn action_lines(step: &str, action: &ActionRow) -> Vec<Line> {
    let mut lines = vec![action_line(step, action)];
    lines.extend(super::commands::lines(action));
    lines.extend(action.said.iter().map(|said| {
        let from = said
            .from
            .map_or(String::new(), |from| format!("from {}: ", from.in_words()));
        let note = match brief(&said.note) {
            note if note.is_empty() => note,
            note => format!(" (“{note}”)"),
        };
        let words = format!("  {from}{}{note}", brief(&said.words));
        Line::new(Tone::Quiet, words)
    }));
    let asked = action.server_questions.iter();
    lines.extend(asked.filter_map(server_question));
    lines
}

/// A server's question of which nothing else tells what became of it.
fn server_question(asked: &ServerQuestionLine) -> Option<Line> {
    let (tone, what) = match asked.state {
        ServerQuestionState::Refused => (Tone::Bad, "asked for what it does not get"),
        ServerQuestionState::Withdrawn => (Tone::Quiet, "is no longer answered"),
        _ => return None,
    };
    let server = text::plain(&asked.server);
    let words = match brief(&asked.text) {
        words if words.is_empty() => words,
        words => format!(" (“{words}”)"),
    };
    let why = text::plain(&asked.why);
    Some(Line::new(
        tone,
        format!("  the server {server} {what}{words}: {why}"),
    ))
}

fn action_line(step: &str, action: &ActionRow) -> Line {
    let title = title(action);
    let took = action
        .latency_ms
        .map(|ms| format!(" · {}", text::duration(ms.into())));
    let took = took.unwrap_or_default();
    let outcome = brief(&action.outcome);
    let id = &action.action;
    let (tone, words) = match action.state {
        ActionState::Asked => (Tone::Accent, format!("waits for you · {id}")),
        ActionState::AsksYou => (Tone::Accent, format!("asks you · {id}")),
        ActionState::Uncertain => (Tone::Bad, format!("may have happened · {id}")),
        ActionState::FindingOut => (Tone::Accent, outcome),
        ActionState::Withdrawn => (Tone::Quiet, format!("no longer asked: {outcome}")),
        ActionState::Denied => (Tone::Bad, refusal(action)),
        ActionState::Failed | ActionState::Rejected => {
            (Tone::Bad, format!("{}{took}", failure(action, &outcome)))
        }
        _ if action.undone => (Tone::Quiet, "taken back".to_owned()),
        _ => (Tone::Plain, format!("{outcome}{took}")),
    };
    let words = words.trim_start_matches(" · ");
    let line = if words.is_empty() {
        title
    } else {
        format!("{title} · {words}")
    };
    Line::new(tone, format!("{step}{line}"))
}

fn refusal(action: &ActionRow) -> String {
    let why = if action.outcome.is_empty() {
        &action.decision
    } else {
        &action.outcome
    };
    format!("refused: {}", brief(why))
}

fn failure(action: &ActionRow, outcome: &str) -> String {
    let result = brief(&action.result);
    match (outcome.is_empty(), result.is_empty() || result == outcome) {
        (true, true) => "failed".to_owned(),
        (true, false) => result,
        (false, true) => outcome.to_owned(),
        (false, false) => format!("{outcome}: {result}"),
    }
}

/// A tool with its arguments in a few words.
pub fn title(action: &ActionRow) -> String {
    let brief = brief(&action.brief);
    let tool = text::plain(&action.tool);
    let back = if action.undoes.is_empty() {
        ""
    } else {
        "taking back by "
    };
    if brief.is_empty() {
        format!("{back}{tool}")
    } else if brief.starts_with(&tool) {
        // Arguments that say nothing by themselves come with the tool's name.
        format!("{back}{brief}")
    } else {
        format!("{back}{tool} {brief}")
    }
}

#[cfg(test)]
pub mod tests {
    use longrein_protocol::block::Trust;
    use longrein_protocol::gate::Surface;
    use longrein_protocol::{Effect, ToolErrorClass};

    use super::*;

    pub fn action(state: ActionState) -> ActionRow {
        ActionRow {
            action: "a1".to_owned(),
            tool: "search_library".to_owned(),
            by_person: false,
            undoes: String::new(),
            brief: "“recall\u{1b}[31m”".to_owned(),
            arguments: "{}".to_owned(),
            hidden_bytes: 0,
            proposed: String::new(),
            effect: Effect::Read,
            state,
            decision: "no rule allows it".to_owned(),
            checks: Vec::new(),
            decided_by: None,
            seen: String::new(),
            offers: Vec::new(),
            review: String::new(),
            question: None,
            server_questions: Vec::new(),
            said: Vec::new(),
            result: "no\nsuch file".to_owned(),
            outcome: "8 passages of 4 documents".to_owned(),
            error: None,
            trust: Trust::Untrusted,
            sources: Vec::new(),
            latency_ms: Some(12),
            attempt: 1,
            undo: false,
            undone: false,
            child: String::new(),
        }
    }

    pub fn row(content: RowContent) -> Row {
        Row {
            key: "k".to_owned(),
            seq: 5,
            at: 0,
            step: 2,
            content,
            knot: None,
        }
    }

    fn told(content: RowContent) -> Vec<String> {
        let lines = lines_of(&row(content));
        lines.into_iter().map(|line| line.text).collect()
    }

    fn told_of(action: ActionRow) -> Vec<String> {
        told(RowContent::Action(Box::new(action)))
    }

    #[test]
    fn an_action_is_one_line_without_anything_that_steers_the_terminal() {
        let line = "step 2 · search_library “recall” · 8 passages of 4 documents · 12 ms";
        assert_eq!(told_of(action(ActionState::Succeeded)), [line]);
    }

    #[test]
    fn a_failed_action_says_what_went_wrong() {
        let failed = ActionRow {
            error: Some(ToolErrorClass::NotFound),
            outcome: "not found".to_owned(),
            ..action(ActionState::Failed)
        };
        let line = "step 2 · search_library “recall” · not found: no such file · 12 ms";
        assert_eq!(told_of(failed), [line]);
    }

    #[test]
    fn what_a_person_said_of_an_action_stands_below_it_with_where_they_said_it() {
        let said = SaidLine {
            words: "approved with other arguments".to_owned(),
            note: String::new(),
            from: Some(Surface::Window),
            at: 0,
        };
        let approved = ActionRow {
            said: vec![said],
            ..action(ActionState::Succeeded)
        };
        let below = "  from the window: approved with other arguments";
        assert_eq!(told_of(approved)[1], below);
    }

    #[test]
    fn an_action_that_takes_another_one_back_says_so_and_names_its_tool_once() {
        let undo = ActionRow {
            tool: "lab.delete".to_owned(),
            undoes: "a0".to_owned(),
            brief: "lab.delete {\"id\":\"7\"}".to_owned(),
            outcome: "deleted".to_owned(),
            ..action(ActionState::Succeeded)
        };
        let line = "step 2 · taking back by lab.delete {\"id\":\"7\"} · deleted · 12 ms";
        assert_eq!(told_of(undo), [line]);
    }

    #[test]
    fn every_way_in_which_an_action_waits_names_it_so_that_it_can_be_answered() {
        for (state, words) in [
            (ActionState::Asked, "waits for you · a1"),
            (ActionState::AsksYou, "asks you · a1"),
            (ActionState::Uncertain, "may have happened · a1"),
        ] {
            let line = told_of(action(state)).concat();
            assert!(line.ends_with(words), "{line}");
        }
    }

    #[test]
    fn budgets_acceptance_and_judges_are_told_in_a_line() {
        let budget = RowContent::Budget {
            text: "64 of 80 steps are used.".to_owned(),
            raised: false,
        };
        assert_eq!(told(budget), ["budget · 64 of 80 steps are used."]);
        let back = RowContent::Acceptance {
            text: "Read the page.".to_owned(),
            state: AcceptanceState::Refused,
            said: Some(SaidLine {
                words: "sent back".to_owned(),
                note: "No prices.".to_owned(),
                from: Some(Surface::Command),
                at: 0,
            }),
        };
        let line = "result · sent back from the command line: No prices. · Read the page.";
        assert_eq!(told(back), [line]);
        let judge = |state| RowContent::Side {
            text: "A judge is asked about a criterion".to_owned(),
            model: "local/any".to_owned(),
            state,
            answer: "holds".to_owned(),
            latency_ms: Some(7),
        };
        let line = "A judge is asked about a criterion · local/any · holds · 7 ms";
        assert_eq!(told(judge(SideState::Answered)), [line]);
        assert!(told(judge(SideState::Asked)).is_empty());
    }
}
