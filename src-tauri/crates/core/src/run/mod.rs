//! The state of one run, folded from its events.

mod actions;
mod apply;
mod check;
mod claim;
mod line;
mod next;

use std::collections::VecDeque;

use longrein_protocol::agent::{AgentSpec, Criterion, Decision};
use longrein_protocol::block::{Block, ModelErrorClass, Origin, StopReason, Trust};
use longrein_protocol::event::{Fragment, HandoffReason, Outcome, RunCreated};
use longrein_protocol::source::{CriterionResult, PlanItem, SourceRecord};
use longrein_protocol::tool::{Effect, Repeat};
use longrein_protocol::view::KnotShape;
use longrein_protocol::{ActionId, BlobHash, Body, Millis, RunId, ToolErrorClass, ToolSpec};

pub use check::Illegal;
pub use line::DEMO_PROVIDER;
pub use next::{FINISH, Next, WaitsFor, shown_hash};

/// How often a request is sent before the run is handed off.
pub const REQUEST_ATTEMPTS: u32 = 4;
/// How often nobody at all may answer at the provider's address before the run is handed off.
pub const UNREACHABLE_ATTEMPTS: u32 = 2;
/// How often an empty or cut reply is asked again.
pub const REPLY_ATTEMPTS: u32 = 3;
/// How often the criteria are checked in one turn before the run is handed off.
pub const VERIFICATION_ATTEMPTS: u32 = 3;
/// The same action with the same result this often: the model is told.
pub const LOOP_WARNING: u32 = 3;
/// The same action with the same result this often: the run is handed off.
pub const LOOP_LIMIT: u32 = 5;
/// The most knots of the small rein.
pub const REIN_KNOTS: usize = 24;

/// What a run is doing, as its log says.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Phase {
    /// No turn was opened yet.
    #[default]
    Created,
    /// It works, or waits for what it asked for.
    Going,
    /// A person paused it.
    Paused,
    /// It stopped by rule.
    HandedOff {
        /// The rule.
        reason: HandoffReason,
        /// What happened.
        message: String,
        /// What the person can do.
        remedy: String,
    },
    /// It came to its end.
    Finished(Outcome),
    /// A person ended it.
    Cancelled,
}

/// How far the request of the current step is.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Request {
    /// None is open.
    #[default]
    None,
    /// Put together, not sent.
    Compiled,
    /// Sent.
    InFlight {
        /// Counted from 1.
        attempt: u32,
    },
    /// It was in flight when its process ended.
    Lost,
    /// It failed.
    Failed {
        /// How often it was sent.
        attempt: u32,
        /// What went wrong.
        class: ModelErrorClass,
        /// When it is sent again.
        retry_at: Option<Millis>,
        /// What happened.
        message: String,
        /// What the person can do.
        remedy: String,
    },
}

/// How far an action is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ActionStage {
    /// Not decided.
    Proposed,
    /// The gate says that a person has to be asked.
    ToAsk,
    /// A person is asked.
    Asked,
    /// It may start.
    Allowed,
    /// It runs.
    Started,
    /// It ran when its process ended.
    Lost,
    /// It may or may not have happened.
    Uncertain,
    /// It ended, in whatever way.
    Closed,
}

/// One action of the current step.
#[derive(Clone, PartialEq, Debug)]
pub struct Action {
    /// Its id.
    pub id: ActionId,
    /// The provider's id of the call.
    pub call: String,
    /// The tool's inner name.
    pub tool: String,
    /// The arguments.
    pub arguments: Body,
    /// What it may do.
    pub effect: Effect,
    /// Whether it may be started again.
    pub repeat: Repeat,
    /// How far it is.
    pub stage: ActionStage,
    /// How often it was started.
    pub attempt: u32,
    /// What the gate said.
    pub decision: Option<Decision>,
    /// Why a person has to be asked.
    pub why: String,
    /// What the person was shown.
    pub shown: Option<BlobHash>,
    /// How it ended.
    pub result: Option<ActionResult>,
}

/// How an action ended, as the model is shown it.
#[derive(Clone, PartialEq, Debug)]
pub struct ActionResult {
    /// The text.
    pub body: Body,
    /// The class of the error.
    pub error: Option<ToolErrorClass>,
    /// Where the text comes from.
    pub origin: Origin,
    /// Whether it may be believed.
    pub trust: Trust,
    /// How long it took.
    pub latency_ms: u32,
}

