//! Calls of tools that a program makes, which are actions within the action that runs it. Each is
//! proposed, decided, started and finished as the model's own are; the program is told what came of
//! it once that is on disk, as often as it asks.

use std::collections::HashMap;
use std::time::Duration;

use longrein_core::policy::{PROGRAM_CALLS, is_callable};
use longrein_core::run::{Action, ActionStage, Next, Phase, WaitsFor};
use longrein_protocol::body::NewBlob;
use longrein_protocol::event::{
    ActionLost, ActionProgressed, ActionProposed, ActionRejected, ActionUncertain, Payload,
    Progress, ReplayedCall, Within,
};
use longrein_protocol::gate::Actor;
use longrein_protocol::tool::{Effect, Repeat, wire_name};
use longrein_protocol::wish::Wish;
use longrein_protocol::{ActionId, BlobHash, Body, ToolErrorClass, ToolSpec};
use tokio::sync::oneshot;

use crate::calling::Calling;
use crate::driver::{DriveError, Driver, Message};
use crate::ports::{CallEnd, ToolError};
use crate::wire;
use crate::world::BadCall;

/// How long a program that was begun anew may ask for nothing that it did before, while it waits for
/// something that it did not ask for then.
const HELD: Duration = Duration::from_secs(30);
/// How many of the calls that are in doubt are named.
const NAMED_MAX: usize = 3;
/// The bytes of arguments that are shown.
const BRIEF_BYTES: usize = 200;
/// The bytes of a tool's name, as a program writes it, that are kept.
const NAME_BYTES: usize = 128;

/// What a program asks for.
struct Call {
    /// The tool's inner name, or what the program calls it.
    tool: String,
    arguments: Body,
    hash: BlobHash,
    blob: Option<NewBlob>,
    /// The tool, or why the call can't be made.
    checked: Result<ToolSpec, NotMade>,
}

/// Why a call of a program is none.
#[derive(Debug, thiserror::Error)]
enum NotMade {
    /// No program may call this tool.
    #[error("A program can't call {0}: only the model itself does.")]
    NotCallable(String),
    /// There were so many in this step.
    #[error("Programs have made {0} calls in this step, and may make no more of them.")]
    TooMany(usize),
    /// This program was given no such tool.
    #[error("This program has no tool {name}. {near}")]
    NoTool {
        /// As the program named it.
        name: String,
        /// What there is that is called nearly so.
        near: String,
    },
    /// The arguments don't fit.
    #[error(transparent)]
    Bad(#[from] BadCall),
}

impl NotMade {
    fn class(&self) -> ToolErrorClass {
        match self {
            Self::NotCallable(_) | Self::TooMany(_) => ToolErrorClass::NotPermitted,
            Self::NoTool { .. } => ToolErrorClass::NotFound,
            Self::Bad(bad) => bad.class(),
        }
    }
}

impl Call {
    /// Whether it is done again by a program that was begun anew, on the files as they were.
    fn is_redone(&self) -> bool {
        let spec = self.checked.as_ref();
        spec.is_ok_and(|spec| spec.effect != Effect::Read && spec.repeat == Repeat::Repeatable)
    }
}

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
pub(crate) struct Callers {
    told: HashMap<ActionId, Vec<oneshot::Sender<CallEnd>>>,
    /// Calls that programs which were begun anew did not make before, while what they did before is
    /// still to be asked for again.
    held: Vec<Called>,
}

/// A program that was begun anew had a call that is held, a while ago.
#[derive(Debug)]
pub(crate) struct Stuck {
    within: Within,
    /// How much of what it did before was left then.
    left: usize,
}

impl Driver {
    /// Takes a call: one that is known is told what came of it, another becomes an action.
    pub(crate) async fn called(&mut self, called: Called) -> Result<(), DriveError> {
        let within = &called.within;
        let runs =
            |action: &Action| action.stage == ActionStage::Started && action.lives == within.life;
        let going = self.run.phase == Phase::Going;
        if !going || !self.run.action(&within.action).is_some_and(runs) {
            return Ok(());
        }
        if let Some(known) = self.run.call_within(within) {
            let id = known.id.clone();
            self.tell(id, called.end);
            return Ok(());
        }
        if self.tools.is_none() {
            self.reveal(|wish| *wish == Wish::Cancel).await?;
        }
        // Who is cancelled needs no answer.
        if self.run.phase != Phase::Going || self.tools.is_none() {
            return Ok(());
        }
        self.called_anew(called)
    }

