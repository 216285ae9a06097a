//! Calls of tools that a program makes, which are actions within the action that runs it. Each is
//! proposed, decided, started and finished as the model's own are; the program is told what came of
//! it once that is on disk, as often as it asks.

use std::collections::HashMap;

use longrein_core::policy::{PROGRAM_CALLS, is_callable};
use longrein_core::run::{Action, ActionStage, Next, Phase, WaitsFor};
use longrein_protocol::event::{ActionProposed, ActionRejected, Within};
use longrein_protocol::gate::Actor;
use longrein_protocol::tool::wire_name;
use longrein_protocol::{ActionId, Body};
use tokio::sync::oneshot;

use crate::calling::Calling;
use crate::driver::{DriveError, Driver};
use crate::ports::{CallEnd, ToolError};
use crate::wire;

/// A program calls a tool, on its way to the driver.
#[derive(Debug)]
pub(crate) struct Called {
    within: Within,
    tool: String,
    arguments: String,
    end: oneshot::Sender<CallEnd>,
}

impl Called {
    /// A call, and where what comes of it is told.
    pub(crate) fn new(
        within: Within,
        tool: String,
        arguments: String,
    ) -> (Self, oneshot::Receiver<CallEnd>) {
        let (end, told) = oneshot::channel();
        let called = Self {
            within,
            tool,
            arguments,
            end,
        };
        (called, told)
    }
}

/// Who is to be told what came of calls.
#[derive(Default)]
pub(crate) struct Callers(HashMap<ActionId, Vec<oneshot::Sender<CallEnd>>>);

impl Driver {
    /// Takes a call: one that is known is told what came of it, another becomes an action.
    pub(crate) async fn called(&mut self, called: Called) -> Result<(), DriveError> {
        let runs = |action: &Action| action.stage == ActionStage::Started;
        let going = self.run.phase == Phase::Going;
        if !going || !self.run.action(&called.within.action).is_some_and(runs) {
            return Ok(());
        }
        let known = self.run.call_within(&called.within);
        let id = match known.map(|action| action.id.clone()) {
            Some(id) => id,
            None => {
                if self.tools.is_none() {
                    self.reveal().await?;
                }
                if self.run.phase != Phase::Going {
                    return Ok(());
                }
                self.propose_within(called.within, called.tool, called.arguments)?
            }
        };
        self.callers.0.entry(id).or_default().push(called.end);
        Ok(())
    }

    /// Programs whose calls wait for a person stand still when nothing else goes on.
    pub(crate) fn hold_programs(&self, next: &Next) {
        let holds = *next == Next::Wait(WaitsFor::Person) && self.run.holds_a_program();
        self.held
            .send_if_modified(|held| std::mem::replace(held, holds) != holds);
    }

    fn propose_within(
        &mut self,
        within: Within,
        tool: String,
        mut arguments: String,
    ) -> Result<ActionId, DriveError> {
        self.ports.world.masker().text(&mut arguments);
        let action = ActionId::from_random(self.ports.chance.random());
        let call = within.number.to_string();
        let checked = match self.refused_within(&tool) {
            Some(why) => Err(why),
            None => {
                let checked = self.checked_call(&wire_name(&tool), &arguments);
                checked.map_err(|error| error.to_string())
            }
        };
        let (arguments, blob) = Body::of(arguments);
        self.keep(blob);
        let within = Some(Box::new(within));
        match checked {
            Ok(Calling { spec, .. }) => {
                self.meet(&spec)?;
                self.record(ActionProposed {
                    action: action.clone(),
                    call,
                    tool: spec.name,
                    arguments,
                    effect: spec.effect,
                    repeat: spec.repeat,
                    by: Actor::Program,
                    undoes: None,
                    within,
                })?
            }
            Err(error) => self.record(ActionRejected {
                action: action.clone(),
                call,
                tool,
                arguments,
                error,
                within,
            })?,
        }
        Ok(action)
    }

    /// Why a program may not make a call at all.
    fn refused_within(&self, tool: &str) -> Option<String> {
        let by_programs = |action: &&Action| action.by == Actor::Program;
        let calls = self.run.actions.iter().filter(by_programs).count();
        if !is_callable(tool) {
            return Some(format!("A program can't call {tool}."));
        }
        (calls >= PROGRAM_CALLS).then(|| {
            format!("Programs have made {calls} calls in this step, and may make no more of them.")
        })
    }

    /// Tells what came of calls and is on disk.
    pub(crate) async fn tell_callers(&mut self) -> Result<(), DriveError> {
        let is_over = |id: &&ActionId| {
            let action = self.run.action(id);
            action.is_none_or(|action| action.stage == ActionStage::Closed)
        };
        let over: Vec<ActionId> = self.callers.0.keys().filter(is_over).cloned().collect();
        for id in over {
            let callers = self.callers.0.remove(&id).unwrap_or_default();
            let result = self.run.action(&id).and_then(|call| call.result.clone());
            // Of a step that is over nobody is told: its program has ended.
            let Some(result) = result else { continue };
            let body = result.whole.as_ref().unwrap_or(&result.body);
            let text = wire::body_text(&*self.ports.log, body).await?;
            for caller in callers {
                let end = match result.error {
                    None => Ok(text.clone()),
                    Some(class) => Err(ToolError::new(class, text.clone())),
                };
                // The program may have ended meanwhile.
                let _ = caller.send(end);
            }
        }
        Ok(())
    }
}
