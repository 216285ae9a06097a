//! From an event to rows.

use longrein_protocol::agent::Decision;
use longrein_protocol::block::{Block, Trust};
use longrein_protocol::event::{
    ActionDecided, ActionFinished, ActionProposed, ActionRejected, ApprovalResolved,
    ContextCompacted, Event, ModelFailed, ModelResponded, Payload, RunHandedOff, RunResumed,
    VerificationFinished,
};
use longrein_protocol::tool::Effect;
use longrein_protocol::view::{
    ActionRow, ActionState, Knot, KnotShape, KnotTone, Row, RowContent, RunState,
};
use longrein_protocol::{ActionId, Body, ToolErrorClass};

use super::words;
use super::{ROW_TEXT_BYTES, View};
use crate::compile::Content;
use crate::run::{ActionStage, Request};

/// The body of a block that a row shows.
pub fn shown_body(block: &Block) -> Option<&Body> {
    match block {
        Block::Text { text, .. } | Block::Thinking { text, .. } => Some(text),
        Block::ToolUse { .. } => None,
    }
}

impl View {
    pub(super) fn fold_rows(&mut self, event: &Event, content: &Content<'_>) -> Vec<String> {
        match &event.payload {
            Payload::TurnStarted(turn) => self.person(event, &content(&turn.input)),
            Payload::TurnSteered(steered) => self.person(event, &content(&steered.input)),
            Payload::ModelResponded(responded) => self.answer(event, responded, content),
            Payload::ModelFailed(failed) => self.trouble(event, failed),
            Payload::NoticeGiven(notice) => {
                let text = content(&notice.text);
                self.plain(event, RowContent::Notice { text }, None)
            }
            Payload::ContextCompacted(compacted) => self.compacted(event, compacted),
            Payload::VerificationFinished(finished) => self.verified(event, finished),
            Payload::RunResumed(resumed) => self.resumed(event, resumed),
            Payload::RunPaused(_) => self.stop(
                event,
                RunState::Paused,
                "Paused by you.",
                "Resume it when you like.",
            ),
            Payload::RunHandedOff(handed_off) => self.handed_off(event, handed_off),
            Payload::RunCancelled(_) => {
                self.stop(event, RunState::Cancelled, "Cancelled by you.", "")
            }
            Payload::RunFinished(finished) => {
                let (state, reason, remedy) = self.run().standing();
                let text = if finished.message.is_empty() {
                    words::outcome(finished.outcome)
                } else {
                    &reason
                };
                self.stop(event, state, text, &remedy)
            }
            _ => self.fold_action_rows(event, content),
        }
    }

    fn fold_action_rows(&mut self, event: &Event, content: &Content<'_>) -> Vec<String> {
        match &event.payload {
            Payload::ActionProposed(proposed) => {
                self.proposed(event, proposed, &content(&proposed.arguments))
            }
            Payload::ActionRejected(rejected) => {
                self.rejected(event, rejected, &content(&rejected.arguments))
            }
            Payload::ActionDecided(decided) => self.decided(decided),
            Payload::ApprovalRequested(asked) => self.action(&asked.action, |row, knot| {
                row.state = ActionState::Asked;
                *knot = new_knot(
                    KnotShape::Break,
                    KnotTone::Waiting,
                    &row.tool,
                    "waits for you",
                );
            }),
            Payload::ApprovalResolved(resolved) => self.answered(resolved),
            Payload::ApprovalWithdrawn(withdrawn) => self.action(&withdrawn.action, |row, knot| {
                row.state = ActionState::Denied;
                row.outcome.clone_from(&withdrawn.why);
                knot.tone = KnotTone::Plain;
            }),
            Payload::ActionStarted(started) => self.action(&started.action, |row, knot| {
                row.state = ActionState::Started;
                row.attempt = started.attempt;
                *knot = new_knot(KnotShape::Ring, KnotTone::Running, &title(row), "runs");
            }),
            Payload::ActionFinished(finished) => {
                let shown = finished.shown.as_ref().unwrap_or(&finished.result);
                self.finished(finished, &content(shown))
            }
            Payload::ActionUncertain(uncertain) => self.action(&uncertain.action, |row, knot| {
                row.state = ActionState::Uncertain;
                row.outcome.clone_from(&uncertain.why);
                *knot = new_knot(
                    KnotShape::Break,
                    KnotTone::Waiting,
                    &row.tool,
                    "may have happened",
                );
            }),
            Payload::ActionReconciled(reconciled) => {
                self.action(&reconciled.action, |row, knot| {
                    row.state = ActionState::Succeeded;
                    words::verdict(reconciled.verdict).clone_into(&mut row.outcome);
                    *knot = new_knot(KnotShape::Ring, KnotTone::Plain, &row.tool, &row.outcome);
                })
            }
            Payload::SourceCaptured(captured) => self.action(&captured.action, |row, _| {
                let id = captured.source.to_string();
                if !row.sources.contains(&id) {
                    row.sources.push(id);
                }
            }),
            _ => Vec::new(),
        }
    }

