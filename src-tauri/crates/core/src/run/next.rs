//! What a run owes next. Pure: the same state and time give the same answer.

use std::collections::HashMap;

use longrein_protocol::block::ModelErrorClass;
use longrein_protocol::event::{HandoffReason, Limit, ModelAbandoned, Payload, QuestionWithdrawn};
use longrein_protocol::gate::Actor;
use longrein_protocol::tool::Effect;
use longrein_protocol::{ActionId, Body, Media, Millis};

use super::{Action, ActionStage, Pause, PendingCall, Phase, Request, Run, StartWay, TooLong};
use crate::compact::{self, Owed};

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
    /// The model has to be shown what these results are made of, in their place: they are too long.
    Offload(Vec<TooLong>),
    /// The items before this one have to be summarised, before they are taken out.
    Summarise {
        /// Counted over the whole run.
        before: u32,
    },
    /// The first of these calls has to become an action, or be rejected.
    Propose(PendingCall),
    /// The gate has to decide an action.
    Decide(ActionId),
    /// A person has to be asked whether an action may start.
    Ask(ActionId),
    /// A person has to be asked the question that an action is.
    Question(ActionId),
    /// The children that an action asks for have to be begun.
    Spawn(ActionId),
    /// This model has to take over, for this reason.
    Switch {
        /// `provider/model`.
        to: String,
        /// Why, in a sentence.
        why: String,
    },
    /// The model refused these images: of each a smaller copy has to be made, or a note where that
    /// can't be.
    Reduce(Vec<Media>),
    /// These actions may start now, side by side.
    Start(Vec<ActionId>),
    /// The status tool of an action has to be asked what became of it.
    Query(ActionId),
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
    /// The check of the criteria.
    Checks,
    /// The summary of what is to be taken out.
    Summary,
    /// A person's answer.
    Person,
}

impl Run {
    /// What is owed at `now`.
    pub fn next(&self, now: Millis) -> Next {
        match self.phase {
            Phase::Created => return Next::Wait(WaitsFor::Input),
            Phase::Going => {}
            Phase::Cancelled => return Next::Stopped,
            // What a person asks for is done even while the run itself stands still.
            _ if self.person_acts() => return self.next_of_actions(now),
            Phase::Paused | Phase::HandedOff { .. } | Phase::Finished(_) => return Next::Stopped,
        }
        if let Some(limit) = self.exceeded {
            let message = format!("The limit of {} is reached.", limit_in_words(limit));
            return self.hand_off(HandoffReason::Budget, message, raise_remedy(limit));
        }
        if let Some(call) = self.pending.front() {
            return Next::Propose(call.clone());
        }
        if !self.actions.is_empty() {
            return self.next_of_actions(now);
        }
        if let Some(next) = self.next_of_stage() {
            return next;
        }
        if self.claim {
            return self.next_of_claim();
        }
        if let Some(stop) = self.bad_reply {
            return self.next_of_bad_reply(stop);
        }
        if let Some(next) = self.next_of_stopping() {
            return next;
        }
        self.next_of_request(now)
    }

    /// The actions that may go on: while the run itself stands still, only what a person asked for.
    fn acting(&self) -> impl Iterator<Item = &Action> {
        let going = self.phase == Phase::Going;
        let acts = move |action: &&Action| going || action.by == Actor::Person;
        self.actions.iter().filter(acts)
    }

    /// Whether an action that a person asked for is open.
    fn person_acts(&self) -> bool {
        self.actions
            .iter()
            .any(|action| action.by == Actor::Person && action.stage != ActionStage::Closed)
    }

    fn next_of_request(&self, now: Millis) -> Next {
        if self.summaries.before.is_some() {
            return Next::Wait(WaitsFor::Summary);
        }
        match &self.request {
            Request::None | Request::Compiled if self.tools_owed => Next::Reveal,
            Request::None | Request::Compiled => self.new_request(now),
            Request::InFlight { .. } => Next::Wait(WaitsFor::Model),
            Request::Lost => Next::Append(vec![ModelAbandoned {}.into()]),
            Request::Failed {
                attempt,
                failed_at: since,
                retry_at: Some(until),
                ..
            } if is_over(*since, *until, now) => Next::Request {
                attempt: attempt + 1,
            },
            Request::Failed {
                retry_at: Some(at), ..
            } => Next::Wait(WaitsFor::Retry(*at)),
            Request::Failed {
                class: ModelErrorClass::ContextTooLong,
                ..
            } => match self.next_of_room(now) {
                // What was just shown may be what is too long.
                Err(NoRoom) => self
                    .next_of_refused_media()
                    .unwrap_or_else(|| self.context_full()),
                Ok(next) => next.unwrap_or(Next::Request { attempt: 1 }),
            },
            Request::Failed {
                class,
                message,
                remedy,
                ..
            } => {
                let refused = *class == ModelErrorClass::MediaRefused;
                if let Some(next) = self.next_of_refused_media().filter(|_| refused) {
                    return next;
                }
                if let Some(to) = self.fallback(*class) {
                    let why = message.clone();
                    return Next::Switch { to, why };
                }
                let reason = if class.is_transient() {
                    HandoffReason::ProviderDown
                } else {
                    HandoffReason::ProviderRefused
                };
                self.hand_off(reason, message.clone(), remedy)
            }
        }
    }

