//! A run told line by line: one line for each thing that happened.

use std::collections::HashMap;
use std::time::Instant;

use longrein_protocol::view::{ActionRow, ActionState, Row, RowContent, RunHead, RunState};

use crate::screen::{Screen, Tone};
use crate::text;

/// The most characters of somebody's words on a line.
const WORDS_LIMIT: usize = 100;

/// What the live line turns through.
const TURNS: [char; 4] = ['|', '/', '-', '\\'];

/// A line of the story.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// How it is drawn.
    pub tone: Tone,
    /// What it says.
    pub text: String,
}

impl Line {
    fn new(tone: Tone, text: String) -> Self {
        Self { tone, text }
    }
}

/// Tells a run as it goes. Each row is told once for every state in which it means something.
#[derive(Debug)]
pub struct Narrator {
    told: HashMap<String, ActionState>,
    began: Instant,
    turn: usize,
    head: Option<Box<RunHead>>,
    tokens: u64,
    /// What goes on just now.
    doing: String,
}

impl Default for Narrator {
    fn default() -> Self {
        Self {
            told: HashMap::new(),
            began: Instant::now(),
            turn: 0,
            head: None,
            tokens: 0,
            doing: "starting".to_owned(),
        }
    }
}

impl Narrator {
    /// Takes rows that are new or changed, and tells those from event `from` on.
    pub fn rows(&mut self, rows: &[Row], from: u32, screen: &mut Screen) {
        for row in rows {
            self.note(row);
            if row.seq >= from {
                for line in self.lines(row) {
                    let text = screen.painted(line.tone, &line.text);
                    screen.say(&text);
                }
            }
        }
    }

    /// Takes the panel, and how much of its tokens is in reserve only.
    pub fn head(&mut self, head: Box<RunHead>, reserved_tokens: u32) {
        let counted = u64::from(head.tokens_in.used) + u64::from(head.tokens_out.used);
        self.tokens = counted.saturating_sub(reserved_tokens.into());
        self.head = Some(head);
    }

    /// Says that the model writes.
    pub fn writing(&mut self, letters: usize) {
        if letters > 0 {
            self.doing = format!(
                "the model writes · {} characters",
                text::count(letters as u64)
            );
        }
    }

    /// Rewrites the line in place.
    pub fn live(&mut self, screen: &mut Screen) {
        if !screen.is_live() {
            return;
        }
        self.turn = (self.turn + 1) % TURNS.len();
        let mut parts = vec![self.doing.clone()];
        if let Some(head) = &self.head {
            if head.state == RunState::Waiting {
                parts[0] = head.reason.trim_end_matches('.').to_owned();
            }
            if head.steps.used > 0 {
                let limit = head.steps.limit.map(|limit| format!(" of {limit}"));
                let limit = limit.unwrap_or_default();
                parts.push(format!("step {}{limit}", head.steps.used));
                parts.push(format!("{} tokens", text::count(self.tokens)));
            }
        }
        parts.push(text::seconds(self.began.elapsed().as_secs()));
        let line = format!("{} {}", TURNS[self.turn], text::plain(&parts.join(" · ")));
        screen.status(&line);
    }

    fn note(&mut self, row: &Row) {
        match &row.content {
            RowContent::Action(action) if action.state == ActionState::Started => {
                self.doing = title(action);
            }
            RowContent::Action(_) | RowContent::Answer { .. } | RowContent::Question { .. } => {
                "asking the model".clone_into(&mut self.doing);
            }
            RowContent::ModelTrouble { retrying: true, .. } => {
                "waiting to try again".clone_into(&mut self.doing);
            }
            _ => {}
        }
    }

    /// The lines that a row has to be told by now.
    fn lines(&mut self, row: &Row) -> Vec<Line> {
        if let RowContent::Action(action) = &row.content {
            if !is_told(action.state) {
                return Vec::new();
            }
            let told = self.told.insert(row.key.clone(), action.state);
            if told == Some(action.state) {
                return Vec::new();
            }
        }
        lines_of(row)
    }
}

/// Whether an action in this state has something to say.
fn is_told(state: ActionState) -> bool {
    !matches!(
        state,
        ActionState::Proposed | ActionState::Allowed | ActionState::Started
    )
}