    fn answered(&mut self, resolved: &ApprovalResolved) -> Vec<String> {
        let (state, word) = match resolved.approved {
            true => (ActionState::Allowed, "approved by you"),
            false => (ActionState::Denied, "refused by you"),
        };
        self.action(&resolved.action, |row, knot| {
            row.state = state;
            row.decision = format!("{} · {word}", row.decision);
            row.outcome.clone_from(&resolved.note);
            *knot = new_knot(KnotShape::Ring, KnotTone::Plain, &title(row), word);
        })
    }

    fn plain(&mut self, event: &Event, content: RowContent, knot: Option<Knot>) -> Vec<String> {
        let step = self.step;
        self.insert(Row {
            key: format!("e{}", event.seq),
            seq: event.seq,
            at: event.at,
            step,
            content,
            knot,
        })
    }

    fn person(&mut self, event: &Event, text: &str) -> Vec<String> {
        let knot = new_knot(
            KnotShape::Person,
            KnotTone::Plain,
            &words::brief(text),
            "you",
        );
        self.plain(
            event,
            RowContent::Question {
                text: text.to_owned(),
            },
            Some(knot),
        )
    }

    fn answer(
        &mut self,
        event: &Event,
        responded: &ModelResponded,
        content: &Content<'_>,
    ) -> Vec<String> {
        let (mut text, mut thinking) = (String::new(), String::new());
        let mut asks = false;
        for block in &responded.blocks {
            match block {
                Block::Text { text: more, .. } => text.push_str(&content(more)),
                Block::Thinking { text: more, .. } => thinking.push_str(&content(more)),
                Block::ToolUse { .. } => asks = true,
            }
        }
        if text.is_empty() && thinking.is_empty() {
            return Vec::new();
        }
        let detail = format!("step {} · {} tokens", self.step, responded.usage.output);
        let knot = (!asks && !text.is_empty()).then(|| {
            new_knot(
                KnotShape::Ring,
                KnotTone::Plain,
                &words::brief(&text),
                &detail,
            )
        });
        self.plain(event, RowContent::Answer { text, thinking }, knot)
    }

    fn trouble(&mut self, event: &Event, failed: &ModelFailed) -> Vec<String> {
        let retrying = failed.retry_at.is_some();
        let content = RowContent::ModelTrouble {
            text: failed.message.clone(),
            retrying,
        };
        let detail = if retrying {
            "trying again"
        } else {
            "not tried again"
        };
        self.plain(
            event,
            content,
            Some(new_knot(
                KnotShape::Ring,
                KnotTone::Bad,
                "Model request failed",
                detail,
            )),
        )
    }

    fn compacted(&mut self, event: &Event, compacted: &ContextCompacted) -> Vec<String> {
        let text = format!(
            "Older parts left the request: {} → {} tokens. The log keeps them.",
            compacted.tokens_before, compacted.tokens_after
        );
        let label = format!(
            "Compacted {} → {}",
            compacted.tokens_before, compacted.tokens_after
        );
        let knot = new_knot(
            KnotShape::Square,
            KnotTone::Plain,
            &label,
            "nothing left the log",
        );
        self.plain(event, RowContent::Compacted { text }, Some(knot))
    }

    fn verified(&mut self, event: &Event, finished: &VerificationFinished) -> Vec<String> {
        let held = finished
            .results
            .iter()
            .filter(|result| result.holds)
            .count();
        let accepted = held == finished.results.len();
        let tone = if accepted {
            KnotTone::Good
        } else {
            KnotTone::Bad
        };
        let detail = format!("{held} of {} hold", finished.results.len());
        let content = RowContent::Verification {
            results: finished.results.clone(),
            accepted,
        };
        self.plain(
            event,
            content,
            Some(new_knot(KnotShape::Ring, tone, "Checked", &detail)),
        )
    }

    fn resumed(&mut self, event: &Event, resumed: &RunResumed) -> Vec<String> {
        let lost = self
            .run()
            .actions
            .iter()
            .filter(|action| action.stage == ActionStage::Lost);
        let repeatable = lost.clone().all(|action| {
            action.effect == Effect::Read
                || action.repeat == longrein_protocol::tool::Repeat::Repeatable
        });
        let request = self.run().request == Request::Lost;
        let text = words::resumed(resumed.why, request, lost.count(), repeatable);
        if resumed.why == longrein_protocol::event::ResumeReason::Asked {
            return self.plain(event, RowContent::Notice { text }, None);
        }
        let knot = new_knot(
            KnotShape::Splice,
            KnotTone::Bad,
            "Spliced",
            &words::brief(&text),
        );
        self.plain(event, RowContent::Splice { text }, Some(knot))
    }

    fn handed_off(&mut self, event: &Event, handed_off: &RunHandedOff) -> Vec<String> {
        self.stop(
            event,
            RunState::HandedOff,
            &handed_off.message,
            &handed_off.remedy,
        )
    }

