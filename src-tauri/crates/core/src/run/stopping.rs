//! What stops a run by rule: repetition, steps that change nothing, one denial after the other.

use longrein_protocol::event::{HandoffReason, LoopDetected, NoticeGiven};
use longrein_protocol::source::PlanItem;
use longrein_protocol::{BlobHash, Payload};

use super::next::{Next, inline};
use super::{Action, ActionResult, LoopOwed, Run};

/// The same action with the same result this often: the model is told.
pub const LOOP_WARNING: u32 = 3;
/// The same action with the same result this often: the run is handed off.
pub const LOOP_LIMIT: u32 = 5;
/// The longest cycle of actions that is looked for.
pub const LOOP_CYCLE: usize = 4;
/// A cycle that came this often: the run is handed off.
pub const LOOP_CYCLE_TIMES: usize = 3;
/// Denials by policy in a row: the run is handed off.
pub const DENIALS_LIMIT: u32 = 5;

impl Run {
    /// Takes note of an action that ended, in the order of the calls.
    pub(super) fn note_repeat(&mut self, action: &Action, result: &ActionResult) {
        let identity = identity(action, result);
        if self.recent.len() == LOOP_CYCLE * LOOP_CYCLE_TIMES {
            self.recent.pop_front();
        }
        self.recent.push_back((identity, action.tool.clone()));
        if let Some(owed) = self.repetition() {
            self.loop_owed = Some(owed);
        }
    }

    fn repetition(&self) -> Option<LoopOwed> {
        let last = self.recent.back()?;
        let same = self.recent.iter().rev().take_while(|seen| *seen == last);
        let times = same.count() as u32;
        if times >= LOOP_WARNING {
            return Some(LoopOwed {
                tools: last.1.clone(),
                times,
                over: times >= LOOP_LIMIT,
            });
        }
        let cycle = (2..=LOOP_CYCLE).find(|length| self.is_cycle(*length))?;
        let tools = self.recent.iter().skip(self.recent.len() - cycle);
        let tools: Vec<&str> = tools.map(|(_, tool)| tool.as_str()).collect();
        Some(LoopOwed {
            tools: tools.join(", "),
            times: LOOP_CYCLE_TIMES as u32,
            over: true,
        })
    }

    fn is_cycle(&self, length: usize) -> bool {
        let needed = length * LOOP_CYCLE_TIMES;
        let Some(first) = self.recent.len().checked_sub(needed) else {
            return false;
        };
        (first + length..self.recent.len())
            .all(|place| self.recent[place] == self.recent[place - length])
    }

    /// What a repetition, a standstill or refusals owe before the next request.
    pub(super) fn next_of_stopping(&self) -> Option<Next> {
        if let Some(owed) = &self.loop_owed {
            return Some(self.loop_step(owed));
        }
        if self.denials >= DENIALS_LIMIT {
            let message = format!("Policy refused {} actions in a row.", self.denials);
            let remedy = "Say what to do instead, or change the rules.";
            return Some(self.hand_off(HandoffReason::Denied, message, remedy));
        }
        let limit = self.agent()?.budget.idle_steps.filter(|limit| *limit > 0)?;
        if self.idle >= limit {
            let message = format!(
                "{} steps in a row changed nothing: no plan, file, source or artifact.",
                self.idle
            );
            let remedy = "Say what to do differently.";
            return Some(self.hand_off(HandoffReason::NoProgress, message, remedy));
        }
        if self.idle >= limit.div_ceil(2) && self.idle_told < limit.div_ceil(2) {
            let text = format!(
                "The last {} steps changed nothing: no plan, file, source or artifact. Update the plan, deliver what there is, or ask the person.",
                self.idle
            );
            return Some(Next::Append(vec![
                NoticeGiven { text: inline(text) }.into(),
            ]));
        }
        None
    }

    fn loop_step(&self, owed: &LoopOwed) -> Next {
        let LoopOwed { tools, times, over } = owed;
        let detected: Payload = LoopDetected {
            tool: tools.clone(),
            times: *times,
        }
        .into();
        if *over {
            let message = format!("{tools} gave the same result {times} times in a row.");
            let off = self.handoff(HandoffReason::Loop, message, "Say what to do differently.");
            return Next::Append(vec![detected, off]);
        }
        let text =
            format!("{tools} has now given the same result {times} times. Do something else.");
        Next::Append(vec![detected, NoticeGiven { text: inline(text) }.into()])
    }

    pub(super) fn planned(&mut self, items: &[PlanItem]) {
        self.progressed |= self.plan != items;
        self.plan = items.to_vec();
    }

    /// A person spoke: what was counted against the model is forgiven.
    pub(super) fn forgive(&mut self) {
        self.recent.clear();
        self.loop_owed = None;
        self.denials = 0;
        self.idle = 0;
        self.idle_told = 0;
    }

    /// Counts a step that ended.
    pub(super) fn count_idle(&mut self) {
        if std::mem::take(&mut self.progressed) {
            self.idle = 0;
            self.idle_told = 0;
        } else {
            self.idle += 1;
        }
    }
}

/// What makes two actions the same: tool, arguments and result.
fn identity(action: &Action, result: &ActionResult) -> BlobHash {
    let (arguments, result) = (action.arguments.hash(), result.body.hash());
    let mut identity = Vec::with_capacity(action.tool.len() + 64);
    identity.extend_from_slice(action.tool.as_bytes());
    identity.extend_from_slice(&arguments.0);
    identity.extend_from_slice(&result.0);
    BlobHash::of(&identity)
}