/// The lines of a row.
pub fn lines_of(row: &Row) -> Vec<Line> {
    let step = if row.step > 0 {
        format!("step {} · ", row.step)
    } else {
        String::new()
    };
    let brief = |words: &str| text::brief(words, WORDS_LIMIT);
    match &row.content {
        RowContent::Question { text } => {
            vec![Line::new(Tone::Plain, format!("you · {}", brief(text)))]
        }
        RowContent::Answer { text, .. } if text.is_empty() => Vec::new(),
        RowContent::Answer { text, .. } => {
            vec![Line::new(Tone::Quiet, format!("{step}{}", brief(text)))]
        }
        RowContent::Action(action) => vec![action_line(&step, action)],
        RowContent::Notice { text } => {
            vec![Line::new(
                Tone::Quiet,
                format!("{step}note · {}", brief(text)),
            )]
        }
        RowContent::Verification { results, accepted } => {
            let held = results.iter().filter(|result| result.holds).count();
            let tone = if *accepted { Tone::Good } else { Tone::Bad };
            let mut lines = vec![Line::new(
                tone,
                format!("checked · {held} of {} hold", results.len()),
            )];
            for result in results.iter().filter(|result| !result.holds) {
                let text = format!(
                    "  {}: {}",
                    brief(&result.criterion),
                    brief(&result.evidence)
                );
                lines.push(Line::new(Tone::Bad, text));
            }
            lines
        }
        RowContent::Splice { text } => {
            vec![Line::new(
                Tone::Accent,
                format!("resumed · {}", brief(text)),
            )]
        }
        RowContent::Compacted { text } => vec![Line::new(Tone::Quiet, brief(text))],
        RowContent::ModelTrouble { text, retrying } => {
            let then = if *retrying { " · trying again" } else { "" };
            vec![Line::new(
                Tone::Bad,
                format!("{step}{}{then}", text::plain(text)),
            )]
        }
        // How a run stopped is said at the end, with what can be done.
        RowContent::Stop { .. } => Vec::new(),
    }
}

fn action_line(step: &str, action: &ActionRow) -> Line {
    let title = title(action);
    let took = action
        .latency_ms
        .map(|ms| format!(" · {}", text::duration(ms.into())));
    let took = took.unwrap_or_default();
    let outcome = text::brief(&action.outcome, WORDS_LIMIT);
    let (tone, words) = match action.state {
        ActionState::Asked => (Tone::Accent, format!("waits for you · {}", action.action)),
        ActionState::Uncertain => (Tone::Bad, format!("may have happened · {}", action.action)),
        ActionState::Denied => (Tone::Bad, refusal(action)),
        ActionState::Failed | ActionState::Rejected => {
            (Tone::Bad, format!("{}{took}", failure(action, &outcome)))
        }
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
    format!("refused: {}", text::brief(why, WORDS_LIMIT))
}

fn failure(action: &ActionRow, outcome: &str) -> String {
    let result = text::brief(&action.result, WORDS_LIMIT);
    match (outcome.is_empty(), result.is_empty() || result == outcome) {
        (true, true) => "failed".to_owned(),
        (true, false) => result,
        (false, true) => outcome.to_owned(),
        (false, false) => format!("{outcome}: {result}"),
    }
}

/// A tool with its arguments in a few words.
fn title(action: &ActionRow) -> String {
    let brief = text::brief(&action.brief, WORDS_LIMIT);
    let tool = text::plain(&action.tool);
    if brief.is_empty() {
        tool
    } else {
        format!("{tool} {brief}")
    }
}

#[cfg(test)]
mod tests {
    use longrein_protocol::block::Trust;
    use longrein_protocol::{Effect, ToolErrorClass};

    use super::*;

    fn action(state: ActionState) -> ActionRow {
        ActionRow {
            action: "a1".to_owned(),
            tool: "search_library".to_owned(),
            brief: "“recall\u{1b}[31m”".to_owned(),
            arguments: "{}".to_owned(),
            effect: Effect::Read,
            state,
            decision: "no rule allows it".to_owned(),
            result: "no\nsuch file".to_owned(),
            outcome: "8 passages of 4 documents".to_owned(),
            error: None,
            trust: Trust::Untrusted,
            sources: Vec::new(),
            latency_ms: Some(12),
            attempt: 1,
        }
    }

    fn row(content: RowContent) -> Row {
        Row {
            key: "k".to_owned(),
            seq: 5,
            at: 0,
            step: 2,
            content,
            knot: None,
        }
    }

    fn told(action: ActionRow) -> String {
        let lines = lines_of(&row(RowContent::Action(Box::new(action))));
        lines.into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn an_action_is_one_line_without_anything_that_steers_the_terminal() {
        let line = "step 2 · search_library “recall” · 8 passages of 4 documents · 12 ms";
        assert_eq!(told(action(ActionState::Succeeded)), line);
    }

    #[test]
    fn a_failed_action_says_what_went_wrong() {
        let failed = ActionRow {
            error: Some(ToolErrorClass::NotFound),
            outcome: "not found".to_owned(),
            ..action(ActionState::Failed)
        };
        let line = "step 2 · search_library “recall” · not found: no such file · 12 ms";
        assert_eq!(told(failed), line);
    }

    #[test]
    fn a_row_that_changes_without_news_is_told_once() {
        let mut narrator = Narrator::default();
        let state = |state| row(RowContent::Action(Box::new(action(state))));
        let counts = [
            (ActionState::Proposed, 0),
            (ActionState::Asked, 1),
            (ActionState::Asked, 0),
            (ActionState::Started, 0),
            (ActionState::Succeeded, 1),
            (ActionState::Succeeded, 0),
        ];
        for (step, (of, count)) in counts.into_iter().enumerate() {
            assert_eq!(narrator.lines(&state(of)).len(), count, "{step}: {of:?}");
        }
    }
}
