//! What the run has done to the world, one line each.

use std::collections::VecDeque;

use longrein_protocol::ActionId;
use longrein_protocol::block::Trust;
use longrein_protocol::event::ActionFinished;
use longrein_protocol::source::Note;
use longrein_protocol::tool::Effect;

use super::{Action, Run};

/// The most that are remembered one by one; of what came before only the number is known.
pub const RECEIPTS_LIMIT: usize = 256;
/// The most notes at a time.
pub const NOTES_LIMIT: usize = 20;
/// The longest words of one, in bytes.
const WORDS_BYTES: usize = 200;
/// Tools that change the run's own notes of its work and nothing else.
const OF_THE_RUN_ITSELF: &[&str] = &["update_plan", "pin_note", "finish"];

/// What shows that an action changed something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Receipt {
    /// The action.
    pub action: ActionId,
    /// The tool's inner name.
    pub tool: String,
    /// What it came to, in one line: the tool's words, with the receipt that it gave.
    pub words: String,
    /// Whether those words may be believed.
    pub trust: Trust,
}

/// Receipts, newest last.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Receipts {
    /// The newest.
    pub known: VecDeque<Receipt>,
    /// How many came before those.
    pub older: u32,
}

impl Run {
    /// Keeps the receipt of an action that ended well and did more than read.
    pub(super) fn keep_receipt(&mut self, finished: &ActionFinished) {
        let changed = |action: &&Action| {
            let own = OF_THE_RUN_ITSELF.contains(&action.tool.as_str());
            action.effect != Effect::Read && finished.error.is_none() && !own
        };
        let Some(action) = self.action(&finished.action).filter(changed) else {
            return;
        };
        let paths = action.facts.paths.iter();
        let paths = paths.filter_map(|fact| fact.real.as_deref());
        let said = [finished.outcome.as_str()].into_iter();
        let number = finished
            .receipt
            .as_deref()
            .map(|id| format!("receipt {id}"));
        let parts = paths.chain(said).chain(number.as_deref());
        let parts: Vec<String> = parts
            .map(one_line)
            .filter(|part| !part.is_empty())
            .collect();
        let mut words = parts.join(", ");
        words.truncate(words.floor_char_boundary(WORDS_BYTES));
        let receipt = Receipt {
            action: action.id.clone(),
            tool: action.tool.clone(),
            words,
            trust: finished.trust,
        };
        self.push_receipt(receipt);
    }

    /// Keeps the receipt of an action of which somebody said that it happened.
    pub(super) fn keep_word_of(&mut self, id: &ActionId) {
        let Some(action) = self
            .action(id)
            .filter(|action| action.effect != Effect::Read)
        else {
            return;
        };
        let receipt = Receipt {
            action: action.id.clone(),
            tool: action.tool.clone(),
            words: "it happened; its result is not known".to_owned(),
            trust: Trust::Trusted,
        };
        self.push_receipt(receipt);
    }

    /// Takes a note. The tool keeps to the limit; a log that does not loses the oldest.
    pub(super) fn note_pinned(&mut self, note: &Note) {
        if self.pins.len() == NOTES_LIMIT {
            self.pins.remove(0);
        }
        self.pins.push(note.clone());
        self.pins_made = self.pins_made.max(note.number);
    }

    fn push_receipt(&mut self, receipt: Receipt) {
        let receipts = &mut self.receipts;
        if receipts.known.len() == RECEIPTS_LIMIT {
            receipts.known.pop_front();
            receipts.older += 1;
        }
        receipts.known.push_back(receipt);
    }
}

/// Words without what breaks a line.
pub(crate) fn one_line(text: &str) -> String {
    let parts = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let words: Vec<&str> = parts.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}
