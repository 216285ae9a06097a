//! Folding the life of an action. When the last action of a step is closed, the step enters the
//! conversation.

use longrein_protocol::agent::Decision;
use longrein_protocol::block::{Origin, Trust};
use longrein_protocol::event::{
    ActionDecided, ActionFinished, ActionLost, ActionProposed, ActionQueried, ActionReconciled,
    ActionRejected, ActionStarted, ActionUncertain, ApprovalRequested, ApprovalResolved,
    QuestionAnswered, QuestionAsked, QuestionRefused, StatusAnswer, Verdict,
};
use longrein_protocol::gate::Actor;
use longrein_protocol::tool::{Effect, Repeat};
use longrein_protocol::view::KnotShape;
use longrein_protocol::{ActionId, Body, Millis, ToolErrorClass};

use super::next::{FINISH, inline};
use super::{Action, ActionResult, ActionStage, Item, OpenQuestion, Pause, Run, Sharing};

impl Run {
    pub(super) fn proposed(&mut self, proposed: &ActionProposed) {
        match proposed.by {
            Actor::Model => drop(self.pending.pop_front()),
            Actor::Harness => self.helpers = Sharing::Working,
            Actor::Person | Actor::Program => {}
        }
        self.actions.push(Action {
            effect: proposed.effect,
            repeat: proposed.repeat,
            by: proposed.by,
            undoes: proposed.undoes.clone(),
            within: proposed.within.clone(),
            called: proposed.within.as_ref().map(|_| proposed.arguments.hash()),
            ..Action::new(
                &proposed.action,
                &proposed.call,
                &proposed.tool,
                &proposed.arguments,
            )
        });
    }

    pub(super) fn rejected(&mut self, rejected: &ActionRejected) {
        let by = match rejected.within {
            Some(_) => Actor::Program,
            None if self.owes_helpers(&rejected.call) => Actor::Harness,
            None => Actor::Model,
        };
        if by == Actor::Model {
            self.pending.pop_front();
        }
        self.actions.push(Action {
            by,
            within: rejected.within.clone(),
            called: rejected.within.as_ref().map(|_| rejected.arguments.hash()),
            ..Action::new(
                &rejected.action,
                &rejected.call,
                &rejected.tool,
                &rejected.arguments,
            )
        });
        let result = harness_result(rejected.error.clone(), rejected.class);
        self.close(&rejected.action, result);
    }

    pub(super) fn decided(&mut self, decided: &ActionDecided) {
        self.decided = true;
        if decided.decision == Decision::Deny {
            let by_program = |action: &Action| action.by == Actor::Program;
            self.denials += u32::from(!self.action(&decided.action).is_some_and(by_program));
            let text = format!("Not permitted: {}", decided.why);
            self.close(
                &decided.action,
                harness_result(text, ToolErrorClass::NotPermitted),
            );
            return;
        }
        self.with_action(&decided.action, |action| {
            action.decision = Some(decided.decision);
            action.why.clone_from(&decided.why);
            action.facts.clone_from(&decided.facts);
            action.stage = match decided.decision {
                Decision::Ask => ActionStage::ToAsk,
                Decision::Allow | Decision::Deny => ActionStage::Allowed,
            };
        });
    }

    pub(super) fn asked(&mut self, at: Millis, requested: &ApprovalRequested) {
        self.with_action(&requested.action, |action| {
            action.stage = ActionStage::Asked;
            action.shown = Some(requested.shown);
        });
        self.since = at;
        self.knot(KnotShape::Break);
    }

    /// An approval lets the gate decide once more: it has to hold for what is true by then.
    pub(super) fn answered(&mut self, resolved: &ApprovalResolved) {
        if resolved.approved {
            self.with_action(&resolved.action, |action| {
                action.stage = ActionStage::Proposed;
                action.approved = resolved.binding.or(action.shown);
                if let Some(edited) = &resolved.arguments {
                    action.arguments.clone_from(edited);
                }
            });
            self.denials = 0;
            return;
        }
        let text = format!(
            "The person refused this action. Their reason: {}",
            resolved.note
        );
        let result = harness_result(text, ToolErrorClass::NotPermitted);
        self.close(&resolved.action, result);
    }

    pub(super) fn questioned(&mut self, at: Millis, asked: &QuestionAsked) {
        self.with_action(&asked.action, |action| match &asked.by {
            None => action.stage = ActionStage::Questioned,
            Some(question) => {
                action.asked += 1;
                action.questions.push(OpenQuestion {
                    question: question.as_ref().clone(),
                    since: at,
                });
            }
        });
        self.since = at;
        self.knot(KnotShape::Break);
    }

