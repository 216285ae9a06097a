//! A run derived again from its log: what the core makes of each state has to be what is recorded.
//! What came from outside, such as a response, a result or a person's word, is taken as it is.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use longrein_core::compile::{self, Known};
use longrein_core::policy;
use longrein_core::run::{Next, Run};
use longrein_protocol::event::{
    ActionDecided, ApprovalRequested, ContextCompiled, ModelRequested, Payload, VerificationStarted,
};
use longrein_protocol::gate::ActionFacts;
use longrein_protocol::{ActionId, Body, Event, Media, RunId};
use longrein_store::log::{Damage, Log, LogError};
use serde_json::Value;

use crate::effects::parse_arguments;
use crate::request::estimate;
use crate::wire::{self, Wire};
use crate::world::World;

/// Events that are read at once.
const PAGE_EVENTS: u32 = 1_000;
/// The most differences that are listed; further ones are counted.
pub const DIFFERENCES: usize = 100;

/// What deriving a run again came to.
#[derive(Debug, Default)]
pub struct Derived {
    /// The state after the last event that could be read.
    pub run: Run,
    /// Events that the state before them allows.
    pub events: u32,
    /// Decisions of the gate, and what a person was asked.
    pub decisions: u32,
    /// Requests that were put together.
    pub contexts: u32,
    /// Requests whose bytes and reservations were made again.
    pub requests: u32,
    /// Further facts that follow from the state alone.
    pub facts: u32,
    /// Where the log says something else, in order, at most [`DIFFERENCES`].
    pub differences: Vec<Difference>,
    /// Differences beyond these.
    pub more: u32,
    /// What could not be derived, and why: the event and a sentence, each reason once.
    pub underived: Vec<(u32, String)>,
    /// Where the log can't be read any further.
    pub damage: Option<Damage>,
}

/// What was derived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Of {
    /// Whether the state allows an event.
    State,
    /// What the gate says, or what a person is asked.
    Decision,
    /// What a request is made of.
    Context,
    /// The bytes of a request, or what it reserves.
    Request,
    /// What is owed.
    Next,
}

impl fmt::Display for Of {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::State => "state",
            Self::Decision => "decision",
            Self::Context => "context",
            Self::Request => "request",
            Self::Next => "next",
        })
    }
}

/// A place where the log says something else than the core.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The event.
    pub seq: u32,
    /// What of it.
    pub of: Of,
    /// What the log says, in words.
    pub logged: String,
    /// What the core derives, in words.
    pub derived: String,
}

/// Derives a run again; `world` knows the formats of its models and nothing more is asked of it.
///
/// # Errors
/// [`LogError::NoRun`] when there is no such run, or what reading gives.
pub async fn derive(log: &dyn Log, world: &dyn World, run: RunId) -> Result<Derived, LogError> {
    let mut deriving = Deriving {
        log,
        world,
        found: Derived::default(),
        owed: VecDeque::new(),
        wire: Wire::default(),
        kept: 0,
        output_limit: 0,
    };
    let mut from = 1;
    loop {
        let reading = log.read(run, from, PAGE_EVENTS).await?;
        let count = reading.events.len() as u32;
        for event in &reading.events {
            deriving.event(event).await?;
        }
        from += count;
        if reading.damage.is_some() || count < PAGE_EVENTS {
            deriving.found.damage = reading.damage;
            return Ok(deriving.found);
        }
    }
}

struct Deriving<'a> {
    log: &'a dyn Log,
    world: &'a dyn World,
    found: Derived,
    /// What follows next from what was owed before.
    owed: VecDeque<Payload>,
    wire: Wire,
    /// Fragments of the last request that the newest one keeps.
    kept: u32,
    /// The most output that the newest request asks for, as it was when that was put together.
    output_limit: u32,
}

