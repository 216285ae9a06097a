//! Calls of tools that a program makes: actions within the action that runs it.

use longrein_protocol::agent::Decision;
use longrein_protocol::event::{ActionDecided, ApprovalWithdrawn, Payload, Within};
use longrein_protocol::gate::ActionFacts;

use super::{Action, ActionStage, Next, Run};

/// Why what a program asked for is not done when the program is gone.
const GONE: &str = "The program that asked for it has ended";

impl Run {
    /// The action that a call of a program has become, as long as the step goes on.
    pub fn call_within(&self, within: &Within) -> Option<&Action> {
        let is_it = |action: &&Action| action.within.as_deref() == Some(within);
        self.actions.iter().find(is_it)
    }

    /// Whether an action runs, and waits for nobody's answer.
    pub fn works(&self, action: &Action) -> bool {
        action.runs() && !self.is_held(action)
    }

    /// Whether an action runs a program all of whose calls wait for a person.
    pub fn is_held(&self, action: &Action) -> bool {
        let mut open = self
            .actions
            .iter()
            .filter(|call| call.is_within(&action.id) && call.stage != ActionStage::Closed)
            .peekable();
        open.peek().is_some()
            && open.all(|call| matches!(call.stage, ActionStage::Asked | ActionStage::Uncertain))
    }

    /// Whether a program waits for a person's answer.
    pub fn holds_a_program(&self) -> bool {
        let held = |action: &Action| action.stage == ActionStage::Started && self.is_held(action);
        self.actions.iter().any(held)
    }

    /// What a program asked for that has ended is neither asked nor done any more.
    pub(super) fn next_of_orphans(&self) -> Option<Next> {
        let ended = |action: &&Action| {
            let program = action.within.as_ref();
            let program = program.and_then(|within| self.action(&within.action));
            program.is_some_and(|program| program.stage == ActionStage::Closed)
        };
        let orphans = self.actions.iter().filter(ended);
        let closing = orphans.filter_map(|action| match action.stage {
            ActionStage::Asked => Some(Payload::from(ApprovalWithdrawn {
                action: action.id.clone(),
                why: format!("{GONE}."),
            })),
            ActionStage::Proposed | ActionStage::Allowed => Some(Payload::from(ActionDecided {
                action: action.id.clone(),
                decision: Decision::Deny,
                why: GONE.to_owned(),
                checks: Vec::new(),
                facts: ActionFacts::default(),
            })),
            _ => None,
        });
        let closing: Vec<Payload> = closing.collect();
        (!closing.is_empty()).then_some(Next::Append(closing))
    }
}
