//! Calls of tools that a program makes: actions within the action that runs it.

use longrein_protocol::agent::Decision;
use longrein_protocol::block::{Origin, Trust};
use longrein_protocol::event::{
    ActionDecided, ActionFinished, ApprovalWithdrawn, Payload, ReplayedCall, Within,
};
use longrein_protocol::gate::ActionFacts;
use longrein_protocol::tool::{Effect, Repeat};
use longrein_protocol::{ActionId, BlobHash, Body, ToolErrorClass};

use super::{Action, ActionStage, Next, Run};

/// Why what a program asked for is not done when the program is gone.
const GONE: &str = "The program that asked for it has ended";
/// Why it is not done when the program was begun anew, on the files as they were.
const ANEW: &str = "The program that asked for it was begun anew, and asks for it again";

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

    /// Whether an action runs a program of which nothing can go on before a person has answered:
    /// each of its calls waits for one, or may not start before a call that does.
    pub fn is_held(&self, action: &Action) -> bool {
        let open = self
            .calls_of(action)
            .filter(|call| call.is_of_life(action) && call.stage != ActionStage::Closed);
        let (mut waits, mut any_before, mut changes_before) = (false, false, false);
        for call in open {
            let reads = call.effect == Effect::Read;
            let is_behind = any_before && (changes_before || !reads);
            match call.stage {
                ActionStage::Asked | ActionStage::Uncertain => waits = true,
                ActionStage::Allowed if is_behind => {}
                _ => return false,
            }
            any_before = true;
            changes_before |= !reads;
        }
        waits
    }

    /// Whether a program waits for a person's answer.
    pub fn holds_a_program(&self) -> bool {
        let held = |action: &Action| action.stage == ActionStage::Started && self.is_held(action);
        self.actions.iter().any(held)
    }

    /// The calls of the program that an action runs.
    fn calls_of(&self, program: &Action) -> impl Iterator<Item = &Action> {
        let id = program.id.clone();
        self.actions.iter().filter(move |call| call.is_within(&id))
    }

    /// The program of a call.
    fn program_of(&self, call: &Action) -> Option<&Action> {
        self.action(&call.within.as_ref()?.action)
    }

    /// Whether an action is a call of a program that was begun anew since, and has not asked for it
    /// again.
    pub(super) fn is_of_before(&self, call: &Action) -> bool {
        let program = self.program_of(call);
        program.is_some_and(|program| {
            program.stage != ActionStage::Closed && !call.is_of_life(program)
        })
    }

    /// Whether a program waits for a call that it made since it was last begun.
    pub fn waits_for_calls(&self, program: &ActionId) -> bool {
        self.action(program).is_some_and(|program| {
            let mut calls = self.calls_of(program);
            calls.any(|call| call.is_of_life(program) && call.stage != ActionStage::Closed)
        })
    }

    /// Whether a call of a program is on its way.
    pub(super) fn is_calling(&self, program: &Action) -> bool {
        self.calls_of(program)
            .any(|call| call.stage == ActionStage::Started)
    }

    /// What a program that was begun anew asked for before in the same words, and not yet again.
    /// What can be repeated and changes something is none of it: it is done again, since the files
    /// are as they were before.
    pub fn on_record(&self, program: &ActionId, tool: &str, called: BlobHash) -> Option<&Action> {
        let program = self.action(program)?;
        self.calls_of(program).find(|call| {
            let is_it = call.tool == tool && call.called == Some(called);
            is_it && !call.is_of_life(program) && !call.is_redone()
        })
    }

    /// What a program that was begun anew did before, or may have, that is never done twice, and has
    /// not asked for again. As long as there is any, nothing that it did not ask for before is done.
    pub fn left_of_before(&self, program: &ActionId) -> Vec<&Action> {
        let Some(program) = self.action(program) else {
            return Vec::new();
        };
        let left = self.calls_of(program);
        left.filter(|call| !call.is_of_life(program) && call.is_never_redone())
            .collect()
    }

    /// What an action began is gone: its next start begins it anew. What a program does again then
    /// counts once, since what it did before is taken back.
    pub(super) fn begin_anew(&mut self, id: &ActionId) {
        let Some(program) = self.action(id) else {
            return;
        };
        let calls = self.calls_of(program);
        let counted =
            calls.filter(|call| call.is_of_life(program) && call.is_redone() && call.attempt > 0);
        let counted = u32::try_from(counted.count()).unwrap_or(u32::MAX);
        self.used.actions = self.used.actions.saturating_sub(counted);
        self.with_action(id, |action| {
            action.lives += 1;
            action.life = None;
        });
    }

    /// What an earlier life of a program asked for is what the one of now asks for.
    pub(super) fn replayed(&mut self, program: &ActionId, replayed: &ReplayedCall) {
        let life = self.action(program).map_or(0, |program| program.lives);
        let within = Within {
            action: program.clone(),
            number: replayed.number,
            life,
        };
        self.with_action(&replayed.call, |call| call.within = Some(Box::new(within)));
    }

    /// What a program asked for that has ended is neither asked nor done any more; nor what one
    /// asked for before it was begun anew and does again.
    pub(super) fn next_of_orphans(&self) -> Option<Next> {
        let orphans = self.actions.iter().filter_map(|action| {
            let ended = self.program_of(action)?.stage == ActionStage::Closed;
            match ended {
                true => Some((action, GONE)),
                false => {
                    (self.is_of_before(action) && action.is_redone()).then_some((action, ANEW))
                }
            }
        });
        let closing = orphans.filter_map(|(action, why)| closed(action, why));
        let closing: Vec<Payload> = closing.collect();
        (!closing.is_empty()).then_some(Next::Append(closing))
    }
}