    fn new_request(&self, now: Millis) -> Next {
        let too_long = self.too_long();
        if !too_long.is_empty() {
            return Next::Offload(too_long);
        }
        if let Some(exceeded) = self.budget_reached() {
            return Next::Append(vec![exceeded.into()]);
        }
        if let Some(warned) = self.budget_warning() {
            return Next::Append(vec![warned.into()]);
        }
        match self.next_of_room(now) {
            Ok(next) => next.unwrap_or(Next::Request { attempt: 1 }),
            Err(NoRoom) => self.context_full(),
        }
    }

    /// What is owed before a request has room; `None` where it has.
    fn next_of_room(&self, now: Millis) -> Result<Option<Next>, NoRoom> {
        Ok(match compact::owed(self) {
            Owed::Nothing => None,
            Owed::Compaction(compacted) => Some(Next::Append(vec![(*compacted).into()])),
            Owed::Summary { before } => match self.summaries.retry {
                Some(pause) if !pause.is_over(now) => {
                    Some(Next::Wait(WaitsFor::Retry(pause.until)))
                }
                _ => Some(Next::Summarise { before }),
            },
            Owed::Full => return Err(NoRoom),
        })
    }

    fn next_of_actions(&self, now: Millis) -> Next {
        let gone = self.next_of_questions();
        if let Some(next) = gone.or_else(|| self.next_of_orphans()) {
            return next;
        }
        for action in self.acting() {
            match action.stage {
                ActionStage::Proposed => {
                    // The limit is for what the model does by itself.
                    let limited = action.by != Actor::Person
                        && action.tool != FINISH
                        && action.tool != ASK_PERSON;
                    return match self.actions_reached().filter(|_| limited) {
                        Some(exceeded) => Next::Append(vec![exceeded.into()]),
                        None => Next::Decide(action.id.clone()),
                    };
                }
                ActionStage::ToAsk => return Next::Ask(action.id.clone()),
                ActionStage::Lost => {
                    if let Some(next) = self.next_of_lost(action, now) {
                        return next;
                    }
                }
                _ => {}
            }
        }
        let startable = self.startable(now);
        if let Some(question) = startable.iter().find(|id| self.is_called(id, ASK_PERSON)) {
            return Next::Question(question.clone());
        }
        let delegation = startable.iter().find(|id| self.is_called(id, DELEGATE));
        if let Some(delegation) = delegation {
            return Next::Spawn(delegation.clone());
        }
        if !startable.is_empty() {
            return Next::Start(startable);
        }
        self.next_of_open_actions()
    }

    /// What a server asked in a call that is gone is no longer asked.
    fn next_of_questions(&self) -> Option<Next> {
        let gone = self
            .acting()
            .filter(|action| action.stage != ActionStage::Started);
        let withdrawn = gone.flat_map(|action| {
            action.questions.iter().map(|open| {
                Payload::from(QuestionWithdrawn {
                    action: action.id.clone(),
                    number: open.question.number,
                    why: "The call in which the server asked was cut short.".to_owned(),
                })
            })
        });
        let withdrawn: Vec<Payload> = withdrawn.collect();
        (!withdrawn.is_empty()).then_some(Next::Append(withdrawn))
    }

