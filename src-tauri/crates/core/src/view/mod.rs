//! The rows that every surface draws, folded from the events.
//!
//! Keys are stable: an event inserts a row or changes the row of the same key, never removes one.

mod actions;
mod card;
mod children;
mod compacted;
mod events;
mod files;
mod head;
mod marks;
mod questions;
mod rows;
mod said;
mod words;

use std::collections::HashMap;
use std::sync::Arc;

use longrein_protocol::event::{ActionFinished, Digest, Event, Payload, Purpose};
use longrein_protocol::gate::StandingRule;
use longrein_protocol::view::{ArtifactLine, ReachedLimit, Row, RunState, RunView, ViewChange};
use longrein_protocol::{ActionId, Body};

use crate::compile::Content;
use crate::run::Run;

pub use card::pretty;
pub use events::{event_action, event_words, origin_words};
pub use files::left_out_words;
pub use words::{amount, dollars, thousands};

/// The most bytes of arguments or of a result that a row carries.
pub const ROW_TEXT_BYTES: usize = 8 * 1024;

/// The largest result that is read for its row. Of a larger one the row says how large it is until
/// the model is shown what it is made of: a surface that opens a run reads no huge blobs.
const RESULT_READ_BYTES: usize = 64 * 1024;

/// A run as it is shown, growing with its log.
#[derive(Clone, Default)]
pub struct View {
    run: Run,
    /// Shared with the views that were cloned of this one: a run may be looked at as it was at many
    /// points, and most of its rows are the same at all of them.
    rows: Vec<Arc<Row>>,
    places: HashMap<String, usize>,
    artifacts: Vec<ArtifactLine>,
    /// The step that rows belong to.
    step: u32,
    /// The actions that have not come to their end, in the order in which they were asked for.
    open: Vec<ActionId>,
    /// The row of the question whether the result is accepted, while it waits.
    acceptance: Option<String>,
    /// The row of the request beside the steps that is on its way.
    side: Option<(String, Purpose)>,
    /// The rules beside those of the agent's file, as the last row about them says.
    rules: Vec<StandingRule>,
    /// What the last row about the tools says of them.
    notes: Vec<String>,
    /// The limit that was reached last.
    reached: Option<ReachedLimit>,
    /// Where the work stood at the last handoff.
    digest: Option<Digest>,
}

/// The bodies of an event that a view reads.
pub fn bodies_needed(event: &Event) -> Vec<&Body> {
    match &event.payload {
        Payload::RunForked(forked) => {
            let results = forked.results.iter();
            results.map(|changed| &changed.result).collect()
        }
        Payload::TurnStarted(turn) => vec![&turn.input],
        Payload::TurnSteered(steered) => vec![&steered.input],
        Payload::NoticeGiven(notice) => vec![&notice.text],
        Payload::ModelResponded(responded) => responded
            .blocks
            .iter()
            .filter_map(rows::shown_body)
            .collect(),
        Payload::ActionProposed(proposed) => vec![&proposed.arguments],
        Payload::ActionRejected(rejected) => vec![&rejected.arguments],
        Payload::ActionDecided(decided) => card::review(decided).into_iter().collect(),
        Payload::ActionFinished(finished) => vec![shown(finished)]
            .into_iter()
            .filter(|body| body.len() <= RESULT_READ_BYTES)
            .collect(),
        Payload::ResultOffloaded(offloaded) => vec![&offloaded.shown],
        Payload::ApprovalResolved(resolved) => resolved.arguments.iter().collect(),
        Payload::ActionReconciled(reconciled) => reconciled.result.iter().collect(),
        Payload::ChildFinished(finished) => vec![&finished.finding],
        Payload::QuestionAsked(asked) => vec![&asked.question],
        Payload::QuestionAnswered(answered) => vec![&answered.answer],
        Payload::QuestionRefused(refused) => vec![&refused.question],
        Payload::AcceptanceResolved(resolved) => vec![&resolved.note],
        Payload::SideResponded(responded) => vec![&responded.text],
        _ => Vec::new(),
    }
}

/// The part of a result that the model is shown.
fn shown(finished: &ActionFinished) -> &Body {
    finished.shown.as_ref().unwrap_or(&finished.result)
}

impl View {
    /// Folds one event; `content` knows the bodies of [`bodies_needed`]. Returns the keys of the
    /// rows that are new or changed.
    pub fn apply(&mut self, event: &Event, content: &Content<'_>) -> Vec<String> {
        self.run.apply(event);
        self.step = self.run.used.steps;
        self.note_for_the_panel(event);
        self.fold_rows(event, content)
    }

    /// The state behind the rows.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Every row so far.
    pub fn rows(&self) -> &[Arc<Row>] {
        &self.rows
    }

    /// The row of a key.
    pub fn row(&self, key: &str) -> Option<&Row> {
        let place = *self.places.get(key)?;
        self.rows.get(place).map(Arc::as_ref)
    }

    /// The row of an action.
    pub fn action_row(&self, action: &ActionId) -> Option<&Row> {
        self.row(&action.0)
    }

    /// What a subscription begins with: the panel and the newest `limit` rows.
    pub fn snapshot(&self, limit: usize) -> RunView {
        let earlier = self.rows.len().saturating_sub(limit);
        RunView {
            seq: self.run.seq,
            head: self.head(),
            rows: owned(&self.rows[earlier..]),
            earlier: earlier as u32,
        }
    }

    /// At most `limit` rows before the row that event `seq` made.
    pub fn earlier_rows(&self, seq: u32, limit: usize) -> Vec<Row> {
        let end = self.rows.partition_point(|row| row.seq < seq);
        owned(&self.rows[end.saturating_sub(limit)..end])
    }

    /// The rows of `keys` with the panel.
    pub fn change(&self, keys: &[String]) -> ViewChange {
        let mut places: Vec<usize> = keys
            .iter()
            .filter_map(|key| self.places.get(key).copied())
            .collect();
        places.sort_unstable();
        places.dedup();
        ViewChange {
            seq: self.run.seq,
            head: Some(self.head()),
            rows: places
                .into_iter()
                .map(|place| Row::clone(&self.rows[place]))
                .collect(),
        }
    }

    fn insert(&mut self, row: Row) -> Vec<String> {
        let key = row.key.clone();
        match self.places.get(&key) {
            Some(place) => self.rows[*place] = Arc::new(row),
            None => {
                self.places.insert(key.clone(), self.rows.len());
                self.rows.push(Arc::new(row));
            }
        }
        vec![key]
    }

    fn row_mut(&mut self, key: &str) -> Option<&mut Row> {
        let place = *self.places.get(key)?;
        self.rows.get_mut(place).map(Arc::make_mut)
    }
}

fn owned(rows: &[Arc<Row>]) -> Vec<Row> {
    rows.iter().map(|row| Row::clone(row)).collect()
}

/// Marks a panel or line as interrupted when its log says that it works and nobody drives it.
pub fn with_driver(state: RunState, driven: bool) -> RunState {
    if state == RunState::Running && !driven {
        RunState::Interrupted
    } else {
        state
    }
}
