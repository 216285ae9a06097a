//! An action with its whole record: what the gate knew and said, how it started, its receipt, and
//! its result, whole.

use longrein_core::view::{event_action, event_words, origin_words, pretty};
use longrein_protocol::agent::Decision;
use longrein_protocol::event::{ActionDecided, ActionFinished, Payload};
use longrein_protocol::gate::{ActionFacts, Check};
use longrein_protocol::view::ActionRow;
use longrein_protocol::view::RowContent;
use longrein_protocol::{ActionId, Body, Event, RunId};
use serde::{Deserialize, Serialize};

use super::page::{TextPage, number};
use crate::Longrein;
use crate::error::{AppError, AppErrorCode};

/// The most events of an action's life that are told; one that a program makes thousands of
/// requests in has more.
const LIFE_EVENTS: usize = 500;
/// The most decisions and starts that are told.
const RECORDS: usize = 100;

/// An action as it was at some event.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct ActionRecord {
    /// Its card, as it was then.
    pub row: ActionRow,
    /// The event that asked for it.
    pub seq: u32,
    /// The step.
    pub step: u32,
    /// The provider's id of the call; empty where no model made it.
    pub call: String,
    /// The action whose program called it; empty for every other.
    pub within: String,
    /// The event by which it ended; `None` while it had not.
    pub finished: Option<u32>,
    /// What the gate decided, each time.
    pub decisions: Vec<DecisionRecord>,
    /// How it was started, each time.
    pub starts: Vec<StartRecord>,
    /// What shows that it happened: an external id, a version, an exit status; may be empty.
    pub receipt: String,
    /// Whose words its result has; empty while there is none.
    pub origin: String,
    /// How long its whole result is, in bytes.
    pub result_bytes: u32,
    /// Whether the model was shown what it is made of, and not the whole.
    pub offloaded: bool,
    /// The file beneath the workspace that holds it whole; empty where there is none.
    pub file: String,
    /// Images, documents and recordings that it returned, each in a few words.
    pub media: Vec<String>,
    /// Its life, event by event.
    pub life: Vec<LifeEvent>,
    /// Further events that there was no room for.
    pub left_out: u32,
}

/// A decision of the gate.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct DecisionRecord {
    /// The event.
    pub seq: u32,
    /// When it was (milliseconds since the epoch).
    #[cfg_attr(feature = "bindings", specta(type = i32))]
    pub at: i64,
    /// What it says.
    pub decision: Decision,
    /// The check or rule that decided, in words.
    pub why: String,
    /// The eight checks, in order.
    pub checks: Vec<Check>,
    /// What they rest on, one line each.
    pub facts: Vec<String>,
}

/// A start.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct StartRecord {
    /// The event.
    pub seq: u32,
    /// When it was (milliseconds since the epoch).
    #[cfg_attr(feature = "bindings", specta(type = i32))]
    pub at: i64,
    /// Counted from 1.
    pub attempt: u32,
    /// The idempotency key: the same for every attempt.
    pub key: String,
    /// The names of the secrets that it was given.
    pub credentials: Vec<String>,
}

/// An event of an action's life.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct LifeEvent {
    /// The event.
    pub seq: u32,
    /// When it was (milliseconds since the epoch).
    #[cfg_attr(feature = "bindings", specta(type = i32))]
    pub at: i64,
    /// Its type.
    pub kind: String,
    /// What happened, in a few words.
    pub words: String,
}

