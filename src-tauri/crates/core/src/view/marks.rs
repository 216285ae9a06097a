//! What stands between the actions: whether the result is accepted, rules, budgets, requests beside
//! the steps.

use longrein_protocol::event::{
    AcceptanceRequested, AcceptanceResolved, BudgetRaised, BudgetWarned, Event, PolicyChanged,
    Purpose, SideFailed, SideRequested, SideResponded,
};
use longrein_protocol::gate::{Scope, StandingRule};
use longrein_protocol::view::{
    AcceptanceState, KnotShape, KnotTone, RowContent, RuleLine, SaidLine, SideState,
};

use super::rows::{key_of, new_knot};
use super::{ROW_TEXT_BYTES, View, words};
use crate::compile::Content;
use crate::policy;
use crate::run::Acceptance;

impl View {
    pub(super) fn acceptance_asked(
        &mut self,
        event: &Event,
        asked: &AcceptanceRequested,
    ) -> Vec<String> {
        self.acceptance = Some(key_of(event));
        let content = RowContent::Acceptance {
            text: asked.text.clone(),
            state: AcceptanceState::Asked,
            said: None,
        };
        let knot = new_knot(
            KnotShape::Break,
            KnotTone::Waiting,
            "Accept the result?",
            "waits for you",
        );
        self.plain(event, content, Some(knot))
    }

    pub(super) fn acceptance_resolved(
        &mut self,
        event: &Event,
        resolved: &AcceptanceResolved,
        content: &Content<'_>,
    ) -> Vec<String> {
        let (state, words) = match resolved.accepted {
            true => (AcceptanceState::Accepted, "accepted"),
            false => (AcceptanceState::Refused, "sent back"),
        };
        let said = SaidLine {
            words: words.to_owned(),
            note: content(&resolved.note),
            from: Some(resolved.by),
            at: event.at,
        };
        self.close_acceptance(state, Some(said), &format!("{words} by you"))
    }

    /// Closes the question where the run no longer asks it.
    pub(super) fn acceptance_withdrawn(&mut self) -> Vec<String> {
        if self.run().acceptance != Acceptance::None {
            return Vec::new();
        }
        self.close_acceptance(AcceptanceState::Withdrawn, None, "no longer asked")
    }

    fn close_acceptance(
        &mut self,
        now: AcceptanceState,
        by: Option<SaidLine>,
        detail: &str,
    ) -> Vec<String> {
        let Some(key) = self.acceptance.take() else {
            return Vec::new();
        };
        let Some(row) = self.row_mut(&key) else {
            return Vec::new();
        };
        if let RowContent::Acceptance { state, said, .. } = &mut row.content {
            *state = now;
            *said = by;
        }
        let tone = match now {
            AcceptanceState::Accepted => KnotTone::Good,
            _ => KnotTone::Plain,
        };
        row.knot = Some(new_knot(
            KnotShape::Ring,
            tone,
            "Accept the result?",
            detail,
        ));
        vec![key]
    }

    pub(super) fn rules_changed(&mut self, event: &Event, changed: &PolicyChanged) -> Vec<String> {
        let before = std::mem::replace(&mut self.rules, changed.rules.clone());
        let added = self.lines_beyond(&changed.rules, &before);
        let removed = self.lines_beyond(&before, &changed.rules);
        if added.is_empty() && removed.is_empty() {
            return Vec::new();
        }
        let content = RowContent::Rules {
            text: format!("The rules changed, by {}.", changed.by),
            added,
            removed,
        };
        self.plain(event, content, None)
    }

    /// The rules of `these` that are not among `those`.
    fn lines_beyond(&self, these: &[StandingRule], those: &[StandingRule]) -> Vec<RuleLine> {
        let beyond = these.iter().filter(|rule| !those.contains(rule));
        beyond.map(|rule| self.rule_line(rule)).collect()
    }

    pub(super) fn rule_line(&self, standing: &StandingRule) -> RuleLine {
        let agent = self
            .run()
            .agent()
            .filter(|_| standing.scope == Scope::Agent);
        RuleLine {
            id: standing.id.clone(),
            scope: standing.scope,
            agent: agent.map(|agent| agent.name.clone()).unwrap_or_default(),
            words: policy::in_words(&standing.rule),
            decision: standing.rule.decision,
            tainted: standing.tainted,
        }
    }

    pub(super) fn budget_warned(&mut self, event: &Event, warned: &BudgetWarned) -> Vec<String> {
        let text = words::nearly_used(warned.limit, warned.used, warned.of);
        let content = RowContent::Budget {
            text,
            raised: false,
        };
        self.plain(event, content, None)
    }

    pub(super) fn budget_raised(&mut self, event: &Event, raised: &BudgetRaised) -> Vec<String> {
        let text = words::raised(&raised.limits, raised.by);
        let content = RowContent::Budget { text, raised: true };
        self.plain(event, content, None)
    }

    pub(super) fn side_requested(
        &mut self,
        event: &Event,
        requested: &SideRequested,
    ) -> Vec<String> {
        let mut keys = self.side_lost();
        self.side = Some((key_of(event), requested.purpose));
        let content = RowContent::Side {
            text: words::purpose(requested.purpose).to_owned(),
            model: requested.model.clone(),
            state: SideState::Asked,
            answer: String::new(),
            latency_ms: None,
        };
        keys.extend(self.plain(event, content, None));
        keys
    }

    pub(super) fn side_responded(
        &mut self,
        responded: &SideResponded,
        content: &Content<'_>,
    ) -> Vec<String> {
        let text = content(&responded.text);
        let took = Some(responded.latency_ms);
        let is_summary = matches!(self.side, Some((_, Purpose::Summary)));
        match responded.unusable.as_str() {
            // The row of what was left out says what it says.
            "" if is_summary => self.close_side(SideState::Answered, "", took),
            "" => self.close_side(SideState::Answered, &text, took),
            why => {
                let text = format!("Not used: {why}.\n{text}");
                self.close_side(SideState::Failed, text.trim_end(), took)
            }
        }
    }

    pub(super) fn side_failed(&mut self, failed: &SideFailed) -> Vec<String> {
        self.close_side(SideState::Failed, &failed.message, Some(failed.latency_ms))
    }

    /// The process, or the run, ended before the answer came.
    pub(super) fn side_lost(&mut self) -> Vec<String> {
        let text = "No answer came before it ended; what it cost is not known.";
        self.close_side(SideState::Failed, text, None)
    }

    fn close_side(&mut self, now: SideState, text: &str, took_ms: Option<u32>) -> Vec<String> {
        let Some((key, _)) = self.side.take() else {
            return Vec::new();
        };
        let Some(row) = self.row_mut(&key) else {
            return Vec::new();
        };
        if let RowContent::Side {
            state,
            answer,
            latency_ms,
            ..
        } = &mut row.content
        {
            *state = now;
            *answer = words::cut(text, ROW_TEXT_BYTES);
            *latency_ms = took_ms;
        }
        vec![key]
    }
}
