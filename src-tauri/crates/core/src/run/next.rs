//! What a run owes next. Pure: the same state and time give the same answer.

use longrein_protocol::block::ModelErrorClass;
use longrein_protocol::event::{
    ActionUncertain, ApprovalRequested, BudgetExceeded, HandoffReason, LoopDetected,
    ModelAbandoned, NoticeGiven, Payload, RunHandedOff,
};
use longrein_protocol::tool::{Effect, Repeat};
use longrein_protocol::{ActionId, BlobHash, Body, Millis};

use super::{Action, ActionStage, LOOP_LIMIT, PendingCall, Phase, Request, Run};
use crate::compact;

/// What is owed.
#[derive(Clone, PartialEq, Debug)]
pub enum Next {
    /// Facts that follow from the log alone.
    Append(Vec<Payload>),
    /// The tools have to be listed.
    Reveal,
    /// A request has to be put together and sent.
    Request {
        /// Counted from 1 within the step; above 1 the same bytes are sent again.
        attempt: u32,
    },
    /// The first of these calls has to become an action, or be rejected.
    Propose(PendingCall),
    /// The gate has to decide an action.
    Decide(ActionId),
    /// These actions may start now, side by side.
    Start(Vec<ActionId>),
    /// The criteria have to be checked.
    Verify {
        /// Counted from 1 within the turn.
        attempt: u32,
    },
    /// Nothing is owed until something happens.
    Wait(WaitsFor),
    /// The run has stopped: it is paused, handed off, cancelled or at its end.
    Stopped,
}

/// What a run waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitsFor {
    /// The first input.
    Input,
    /// The response of a model.
    Model,
    /// The time of the next attempt.
    Retry(Millis),
    /// Actions that run.
    Actions,
    /// A person's answer.
    Person,
}

impl Run {
    /// What is owed at `now`.
    pub fn next(&self, now: Millis) -> Next {
        match self.phase {
            Phase::Created => return Next::Wait(WaitsFor::Input),
            Phase::Going => {}
            Phase::Paused | Phase::HandedOff { .. } | Phase::Finished(_) | Phase::Cancelled => {
                return Next::Stopped;
            }
        }
        if let Some(limit) = &self.exceeded {
            return hand_off(
                HandoffReason::Budget,
                format!("The limit {limit} is reached."),
                "Raise the limit in the agent file and start a new run, or say how to go on.",
            );
        }
        if let Some(call) = self.pending.front() {
            return Next::Propose(call.clone());
        }
        if !self.actions.is_empty() {
            return self.next_of_actions();
        }
        if self.claim {
            return self.next_of_claim();
        }
        if let Some(stop) = self.bad_reply {
            return self.next_of_bad_reply(stop);
        }
        if let Some((tool, times)) = &self.loop_owed {
            return loop_step(tool, *times);
        }
        self.next_of_request(now)
    }

    fn next_of_request(&self, now: Millis) -> Next {
        match &self.request {
            Request::None | Request::Compiled if self.tools_owed => Next::Reveal,
            Request::None | Request::Compiled => self.new_request(),
            Request::InFlight { .. } => Next::Wait(WaitsFor::Model),
            Request::Lost => Next::Append(vec![ModelAbandoned {}.into()]),
            Request::Failed {
                attempt,
                retry_at: Some(at),
                ..
            } if now >= *at => Next::Request {
                attempt: attempt + 1,
            },
            Request::Failed {
                retry_at: Some(at), ..
            } => Next::Wait(WaitsFor::Retry(*at)),
            Request::Failed {
                class: ModelErrorClass::ContextTooLong,
                ..
            } => match compact::harder(self) {
                Some(compacted) => Next::Append(vec![compacted.into()]),
                None => context_full(),
            },
            Request::Failed {
                class,
                message,
                remedy,
                ..
            } => {
                let reason = if class.is_transient() {
                    HandoffReason::ProviderDown
                } else {
                    HandoffReason::ProviderRefused
                };
                hand_off(reason, message.clone(), remedy)
            }
        }
    }

    fn new_request(&self) -> Next {
        if let Some(exceeded) = self.budget_reached() {
            return Next::Append(vec![exceeded.into()]);
        }
        if compact::is_due(self) {
            return match compact::down_to_half(self) {
                Some(compacted) => Next::Append(vec![compacted.into()]),
                None => context_full(),
            };
        }
        Next::Request { attempt: 1 }
    }

    /// The limit that the next request would pass, if any: judged by the size of the last request
    /// before the next is put together, and by its own size after.
    pub fn budget_reached(&self) -> Option<BudgetExceeded> {
        let agent = self.agent()?;
        let budget = &agent.budget;
        let input = self.estimate_at_most(self.body_bytes as usize);
        let minutes = self.used.working_ms / 60_000;
        let limits = [
            ("steps", self.used.steps + 1, Some(budget.steps)),
            (
                "tokens_in",
                self.used.tokens_in.saturating_add(input),
                budget.tokens_in,
            ),
            (
                "tokens_out",
                self.used.tokens_out.saturating_add(1),
                budget.tokens_out,
            ),
            ("working_minutes", minutes + 1, budget.working_minutes),
        ];
        let (limit, used, of) = limits
            .into_iter()
            .find_map(|(limit, used, of)| Some((limit, used, of.filter(|of| used > *of)?)))?;
        Some(BudgetExceeded {
            limit: limit.to_owned(),
            used,
            of,
        })
    }