impl Action {
    /// Whether it is a call of the program that this action runs.
    pub fn is_within(&self, action: &ActionId) -> bool {
        let within = self.within.as_ref();
        within.is_some_and(|within| within.action == *action)
    }

    /// Whether its next start begins anew what is gone.
    pub fn begins_anew(&self) -> bool {
        self.lives > 0 && self.life.is_none()
    }

    /// Whether it is a call that a program made since it was last begun.
    fn is_of_life(&self, program: &Action) -> bool {
        let within = self.within.as_ref();
        within.is_some_and(|within| within.life == program.lives)
    }

    /// Whether it changes something, and may be done again.
    fn is_redone(&self) -> bool {
        self.effect != Effect::Read && self.repeat == Repeat::Repeatable
    }

    /// Whether it changes something, may not be done again and happened, or may have.
    fn is_never_redone(&self) -> bool {
        use ActionStage::{Closed, Lost, Started, Uncertain};
        let changes = self.effect != Effect::Read && self.repeat != Repeat::Repeatable;
        let error = self.result.as_ref().and_then(|result| result.error);
        let happened = match self.stage {
            Started | Lost | Uncertain => true,
            Closed => matches!(error, None | Some(ToolErrorClass::Cancelled)),
            _ => false,
        };
        changes && happened && self.attempt > 0
    }
}

/// What ends a call that nobody waits for any more.
fn closed(action: &Action, why: &str) -> Option<Payload> {
    let id = action.id.clone();
    Some(match action.stage {
        ActionStage::Asked => Payload::from(ApprovalWithdrawn {
            action: id,
            why: format!("{why}."),
        }),
        ActionStage::Proposed | ActionStage::Allowed => Payload::from(ActionDecided {
            action: id,
            decision: Decision::Deny,
            why: why.to_owned(),
            checks: Vec::new(),
            facts: ActionFacts::default(),
        }),
        ActionStage::Lost if action.is_redone() => Payload::from(ActionFinished {
            action: id,
            error: Some(ToolErrorClass::Cancelled),
            result: Body::Text(format!("{why}.")),
            shown: None,
            file: None,
            media: Vec::new(),
            outcome: String::new(),
            origin: Origin::Harness,
            trust: Trust::Trusted,
            receipt: None,
            latency_ms: 0,
        }),
        _ => return None,
    })
}