    fn stop(&mut self, event: &Event, state: RunState, text: &str, remedy: &str) -> Vec<String> {
        let (shape, tone, label) = match state {
            RunState::Accepted => (KnotShape::End, KnotTone::Good, "Accepted"),
            RunState::Unverified => (KnotShape::End, KnotTone::Plain, "Finished"),
            RunState::Paused => (KnotShape::Break, KnotTone::Waiting, "Paused"),
            RunState::HandedOff => (KnotShape::Break, KnotTone::Waiting, "Handed off"),
            RunState::Cancelled => (KnotShape::Stop, KnotTone::Plain, "Cancelled"),
            _ => (KnotShape::Stop, KnotTone::Bad, "Failed"),
        };
        let content = RowContent::Stop {
            state,
            text: text.to_owned(),
            remedy: remedy.to_owned(),
        };
        self.plain(
            event,
            content,
            Some(new_knot(shape, tone, label, &words::brief(text))),
        )
    }

    fn proposed(
        &mut self,
        event: &Event,
        proposed: &ActionProposed,
        arguments: &str,
    ) -> Vec<String> {
        let row = new_action(&proposed.action, &proposed.tool, proposed.effect, arguments);
        self.insert_action(event, row)
    }

    fn rejected(
        &mut self,
        event: &Event,
        rejected: &ActionRejected,
        arguments: &str,
    ) -> Vec<String> {
        let mut row = new_action(&rejected.action, &rejected.tool, Effect::Read, arguments);
        row.state = ActionState::Rejected;
        row.result.clone_from(&rejected.error);
        row.error = Some(ToolErrorClass::InvalidArguments);
        words::class(ToolErrorClass::InvalidArguments).clone_into(&mut row.outcome);
        self.insert_action(event, row)
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

    fn decided(&mut self, decided: &ActionDecided) -> Vec<String> {
        self.action(&decided.action, |row, knot| {
            row.decision.clone_from(&decided.why);
            match decided.decision {
                Decision::Allow => row.state = ActionState::Allowed,
                Decision::Ask => row.state = ActionState::Proposed,
                Decision::Deny => {
                    row.state = ActionState::Denied;
                    row.error = Some(ToolErrorClass::NotPermitted);
                    words::class(ToolErrorClass::NotPermitted).clone_into(&mut row.outcome);
                    *knot = new_knot(KnotShape::Ring, KnotTone::Bad, &title(row), "not permitted");
                }
            }
        })
    }

    fn finished(&mut self, finished: &ActionFinished, shown: &str) -> Vec<String> {
        self.action(&finished.action, |row, knot| {
            row.state = if finished.error.is_some() {
                ActionState::Failed
            } else {
                ActionState::Succeeded
            };
            row.result = words::cut(shown, ROW_TEXT_BYTES);
            row.error = finished.error;
            row.trust = finished.trust;
            row.latency_ms = Some(finished.latency_ms);
            row.outcome.clone_from(&finished.outcome);
            if let (Some(class), true) = (finished.error, row.outcome.is_empty()) {
                words::class(class).clone_into(&mut row.outcome);
            }
            let tone = if finished.error.is_some() {
                KnotTone::Bad
            } else {
                KnotTone::Plain
            };
            let detail = format!("{} · {}", row.outcome, words::duration(finished.latency_ms));
            *knot = new_knot(
                KnotShape::Ring,
                tone,
                &title(row),
                detail.trim_start_matches(" · "),
            );
        })
    }

    fn action(
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

fn new_action(action: &ActionId, tool: &str, effect: Effect, arguments: &str) -> ActionRow {
    let parsed: Option<serde_json::Value> = serde_json::from_str(arguments).ok();
    let pretty = parsed
        .as_ref()
        .and_then(|value| serde_json::to_string_pretty(value).ok());
    ActionRow {
        action: action.0.clone(),
        tool: tool.to_owned(),
        brief: parsed
            .as_ref()
            .map(|value| words::arguments(tool, value))
            .unwrap_or_default(),
        arguments: words::cut(pretty.as_deref().unwrap_or(arguments), ROW_TEXT_BYTES),
        effect,
        state: ActionState::Proposed,
        decision: String::new(),
        result: String::new(),
        outcome: String::new(),
        error: None,
        trust: Trust::Trusted,
        sources: Vec::new(),
        latency_ms: None,
        attempt: 0,
    }
}

fn title(row: &ActionRow) -> String {
    let verb = match row.tool.as_str() {
        "update_plan" => "Plan:",
        "search_library" => "Search",
        "read_source" => "Read on in",
        "read_file" => "Read",
        "write_file" => "Write",
        "edit_file" => "Edit",
        "list_files" => "List",
        "search_files" => "Search files",
        "publish_artifact" => "Publish",
        "finish" => "Finish",
        tool => tool,
    };
    format!("{verb} {}", row.brief)
        .trim_end_matches([' ', ':'])
        .to_owned()
}

fn new_knot(shape: KnotShape, tone: KnotTone, label: &str, detail: &str) -> Knot {
    Knot {
        shape,
        tone,
        label: words::brief(label),
        detail: detail.to_owned(),
    }
}
