//! A run told line by line: one line for each thing that happened.

mod commands;
mod lines;

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::time::Instant;

use longrein_protocol::view::{
    ActionState, LiveRow, Row, RowContent, RunHead, RunState, SideState,
};

use crate::screen::{Screen, Tone};
use crate::text;

pub use lines::{lines_of, rule_words};

/// What the live line turns through.
const TURNS: [char; 4] = ['|', '/', '-', '\\'];

/// How much of what goes on stands in the live line, so that there is room for the rest.
const DOING_LETTERS: usize = 40;
/// How much of what an action shows stands in the live line.
const SHOWN_LETTERS: usize = 48;

/// A line of the story.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
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
    /// What was told of a row last, by its key, as a hash.
    told: HashMap<String, u64>,
    hashes: RandomState,
    began: Instant,
    turn: usize,
    head: Option<Box<RunHead>>,
    /// What goes on just now.
    doing: String,
    /// What the action that shows something shows last.
    shown: String,
}

impl Default for Narrator {
    fn default() -> Self {
        Self {
            told: HashMap::new(),
            hashes: RandomState::new(),
            began: Instant::now(),
            turn: 0,
            head: None,
            doing: "starting".to_owned(),
            shown: String::new(),
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

    /// Takes the panel.
    pub fn head(&mut self, head: Box<RunHead>) {
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

    /// Takes what running actions show: what the last of them is doing, or its last line.
    pub fn acting(&mut self, actions: &[LiveRow]) {
        let words = |live: &LiveRow| {
            let lines = live.output.lines().rev();
            let last = lines.map(str::trim).find(|line| !line.is_empty());
            let words = match live.doing.is_empty() {
                true => last.unwrap_or_default(),
                false => &live.doing,
            };
            (!words.is_empty()).then(|| words.to_owned())
        };
        self.shown = actions.iter().rev().find_map(words).unwrap_or_default();
    }

    /// Rewrites the line in place.
    pub fn live(&mut self, screen: &mut Screen) {
        if !screen.is_live() {
            return;
        }
        self.turn = (self.turn + 1) % TURNS.len();
        let mut parts = vec![self.doing.clone()];
        if !self.shown.is_empty() {
            parts.push(text::brief(&self.shown, SHOWN_LETTERS));
        }
        if let Some(head) = &self.head {
            if head.state == RunState::Waiting {
                parts[0] = head.reason.trim_end_matches('.').to_owned();
            }
            if head.steps.used > 0 {
                let limit = head.steps.limit.map(|limit| format!(" of {limit}"));
                let limit = limit.unwrap_or_default();
                parts.push(format!("step {}{limit}", head.steps.used));
                let tokens = u64::from(head.tokens_in.used) + u64::from(head.tokens_out.used);
                parts.push(format!("{} tokens", text::count(tokens)));
            }
            if head.money.known && head.money.used_micro > 0 {
                let about = if head.money.estimated { "~" } else { "" };
                parts.push(format!("{about}{}", text::dollars(head.money.used_micro)));
            }
        }
        parts.push(text::seconds(self.began.elapsed().as_secs()));
        let line = format!("{} {}", TURNS[self.turn], text::plain(&parts.join(" · ")));
        screen.status(&line);
    }

    fn note(&mut self, row: &Row) {
        match &row.content {
            RowContent::Action(action) if action.state == ActionState::Started => {
                self.doing = text::brief(&lines::title(action), DOING_LETTERS);
                // What came of it so far: how many helpers are back.
                if !action.outcome.is_empty() {
                    let so_far = text::brief(&action.outcome, DOING_LETTERS);
                    self.doing = format!("{} · {so_far}", self.doing);
                }
            }
            RowContent::Action(action) if action.state == ActionState::FindingOut => {
                self.doing = format!("finding out what became of {}", text::plain(&action.tool));
            }
            RowContent::Side { text, state, .. } if *state == SideState::Asked => {
                self.doing.clone_from(text);
            }
            RowContent::Action(_)
            | RowContent::Side { .. }
            | RowContent::Answer { .. }
            | RowContent::Question { .. } => {
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
        if !is_told(row) {
            // What comes next is news, even where it was told before.
            self.told.remove(&row.key);
            return Vec::new();
        }
        let lines = lines_of(row);
        let hash = self.hashes.hash_one(&lines);
        if self.told.insert(row.key.clone(), hash) == Some(hash) {
            return Vec::new();
        }
        lines
    }
}

/// Whether a row has something to say as it stands.
fn is_told(row: &Row) -> bool {
    match &row.content {
        RowContent::Action(action) => !matches!(
            action.state,
            ActionState::Proposed | ActionState::Allowed | ActionState::Started
        ),
        RowContent::Side { state, .. } => *state != SideState::Asked,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::lines::tests::{action, row};
    use super::*;

    #[test]
    fn a_row_that_changes_without_news_is_told_once() {
        let mut narrator = Narrator::default();
        let state = |state| row(RowContent::Action(Box::new(action(state))));
        let counts = [
            (ActionState::Proposed, 0),
            (ActionState::Asked, 1),
            (ActionState::Asked, 0),
            // What was approved is asked anew where it changed since.
            (ActionState::Allowed, 0),
            (ActionState::Asked, 1),
            (ActionState::Started, 0),
            (ActionState::Succeeded, 1),
            (ActionState::Succeeded, 0),
        ];
        for (step, (of, count)) in counts.into_iter().enumerate() {
            assert_eq!(narrator.lines(&state(of)).len(), count, "{step}: {of:?}");
        }
    }
}
