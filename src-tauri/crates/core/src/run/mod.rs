//! The state of one run, folded from its events.

mod actions;
mod apply;
mod budget;
mod check;
mod children;
mod claim;
mod compacted;
mod digest;
mod files;
mod fork;
mod jobs;
mod line;
mod media;
mod next;
mod offload;
mod parts;
mod programs;
mod receipts;
mod recovery;
mod saved;
mod skills;
mod stages;
mod stopping;
mod summaries;
mod switch;

use std::collections::{BTreeMap, VecDeque};

use longrein_protocol::agent::AgentSpec;
use longrein_protocol::block::StopReason;
use longrein_protocol::event::{Fragment, Limit, Limits, Price, RunCreated, Summary};
use longrein_protocol::gate::StandingRule;
use longrein_protocol::source::{CriterionResult, Note, PlanItem, SourceRecord};
use longrein_protocol::tool::IndexLine;
use longrein_protocol::view::KnotShape;
use longrein_protocol::{ActionId, BlobHash, Media, Millis, RunId, ToolSpec};

pub use check::Illegal;
pub use children::{BadDelegation, Child, FINDING, NewChild, OfSaved, TASKS};
pub use files::{Files, SNAPSHOT_PARTS};
pub use fork::copied;
pub use line::DEMO_PROVIDER;
pub use next::{ASK_PERSON, DELEGATE, FINISH, Next, WaitsFor};
pub use offload::{KeptResult, TooLong};
pub use parts::*;
pub(crate) use receipts::one_line;
pub use receipts::{NOTES_LIMIT, RECEIPTS_LIMIT, Receipt, Receipts};
pub use recovery::{LOST_ATTEMPTS, QUERY_ATTEMPTS, REATTACH_ATTEMPTS, REPLAYS, StartWay};
pub use skills::LoadedSkill;
pub use stages::{STAGE_CALL, Sharing};
pub use stopping::{DENIALS_LIMIT, LOOP_CYCLE, LOOP_CYCLE_TIMES, LOOP_LIMIT, LOOP_WARNING};
pub use summaries::{SUMMARY_ATTEMPTS, Summaries};

