//! What a run delegates, on the card of the action by which it does.

use longrein_protocol::block::Trust;
use longrein_protocol::event::{ChildEnd, ChildFinished, ChildSpawned};
use longrein_protocol::view::{ActionState, KnotShape, KnotTone};
use longrein_protocol::{ActionId, ToolErrorClass};

use super::card::title;
use super::rows::new_knot;
use super::{ROW_TEXT_BYTES, View, words};
use crate::compile::Content;

impl View {
    pub(super) fn child_spawned(&mut self, spawned: &ChildSpawned) -> Vec<String> {
        let of_several = self.still_out(&spawned.action);
        self.action(&spawned.action, |row, knot| {
            row.state = ActionState::Started;
            row.child = spawned.child.to_string();
            row.outcome = of_several.unwrap_or_else(|| words::brief(&spawned.title));
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
        if let Some(outcome) = self.still_out(&finished.action) {
            return self.action(&finished.action, |row, _| row.outcome = outcome);
        }
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

impl View {
    /// How many of several children of a delegation are back, while others still work; `None` once
    /// all of them are.
    fn still_out(&self, delegation: &ActionId) -> Option<String> {
        let children = &self.run().children;
        let of_it = children.iter().filter(|child| child.action == *delegation);
        let (back, out): (Vec<_>, Vec<_>) = of_it.partition(|child| child.ended.is_some());
        let all = back.len() + out.len();
        (all > 1 && !out.is_empty()).then(|| format!("{} of {all} are back", back.len()))
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
