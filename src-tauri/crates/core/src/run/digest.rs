//! Where the work stands, for the person to whom a run is handed.

use longrein_protocol::Payload;
use longrein_protocol::event::{Digest, HandoffReason, RunHandedOff};
use longrein_protocol::source::PlanState;

use super::next::Next;
use super::{Acceptance, ActionStage, Run};
use crate::view::{dollars, thousands};

/// The most lines of each part.
const LINES: usize = 12;
/// The most characters of a line.
const LINE_CHARS: usize = 160;

impl Run {
    /// The event by which a run is handed to a person.
    pub fn handoff(&self, reason: HandoffReason, message: String, remedy: &str) -> Payload {
        RunHandedOff {
            reason,
            message,
            remedy: remedy.to_owned(),
            digest: Some(self.digest()),
        }
        .into()
    }

    pub(super) fn hand_off(&self, reason: HandoffReason, message: String, remedy: &str) -> Next {
        Next::Append(vec![self.handoff(reason, message, remedy)])
    }

    /// What was done, what is open, and what it would cost to go on.
    pub fn digest(&self) -> Digest {
        let planned = |done: bool| {
            self.plan
                .iter()
                .filter(move |item| match item.state {
                    PlanState::Done => done,
                    PlanState::Open | PlanState::Doing => !done,
                    PlanState::Dropped => false,
                })
                .map(|item| item.text.clone())
        };
        let delivered = self
            .artifacts
            .iter()
            .map(|artifact| format!("{} is delivered", artifact.path));
        Digest {
            done: lines(planned(true).chain(delivered)),
            open: lines(planned(false).chain(self.open_ends())),
            cost: self.cost_to_go_on(planned(false).count()),
        }
    }

    fn open_ends(&self) -> impl Iterator<Item = String> {
        let actions = self.actions.iter().filter_map(|action| {
            let what = match action.stage {
                ActionStage::Closed => return None,
                ActionStage::Asked => "waits for an approval",
                ActionStage::Questioned => "waits for an answer",
                ActionStage::Uncertain => "may or may not have happened",
                ActionStage::Started | ActionStage::Lost => "was started",
                ActionStage::Proposed | ActionStage::ToAsk | ActionStage::Allowed => {
                    "was not started"
                }
            };
            Some(format!("{} {what}", action.tool))
        });
        let criteria = self.results.iter().filter(|result| !result.holds);
        let criteria = criteria.map(|result| format!("does not hold yet: {}", result.criterion));
        let accepts = match &self.acceptance {
            Acceptance::Asked(text) => Some(format!("waits to be accepted: {text}")),
            Acceptance::None => None,
        };
        actions.chain(criteria).chain(accepts)
    }

    fn cost_to_go_on(&self, open: usize) -> String {
        let steps = self.used.steps.max(1);
        let (input, output) = self.tokens_known();
        let mut words = format!(
            "A step took {} tokens in and {} out on average",
            thousands((input / steps).into()),
            thousands((output / steps).into())
        );
        match self.money_known() {
            Some(micro) => words.push_str(&format!(", {}", dollars(micro / u64::from(steps)))),
            None => words.push_str("; what it cost is not known"),
        }
        if open > 0 {
            let items = if open == 1 {
                "item of the plan is"
            } else {
                "items of the plan are"
            };
            words.push_str(&format!(". {open} {items} open"));
        }
        words.push('.');
        words
    }
}

fn lines(all: impl Iterator<Item = String>) -> Vec<String> {
    all.take(LINES)
        .map(|line| match line.char_indices().nth(LINE_CHARS) {
            Some((end, _)) => format!("{}…", line[..end].trim_end()),
            None => line,
        })
        .collect()
}