/// How often a request fails before the run is handed off.
pub const REQUEST_ATTEMPTS: u32 = 8;
/// How often nobody at all may answer at the provider's address before the run is handed off.
pub const UNREACHABLE_ATTEMPTS: u32 = 2;
/// How often an empty or cut reply is asked again.
pub const REPLY_ATTEMPTS: u32 = 3;
/// How often the criteria are checked in one turn before the run is handed off.
pub const VERIFICATION_ATTEMPTS: u32 = 3;
/// The most knots of the small rein.
pub const REIN_KNOTS: usize = 24;

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
    /// The tools that stand in requests, as last revealed.
    pub tools: Vec<ToolSpec>,
    /// What is there besides, as last revealed. The front of a request keeps the lines that it
    /// began with until it is made anew.
    pub index: Vec<IndexLine>,
    /// What the person was told of the tools.
    pub notes: Vec<String>,
    /// Tools that don't stand in requests and that the model has asked for.
    pub found: Vec<ToolSpec>,
    /// Whether the tools were never revealed.
    pub tools_owed: bool,
    /// The request of the current step.
    pub request: Request,
    /// What became of the request's attempts so far.
    pub patience: Patience,
    /// What the request in flight holds in reserve.
    pub reserved: Reserve,
    /// The output limit that the last request carries.
    pub output_reserved: u32,
    /// What the side request in flight holds in reserve.
    pub side: Option<Reserve>,
    /// What its model's tokens cost, where that is another model than the run's.
    pub side_price: Option<Price>,
    /// The summaries that were asked for since the model last answered.
    pub summaries: Summaries,
    /// What stands in the place of what was left out of the conversation.
    pub summary: Option<Box<Summary>>,
    /// What changed something, newest last.
    pub receipts: Receipts,
    /// Reservations that count against the budget and were never settled, because the request is
    /// in flight or was lost: what it used is not known.
    pub unsettled: Reserve,
    /// Whether some of what it cost is an estimate by the price.
    pub cost_estimated: bool,
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
    /// What they weigh: media by what a model counts for it, and not by its base64.
    pub body_weight: u32,
    /// Media that the model refused, with the copy that is sent in its place; `None`: a note.
    pub reduced: BTreeMap<BlobHash, Option<Media>>,
    /// Items before this one were in a request that the model has answered.
    pub accepted_items: u32,
    /// Input tokens over estimated tokens of the last response.
    pub ratio_last: f64,
    /// The largest such ratio so far.
    pub ratio_worst: f64,
    /// The stage that it is in, from 1; 0 before the first, and for an agent without stages.
    pub stage_number: u32,
    /// How far the helpers of that stage are.
    pub helpers: Sharing,
    /// The plan.
    pub plan: Vec<PlanItem>,
    /// What the model keeps in its view, oldest first.
    pub pins: Vec<Note>,
    /// How many notes there ever were.
    pub pins_made: u32,
    /// Sources, in the order of their ids.
    pub sources: Vec<SourceRecord>,
    /// Results of more than a few lines, which can be read on in, in their order.
    pub results_kept: Vec<KeptResult>,
    /// The skills that the model was given, the last one last.
    pub skills: Vec<LoadedSkill>,
    /// Commands that run, or ran, beside the steps, in the order of their names.
    pub jobs: Vec<Job>,
    /// Delivered files.
    pub artifacts: Vec<Artifact>,
    /// What the workspace held, as it was last recorded.
    pub files: Option<Files>,
    /// The event since which files may be others than those: something began or ended that may
    /// have changed them.
    pub files_touched: Option<u32>,
    /// Whether untrusted text was read.
    pub tainted: bool,
    /// Whether something of the person's own (library, attachment) was read.
    pub private_read: bool,
    /// The rules that stand beside those of the agent.
    pub rules: Vec<StandingRule>,
    /// Whether any action was decided: from then on rules on disk only narrow.
    pub decided: bool,
    /// The hash of the rules on disk that were last taken in.
    pub policy_hash: Option<BlobHash>,
    /// The hard limits: the agent's, as far as the person did not set them anew.
    pub limits: Limits,
    /// Limits of which the person was warned.
    pub warned: Vec<Limit>,
    /// What has been used, by children that ended too.
    pub used: Used,
    /// Its children, in the order in which they were begun.
    pub children: Vec<Child>,
    /// Steps and actions that are granted to children that have not ended.
    pub granted: (u32, u32),
    /// Whether the last reply asked for no action, which claims that the work is done.
    pub claim: bool,
    /// How often the criteria were checked in this turn.
    pub verifications: u32,
    /// The last results of the criteria.
    pub results: Vec<CriterionResult>,
    /// Whether the last check is to be acted on.
    pub checked: bool,
    /// Whether the criteria are being checked.
    pub checking: bool,
    /// Whether a person is asked to accept.
    pub acceptance: Acceptance,
    /// Empty or cut replies in a row; the last one's reason.
    pub bad_replies: u32,
    /// Why the last reply can't be used, until it was acted on.
    pub bad_reply: Option<StopReason>,
    /// The last actions with their results, oldest first: what makes each the same as another, and
    /// its tool.
    pub recent: VecDeque<(BlobHash, String)>,
    /// A repetition that the model or the person has to be told of.
    pub loop_owed: Option<LoopOwed>,
    /// Denials by policy in a row.
    pub denials: u32,
    /// Steps in a row that changed nothing.
    pub idle: u32,
    /// The value of `idle` at which the model was last told something.
    pub idle_told: u32,
    /// Whether the step has changed something.
    pub progressed: bool,
    /// A limit that was found to be reached.
    pub exceeded: Option<Limit>,
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

    /// The model's window in tokens.
    pub fn window_tokens(&self) -> u32 {
        self.created
            .as_ref()
            .map_or(0, |created| created.window_tokens)
    }

    /// An action of the current step.
    pub fn action(&self, id: &ActionId) -> Option<&Action> {
        self.actions.iter().find(|action| action.id == *id)
    }

    /// The specification of a tool that was revealed or found, by its inner name.
    pub fn tool(&self, name: &str) -> Option<&ToolSpec> {
        let mut known = self.tools.iter().chain(&self.found);
        known.find(|tool| tool.name == name)
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

    /// Whether a process that takes the run up has to say so: the run was going, or something that
    /// the person asked for beside it.
    pub fn is_underway(&self) -> bool {
        let started = |action: &Action| action.stage == ActionStage::Started;
        self.phase == Phase::Going || self.actions.iter().any(started)
    }

    /// The latest source id plus one.
    pub fn next_source(&self) -> u32 {
        self.sources.len() as u32 + 1
    }
}
