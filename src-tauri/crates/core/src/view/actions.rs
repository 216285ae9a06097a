//! The life of an action, as its card.

use longrein_protocol::agent::Decision;
use longrein_protocol::block::Trust;
use longrein_protocol::event::{
    ActionDecided, ActionFinished, ActionLost, ActionProgressed, ActionProposed, ActionQueried,
    ActionRejected, ActionStarted, ActionUncertain, ApprovalRequested, Event, Progress,
    ResultOffloaded, SourceCaptured,
};
use longrein_protocol::gate::Actor;
use longrein_protocol::tool::Effect;
use longrein_protocol::view::{
    ActionRow, ActionState, Knot, KnotShape, KnotTone, Row, RowContent, SaidLine,
};
use longrein_protocol::{ActionId, ToolErrorClass};

use super::card::{self, new_action, no_longer_asked, title, waiting};
use super::rows::new_knot;
use super::{RESULT_READ_BYTES, ROW_TEXT_BYTES, View, shown, words};
use crate::compile::Content;
use crate::policy;

/// The most lines of a card that requests to the network may fill; all of them are in the log.
const REQUESTS_SHOWN: usize = 50;

impl View {
    pub(super) fn proposed(
        &mut self,
        event: &Event,
        proposed: &ActionProposed,
        content: &Content<'_>,
    ) -> Vec<String> {
        let arguments = content(&proposed.arguments);
        let mut row = new_action(
            &proposed.action,
            &proposed.tool,
            proposed.effect,
            &arguments,
        );
        row.by_person = proposed.by == Actor::Person;
        self.open.push(proposed.action.clone());
        let mut keys = Vec::new();
        if let Some(undone) = &proposed.undoes {
            row.undoes.clone_from(&undone.0);
            keys = self.action(undone, |row, _| row.undo = false);
        }
        keys.extend(self.insert_action(event, row));
        keys
    }

    pub(super) fn rejected(
        &mut self,
        event: &Event,
        rejected: &ActionRejected,
        content: &Content<'_>,
    ) -> Vec<String> {
        let arguments = content(&rejected.arguments);
        let mut row = new_action(&rejected.action, &rejected.tool, Effect::Read, &arguments);
        row.state = ActionState::Rejected;
        row.result.clone_from(&rejected.error);
        row.error = Some(rejected.class);
        words::class(rejected.class).clone_into(&mut row.outcome);
        self.insert_action(event, row)
    }

    pub(super) fn decided(
        &mut self,
        decided: &ActionDecided,
        content: &Content<'_>,
    ) -> Vec<String> {
        let review = card::review(decided).map(content).unwrap_or_default();
        let changed = self.action(&decided.action, |row, knot| {
            row.decision.clone_from(&decided.why);
            row.checks.clone_from(&decided.checks);
            row.decided_by = card::deciding(decided);
            match decided.decision {
                Decision::Allow => row.state = ActionState::Allowed,
                Decision::Ask => {
                    row.state = ActionState::Proposed;
                    row.review = review;
                }
                Decision::Deny => {
                    no_longer_asked(row);
                    row.state = ActionState::Denied;
                    row.error = Some(ToolErrorClass::NotPermitted);
                    words::class(ToolErrorClass::NotPermitted).clone_into(&mut row.outcome);
                    *knot = new_knot(KnotShape::Ring, KnotTone::Bad, &title(row), "not permitted");
                }
            }
        });
        self.ended(&decided.action, decided.decision == Decision::Deny, changed)
    }

    pub(super) fn asked(&mut self, asked: &ApprovalRequested) -> Vec<String> {
        self.action(&asked.action, |row, knot| {
            row.state = ActionState::Asked;
            row.seen = asked.shown.to_string();
            row.offers = asked.offers.iter().filter_map(card::offer).collect();
            if row.decision.is_empty() {
                row.decision.clone_from(&asked.why);
            }
            *knot = waiting(&row.tool, "waits for you");
        })
    }

    pub(super) fn started(&mut self, started: &ActionStarted) -> Vec<String> {
        self.action(&started.action, |row, knot| {
            row.state = ActionState::Started;
            row.attempt = started.attempt;
            row.outcome.clear();
            *knot = new_knot(KnotShape::Ring, KnotTone::Running, &title(row), "runs");
        })
    }

    /// What a command asked of the network stands on its card.
    pub(super) fn progressed(
        &mut self,
        event: &Event,
        progressed: &ActionProgressed,
    ) -> Vec<String> {
        let Progress::Requested(request) = &progressed.what else {
            return Vec::new();
        };
        self.action(&progressed.action, |row, _| {
            if row.said.len() < REQUESTS_SHOWN {
                row.said.push(SaidLine {
                    words: words::network(request),
                    note: String::new(),
                    from: None,
                    at: event.at,
                });
            }
        })
    }

    pub(super) fn finished(
        &mut self,
        finished: &ActionFinished,
        content: &Content<'_>,
    ) -> Vec<String> {
        let body = shown(finished);
        let text = match body.len() <= RESULT_READ_BYTES {
            true => content(body),
            false => format!(
                "[{}, all of it in the log]",
                crate::outline::bytes(body.len())
            ),
        };
        let text = words::with_media(text, &finished.media);
        let undo = finished.error.is_none()
            && finished.receipt.is_some()
            && self.takes_back(&finished.action);
        let changed = self.action(&finished.action, |row, knot| {
            row.state = if finished.error.is_some() {
                ActionState::Failed
            } else {
                ActionState::Succeeded
            };
            row.result = match policy::COMMAND_TOOLS.contains(&row.tool.as_str()) {
                true => words::ends(&text, ROW_TEXT_BYTES),
                false => words::cut(&text, ROW_TEXT_BYTES),
            };
            row.error = finished.error;
            row.trust = finished.trust;
            row.latency_ms = Some(finished.latency_ms);
            row.undo = undo;
            row.outcome.clone_from(&finished.outcome);
            if let (Some(class), true) = (finished.error, row.outcome.is_empty()) {
                words::class(class).clone_into(&mut row.outcome);
            }
            let tone = if finished.error.is_some() {
                KnotTone::Bad
            } else {
                KnotTone::Plain
            };
            let took = words::duration(finished.latency_ms);
            let detail = match row.outcome.as_str() {
                "" => took,
                outcome => format!("{outcome} · {took}"),
            };
            *knot = new_knot(KnotShape::Ring, tone, &title(row), &detail);
        });
        self.ended(&finished.action, true, changed)
    }

