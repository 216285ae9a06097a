//! What a run delegates, on the card of the action by which it does.

use longrein_protocol::ToolErrorClass;
use longrein_protocol::block::Trust;
use longrein_protocol::event::{ChildEnd, ChildFinished, ChildSpawned};
use longrein_protocol::view::{ActionState, KnotShape, KnotTone};

use super::card::title;
use super::rows::new_knot;
use super::{ROW_TEXT_BYTES, View, words};
use crate::compile::Content;

impl View {
    pub(super) fn child_spawned(&mut self, spawned: &ChildSpawned) -> Vec<String> {
        self.action(&spawned.action, |row, knot| {
            row.state = ActionState::Started;
            row.child = spawned.child.to_string();
            row.outcome = words::brief(&spawned.title);
            *knot = new_knot(
                KnotShape::Ring,
                KnotTone::Running,
                &title(row),
                "a run of its own works on it",
            );
        })
    }

    pub(super) fn child_finished(
        &mut self,
        finished: &ChildFinished,
        content: &Content<'_>,
    ) -> Vec<String> {
        let finding = content(&finished.finding);
        let (error, word) = end(finished.end);
        let changed = self.action(&finished.action, |row, knot| {
            row.state = match error {
                Some(_) => ActionState::Failed,
                None => ActionState::Succeeded,
            };
            row.error = error;
            row.result = words::cut(&finding, ROW_TEXT_BYTES);
            if finished.tainted {
                row.trust = Trust::Untrusted;
            }
            row.outcome = match finished.reason.as_str() {
                "" => word.to_owned(),
                reason => format!("{word}: {reason}"),
            };
            row.latency_ms = Some(finished.used.working_ms);
            for source in &finished.sources {
                let source = source.to_string();
                if !row.sources.contains(&source) {
                    row.sources.push(source);
                }
            }
            let tone = match error {
                Some(_) => KnotTone::Bad,
                None => KnotTone::Plain,
            };
            *knot = new_knot(KnotShape::Ring, tone, &title(row), &row.outcome);
        });
        self.ended(&finished.action, true, changed)
    }
}

/// How a child ended, as an action's end and in words.
fn end(end: ChildEnd) -> (Option<ToolErrorClass>, &'static str) {
    match end {
        ChildEnd::Accepted => (None, "accepted"),
        ChildEnd::Unverified => (None, "finished, not verified"),
        ChildEnd::Failed => (Some(ToolErrorClass::Failed), "failed"),
        ChildEnd::Cancelled => (Some(ToolErrorClass::Cancelled), "cancelled"),
        ChildEnd::HandedOff => (Some(ToolErrorClass::Failed), "handed off"),
    }
}