    pub(super) fn question_answered(&mut self, answered: &QuestionAnswered) {
        if answered.number > 0 {
            self.no_longer_asked(&answered.action, answered.number);
            return;
        }
        self.progressed = true;
        let result = ActionResult {
            body: answered.answer.clone(),
            whole: None,
            file: None,
            media: Vec::new(),
            error: None,
            origin: Origin::Person,
            trust: Trust::Trusted,
            latency_ms: 0,
        };
        self.close(&answered.action, result);
    }

    pub(super) fn no_longer_asked(&mut self, id: &ActionId, number: u32) {
        self.with_action(id, |action| {
            action
                .questions
                .retain(|open| open.question.number != number);
        });
    }

    pub(super) fn question_refused(&mut self, refused: &QuestionRefused) {
        self.with_action(&refused.action, |action| action.asked += 1);
    }

    pub(super) fn started(&mut self, at: Millis, started: &ActionStarted) {
        let reads = |action: &Action| action.effect == Effect::Read;
        if self
            .action(&started.action)
            .is_some_and(|action| !reads(action))
        {
            self.files_touched = Some(self.seq);
        }
        self.used.actions += u32::from(started.attempt == 1);
        self.denials = 0;
        let files = self.files.clone().unwrap_or_default();
        self.with_action(&started.action, |action| {
            action.stage = ActionStage::Started;
            action.attempt = started.attempt;
            if started.attempt == 1 {
                action.started_at = at;
            }
            if started.attempt == 1 && action.repeat == Repeat::Replay {
                action.files = Some(Box::new(files));
            }
        });
        self.knot(KnotShape::Ring);
    }

    pub(super) fn lost(&mut self, lost: &ActionLost) {
        self.with_action(&lost.action, |action| {
            action.stage = ActionStage::Lost;
            action.why.clone_from(&lost.why);
        });
        if lost.gone {
            self.begin_anew(&lost.action);
        }
    }

    pub(super) fn queried(&mut self, at: Millis, queried: &ActionQueried) {
        if queried.trust == Trust::Untrusted {
            self.tainted = true;
        }
        self.with_action(&queried.action, |action| match queried.answer {
            // Its `action.reconciled` follows in the same commit.
            StatusAnswer::Done => {}
            StatusAnswer::NotDone => {
                action.stage = ActionStage::Allowed;
                action.queries = 0;
                action.query_at = None;
            }
            StatusAnswer::Unknown => {
                action.queries = queried.attempt;
                action.query_at = queried.again_at.map(|until| Pause { since: at, until });
            }
        });
    }

    pub(super) fn uncertain(&mut self, uncertain: &ActionUncertain) {
        self.with_action(&uncertain.action, |action| {
            action.stage = ActionStage::Uncertain;
            action.why.clone_from(&uncertain.why);
        });
    }

    pub(super) fn finished(&mut self, finished: &ActionFinished) {
        if finished.trust == Trust::Untrusted {
            self.tainted = true;
        }
        if let Some(action) = self.action(&finished.action) {
            let well = finished.error.is_none();
            let (changes, tool) = (action.effect != Effect::Read, action.tool.clone());
            self.progressed |= well && changes;
            self.private_read |= self.tool(&tool).is_some_and(|tool| tool.reach.private);
        }
        let result = ActionResult {
            body: finished.shown.as_ref().unwrap_or(&finished.result).clone(),
            whole: finished.shown.is_some().then(|| finished.result.clone()),
            file: finished.file.clone(),
            media: finished.media.clone(),
            error: finished.error,
            origin: finished.origin.clone(),
            trust: finished.trust,
            latency_ms: finished.latency_ms,
        };
        self.skill_shown(&finished.action, &result.body);
        self.keep_receipt(finished);
        if self
            .action(&finished.action)
            .is_some_and(|action| action.tool == FINISH)
        {
            self.checked = false;
        }
        self.close(&finished.action, result);
    }