    /// What the model is shown of a long result stands on its card, as everything else does.
    pub(super) fn offloaded(
        &mut self,
        offloaded: &ResultOffloaded,
        content: &Content<'_>,
    ) -> Vec<String> {
        let text = content(&offloaded.shown);
        self.action(&offloaded.action, |row, _| {
            row.result = words::cut(&text, ROW_TEXT_BYTES);
        })
    }

    /// Whether the tool of an action names another one that takes it back, and that one is there.
    fn takes_back(&self, action: &ActionId) -> bool {
        let run = self.run();
        let Some(RowContent::Action(row)) = self.action_row(action).map(|row| &row.content) else {
            return false;
        };
        run.tool(&row.tool)
            .and_then(|tool| tool.recovery.undo_tool.as_deref())
            .is_some_and(|undo| run.tool(undo).is_some())
    }

    pub(super) fn lost(&mut self, lost: &ActionLost) -> Vec<String> {
        let words = match lost.gone {
            true => "what it began is gone",
            false => "finding out what became of it",
        };
        self.action(&lost.action, |row, knot| {
            row.state = ActionState::FindingOut;
            words.clone_into(&mut row.outcome);
            row.result.clone_from(&lost.why);
            *knot = new_knot(KnotShape::Ring, KnotTone::Running, &title(row), words);
        })
    }

    pub(super) fn queried(&mut self, queried: &ActionQueried) -> Vec<String> {
        let words = words::status(queried);
        self.action(&queried.action, |row, knot| {
            row.state = ActionState::FindingOut;
            knot.detail = words::brief(&words);
            row.outcome = words;
            if queried.trust == Trust::Untrusted {
                row.trust = Trust::Untrusted;
            }
        })
    }

    pub(super) fn uncertain(&mut self, uncertain: &ActionUncertain) -> Vec<String> {
        self.action(&uncertain.action, |row, knot| {
            row.state = ActionState::Uncertain;
            row.outcome.clone_from(&uncertain.why);
            row.result.clear();
            *knot = waiting(&title(row), "may have happened");
        })
    }

    pub(super) fn captured(&mut self, captured: &SourceCaptured) -> Vec<String> {
        let source = captured.source.to_string();
        self.action(&captured.action, |row, _| {
            if !row.sources.contains(&source) {
                row.sources.push(source);
            }
        })
    }

    /// What is still open will not come to its end, and `why`.
    pub(super) fn close_open_rows(&mut self, why: &str) -> Vec<String> {
        let mut keys = self.acceptance_withdrawn();
        keys.extend(self.side_lost());
        for action in std::mem::take(&mut self.open) {
            keys.extend(self.action(&action, |row, knot| {
                no_longer_asked(row);
                let (state, error) = match row.state {
                    // Nobody knows, and that it is over does not change that.
                    ActionState::Uncertain | ActionState::FindingOut => {
                        (ActionState::Unknown, None)
                    }
                    ActionState::Started => (ActionState::Failed, Some(ToolErrorClass::Cancelled)),
                    _ => (ActionState::Withdrawn, None),
                };
                row.state = state;
                row.error = error;
                why.clone_into(&mut row.outcome);
                *knot = new_knot(KnotShape::Ring, KnotTone::Plain, &title(row), why);
            }));
        }
        keys
    }

    /// When an action has `ended`, it is no longer open; one that was to take another back and did
    /// not offers that again.
    pub(super) fn ended(
        &mut self,
        id: &ActionId,
        ended: bool,
        mut keys: Vec<String>,
    ) -> Vec<String> {
        if !ended {
            return keys;
        }
        self.open.retain(|open| open != id);
        let Some(RowContent::Action(row)) = self.action_row(id).map(|row| &row.content) else {
            return keys;
        };
        if !row.undoes.is_empty() && row.state != ActionState::Succeeded {
            let original = ActionId(row.undoes.clone());
            keys.extend(self.action(&original, |row, _| row.undo = !row.undone));
        }
        keys
    }

    fn insert_action(&mut self, event: &Event, row: ActionRow) -> Vec<String> {
        let knot = new_knot(KnotShape::Ring, KnotTone::Plain, &title(&row), "");
        let (key, step) = (row.action.clone(), self.step);
        let content = RowContent::Action(Box::new(row));
        self.insert(Row {
            key,
            seq: event.seq,
            at: event.at,
            step,
            content,
            knot: Some(knot),
        })
    }

    pub(super) fn action(
        &mut self,
        id: &ActionId,
        change: impl FnOnce(&mut ActionRow, &mut Knot),
    ) -> Vec<String> {
        if let Some(row) = self.row_mut(&id.0)
            && let RowContent::Action(action) = &mut row.content
        {
            let mut knot = row
                .knot
                .take()
                .unwrap_or_else(|| new_knot(KnotShape::Ring, KnotTone::Plain, "", ""));
            change(action, &mut knot);
            row.knot = Some(knot);
            return vec![id.0.clone()];
        }
        Vec::new()
    }
}
