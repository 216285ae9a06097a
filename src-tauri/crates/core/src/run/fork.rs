//! A fork: a new run that begins with another run's events.

use longrein_protocol::block::{Origin, Trust};
use longrein_protocol::event::{ChangedResult, RunForked};
use longrein_protocol::gate::Scope;
use longrein_protocol::view::KnotShape;
use longrein_protocol::{ActionId, Event, RunId};

use super::{Acceptance, ActionResult, Item, Phase, Request, Reserve, Run, Sharing, Summaries};

/// The events of a run up to and with `seq`, as those of a new run.
pub fn copied(events: impl IntoIterator<Item = Event>, seq: u32, run: RunId) -> Vec<Event> {
    let first = events.into_iter().filter(|event| event.seq <= seq);
    first.map(|event| Event { run, ..event }).collect()
}

impl Run {
    /// What was open at that point stays with the original. What was read, said and spent is
    /// carried along, taint with it; rules for the original alone are not.
    pub(super) fn forked(&mut self, forked: &RunForked) {
        self.settle();
        self.release(self.unsettled);
        self.unsettled = Reserve::default();
        self.side = None;
        self.summaries = Summaries::default();
        let shared_out = self.helpers == Sharing::Working;
        self.close_open("Not carried into this fork: the original run keeps it.");
        if shared_out {
            // What they would have found is still owed: others are begun for it.
            self.helpers = Sharing::None;
        }
        self.end_jobs("the original run keeps it");
        for changed in &forked.results {
            self.change_result(changed);
        }
        self.request = Request::None;
        self.claim = false;
        self.checked = false;
        self.checking = false;
        self.acceptance = Acceptance::None;
        self.exceeded = None;
        self.bad_reply = None;
        // The fork's folder was made of what is recorded, and of nothing else.
        self.files_touched = None;
        self.rules.retain(|rule| rule.scope != Scope::Run);
        self.forgive();
        if let Some(created) = &mut self.created {
            created.workspace.clone_from(&forked.workspace);
            if let Some(agent) = &forked.agent {
                created.agent = (**agent).clone();
                created.agent_hash = crate::agent_file::hash(agent);
                created.window_tokens = agent.model.window_tokens;
            }
            if let Some(model) = &forked.model {
                created.model.clone_from(model);
            }
            created.price = forked.price;
            if forked.model.is_some() {
                created.takes = forked.takes;
            }
        }
        if forked.model.is_some() {
            self.strip_raw();
            self.forget_refusals();
        }
        if forked.agent.is_some() {
            self.begin_limits();
        }
        self.tools_owed = true;
        self.front_changed = true;
        self.phase = Phase::Paused;
        self.knot(KnotShape::Break);
    }

    /// Whether the model still has the result of an action before it, so that it can be changed.
    pub fn has_in_view(&self, action: &ActionId) -> bool {
        let mut closed = self.actions.iter();
        closed.any(|open| open.id == *action && open.result.is_some())
            || self.conversation.numbered().any(|(number, item)| {
                let is_whole = number >= self.conversation.pruned_before;
                is_whole && matches!(item, Item::Result { action: of, .. } if of == action)
            })
    }

    /// From here on the action returned what a person says. Taint stays: it was read all the same.
    fn change_result(&mut self, changed: &ChangedResult) {
        let conversation = &mut self.conversation;
        for item in &mut conversation.items {
            let before = item.bytes();
            let Item::Result { action, result, .. } = item else {
                continue;
            };
            if *action != changed.action {
                continue;
            }
            *result = ActionResult {
                body: changed.result.clone(),
                whole: None,
                file: None,
                media: Vec::new(),
                error: None,
                origin: Origin::Person,
                trust: Trust::Trusted,
                latency_ms: result.latency_ms,
            };
            let after = item.bytes();
            conversation.bytes = (conversation.bytes + after).saturating_sub(before);
        }
        // What is read on in is what was said, and no longer what was kept of it.
        self.results_kept
            .retain(|kept| kept.action != changed.action);
    }
}
