//! A fork: a new run that begins with another run's events, and with its files as they were then.

use std::path::Path;

use longrein_core::run::{Run, copied};
use longrein_keys::Known;
use longrein_protocol::body::NewBlob;
use longrein_protocol::event::{ChangedResult, RunForked};
use longrein_protocol::{ActionId, AgentSpec, Body, Event, RunId};
use longrein_runtime::ports::Chance;
use longrein_runtime::world::World as _;
use longrein_store::TreeLock;
use longrein_store::log::{Append, Log, RunAppend};

use crate::agents::changes::AgentChanges;
use crate::error::{AppError, AppErrorCode, of_lock};
use crate::system::{SystemChance, now};
use crate::{Longrein, agents};

/// Events that are read at once.
const PAGE: u32 = 1_000;

/// What a person wants of a fork.
#[derive(Clone, Debug)]
pub struct Fork {
    /// The original.
    pub run: RunId,
    /// The last event that the fork has too; absent: the last there is.
    pub at: Option<u32>,
    /// Another model from here on.
    pub model: Option<String>,
    /// Another agent from here on: a name or a file.
    pub agent: Option<String>,
    /// What else is other in the agent from here on.
    pub changes: AgentChanges,
    /// Results that the model is told instead of those that the actions had.
    pub results: Vec<NewResult>,
}

/// A result that a person changes.
#[derive(Clone, Debug)]
pub struct NewResult {
    /// The action; the model still has its result before it at that event.
    pub action: ActionId,
    /// What it is said to have returned.
    pub text: String,
}

impl Fork {
    /// A fork of a run as it was at an event, or as it stands, that changes nothing.
    pub fn of(run: RunId, at: Option<u32>) -> Self {
        Self {
            run,
            at,
            model: None,
            agent: None,
            changes: AgentChanges::default(),
            results: Vec::new(),
        }
    }
}

impl Longrein {
    /// Makes a fork. It stands still until it is resumed or spoken to.
    ///
    /// # Errors
    /// When there is no such run or event, the log is damaged before it, the agent or the model
    /// can't be used, or the disk refuses. Nothing was begun then.
    pub async fn fork(&self, fork: Fork) -> Result<RunId, AppError> {
        let events = self.events_until(fork.run, fork.at).await?;
        let at = events.last().map_or(0, |event| event.seq);
        let run = RunId::from_parts(now(), SystemChance.random());
        let mut events = copied(events, at, run);
        let mut state = Run::fold(&events);
        let (results, blobs) = results(&fork, &state)?;
        let workspace = self.inner.paths.workspace(run);
        let forked = RunForked {
            results,
            ..self.forked(&fork, &state, at, &workspace).await?
        };
        if let Some(above) = workspace.parent() {
            longrein_store::file_system::make_private_folder(above).map_err(|error| {
                AppError::new(
                    AppErrorCode::Io,
                    format!("The folder {} can't be made: {error}.", above.display()),
                    "Check that the disk has room and that you may write to it.",
                )
            })?;
        }
        self.files_for_fork(fork.run, &state, at, &workspace)
            .await?;
        let event = Event {
            run,
            seq: at + 1,
            at: now(),
            payload: forked.into(),
        };
        state.apply(&event);
        events.push(event);
        let line = state.line();
        let begun = self
            .begin_fork(RunAppend { run, events, line }, blobs)
            .await;
        if begun.is_err() {
            // The error says what matters.
            let _ = tokio::task::spawn_blocking(move || std::fs::remove_dir_all(workspace)).await;
        }
        begun.map(|()| run)
    }

    async fn begin_fork(&self, begun: RunAppend, blobs: Vec<NewBlob>) -> Result<(), AppError> {
        let run = begun.run;
        let (_lock, fence) = TreeLock::acquire(&self.inner.store, run)
            .await
            .map_err(|error| of_lock(run, error))?;
        let append = Append {
            fence,
            runs: vec![begun],
            blobs,
            taken: Vec::new(),
        };
        Ok(self.inner.store.append(append).await?)
    }

