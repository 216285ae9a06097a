//! Stages: the fixed path of an agent's work. The harness goes on to the next stage when the
//! criteria of this one hold, not when the model says so.

use std::cmp::Ordering;
use std::fmt::Write as _;

use longrein_protocol::agent::{Criterion, Each, Stage};
use longrein_protocol::event::{ChildEnd, HandoffReason, StageEntered};
use longrein_protocol::gate::Actor;
use longrein_protocol::source::{PlanItem, PlanState};
use longrein_protocol::view::{KnotShape, StageLine};
use longrein_protocol::{ActionId, Body, Payload};
use serde_json::json;

use super::children::TASKS;
use super::next::{DELEGATE, Next};
use super::{Action, Item, PendingCall, Phase, Run};
use crate::policy;

/// The longest title of a helper's task, in characters.
const TITLE_CHARS: usize = 120;

/// What the ids of calls begin with that the harness makes because a stage says so.
pub const STAGE_CALL: &str = "stage-";

/// How far the helpers of a stage are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Sharing {
    /// None were asked for, though the stage may want some.
    #[default]
    None,
    /// They work.
    Working,
    /// All have ended; whether one of them found something.
    Back {
        /// Whether one of them did its part.
        found: bool,
    },
    /// The person stepped in: the model goes on with the stage itself.
    Left,
}

impl Run {
    /// The stage that the run is in; `None` for an agent without stages, and before the first.
    pub fn stage(&self) -> Option<&Stage> {
        let place = self.stage_number.checked_sub(1)?;
        self.agent()?.stages.get(place as usize)
    }

    /// The stages of the agent.
    pub fn stages(&self) -> &[Stage] {
        self.agent().map_or(&[], |agent| &agent.stages)
    }

    /// The criteria that are checked when the model claims to be done: those of the stage, and in the
    /// last stage, or where there are none, those of the agent.
    pub fn criteria(&self) -> &[Criterion] {
        match (self.stage(), self.is_last_stage()) {
            (Some(stage), false) => &stage.done_when,
            _ => self.agent().map_or(&[], |agent| &agent.done_when),
        }
    }

    /// Why a tool can't be used now: the stage has others. `None` where it can.
    pub(crate) fn not_of_stage(&self, action: &Action) -> Option<String> {
        let stage = self.stage()?;
        let ordered = matches!(action.by, Actor::Person | Actor::Harness);
        if ordered || stage.tools.is_empty() {
            return None;
        }
        let effect = self.tool(&action.tool).map(|spec| spec.effect);
        let has = policy::is_granted(&stage.tools, &action.tool, effect);
        (!has).then(|| {
            format!(
                "{} is not for the stage “{}”, which has {}",
                action.tool,
                stage.name,
                stage.tools.join(", ")
            )
        })
    }

    /// Every stage with how far it is.
    pub(crate) fn stage_lines(&self) -> Vec<StageLine> {
        let now = self.stage_number;
        let ended = matches!(self.phase, Phase::Finished(_));
        let stages = (1..).zip(self.stages());
        let lines = stages.map(|(number, stage)| StageLine {
            name: stage.name.clone(),
            state: match number.cmp(&now) {
                Ordering::Less => PlanState::Done,
                Ordering::Equal if ended => PlanState::Done,
                Ordering::Equal => PlanState::Doing,
                Ordering::Greater => PlanState::Open,
            },
        });
        lines.collect()
    }

    fn is_last_stage(&self) -> bool {
        self.stage_number as usize >= self.stages().len()
    }

    /// What the path owes before the next request.
    pub(super) fn next_of_stage(&self) -> Option<Next> {
        if self.stages().is_empty() {
            return None;
        }
        let Some(stage) = self.stage() else {
            return Some(Next::Append(self.entering()));
        };
        stage.each?;
        match self.helpers {
            Sharing::None => Some(Next::Propose(self.call_for_helpers(stage))),
            Sharing::Back { found: false } => Some(self.hand_off(
                HandoffReason::NoProgress,
                format!("No helper of the stage “{}” did its part.", stage.name),
                "Say what to do instead: the agent goes on with the stage itself.",
            )),
            Sharing::Back { found: true } if stage.done_when.is_empty() => {
                let entering = self.entering();
                (!entering.is_empty()).then_some(Next::Append(entering))
            }
            Sharing::Back { found: true } | Sharing::Working | Sharing::Left => None,
        }
    }

    /// The beginning of the next stage; nothing where this is the last.
    pub(super) fn entering(&self) -> Vec<Payload> {
        let next = self.stages().get(self.stage_number as usize);
        let entered = next.map(|stage| StageEntered {
            stage: self.stage_number + 1,
            name: stage.name.clone(),
        });
        entered.into_iter().map(Payload::from).collect()
    }

