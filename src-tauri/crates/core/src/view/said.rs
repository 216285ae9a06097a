//! What people say of an action, on its card.

use longrein_protocol::ToolErrorClass;
use longrein_protocol::block::Trust;
use longrein_protocol::event::{
    ActionCompensated, ActionReconciled, ApprovalResolved, ApprovalWithdrawn, ChangedResult, Event,
    Verdict,
};
use longrein_protocol::view::{ActionState, KnotShape, KnotTone, SaidLine};

use super::card::{no_longer_asked, take_edit, title};
use super::rows::new_knot;
use super::{ROW_TEXT_BYTES, View, words};
use crate::compile::Content;

impl View {
    /// A fork goes on with another result than the action had.
    pub(super) fn result_changed(
        &mut self,
        event: &Event,
        changed: &ChangedResult,
        text: &str,
    ) -> Vec<String> {
        self.action(&changed.action, |row, _| {
            row.result = words::cut(text, ROW_TEXT_BYTES);
            row.trust = Trust::Trusted;
            row.said.push(SaidLine {
                words: "you changed its result for this fork".to_owned(),
                note: String::new(),
                from: None,
                at: event.at,
            });
        })
    }

    pub(super) fn approval_answered(
        &mut self,
        event: &Event,
        resolved: &ApprovalResolved,
        content: &Content<'_>,
    ) -> Vec<String> {
        let edited = resolved.arguments.as_ref().map(content);
        let words = words::answered(resolved);
        let changed = self.action(&resolved.action, |row, knot| {
            no_longer_asked(row);
            if let Some(edited) = &edited {
                take_edit(row, edited);
            }
            row.state = match resolved.approved {
                true => ActionState::Allowed,
                false => ActionState::Denied,
            };
            let detail = match resolved.approved {
                true => "approved by you",
                false => "refused by you",
            };
            if !resolved.approved {
                row.outcome.clone_from(&resolved.note);
            }
            row.said.push(SaidLine {
                words,
                note: resolved.note.clone(),
                from: Some(resolved.by),
                at: event.at,
            });
            *knot = new_knot(KnotShape::Ring, KnotTone::Plain, &title(row), detail);
        });
        self.ended(&resolved.action, !resolved.approved, changed)
    }

    pub(super) fn withdrawn(&mut self, withdrawn: &ApprovalWithdrawn) -> Vec<String> {
        let changed = self.action(&withdrawn.action, |row, knot| {
            no_longer_asked(row);
            row.state = ActionState::Withdrawn;
            row.outcome.clone_from(&withdrawn.why);
            *knot = new_knot(
                KnotShape::Ring,
                KnotTone::Plain,
                &title(row),
                "no longer asked",
            );
        });
        self.ended(&withdrawn.action, true, changed)
    }

    pub(super) fn reconciled(
        &mut self,
        event: &Event,
        reconciled: &ActionReconciled,
        content: &Content<'_>,
    ) -> Vec<String> {
        let result = reconciled.result.as_ref().map(content);
        let changed = self.action(&reconciled.action, |row, knot| {
            let words = words::verdict(reconciled.verdict, reconciled.by);
            row.state = match reconciled.verdict {
                Verdict::Happened => ActionState::Succeeded,
                Verdict::NotHappened => ActionState::Failed,
                Verdict::Retry => ActionState::Allowed,
            };
            row.error =
                (reconciled.verdict == Verdict::NotHappened).then_some(ToolErrorClass::Failed);
            row.trust = reconciled.trust;
            row.result = words::cut(&result.unwrap_or_default(), ROW_TEXT_BYTES);
            words.clone_into(&mut row.outcome);
            row.said.push(SaidLine {
                words: words.to_owned(),
                note: String::new(),
                from: reconciled.by,
                at: event.at,
            });
            *knot = new_knot(KnotShape::Ring, KnotTone::Plain, &title(row), words);
        });
        let ended = reconciled.verdict != Verdict::Retry;
        self.ended(&reconciled.action, ended, changed)
    }

    pub(super) fn compensated(
        &mut self,
        event: &Event,
        compensated: &ActionCompensated,
    ) -> Vec<String> {
        self.action(&compensated.action, |row, knot| {
            row.undo = false;
            row.undone = true;
            row.said.push(SaidLine {
                words: format!("taken back by {}", compensated.undone_by),
                note: String::new(),
                from: None,
                at: event.at,
            });
            knot.detail = "taken back".to_owned();
        })
    }
}
