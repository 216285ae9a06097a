//! What a screen, `show`, replay and an export draw: rows with keys, folded from the events.
//!
//! Sequence numbers are `u32`. Times are milliseconds, which a `number` of the window holds exactly;
//! the bindings call them `i32`, since a 64-bit integer has no name there and a float may be absent.

mod action;
mod head;

use serde::{Deserialize, Serialize};

use crate::event::Digest;
use crate::source::CriterionResult;

pub use action::*;
pub use head::*;

/// Everything that is shown of one run at one point of its log.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct RunView {
    /// The last event that is folded in.
    pub seq: u32,
    /// The panel: state, plan, budget, files.
    pub head: RunHead,
    /// The conversation, in order; at most the newest `ROWS_IN_A_SNAPSHOT`.
    pub rows: Vec<Row>,
    /// How many rows come before the first of `rows`.
    pub earlier: u32,
}

/// What changed since a sequence number. Rows are inserted at the end or replace the row of the
/// same key; none is ever removed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct ViewChange {
    /// The last event that is folded in.
    pub seq: u32,
    /// The panel, when it changed.
    pub head: Option<RunHead>,
    /// New and changed rows.
    pub rows: Vec<Row>,
}

/// What a subscription of the window receives.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ViewUpdate {
    /// The first message: all there is.
    Snapshot {
        /// The run as it stands.
        view: RunView,
    },
    /// Every later message about committed events.
    Change {
        /// What to insert and update by key.
        change: ViewChange,
    },
    /// Streaming text that is not committed yet; replaced by the next committed row.
    Provisional {
        /// The text of the answer so far.
        text: String,
        /// The reasoning so far.
        thinking: String,
    },
    /// What running actions show of themselves: all of those that show something, each time.
    Acting {
        /// One for each of them.
        actions: Vec<LiveRow>,
    },
    /// The run can't be shown any further.
    Problem {
        /// What happened and what can be done.
        message: String,
    },
}

/// What a running action shows of itself. It is not committed: the action's row says what came of
/// it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct LiveRow {
    /// The key of the action's row.
    pub key: String,
    /// What it is doing, in a few words; may be empty.
    pub doing: String,
    /// The last part of its output; may be empty.
    pub output: String,
}

/// What a run is doing, in the words that the person reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// It works by itself.
    Running,
    /// It waits for a person's answer.
    Waiting,
    /// A person paused it.
    Paused,
    /// It stopped by rule and waits for a person, with its state saved.
    HandedOff,
    /// Finished, every criterion holds.
    Accepted,
    /// Finished without criteria.
    Unverified,
    /// Ended for good without a result.
    Failed,
    /// A person cancelled it.
    Cancelled,
    /// It was going when its process ended, and nobody drives it now.
    Interrupted,
    /// The log has an event or a row that this version can't continue from.
    Unreadable,
}

/// One row of the conversation; the same rows carry the knots of the rein.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Row {
    /// Stable, unique within the run.
    pub key: String,
    /// The event that made it.
    pub seq: u32,
    /// When that was (milliseconds since the epoch).
    #[cfg_attr(feature = "bindings", specta(type = i32))]
    pub at: i64,
    /// The step it belongs to; 0 before the first.
    pub step: u32,
    /// What it shows.
    pub content: RowContent,
    /// Its knot on the rein, when it has one.
    pub knot: Option<Knot>,
}