impl Deriving<'_> {
    async fn event(&mut self, event: &Event) -> Result<(), LogError> {
        match self.found.run.check(event) {
            Ok(()) => self.found.events += 1,
            Err(illegal) => {
                let name = event.payload.name();
                self.differs(event, Of::State, name.to_owned(), illegal.to_string());
            }
        }
        match &event.payload {
            Payload::ActionDecided(decided) => self.decided(event, decided).await?,
            Payload::ApprovalRequested(asked) => self.asked(event, asked).await?,
            Payload::ContextCompiled(compiled) => self.compiled(event, compiled).await?,
            Payload::ModelRequested(requested) => self.requested(event, requested).await?,
            Payload::VerificationStarted(started) => self.verifies(event, started),
            payload => self.follows(event, payload),
        }
        self.found.run.apply(event);
        Ok(())
    }

    fn differs(&mut self, event: &Event, of: Of, logged: String, derived: String) {
        if self.found.differences.len() >= DIFFERENCES {
            self.found.more += 1;
            return;
        }
        self.found.differences.push(Difference {
            seq: event.seq,
            of,
            logged,
            derived,
        });
    }

    /// What can't be derived is told once for each reason.
    fn underived(&mut self, event: &Event, why: String) {
        if !self.found.underived.iter().any(|(_, known)| *known == why) {
            self.found.underived.push((event.seq, why));
        }
    }

    /// A fact that the harness makes by itself, and nobody else does.
    fn follows(&mut self, event: &Event, payload: &Payload) {
        if self.owed.front() == Some(payload) {
            self.owed.pop_front();
            self.found.facts += 1;
            return;
        }
        self.owed.clear();
        if let Next::Append(owed) = self.found.run.next(event.at)
            && owed.first() == Some(payload)
        {
            self.owed = owed.into_iter().skip(1).collect();
            self.found.facts += 1;
        } else if is_own(payload) {
            let derived = in_words(&self.found.run.next(event.at));
            self.differs(event, Of::Next, payload.name().to_owned(), derived);
        }
    }

    fn verifies(&mut self, event: &Event, started: &VerificationStarted) {
        let next = self.found.run.next(event.at);
        let attempt = started.attempt;
        if matches!(next, Next::Verify { attempt: owed } if owed == attempt) {
            self.found.facts += 1;
        } else {
            let logged = format!("check {attempt} of the criteria");
            self.differs(event, Of::Next, logged, in_words(&next));
        }
    }

    async fn decided(&mut self, event: &Event, decided: &ActionDecided) -> Result<(), LogError> {
        // Refused because what a decision needs could not be had: that came from outside.
        if decided.checks.is_empty() {
            return Ok(());
        }
        let Some(action) = self.found.run.action(&decided.action).cloned() else {
            return Ok(());
        };
        let arguments = self.arguments(&action.arguments).await?;
        let facts = ActionFacts {
            binding: None,
            ..decided.facts.clone()
        };
        let derived = policy::decide(&self.found.run, &action, &arguments, facts);
        if derived == *decided {
            self.found.decisions += 1;
        } else {
            let (logged, derived) = (decision(decided, &derived), decision(&derived, decided));
            self.differs(event, Of::Decision, logged, derived);
        }
        Ok(())
    }

    async fn asked(&mut self, event: &Event, asked: &ApprovalRequested) -> Result<(), LogError> {
        let next = self.found.run.next(event.at);
        if !is_asked(&next, &asked.action) {
            let logged = format!("a person is asked about {}", asked.action);
            self.differs(event, Of::Next, logged, in_words(&next));
            return Ok(());
        }
        let Some(action) = self.found.run.action(&asked.action).cloned() else {
            return Ok(());
        };
        let arguments = self.arguments(&action.arguments).await?;
        let binding = action.facts.binding;
        let derived = ApprovalRequested {
            action: asked.action.clone(),
            why: action.why.clone(),
            shown: binding.unwrap_or_else(|| action.arguments.hash()),
            offers: policy::offers(&self.found.run, &action, &arguments, &action.facts),
        };
        if derived == *asked {
            self.found.decisions += 1;
        } else {
            let (logged, derived) = (format!("{asked:?}"), format!("{derived:?}"));
            self.differs(event, Of::Decision, logged, derived);
        }
        Ok(())
    }

    async fn compiled(&mut self, event: &Event, logged: &ContextCompiled) -> Result<(), LogError> {
        self.kept = logged.keep;
        self.output_limit = self.found.run.output_limit();
        let next = self.found.run.next(event.at);
        if !matches!(next, Next::Request { attempt: 1 }) {
            let logged = "a request is put together".to_owned();
            self.differs(event, Of::Next, logged, in_words(&next));
            return Ok(());
        }
        let created = self.found.run.created.as_ref();
        let name = created
            .map(|created| created.model.clone())
            .unwrap_or_default();
        let model = match self.world.model(&name) {
            Ok(model) => model,
            Err(error) => {
                let why = format!(
                    "Requests to {name} can't be put together: {}",
                    error.message
                );
                self.underived(event, why);
                return Ok(());
            }
        };
        let run = &self.found.run;
        let mut texts = HashMap::new();
        for body in compile::bodies_needed(run) {
            texts.insert(body.hash(), wire::body_text(self.log, body).await?);
        }
        let mut media: HashMap<_, Arc<str>> = HashMap::new();
        for item in compile::media_needed(run) {
            let bytes = wire::body_bytes(self.log, &item.body).await?;
            media.insert(item.hash(), STANDARD.encode(&bytes).into());
        }
        let text = |body: &Body| texts.get(&body.hash()).cloned().unwrap_or_default();
        let base64 = |item: &Media| media.get(&item.hash()).cloned();
        let known = Known {
            text: &text,
            base64: &base64,
        };
        let compiled = compile::compile(run, model.dialect(), &known);
        let tokens = estimate(run, &compiled);
        let (derived, _) = wire::record(compiled, tokens);
        if derived == *logged {
            self.found.contexts += 1;
        } else {
            let words = context(logged, &derived);
            self.differs(event, Of::Context, words.0, words.1);
        }
        Ok(())
    }

    async fn requested(&mut self, event: &Event, logged: &ModelRequested) -> Result<(), LogError> {
        let run = &self.found.run;
        let limit = match logged.attempt {
            1 => self.output_limit,
            _ => run.output_reserved,
        };
        let reserve = run.reserve(run.body_weight as usize, limit.max(1));
        let fragments = &run.fragments;
        let (body_sha256, bytes) = self.wire.follow(self.log, self.kept, fragments).await?;
        // What is kept of the next one is said when that is put together.
        self.kept = wire::frozen(fragments);
        let derived = ModelRequested {
            model: run
                .created
                .as_ref()
                .map(|created| created.model.clone())
                .unwrap_or_default(),
            attempt: logged.attempt,
            body_sha256,
            body_bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            reserved_in: reserve.tokens_in,
            reserved_out: reserve.tokens_out,
            reserved_micro: reserve.money_micro,
        };
        if derived == *logged {
            self.found.requests += 1;
        } else {
            let (logged, derived) = (request(logged), request(&derived));
            self.differs(event, Of::Request, logged, derived);
        }
        Ok(())
    }

    /// The arguments of an action, as the driver reads them.
    async fn arguments(&self, body: &Body) -> Result<Value, LogError> {
        let text = wire::body_text(self.log, body).await?;
        Ok(parse_arguments(&text).unwrap_or_else(|_| serde_json::json!({})))
    }
}