    /// What keeps the next stage from its list of parts, as the model is told.
    pub(super) fn unfit_for_next_stage(&self) -> Option<String> {
        let next = self.stages().get(self.stage_number as usize)?;
        next.each?;
        let (open, most) = (self.parts(next).count(), self.most_helpers());
        let takes = format!(
            "The next stage, “{}”, gives each open item of the plan to a helper of its own",
            next.name
        );
        if open == 0 {
            return Some(format!(
                "{takes}, and no item is open: write one for each part with update_plan."
            ));
        }
        (open > most).then(|| {
            format!(
                "{takes}, at most {most}, and {open} are open: merge some, or set them to dropped."
            )
        })
    }

    fn most_helpers(&self) -> usize {
        let limit = self.agent().map_or(0, |agent| agent.budget.children);
        let left = limit.saturating_sub(self.children.len() as u32);
        TASKS.min(left as usize)
    }

    /// The items of the list that a stage works on.
    fn parts(&self, stage: &Stage) -> impl Iterator<Item = &PlanItem> {
        let of_plan = stage.each == Some(Each::Plan);
        let open = |item: &&PlanItem| matches!(item.state, PlanState::Open | PlanState::Doing);
        self.plan.iter().filter(move |_| of_plan).filter(open)
    }

    /// The delegation of a stage: each part to a helper of its own.
    fn call_for_helpers(&self, stage: &Stage) -> PendingCall {
        let tasks = self.parts(stage).map(|item| {
            let title: String = item.text.chars().take(TITLE_CHARS).collect();
            let brief = format!(
                "{}\n\nThe whole piece of work: {}\nYour part of it: {}",
                stage.instructions.trim(),
                self.whole_question(),
                item.text
            );
            let mut task = json!({"title": title, "brief": brief});
            if !stage.tools.is_empty() {
                task["tools"] = json!(stage.tools);
            }
            task
        });
        let tasks: Vec<_> = tasks.take(self.most_helpers()).collect();
        PendingCall {
            call: self.stage_call(),
            name: DELEGATE.to_owned(),
            arguments: Body::Text(json!({"tasks": tasks}).to_string()),
            by: Actor::Harness,
        }
    }

    /// The whole question; of one that the state does not hold, its first line.
    fn whole_question(&self) -> &str {
        let kept = self.conversation.kept.iter();
        let items = self.conversation.items.iter();
        let mut said = kept.chain(items.filter_map(|item| match item {
            Item::Person(words) => Some(words),
            _ => None,
        }));
        match said.next().map(|words| &words.body) {
            Some(Body::Text(question)) => question,
            _ => &self.title,
        }
    }

    /// The name of the call that the harness makes in this stage.
    fn stage_call(&self) -> String {
        format!("{STAGE_CALL}{}", self.stage_number)
    }

    /// Whether a call is the one that the harness owes in this stage.
    pub(super) fn owes_helpers(&self, call: &str) -> bool {
        let wants = self.stage().is_some_and(|stage| stage.each.is_some());
        wants && self.helpers == Sharing::None && call == self.stage_call()
    }

    pub(super) fn helpers_end(&mut self, delegation: &ActionId) {
        let did = |end: ChildEnd| matches!(end, ChildEnd::Accepted | ChildEnd::Unverified);
        let mut ended = self
            .children
            .iter()
            .filter(|child| child.action == *delegation)
            .filter_map(|child| child.ended.as_ref());
        let found = ended.any(|end| did(end.end));
        self.helpers = Sharing::Back { found };
    }

    /// The person stepped in: what the helpers left undone is the model's from here on.
    pub(super) fn leave_helpers(&mut self) {
        if self.helpers != Sharing::None && self.helpers != (Sharing::Back { found: true }) {
            self.helpers = Sharing::Left;
        }
    }

    pub(super) fn stage_entered(&mut self, entered: &StageEntered) {
        self.stage_number = entered.stage;
        self.helpers = Sharing::None;
        self.verifications = 0;
        self.results.clear();
        self.checked = false;
        self.progressed = true;
        self.say(Item::Notice(Body::Text(self.stage_in_words())));
        self.knot(KnotShape::Square);
    }

    /// What the model is told of the stage that it is in.
    pub(crate) fn stage_in_words(&self) -> String {
        let (Some(stage), stages) = (self.stage(), self.stages()) else {
            return String::new();
        };
        let (number, of) = (self.stage_number, stages.len());
        let mut text = format!("Stage {number} of {of}: {}.", stage.name);
        if stage.each.is_some() {
            text.push_str(
                " Each open item of the plan is given to a helper of its own. You are shown what they report.",
            );
        }
        let instructions = stage.instructions.trim();
        if !instructions.is_empty() {
            let _ = write!(text, "\n{instructions}");
        }
        if !stage.tools.is_empty() {
            let _ = write!(text, "\nTools of this stage: {}.", stage.tools.join(", "));
        }
        let criteria = self.criteria();
        if !criteria.is_empty() {
            text.push_str("\nIt is done when:");
        }
        for criterion in criteria {
            let _ = write!(text, "\n- {}", criterion.in_words());
        }
        if let Some(next) = stages.get(number as usize) {
            let _ = write!(
                text,
                "\nCall finish when this stage is done: the harness checks it and begins the next, {}.",
                next.name
            );
        }
        text
    }
}