    async fn forked(
        &self,
        fork: &Fork,
        state: &Run,
        at: u32,
        workspace: &Path,
    ) -> Result<RunForked, AppError> {
        let created = state.created.as_ref().ok_or_else(|| {
            let message = format!("Run {} has no event {at}.", fork.run);
            AppError::usage(message, "Choose an event that longrein show lists.")
        })?;
        let agent = match &fork.agent {
            Some(name) => Some(Box::new(agents::resolve(&self.inner.paths.data, name)?)),
            None => None,
        };
        let base = agent.as_deref().unwrap_or(&created.agent);
        let edited = match fork.changes.is_empty() {
            true => None,
            // Limits that a person raised since stay raised.
            false if agent.is_none() => Some(fork.changes.made_to(&with_limits(base, state))?),
            false => Some(fork.changes.made_to(base)?),
        };
        let names_others = edited
            .as_ref()
            .is_some_and(|edited| edited.model.use_ != base.model.use_);
        let mut agent = edited.map(Box::new).or(agent);
        let mut spec = agent.as_deref().unwrap_or(&created.agent).clone();
        let model = match (&fork.model, &agent) {
            (Some(model), _) => Some(model.clone()),
            (None, Some(agent)) if names_others || fork.agent.is_some() => {
                agent.model.use_.first().cloned()
            }
            (None, _) => None,
        };
        let name = model.clone().unwrap_or_else(|| created.model.clone());
        spec.model.use_ = vec![name.clone()];
        self.model_for(&spec).await?;
        let price = self.price_for(&spec, &name)?;
        if let Some(agent) = &mut agent {
            agent.agents.saved = self.saved_agents(agent, &name).await?;
        }
        Ok(RunForked {
            from_run: fork.run,
            from_seq: at,
            workspace: workspace.to_string_lossy().into_owned(),
            agent: agent.clone(),
            model: model.clone(),
            price,
            takes: self.inner.world.model_facts(&name).takes,
            results: Vec::new(),
        })
    }

    async fn events_until(&self, run: RunId, at: Option<u32>) -> Result<Vec<Event>, AppError> {
        let mut events: Vec<Event> = Vec::new();
        loop {
            let from = events.len() as u32 + 1;
            let reading = self.inner.store.read(run, from, PAGE).await?;
            let more = reading.events.len() as u32 == PAGE;
            events.extend(reading.events);
            let enough = at.is_some_and(|at| events.len() as u32 >= at);
            if enough || (!more && reading.damage.is_none()) {
                break;
            }
            if let Some(damage) = reading.damage {
                return Err(AppError::new(
                    AppErrorCode::Unreadable,
                    format!("Event {} of run {run} is damaged.", damage.seq),
                    "Fork from an event before it with --at.",
                ));
            }
        }
        let last = events.len() as u32;
        let at = at.unwrap_or(last);
        if at == 0 || at > last {
            return Err(AppError::usage(
                format!("Run {run} has no event {at}: it has {last}."),
                "Choose an event that longrein show lists.",
            ));
        }
        events.truncate(at as usize);
        Ok(events)
    }
}

/// The agent with the limits of a run as they are now.
fn with_limits(agent: &AgentSpec, run: &Run) -> AgentSpec {
    let mut agent = agent.clone();
    let limits = &run.limits;
    agent.budget.steps = limits.steps.unwrap_or(agent.budget.steps);
    agent.budget.tokens_in = limits.tokens_in;
    agent.budget.tokens_out = limits.tokens_out;
    agent.budget.working_minutes = limits.working_minutes;
    agent.budget.actions = limits.actions;
    agent.budget.money_usd = limits.money_micro.map(|micro| micro as f64 / 1e6);
    agent
}

/// The results that are changed, as the log keeps them.
fn results(fork: &Fork, state: &Run) -> Result<(Vec<ChangedResult>, Vec<NewBlob>), AppError> {
    let mut changed: Vec<ChangedResult> = Vec::new();
    let mut blobs = Vec::new();
    for new in &fork.results {
        if !state.has_in_view(&new.action) || changed.iter().any(|known| known.action == new.action)
        {
            let message = format!(
                "The result of action {} can't be changed there: it has none at event {}, or it has left the model's view, or it is named twice.",
                new.action, state.seq
            );
            return Err(AppError::usage(
                message,
                "Fork from the event at which the action ended, or a later one before its result was compacted.",
            ));
        }
        let (result, blob) = Body::of(Known::of_process().masked(new.text.clone()));
        blobs.extend(blob);
        changed.push(ChangedResult {
            action: new.action.clone(),
            result,
        });
    }
    Ok((changed, blobs))
}
