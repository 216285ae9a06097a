//! Folding the life of an action. When the last action of a step is closed, the step enters the
//! conversation.

use longrein_protocol::agent::Decision;
use longrein_protocol::block::{Origin, Trust};
use longrein_protocol::event::{
    ActionDecided, ActionFinished, ActionProposed, ActionReconciled, ActionRejected, ActionStarted,
    ActionUncertain, ApprovalRequested, ApprovalResolved, Verdict,
};
use longrein_protocol::tool::{Effect, Repeat};
use longrein_protocol::view::KnotShape;
use longrein_protocol::{ActionId, BlobHash, Body, Millis, ToolErrorClass};

use super::next::FINISH;
use super::{Action, ActionResult, ActionStage, Item, LOOP_WARNING, Run};

impl Run {
    pub(super) fn proposed(&mut self, proposed: &ActionProposed) {
        self.pending.pop_front();
        self.actions.push(Action {
            id: proposed.action.clone(),
            call: proposed.call.clone(),
            tool: proposed.tool.clone(),
            arguments: proposed.arguments.clone(),
            effect: proposed.effect,
            repeat: proposed.repeat,
            stage: ActionStage::Proposed,
            attempt: 0,
            decision: None,
            why: String::new(),
            shown: None,
            result: None,
        });
    }

    pub(super) fn rejected(&mut self, rejected: &ActionRejected) {
        self.pending.pop_front();
        self.actions.push(Action {
            id: rejected.action.clone(),
            call: rejected.call.clone(),
            tool: rejected.tool.clone(),
            arguments: rejected.arguments.clone(),
            effect: Effect::Read,
            repeat: Repeat::Repeatable,
            stage: ActionStage::Proposed,
            attempt: 0,
            decision: None,
            why: String::new(),
            shown: None,
            result: None,
        });
        let result = harness_result(rejected.error.clone(), ToolErrorClass::InvalidArguments);
        self.close(&rejected.action, result);
    }

    pub(super) fn decided(&mut self, decided: &ActionDecided) {
        if decided.decision == Decision::Deny {
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

    pub(super) fn answered(&mut self, resolved: &ApprovalResolved) {
        if resolved.approved {
            self.with_action(&resolved.action, |action| {
                action.stage = ActionStage::Allowed;
            });
            return;
        }
        let text = format!(
            "The person refused this action. Their reason: {}",
            resolved.note
        );
        let result = harness_result(text, ToolErrorClass::NotPermitted);
        self.close(&resolved.action, result);
    }

    pub(super) fn started(&mut self, started: &ActionStarted) {
        self.used.actions += u32::from(started.attempt == 1);
        self.with_action(&started.action, |action| {
            action.stage = ActionStage::Started;
            action.attempt = started.attempt;
        });
        self.knot(KnotShape::Ring);
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
        let result = ActionResult {
            body: finished.shown.as_ref().unwrap_or(&finished.result).clone(),
            error: finished.error,
            origin: finished.origin.clone(),
            trust: finished.trust,
            latency_ms: finished.latency_ms,
        };
        if self
            .action(&finished.action)
            .is_some_and(|action| action.tool == FINISH)
        {
            self.checked = false;
        }
        self.close(&finished.action, result);
    }

    pub(super) fn reconciled(&mut self, reconciled: &ActionReconciled) {
        let (text, error) = match reconciled.verdict {
            Verdict::Happened => (
                "The person says that this action happened. Its result is not known.",
                None,
            ),
            Verdict::NotHappened => (
                "The person says that this action did not happen.",
                Some(ToolErrorClass::Failed),
            ),
            Verdict::Retry => {
                self.with_action(&reconciled.action, |action| {
                    action.stage = ActionStage::Allowed
                });
                return;
            }
        };
        let mut result = harness_result(text.to_owned(), ToolErrorClass::Failed);
        result.error = error;
        self.close(&reconciled.action, result);
    }

    pub(super) fn with_action(&mut self, id: &ActionId, change: impl FnOnce(&mut Action)) {
        if let Some(action) = self.actions.iter_mut().find(|action| action.id == *id) {
            change(action);
        }
    }

    /// Closes an action; when it was the last of the step, the step enters the conversation.
    pub(super) fn close(&mut self, id: &ActionId, result: ActionResult) {
        let mut identity = None;
        self.with_action(id, |action| {
            identity = Some((action.tool.clone(), repeat_identity(action, &result)));
            action.stage = ActionStage::Closed;
            action.result = Some(result);
        });
        if let Some((tool, identity)) = identity {
            self.count_repeat(tool, identity);
        }
        self.settle_step();
    }

    pub(super) fn count_repeat(&mut self, tool: String, identity: BlobHash) {
        let times = match self.repeats {
            Some((last, times)) if last == identity => times + 1,
            _ => 1,
        };
        self.repeats = Some((identity, times));
        if times >= LOOP_WARNING {
            self.loop_owed = Some((tool, times));
        }
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
        for action in std::mem::take(&mut self.actions) {
            if let Some(result) = action.result {
                let Action { id, call, tool, .. } = action;
                self.push(Item::Result {
                    action: id,
                    call,
                    tool,
                    result,
                });
            }
        }
        for item in std::mem::take(&mut self.waiting_items) {
            self.say(item);
        }
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
            self.close(
                &id,
                harness_result(why.to_owned(), ToolErrorClass::Cancelled),
            );
        }
        self.settle_step();
    }
}

/// A result that the harness itself gives.
pub(super) fn harness_result(text: String, error: ToolErrorClass) -> ActionResult {
    ActionResult {
        body: Body::Text(text),
        error: Some(error),
        origin: Origin::Harness,
        trust: Trust::Trusted,
        latency_ms: 0,
    }
}

/// What makes two actions the same for the loop rule: tool, arguments and result.
fn repeat_identity(action: &Action, result: &ActionResult) -> BlobHash {
    let (arguments, result) = (action.arguments.hash(), result.body.hash());
    let mut identity = Vec::with_capacity(action.tool.len() + 64);
    identity.extend_from_slice(action.tool.as_bytes());
    identity.extend_from_slice(&arguments.0);
    identity.extend_from_slice(&result.0);
    BlobHash::of(&identity)
}