/// What one row shows.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RowContent {
    /// The person's words.
    Question {
        /// Markdown.
        text: String,
    },
    /// The model's words.
    Answer {
        /// Markdown.
        text: String,
        /// The reasoning that the provider showed; may be empty.
        thinking: String,
    },
    /// One action, with its whole life.
    Action(Box<ActionRow>),
    /// Words of the harness to the model: a difference, a loop, a cut reply.
    Notice {
        /// Plain text.
        text: String,
    },
    /// A check of the criteria.
    Verification {
        /// Each criterion.
        results: Vec<CriterionResult>,
        /// Whether all hold.
        accepted: bool,
    },
    /// A person has to accept the result, or did, or did not.
    Acceptance {
        /// What they are asked.
        text: String,
        /// How far it is.
        state: AcceptanceState,
        /// What they said; `None` until they did.
        said: Option<SaidLine>,
    },
    /// The rules beside those of the agent's file changed.
    Rules {
        /// Who changed them, in a sentence.
        text: String,
        /// Rules that are in force from here on.
        added: Vec<RuleLine>,
        /// Rules that no longer are.
        removed: Vec<RuleLine>,
    },
    /// A hard limit comes near, or a person set limits anew.
    Budget {
        /// In words, with the numbers.
        text: String,
        /// Whether a person set it anew.
        raised: bool,
    },
    /// A request beside the steps: a judge was asked.
    Side {
        /// What it is for: `A judge is asked`.
        text: String,
        /// `provider/model`.
        model: String,
        /// How far it is.
        state: SideState,
        /// What the model said, or why it did not; cut after 8 KB.
        answer: String,
        /// From sending to the last byte; `None` until then.
        latency_ms: Option<u32>,
    },
    /// The process ended in the middle and the run was taken up again.
    Splice {
        /// Why and what it meant: `the app was killed; nothing was repeated`.
        text: String,
    },
    /// The run's files are not what they were.
    Files {
        /// In words: `3 files changed: index.html, data.csv and 1 more`.
        text: String,
        /// What could not be recorded, and why; empty where all could.
        left_out: String,
    },
    /// Older parts left the request.
    Compacted {
        /// In words, with sizes.
        text: String,
        /// What was left out, what a model says of it, and what is kept, each under a heading.
        details: Vec<Listed>,
    },
    /// A model request that failed.
    ModelTrouble {
        /// What happened.
        text: String,
        /// Whether the harness tries again by itself.
        retrying: bool,
    },
    /// The run stopped: handed off, paused, cancelled or finished.
    Stop {
        /// The state it stopped in.
        state: RunState,
        /// Why.
        text: String,
        /// What the person can do.
        remedy: String,
        /// Where the work stands, for a handoff.
        digest: Option<Digest>,
    },
}

/// Lines under a heading.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Listed {
    /// The heading, without a colon.
    pub title: String,
    /// One line each, as many as are worth showing.
    pub lines: Vec<String>,
}

/// How far the question whether a result is accepted is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum AcceptanceState {
    /// It waits for a person.
    Asked,
    /// A person accepts.
    Accepted,
    /// A person sends it back.
    Refused,
    /// The run went on or ended without an answer.
    Withdrawn,
}

/// How far a request beside the steps is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum SideState {
    /// It is on its way.
    Asked,
    /// The answer came.
    Answered,
    /// No answer came.
    Failed,
}

/// The shape of a knot.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum KnotShape {
    /// A filled disc: a person's words.
    Person,
    /// A ring: a step or an action.
    Ring,
    /// A square: the context was compacted.
    Square,
    /// Two strokes across the line: a crash, spliced.
    Splice,
    /// A break in the line: it waits for a person.
    Break,
    /// A disc with a tick: accepted.
    End,
    /// A disc with a cross: failed, cancelled or handed off.
    Stop,
}

/// How a knot is coloured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum KnotTone {
    /// As the line.
    Plain,
    /// It runs now.
    Running,
    /// A person has to act.
    Waiting,
    /// It went well.
    Good,
    /// It went wrong.
    Bad,
}

/// A knot on the rein.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Knot {
    /// Its form.
    pub shape: KnotShape,
    /// Its colour.
    pub tone: KnotTone,
    /// In a few words.
    pub label: String,
    /// Smaller, below.
    pub detail: String,
}

/// A run in the list.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct RunLine {
    /// The run.
    pub run: String,
    /// The run that this one is a child of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The first run of the tree, for a child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// The first line of the question.
    pub title: String,
    /// The agent's name.
    pub agent: String,
    /// The model.
    pub model: String,
    /// Whether the model is the demonstration stand-in.
    pub demo: bool,
    /// What it is doing.
    pub state: RunState,
    /// What it waits for or why it stopped.
    pub reason: String,
    /// Since when.
    #[cfg_attr(feature = "bindings", specta(type = i32))]
    pub since: i64,
    /// When it was created.
    #[cfg_attr(feature = "bindings", specta(type = i32))]
    pub created_at: i64,
    /// When its last event was.
    #[cfg_attr(feature = "bindings", specta(type = i32))]
    pub updated_at: i64,
    /// Steps.
    pub steps: u32,
    /// Input tokens.
    pub tokens_in: u32,
    /// Output tokens.
    pub tokens_out: u32,
    /// Working time.
    pub working_ms: u32,
    /// What it cost so far, in millionths of a dollar, at most what this number holds; `None` when
    /// the price is not known.
    #[serde(default)]
    pub cost_micro: Option<u32>,
    /// Whether some of that is our own estimate by the price: the provider does not say what it
    /// charges.
    #[serde(default)]
    pub cost_estimated: bool,
    /// The last event.
    pub seq: u32,
    /// The knots of the small rein, oldest first, at most 24.
    pub rein: Vec<KnotShape>,
}

/// The most rows that a snapshot carries; earlier ones are paged.
pub const ROWS_IN_A_SNAPSHOT: usize = 2_000;