    fn called_anew(&mut self, called: Called) -> Result<(), DriveError> {
        let call = self.call_of(&called);
        let within = &called.within;
        let known = self.run.on_record(&within.action, &call.tool, call.hash);
        if let Some(known) = known.map(|known| known.id.clone()) {
            self.record(ActionProgressed {
                action: within.action.clone(),
                what: Progress::Replayed(ReplayedCall {
                    call: known.clone(),
                    number: within.number,
                }),
            })?;
            self.tell(known, called.end);
            return self.let_held_go();
        }
        let left = self.run.left_of_before(&within.action).len();
        if left > 0 && !call.is_redone() {
            self.hold(called, left);
            return Ok(());
        }
        if let Err(why @ NotMade::TooMany(calls)) = &call.checked
            && *calls > PROGRAM_CALLS
        {
            // That there are too many is on record once: a program may ask for ever.
            let refused = ToolError::new(why.class(), why.to_string());
            // The program may have ended meanwhile.
            let _ = called.end.send(Err(refused));
            return Ok(());
        }
        let id = self.propose_within(called.within, call)?;
        self.tell(id, called.end);
        Ok(())
    }

    fn tell(&mut self, id: ActionId, end: oneshot::Sender<CallEnd>) {
        self.callers.told.entry(id).or_default().push(end);
    }

    /// Holds a call that may be another one than the program made before. Where nothing else comes
    /// of the program for a while, it is stuck.
    fn hold(&mut self, called: Called, left: usize) {
        let stuck = Stuck {
            within: called.within.clone(),
            left,
        };
        self.callers.held.push(called);
        let (clock, sender) = (self.ports.clock.clone(), self.sender());
        tokio::spawn(async move {
            clock.sleep(HELD).await;
            // A driver that is gone holds nothing.
            let _ = sender.send(Message::Stuck(stuck)).await;
        });
    }

    /// What was held is made once nothing of before is left.
    fn let_held_go(&mut self) -> Result<(), DriveError> {
        let held = std::mem::take(&mut self.callers.held);
        for called in held {
            match self.run.left_of_before(&called.within.action).is_empty() {
                true => self.called_anew(called)?,
                false => self.callers.held.push(called),
            }
        }
        Ok(())
    }

    /// A program that asks for something else than before, and for nothing that it did before, is
    /// ended: a person has to say.
    pub(crate) fn stuck(&mut self, stuck: &Stuck) -> Result<(), DriveError> {
        let mut held = self.callers.held.iter();
        let Some(place) = held.position(|held| held.within == stuck.within) else {
            return Ok(());
        };
        let program = &stuck.within.action;
        let left = self.run.left_of_before(program);
        if left.len() < stuck.left || self.run.waits_for_calls(program) {
            let left = left.len();
            let called = self.callers.held.swap_remove(place);
            self.hold(called, left);
            return Ok(());
        }
        let held = &self.callers.held[place];
        let mut why = format!(
            "Its box was lost, so it was begun anew, and went another way: it asked for {} {}, \
             which it had not asked for before. {}",
            held.tool,
            in_brief(&held.arguments),
            undone(&left)
        );
        self.ports.world.masker().text(&mut why);
        let program = program.clone();
        self.callers
            .held
            .retain(|held| held.within.action != program);
        self.record(ActionUncertain {
            action: program.clone(),
            why,
        })?;
        if let Some(cancel) = self.in_flight.get(&program.0) {
            cancel.cancel();
        }
        Ok(())
    }

    /// Why an action that has ended, with this error or well, is none that the model may be told
    /// of: its program was begun anew, and did not ask for all that it did before. And what is gone
    /// is begun anew.
    pub(crate) fn left_undone(
        &self,
        action: &Action,
        error: Option<&ToolError>,
    ) -> Option<Payload> {
        if action.repeat != Repeat::Replay {
            return None;
        }
        let id = action.id.clone();
        if let Some(error) = error.filter(|error| error.gone) {
            let mut why = error.message.clone();
            self.ports.world.masker().text(&mut why);
            let gone = true;
            return Some(
                ActionLost {
                    action: id,
                    why,
                    gone,
                }
                .into(),
            );
        }
        let left = self.run.left_of_before(&action.id);
        (!left.is_empty()).then(|| {
            let why = format!(
                "Its box was lost, so it was begun anew, and it ended in another way. {}",
                undone(&left)
            );
            ActionUncertain { action: id, why }.into()
        })
    }

    /// Programs whose calls wait for a person stand still when nothing else goes on.
    pub(crate) fn hold_programs(&self, next: &Next) {
        let holds = *next == Next::Wait(WaitsFor::Person) && self.run.holds_a_program();
        self.held
            .send_if_modified(|held| std::mem::replace(held, holds) != holds);
    }