/// One item of the conversation.
#[derive(Clone, PartialEq, Debug)]
pub enum Item {
    /// The person's words.
    Person(Body),
    /// What the model said.
    Assistant(Vec<Block>),
    /// What an action returned.
    Result {
        /// The action.
        action: ActionId,
        /// The provider's id of the call.
        call: String,
        /// The tool's inner name.
        tool: String,
        /// What it returned.
        result: ActionResult,
    },
    /// What the harness told the model.
    Notice(Body),
}

impl Item {
    /// The bytes that it will need in a request, about.
    pub fn bytes(&self) -> usize {
        const ENVELOPE: usize = 60;
        ENVELOPE
            + match self {
                Self::Person(body) | Self::Notice(body) => body.len(),
                Self::Result { result, .. } => result.body.len(),
                Self::Assistant(blocks) => blocks.iter().map(block_bytes).sum(),
            }
    }
}

fn block_bytes(block: &Block) -> usize {
    match block {
        Block::Text { text, .. } | Block::Thinking { text, .. } => text.len(),
        Block::ToolUse {
            name, arguments, ..
        } => name.len() + arguments.len() + 60,
    }
}

/// The conversation since the last compaction.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Conversation {
    /// Items of the whole run are counted from 0; this is the number of the first in `items`.
    pub first: u32,
    /// In order.
    pub items: VecDeque<Item>,
    /// The person's words from before `first`, which are never dropped.
    pub kept: Vec<Body>,
    /// Results before this item are shown as one line.
    pub pruned_before: u32,
    /// Bytes of `items` and `kept`, about.
    pub bytes: usize,
}

impl Conversation {
    /// The number that the next item will have.
    pub fn end(&self) -> u32 {
        self.first + self.items.len() as u32
    }
}

/// A call in a response that is no action yet.
#[derive(Clone, PartialEq, Debug)]
pub struct PendingCall {
    /// The provider's id of the call.
    pub call: String,
    /// The tool's name on the wire.
    pub name: String,
    /// The arguments as the model wrote them.
    pub arguments: Body,
}

/// What has been used.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Used {
    /// Steps.
    pub steps: u32,
    /// Input tokens, settled and in reserve.
    pub tokens_in: u32,
    /// Output tokens, settled and in reserve.
    pub tokens_out: u32,
    /// Actions started.
    pub actions: u32,
    /// Working time.
    pub working_ms: u32,
}

/// A delivered file.
#[derive(Clone, PartialEq, Debug)]
pub struct Artifact {
    /// The path beneath the workspace.
    pub path: String,
    /// Its media type.
    pub media_type: String,
    /// The file as the model wrote it.
    pub original: Body,
}

