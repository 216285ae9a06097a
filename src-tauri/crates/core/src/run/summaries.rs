//! Folding the requests by which the older part of the conversation is summarised.

use longrein_protocol::Millis;
use longrein_protocol::event::{Purpose, SideFailed, SideRequested, SideResponded};

use super::{Pause, Reserve, Run};

/// How often a summary is asked for between two answers of the run's own model. After that older
/// parts are left out without one.
pub const SUMMARY_ATTEMPTS: u32 = 3;

/// What became of the summaries that were asked for since the run's model last answered.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Summaries {
    /// How often one was asked for; what was lost with its process does not count.
    pub asked: u32,
    /// While one is being written: the items before this one are what it is of.
    pub before: Option<u32>,
    /// The model that writes, or wrote, the last one.
    pub model: String,
    /// The wait before it is asked for again.
    pub retry: Option<Pause>,
    /// Why the last one is not used, without a full stop; empty before.
    pub why: String,
    /// Whether the last one was answered, so that the model can be told what was wrong with it.
    pub answered: bool,
}

impl Run {
    /// Whether a summary may still be asked for in this step.
    pub(crate) fn may_summarise(&self) -> bool {
        let wants = self.agent().is_some_and(|agent| agent.context.summaries);
        wants && self.summaries.asked < SUMMARY_ATTEMPTS
    }

    pub(super) fn side_requested(&mut self, requested: &SideRequested) {
        let reserve = Reserve {
            tokens_in: requested.reserved_in,
            tokens_out: requested.reserved_out,
            money_micro: requested.reserved_micro,
        };
        self.hold(reserve);
        self.side = Some(reserve);
        self.side_price = requested.price;
        if requested.purpose == Purpose::Summary {
            let summaries = &mut self.summaries;
            summaries.asked += 1;
            summaries.before = Some(requested.before);
            summaries.retry = None;
            summaries.model.clone_from(&requested.model);
        }
    }

    pub(super) fn side_responded(&mut self, responded: &SideResponded) {
        self.settle_side();
        let price = self.side_price.take();
        self.spend_at(responded.usage, responded.latency_ms, price);
        let is_summary = self.summaries.before.take().is_some();
        if is_summary && !responded.unusable.is_empty() {
            self.summaries.why.clone_from(&responded.unusable);
            self.summaries.answered = true;
        }
    }

    pub(super) fn side_failed(&mut self, at: Millis, failed: &SideFailed) {
        match failed.cost_unknown {
            true => self.side = None,
            false => self.settle_side(),
        }
        if self.summaries.before.take().is_none() {
            return;
        }
        failed
            .message
            .trim_end_matches('.')
            .clone_into(&mut self.summaries.why);
        self.summaries.answered = false;
        match failed.retry_at {
            Some(until) => self.summaries.retry = Some(Pause { since: at, until }),
            // What is not to be asked again is not.
            None => self.summaries.asked = SUMMARY_ATTEMPTS,
        }
    }

    fn settle_side(&mut self) {
        if let Some(reserve) = self.side.take() {
            self.release(reserve);
        }
    }

    /// The process ended while one was being written: nobody knows what it used, and it does not
    /// count as asked for.
    pub(super) fn lose_side(&mut self) {
        self.side = None;
        if self.summaries.before.take().is_some() {
            self.summaries.asked -= u32::from(self.summaries.asked > 0);
        }
    }
}