    /// What a call asks for, as far as it can be made.
    fn call_of(&self, called: &Called) -> Call {
        let mut arguments = called.arguments.clone();
        self.ports.world.masker().text(&mut arguments);
        let name = named(&called.tool);
        let checked = match self.refused_within(&name) {
            Some(why) => Err(why),
            None => match self.checked_call(&wire_name(&called.tool), &arguments) {
                Err(BadCall::NoTool { .. }) => Err(self.no_tool(&name)),
                checked => checked.map_err(NotMade::from),
            },
        };
        let (tool, checked) = match checked {
            Ok(Calling { spec, .. }) => (spec.name.clone(), Ok(spec)),
            Err(error) => (name, Err(error)),
        };
        let (arguments, blob) = Body::of(arguments);
        Call {
            tool,
            hash: arguments.hash(),
            arguments,
            blob,
            checked,
        }
    }

    fn propose_within(&mut self, within: Within, call: Call) -> Result<ActionId, DriveError> {
        let action = ActionId::from_random(self.ports.chance.random());
        let number = within.number.to_string();
        self.keep(call.blob);
        let within = Some(Box::new(within));
        match call.checked {
            Ok(spec) => {
                self.meet(&spec)?;
                self.record(ActionProposed {
                    action: action.clone(),
                    call: number,
                    tool: spec.name,
                    arguments: call.arguments,
                    effect: spec.effect,
                    repeat: spec.repeat,
                    by: Actor::Program,
                    undoes: None,
                    within,
                })?
            }
            Err(error) => self.record(ActionRejected {
                action: action.clone(),
                call: number,
                tool: call.tool,
                arguments: call.arguments,
                error: error.to_string(),
                class: error.class(),
                within,
            })?,
        }
        Ok(action)
    }

    /// Why a program may not make a call at all.
    fn refused_within(&self, tool: &str) -> Option<NotMade> {
        let by_programs = |action: &&Action| action.by == Actor::Program;
        let calls = self.run.actions.iter().filter(by_programs).count();
        if !is_callable(tool) {
            return Some(NotMade::NotCallable(tool.to_owned()));
        }
        (calls >= PROGRAM_CALLS).then_some(NotMade::TooMany(calls))
    }

    /// What a program is told that named a tool which it was not given.
    fn no_tool(&self, name: &str) -> NotMade {
        let tools = self.tools.as_deref();
        let near = tools.map(|tools| tools.nearest(name, |spec| is_callable(&spec.name)));
        let near = near.unwrap_or_default();
        NotMade::NoTool {
            name: name.to_owned(),
            near: match near.is_empty() {
                true => "It has none at all.".to_owned(),
                false => format!("The nearest that it has: {}.", near.join(", ")),
            },
        }
    }

    /// Tells what came of calls and is on disk.
    pub(crate) async fn tell_callers(&mut self) -> Result<(), DriveError> {
        let is_over = |id: &&ActionId| {
            let action = self.run.action(id);
            action.is_none_or(|action| action.stage == ActionStage::Closed)
        };
        let over: Vec<ActionId> = self.callers.told.keys().filter(is_over).cloned().collect();
        for id in over {
            let callers = self.callers.told.remove(&id).unwrap_or_default();
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

/// A tool's name as a program writes it, which may be anything: as far as a name goes, and in
/// letters that can be read.
fn named(tool: &str) -> String {
    let cut = &tool[..tool.floor_char_boundary(NAME_BYTES)];
    let more = if cut.len() < tool.len() { "…" } else { "" };
    let plain = |letter: char| {
        if letter.is_control() {
            '\u{fffd}'
        } else {
            letter
        }
    };
    cut.chars().map(plain).chain(more.chars()).collect()
}

/// What a program did before, and did not ask for again.
fn undone(left: &[&Action]) -> String {
    let named: Vec<String> = left
        .iter()
        .take(NAMED_MAX)
        .map(|call| match &call.arguments {
            Body::Text(text) => format!("{} {}", call.tool, in_brief(text)),
            Body::Blob { .. } => call.tool.clone(),
        })
        .collect();
    let more = match left.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "What it did before and did not ask for again, and is not to be done twice: {}{more}.",
        named.join(", ")
    )
}

fn in_brief(text: &str) -> String {
    let cut = text.floor_char_boundary(BRIEF_BYTES);
    let more = if cut < text.len() { "…" } else { "" };
    format!("{}{more}", &text[..cut])
}