    /// What is owed when no action can start: all that are open wait for something.
    fn next_of_open_actions(&self) -> Next {
        let first = |stage| self.acting().find(|action| action.stage == stage);
        let runs = |action: &Action| action.stage == ActionStage::Started && !self.is_held(action);
        if self.acting().any(runs) {
            return Next::Wait(WaitsFor::Actions);
        }
        if let Some(action) = first(ActionStage::Uncertain) {
            if self.phase != Phase::Going {
                return Next::Stopped;
            }
            return self.hand_off(
                HandoffReason::Uncertain,
                format!(
                    "{} may or may not have happened. {}",
                    action.tool, action.why
                ),
                &format!(
                    "Find out, then: longrein settle {} happened|not-happened|retry|stop",
                    action.id
                ),
            );
        }
        if first(ActionStage::Asked).is_some() || first(ActionStage::Questioned).is_some() {
            return Next::Wait(WaitsFor::Person);
        }
        match self.open_finish() {
            Some(finish) => self.next_of_finish(finish),
            None => Next::Wait(WaitsFor::Actions),
        }
    }

    fn is_called(&self, id: &ActionId, tool: &str) -> bool {
        self.action(id).is_some_and(|action| action.tool == tool)
    }

    /// Actions that may start: the first that is not closed, and readers that stand side by side
    /// with it; so too among the calls of each program that is there. `finish` comes after
    /// everything else.
    fn startable(&self, now: Millis) -> Vec<ActionId> {
        let mut startable = Vec::new();
        let mut lanes: HashMap<Option<&ActionId>, Lane> = HashMap::new();
        let mut left = self.actions_left();
        for action in self
            .acting()
            .filter(|action| action.stage != ActionStage::Closed)
        {
            // What a program asked for before it was begun anew waits until it asks again.
            if action.tool == FINISH || self.is_of_before(action) {
                continue;
            }
            let program = action.within.as_ref().map(|within| &within.action);
            let is_lost = |id| {
                let program = self.action(id);
                program.is_some_and(|program| program.stage == ActionStage::Lost)
            };
            let lane = lanes.entry(program).or_default();
            let reads = action.effect == Effect::Read;
            let may_run = !lane.any_before || (!lane.changes_before && reads);
            // What a program asked for goes on when the program is found again.
            let may_run = may_run && !program.is_some_and(is_lost);
            // Nor is one begun anew while what it asked for may still change the files.
            let may_run = may_run && !(action.begins_anew() && self.is_calling(action));
            let ready = match action.stage {
                ActionStage::Allowed => true,
                ActionStage::Lost => self.way(action, now) == StartWay::Again,
                _ => false,
            };
            // What the limit does not cover any more starts alone, so that the gate refuses it.
            let new =
                action.attempt == 0 && action.tool != ASK_PERSON && action.by != Actor::Person;
            let covered = !new || left > 0 || startable.is_empty();
            if may_run && ready && covered {
                startable.push(action.id.clone());
                left = left.saturating_sub(u32::from(new));
            }
            lane.any_before = true;
            lane.changes_before |= !reads;
        }
        startable
    }

    fn context_full(&self) -> Next {
        Next::Append(vec![self.no_room()])
    }

    /// Hands the run off because its next request can't be made to fit.
    pub fn no_room(&self) -> Payload {
        self.handoff(
            HandoffReason::ContextFull,
            "The request no longer fits the model's window, even after older parts were taken out."
                .to_owned(),
            "Use a model with a larger window, or start a new run with a smaller task.",
        )
    }
}

/// Nothing more can be taken out of the conversation, and there is no room.
struct NoRoom;

/// What stands before an action among those that it has to wait for.
#[derive(Default)]
struct Lane {
    any_before: bool,
    /// One of them does more than read.
    changes_before: bool,
}

fn is_over(since: Millis, until: Millis, now: Millis) -> bool {
    Pause { since, until }.is_over(now)
}

/// The tool that claims completion.
pub const FINISH: &str = "finish";
/// The tool that begins children.
pub const DELEGATE: &str = "delegate";
/// The tool by which the model asks the person.
pub const ASK_PERSON: &str = "ask_person";

fn limit_in_words(limit: Limit) -> &'static str {
    match limit {
        Limit::Steps => "steps",
        Limit::TokensIn => "input tokens",
        Limit::TokensOut => "output tokens",
        Limit::WorkingMinutes => "working minutes",
        Limit::Actions => "actions",
        Limit::Money => "money",
    }
}

fn raise_remedy(limit: Limit) -> &'static str {
    match limit {
        Limit::Steps => "Raise it: longrein resume RUN --max-steps N",
        Limit::TokensIn => "Raise it: longrein resume RUN --max-tokens-in N",
        Limit::TokensOut => "Raise it: longrein resume RUN --max-tokens-out N",
        Limit::WorkingMinutes => "Raise it: longrein resume RUN --max-minutes N",
        Limit::Actions => "Raise it: longrein resume RUN --max-actions N",
        Limit::Money => "Raise it: longrein resume RUN --max-cost USD",
    }
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