impl Longrein {
    /// An action as it was after an event; absent: as it stands.
    ///
    /// # Errors
    /// When there is no such run, event or action by then.
    pub async fn action_at(
        &self,
        run: RunId,
        action: &ActionId,
        seq: Option<u32>,
    ) -> Result<ActionRecord, AppError> {
        let then = self.past(run, seq).await?;
        let Some(row) = then.view.action_row(action) else {
            return Err(no_action(run, action, seq));
        };
        let RowContent::Action(card) = &row.content else {
            return Err(no_action(run, action, seq));
        };
        let mut record = ActionRecord {
            row: (**card).clone(),
            seq: row.seq,
            step: row.step,
            call: String::new(),
            within: String::new(),
            finished: None,
            decisions: Vec::new(),
            starts: Vec::new(),
            receipt: String::new(),
            origin: String::new(),
            result_bytes: 0,
            offloaded: false,
            file: String::new(),
            media: Vec::new(),
            life: Vec::new(),
            left_out: 0,
        };
        self.life(run, action, (row.seq, then.seq()), |event| {
            record.take(event)
        })
        .await?;
        Ok(record)
    }

    /// The whole result of an action, by pages.
    ///
    /// # Errors
    /// When there is no such run or action, it has no result by then, or its content is missing.
    pub async fn action_result(
        &self,
        run: RunId,
        action: &ActionId,
        seq: Option<u32>,
        offset: u32,
    ) -> Result<TextPage, AppError> {
        let then = self.past(run, seq).await?;
        let row = then.view.action_row(action);
        let row = row.ok_or_else(|| no_action(run, action, seq))?;
        let mut result: Option<Body> = None;
        self.life(run, action, (row.seq, then.seq()), |event| {
            if let Some(body) = result_of(&event.payload) {
                result = Some(body.clone());
            }
        })
        .await?;
        let result = result.ok_or_else(|| {
            AppError::new(
                AppErrorCode::NotFound,
                format!("Action {action} has no result yet."),
                "Choose an event after its end.",
            )
        })?;
        Ok(TextPage::of(&self.content(&result).await?, offset))
    }

    /// The arguments of an action that count, whole, as JSON, by pages.
    ///
    /// # Errors
    /// Those of [`Longrein::action_at`], and when a content is missing.
    pub async fn action_arguments(
        &self,
        run: RunId,
        action: &ActionId,
        seq: Option<u32>,
        offset: u32,
    ) -> Result<TextPage, AppError> {
        let then = self.past(run, seq).await?;
        let row = then.view.action_row(action);
        let row = row.ok_or_else(|| no_action(run, action, seq))?;
        let mut arguments = Body::default();
        self.life(run, action, (row.seq, then.seq()), |event| {
            match &event.payload {
                Payload::ActionProposed(proposed) => arguments.clone_from(&proposed.arguments),
                Payload::ActionRejected(rejected) => arguments.clone_from(&rejected.arguments),
                Payload::ApprovalResolved(resolved) => {
                    if let Some(edited) = &resolved.arguments {
                        arguments.clone_from(edited);
                    }
                }
                _ => {}
            }
        })
        .await?;
        let bytes = self.content(&arguments).await?;
        let text = pretty(&String::from_utf8_lossy(&bytes));
        Ok(TextPage::of(text.as_bytes(), offset))
    }

    /// The events of an action's life among these of its run. It is over with the request after its
    /// end, or when the person went on without it.
    async fn life(
        &self,
        run: RunId,
        action: &ActionId,
        (from, to): (u32, u32),
        mut visit: impl FnMut(&Event),
    ) -> Result<(), AppError> {
        let mut ended = false;
        self.events_from(run, from, |event| {
            if event.seq > to {
                return false;
            }
            if event_action(&event.payload) == Some(action) {
                ended |= matches!(
                    event.payload,
                    Payload::ActionFinished(_) | Payload::ActionRejected(_)
                );
                visit(&event);
            }
            let goes_on = matches!(event.payload, Payload::TurnStarted(_));
            let asks = matches!(event.payload, Payload::ModelRequested(_));
            !(goes_on || ended && asks)
        })
        .await
    }
}

fn no_action(run: RunId, action: &ActionId, seq: Option<u32>) -> AppError {
    let by = seq
        .map(|seq| format!(" by event {seq}"))
        .unwrap_or_default();
    AppError::new(
        AppErrorCode::NotFound,
        format!("Run {run} had no action {action}{by}."),
        "Choose a later event.",
    )
}