    /// The most tokens that the next response may have; 0 when nothing is left.
    pub fn output_limit(&self) -> u32 {
        let Some(agent) = self.agent() else { return 0 };
        let left = agent
            .budget
            .tokens_out
            .map_or(u32::MAX, |limit| limit.saturating_sub(self.used.tokens_out));
        agent.model.max_output_tokens.min(left)
    }

    fn next_of_actions(&self) -> Next {
        for action in &self.actions {
            match action.stage {
                ActionStage::Proposed => return Next::Decide(action.id.clone()),
                ActionStage::ToAsk => return ask(action, self),
                ActionStage::Lost if !may_repeat(action) => {
                    let why =
                        "The process ended while this action ran, and it can't be repeated safely.";
                    let uncertain = ActionUncertain {
                        action: action.id.clone(),
                        why: why.to_owned(),
                    };
                    return Next::Append(vec![uncertain.into()]);
                }
                _ => {}
            }
        }
        let startable = self.startable();
        if !startable.is_empty() {
            return Next::Start(startable);
        }
        let any = |stage| self.actions.iter().any(|action| action.stage == stage);
        if any(ActionStage::Started) {
            return Next::Wait(WaitsFor::Actions);
        }
        if let Some(action) = self
            .actions
            .iter()
            .find(|action| action.stage == ActionStage::Uncertain)
        {
            return hand_off(
                HandoffReason::Uncertain,
                format!(
                    "{} may or may not have happened. {}",
                    action.tool, action.why
                ),
                &format!(
                    "Find out, then: longrein settle {} happened|not-happened|retry",
                    action.id
                ),
            );
        }
        if any(ActionStage::Asked) {
            return Next::Wait(WaitsFor::Person);
        }
        match self.open_finish() {
            Some(finish) => self.next_of_finish(finish),
            None => Next::Wait(WaitsFor::Actions),
        }
    }

    /// Actions that may start: the first that is not closed, and readers that stand side by side
    /// with it. `finish` comes after everything else.
    fn startable(&self) -> Vec<ActionId> {
        let mut startable = Vec::new();
        let mut only_readers_before = true;
        let mut any_before = false;
        for action in self
            .actions
            .iter()
            .filter(|action| action.stage != ActionStage::Closed)
        {
            if action.tool == FINISH {
                continue;
            }
            let reads = action.effect == Effect::Read;
            let may_run = !any_before || (only_readers_before && reads);
            let ready = action.stage == ActionStage::Allowed || action.stage == ActionStage::Lost;
            if may_run && ready {
                startable.push(action.id.clone());
            }
            any_before = true;
            only_readers_before &= reads;
        }
        startable
    }
}

/// The tool that claims completion.
pub const FINISH: &str = "finish";

fn may_repeat(action: &Action) -> bool {
    action.effect == Effect::Read || action.repeat == Repeat::Repeatable
}

fn ask(action: &Action, run: &Run) -> Next {
    let requested = ApprovalRequested {
        action: action.id.clone(),
        why: action.why.clone(),
        shown: shown_hash(action, run),
    };
    Next::Append(vec![requested.into()])
}

/// The hash of what a person is shown of an action: the tool's definition and the arguments.
pub fn shown_hash(action: &Action, run: &Run) -> BlobHash {
    let definition = run
        .tool(&action.tool)
        .map(|tool| tool.definition_hash().0)
        .unwrap_or_default();
    let mut shown = definition.to_vec();
    shown.extend_from_slice(&action.arguments.hash().0);
    BlobHash::of(&shown)
}

fn loop_step(tool: &str, times: u32) -> Next {
    let detected = LoopDetected {
        tool: tool.to_owned(),
        times,
    }
    .into();
    if times >= LOOP_LIMIT {
        let message = format!("{tool} gave the same result {times} times in a row.");
        let off = handed_off(HandoffReason::Loop, message, "Say what to do differently.");
        return Next::Append(vec![detected, off]);
    }
    let text = format!("{tool} has now given the same result {times} times. Do something else.");
    Next::Append(vec![detected, NoticeGiven { text: inline(text) }.into()])
}

/// Text of the harness's own, bounded so that it never needs a blob.
pub(super) fn inline(mut text: String) -> Body {
    if text.len() > longrein_protocol::body::INLINE_LIMIT_BYTES {
        text.truncate(
            text.floor_char_boundary(longrein_protocol::body::INLINE_LIMIT_BYTES - "…".len()),
        );
        text.push('…');
    }
    Body::Text(text)
}

fn context_full() -> Next {
    hand_off(
        HandoffReason::ContextFull,
        "The request no longer fits the model's window, even after older parts were taken out."
            .to_owned(),
        "Use a model with a larger window, or start a new run with a smaller task.",
    )
}

pub(super) fn hand_off(reason: HandoffReason, message: String, remedy: &str) -> Next {
    Next::Append(vec![handed_off(reason, message, remedy)])
}

pub(super) fn handed_off(reason: HandoffReason, message: String, remedy: &str) -> Payload {
    RunHandedOff {
        reason,
        message,
        remedy: remedy.to_owned(),
    }
    .into()
}