    pub(super) fn reconciled(&mut self, reconciled: &ActionReconciled) {
        let who = match reconciled.by {
            Some(_) => "The person says",
            None => "Its status tool says",
        };
        let (text, error) = match reconciled.verdict {
            Verdict::Happened => {
                self.keep_word_of(&reconciled.action);
                let text = format!("{who} that this action happened. Its result is not known.");
                (text, None)
            }
            Verdict::NotHappened => (
                format!("{who} that this action did not happen."),
                Some(ToolErrorClass::Failed),
            ),
            Verdict::Retry => {
                let mut again = false;
                self.with_action(&reconciled.action, |action| {
                    action.stage = ActionStage::Allowed;
                    action.reached = false;
                    again = matches!(action.repeat, Repeat::Reattach | Repeat::Replay);
                });
                // What the person says is to be begun anew, and not looked for.
                if again {
                    self.begin_anew(&reconciled.action);
                }
                return;
            }
        };
        if reconciled.trust == Trust::Untrusted {
            self.tainted = true;
        }
        let body = reconciled.result.clone();
        let mut result = harness_result(text, ToolErrorClass::Failed);
        result.error = error;
        if let (None, Some(action)) = (reconciled.by, self.action(&reconciled.action)) {
            result.origin = Origin::Tool {
                tool: action.tool.clone(),
                place: None,
            };
        }
        result.trust = reconciled.trust;
        result.body = body.unwrap_or(result.body);
        self.close(&reconciled.action, result);
    }

    pub(super) fn with_action(&mut self, id: &ActionId, change: impl FnOnce(&mut Action)) {
        if let Some(action) = self.actions.iter_mut().find(|action| action.id == *id) {
            change(action);
        }
    }

    /// Closes an action; when it was the last of the step, the step enters the conversation.
    pub(super) fn close(&mut self, id: &ActionId, result: ActionResult) {
        self.with_action(id, |action| {
            action.stage = ActionStage::Closed;
            action.questions.clear();
            action.result = Some(result);
        });
        self.settle_step();
    }

    pub(super) fn settle_step(&mut self) {
        let open = |action: &Action| action.stage != ActionStage::Closed;
        if !self.pending.is_empty() || self.actions.iter().any(open) {
            return;
        }
        let slowest = self
            .actions
            .iter()
            .filter_map(|action| Some(action.result.as_ref()?.latency_ms))
            .max();
        self.used.working_ms = self.used.working_ms.saturating_add(slowest.unwrap_or(0));
        let actions = std::mem::take(&mut self.actions);
        let counted = |action: &Action| matches!(action.by, Actor::Model | Actor::Harness);
        if actions.iter().any(counted) {
            self.count_idle();
        }
        for action in actions {
            self.enter_result(action);
        }
        for item in std::mem::take(&mut self.waiting_items) {
            self.say(item);
        }
    }

    fn enter_result(&mut self, mut action: Action) {
        let Some(result) = action.result.take() else {
            return;
        };
        // The program was told, and what it makes of it is what the model is told.
        if action.by == Actor::Program {
            return;
        }
        if action.by == Actor::Person {
            let how = result.error.map_or("It worked.", |_| "It failed.");
            let text = format!("The person had {} called. {how}", action.tool);
            self.push(Item::Notice(inline(text)));
            return;
        }
        match action.by {
            Actor::Harness => self.helpers_end(&action.id),
            _ => self.note_repeat(&action, &result),
        }
        self.keep_result(&action, &result);
        let Action { id, call, tool, .. } = action;
        self.push(Item::Result {
            action: id,
            call,
            tool,
            result,
        });
    }

    pub(super) fn close_open(&mut self, why: &str) {
        self.pending.clear();
        let open: Vec<ActionId> = self
            .actions
            .iter()
            .filter(|action| action.stage != ActionStage::Closed)
            .map(|action| action.id.clone())
            .collect();
        for id in open {
            // Nobody may be told that something was not done which may have happened.
            let begun = self.action(&id).is_some_and(|action| {
                use ActionStage::{Lost, Started, Uncertain};
                matches!(action.stage, Started | Lost | Uncertain)
            });
            let text = if begun {
                "It was started, and it is not known whether it happened."
            } else {
                why
            };
            let result = harness_result(text.to_owned(), ToolErrorClass::Cancelled);
            self.close(&id, result);
        }
        self.settle_step();
    }
}

/// A result that the harness itself gives.
pub(super) fn harness_result(text: String, error: ToolErrorClass) -> ActionResult {
    ActionResult {
        body: Body::Text(text),
        whole: None,
        file: None,
        media: Vec::new(),
        error: Some(error),
        origin: Origin::Harness,
        trust: Trust::Trusted,
        latency_ms: 0,
    }
}