/// The state of one run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Run {
    /// Its id; `None` before the first event.
    pub id: Option<RunId>,
    /// The last event.
    pub seq: u32,
    /// When the last event was.
    pub last_at: Millis,
    /// When the first event was.
    pub created_at: Millis,
    /// Since when it is in its phase.
    pub since: Millis,
    /// The first event.
    pub created: Option<Box<RunCreated>>,
    /// The first line of the first question.
    pub title: String,
    /// What it is doing.
    pub phase: Phase,
    /// Turns so far.
    pub turns: u32,
    /// The tools, as last revealed.
    pub tools: Vec<ToolSpec>,
    /// Whether the tools were never revealed.
    pub tools_owed: bool,
    /// The request of the current step.
    pub request: Request,
    /// What the request in flight holds in reserve: tokens in, tokens out.
    pub reserved: (u32, u32),
    /// Reservations that count against the budget and were never settled, because the request is
    /// in flight or was lost: what it used is not known.
    pub unsettled: (u32, u32),
    /// Calls of the last response that are no actions yet.
    pub pending: VecDeque<PendingCall>,
    /// The actions of the current step, in the order of the calls.
    pub actions: Vec<Action>,
    /// The conversation.
    pub conversation: Conversation,
    /// Words that came while a step was open; they enter after it.
    pub waiting_items: Vec<Item>,
    /// The fragments of the last request.
    pub fragments: Vec<Fragment>,
    /// Items of the conversation that the last request held.
    pub compiled_items: u32,
    /// Whether the front of the next request differs from that of the last.
    pub front_changed: bool,
    /// Bytes of the last request's body.
    pub body_bytes: u32,
    /// Input tokens over estimated tokens of the last response.
    pub ratio_last: f64,
    /// The largest such ratio so far.
    pub ratio_worst: f64,
    /// The plan.
    pub plan: Vec<PlanItem>,
    /// Sources, in the order of their ids.
    pub sources: Vec<SourceRecord>,
    /// Delivered files.
    pub artifacts: Vec<Artifact>,
    /// Whether untrusted text was read.
    pub tainted: bool,
    /// What has been used.
    pub used: Used,
    /// Whether the last reply asked for no action, which claims that the work is done.
    pub claim: bool,
    /// How often the criteria were checked in this turn.
    pub verifications: u32,
    /// The last results of the criteria.
    pub results: Vec<CriterionResult>,
    /// Whether the last check is to be acted on.
    pub checked: bool,
    /// Empty or cut replies in a row; the last one's reason.
    pub bad_replies: u32,
    /// Why the last reply can't be used, until it was acted on.
    pub bad_reply: Option<StopReason>,
    /// The last action with its result and how often it came in a row.
    pub repeats: Option<(BlobHash, u32)>,
    /// A repetition that the model or the person has to be told of.
    pub loop_owed: Option<(String, u32)>,
    /// A limit that was found to be reached.
    pub exceeded: Option<String>,
    /// How often the run was taken up again by another process.
    pub splices: u32,
    /// The small rein.
    pub rein: VecDeque<KnotShape>,
}

impl Run {
    /// Folds events in order.
    pub fn fold<'a>(events: impl IntoIterator<Item = &'a longrein_protocol::Event>) -> Self {
        let mut run = Self::default();
        for event in events {
            run.apply(event);
        }
        run
    }

    /// The agent.
    pub fn agent(&self) -> Option<&AgentSpec> {
        self.created.as_ref().map(|created| &created.agent)
    }

    /// The criteria of the agent.
    pub fn criteria(&self) -> &[Criterion] {
        self.agent().map_or(&[], |agent| &agent.done_when)
    }

    /// The model's window in tokens.
    pub fn window_tokens(&self) -> u32 {
        self.created
            .as_ref()
            .map_or(0, |created| created.window_tokens)
    }

    /// Input and output tokens that are known to be used.
    pub fn tokens_known(&self) -> (u32, u32) {
        let used = (self.used.tokens_in, self.used.tokens_out);
        (
            used.0.saturating_sub(self.unsettled.0),
            used.1.saturating_sub(self.unsettled.1),
        )
    }

    /// An action of the current step.
    pub fn action(&self, id: &ActionId) -> Option<&Action> {
        self.actions.iter().find(|action| action.id == *id)
    }

    /// The specification of a revealed tool, by its inner name.
    pub fn tool(&self, name: &str) -> Option<&ToolSpec> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// Whether a step is open: a request is on its way, or its actions are not all closed.
    pub fn step_is_open(&self) -> bool {
        let requested = matches!(
            self.request,
            Request::InFlight { .. } | Request::Lost | Request::Failed { .. }
        );
        requested || !self.pending.is_empty() || !self.actions.is_empty()
    }

    /// Whether the person has said something that the model has not been shown.
    pub fn person_waits(&self) -> bool {
        self.waiting_items
            .iter()
            .any(|item| matches!(item, Item::Person(_)))
    }

    /// The latest source id plus one.
    pub fn next_source(&self) -> u32 {
        self.sources.len() as u32 + 1
    }

    /// Estimated tokens of `bytes` of a request, for the meter.
    pub fn estimate(&self, bytes: usize) -> u32 {
        let ratio = if self.ratio_last > 0.0 {
            self.ratio_last
        } else {
            1.0
        };
        (bytes as f64 / 4.0 * ratio).ceil() as u32
    }

    /// Estimated tokens of `bytes` of a request, for a reservation: never too few, as far as
    /// the run's own experience goes.
    pub fn estimate_at_most(&self, bytes: usize) -> u32 {
        (bytes as f64 / 4.0 * self.ratio_worst.max(1.25)).ceil() as u32
    }
}