/// Facts that nobody but the core makes.
fn is_own(payload: &Payload) -> bool {
    matches!(
        payload,
        Payload::StageEntered(_)
            | Payload::LoopDetected(_)
            | Payload::BudgetWarned(_)
            | Payload::ModelAbandoned(_)
            | Payload::AcceptanceRequested(_)
    )
}

fn is_asked(next: &Next, action: &ActionId) -> bool {
    matches!(next, Next::Ask(asked) if asked == action)
}

fn in_words(next: &Next) -> String {
    match next {
        Next::Append(owed) => {
            let names: Vec<&str> = owed.iter().map(Payload::name).collect();
            format!("owed are {}", names.join(", "))
        }
        Next::Stopped => "the run stands still".to_owned(),
        next => format!("owed is {next:?}"),
    }
}

/// What one decision says that the other does not.
fn decision(of: &ActionDecided, other: &ActionDecided) -> String {
    let mut words = format!("{:?}: {}", of.decision, of.why).to_lowercase();
    for (check, there) in of.checks.iter().zip(&other.checks) {
        if check != there {
            words.push_str(&format!(
                "; {:?} says {:?}: {}",
                check.check, check.decision, check.facts
            ));
        }
    }
    if of.facts.binding != other.facts.binding {
        words.push_str(&format!("; it rests on {:?}", of.facts.binding));
    }
    words
}

fn request(of: &ModelRequested) -> String {
    format!(
        "attempt {} to {} with {} bytes of SHA-256 {}, reserving {} and {} tokens and {} µ$",
        of.attempt,
        of.model,
        of.body_bytes,
        of.body_sha256,
        of.reserved_in,
        of.reserved_out,
        of.reserved_micro
    )
}

/// The first piece in which two requests differ, as each of them has it.
fn context(logged: &ContextCompiled, derived: &ContextCompiled) -> (String, String) {
    let differs = (0..logged.add.len().max(derived.add.len()))
        .find(|place| logged.add.get(*place) != derived.add.get(*place));
    let words = |of: &ContextCompiled| {
        let all = format!(
            "{} kept, {} new pieces, {} tokens",
            of.keep,
            of.add.len(),
            of.tokens
        );
        match differs.map(|place| (place, of.add.get(place))) {
            Some((place, Some(piece))) => format!(
                "{all}; new piece {place}: {}, {} bytes of {}, {:?} {:?}",
                piece.part.name(),
                piece.body.len(),
                piece.body.hash(),
                piece.origin,
                piece.trust
            ),
            Some((place, None)) => format!("{all}; no new piece {place}"),
            None => all,
        }
    };
    (words(logged), words(derived))
}