fn result_of(payload: &Payload) -> Option<&Body> {
    match payload {
        Payload::ActionFinished(finished) => Some(&finished.result),
        Payload::ActionReconciled(reconciled) => reconciled.result.as_ref(),
        _ => None,
    }
}

impl ActionRecord {
    fn take(&mut self, event: &Event) {
        if self.life.len() < LIFE_EVENTS {
            self.life.push(LifeEvent {
                seq: event.seq,
                at: event.at,
                kind: event.payload.name().to_owned(),
                words: event_words(&event.payload).to_owned(),
            });
        } else {
            self.left_out += 1;
        }
        if let Some(body) = result_of(&event.payload) {
            self.result_bytes = number(body.len());
        }
        match &event.payload {
            Payload::ActionProposed(proposed) => {
                self.call.clone_from(&proposed.call);
                if let Some(within) = &proposed.within {
                    self.within.clone_from(&within.action.0);
                }
            }
            Payload::ActionRejected(rejected) => {
                self.call.clone_from(&rejected.call);
                self.finished = Some(event.seq);
            }
            Payload::ActionDecided(decided) if self.decisions.len() < RECORDS => {
                self.decisions.push(decision(event, decided));
            }
            Payload::ActionStarted(started) if self.starts.len() < RECORDS => {
                self.starts.push(StartRecord {
                    seq: event.seq,
                    at: event.at,
                    attempt: started.attempt,
                    key: started.key.clone(),
                    credentials: started.credentials.clone(),
                });
            }
            Payload::ActionFinished(finished) => self.finish(event.seq, finished),
            Payload::ResultOffloaded(offloaded) => {
                self.offloaded = true;
                if let Some(file) = &offloaded.file {
                    self.file.clone_from(file);
                }
            }
            _ => {}
        }
    }

    fn finish(&mut self, seq: u32, finished: &ActionFinished) {
        self.finished = Some(seq);
        self.receipt = finished.receipt.clone().unwrap_or_default();
        self.origin = origin_words(&finished.origin);
        self.offloaded = finished.shown.is_some();
        self.file = finished.file.clone().unwrap_or_default();
        self.media = finished
            .media
            .iter()
            .map(|media| media.in_words())
            .collect();
    }
}

fn decision(event: &Event, decided: &ActionDecided) -> DecisionRecord {
    DecisionRecord {
        seq: event.seq,
        at: event.at,
        decision: decided.decision,
        why: decided.why.clone(),
        checks: decided.checks.clone(),
        facts: facts(&decided.facts),
    }
}

/// What a decision rests on, one line for each thing that was looked up.
fn facts(facts: &ActionFacts) -> Vec<String> {
    let mut lines = Vec::new();
    for path in &facts.paths {
        let leads = match &path.real {
            Some(real) => format!("leads to {real} of the workspace"),
            None => "leads outside of the workspace, or can't be followed".to_owned(),
        };
        lines.push(format!("The path in {} {leads}.", path.argument));
    }
    for url in &facts.urls {
        let known = match url.known {
            true => "stands word for word in what you said or the run has read",
            false => "stands nowhere in what you said or the run has read",
        };
        lines.push(format!(
            "The address {} is of {} and {known}.",
            url.url, url.host
        ));
    }
    for command in &facts.commands {
        lines.push(format!("It runs: {}", command.join(" ")));
    }
    for secret in &facts.secrets {
        let state = match (secret.granted, secret.expired) {
            (false, _) => "is not granted to its server",
            (true, true) => "is past its expiry",
            (true, false) => "is granted to its server",
        };
        lines.push(format!("The secret {} {state}.", secret.secret));
    }
    if let Some(skill) = &facts.skill {
        lines.push(format!(
            "The skill {} is made of {}.",
            skill.skill, skill.hash
        ));
    }
    for unclear in &facts.unclear {
        lines.push(format!("It could not be made out: {unclear}"));
    }
    if let Some(binding) = &facts.binding {
        lines.push(format!("An approval rests on {binding}."));
    }
    lines
}
