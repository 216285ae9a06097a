//! A fork: a new run that begins with another run's events, and its files as they are now.

use std::path::Path;

use longrein_core::run::{Run, copied};
use longrein_protocol::event::RunForked;
use longrein_protocol::{Event, RunId};
use longrein_runtime::ports::Chance;
use longrein_runtime::world::World as _;
use longrein_store::TreeLock;
use longrein_store::log::{Append, Log, RunAppend};

use crate::error::{AppError, AppErrorCode, of_lock};
use crate::system::{SystemChance, now};
use crate::{Longrein, agents};

/// The most files and folders that a fork copies.
const FILES: usize = 20_000;
/// The most bytes that a fork copies.
const BYTES: u64 = 4 * 1024 * 1024 * 1024;
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
        let workspace = self.inner.paths.workspace(run);
        let forked = self.forked(&fork, &state, at, &workspace).await?;
        let original = state
            .created
            .as_ref()
            .map(|created| created.workspace.clone());
        let (from, to) = (original.unwrap_or_default(), workspace.clone());
        tokio::task::spawn_blocking(move || copy_workspace(Path::new(&from), &to))
            .await
            .map_err(|error| AppError::new(AppErrorCode::Io, error.to_string(), ""))??;
        let event = Event {
            run,
            seq: at + 1,
            at: now(),
            payload: forked.into(),
        };
        state.apply(&event);
        events.push(event);
        let (_lock, fence) = TreeLock::acquire(&self.inner.store, run)
            .await
            .map_err(|error| of_lock(run, error))?;
        let line = state.line();
        self.inner
            .store
            .append(Append {
                fence,
                runs: vec![RunAppend { run, events, line }],
                blobs: Vec::new(),
                taken: Vec::new(),
            })
            .await?;
        Ok(run)
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
        let mut spec = agent.as_deref().unwrap_or(&created.agent).clone();
        let model = match (&fork.model, &agent) {
            (Some(model), _) => Some(model.clone()),
            (None, Some(agent)) => agent.model.use_.first().cloned(),
            (None, None) => None,
        };
        let name = model.clone().unwrap_or_else(|| created.model.clone());
        spec.model.use_ = vec![name.clone()];
        self.model_for(&spec).await?;
        let price = self.price_for(&spec, &name)?;
        Ok(RunForked {
            from_run: fork.run,
            from_seq: at,
            workspace: workspace.to_string_lossy().into_owned(),
            agent: agent.clone(),
            model: model.clone(),
            price,
            takes: self.inner.world.model_facts(&name).takes,
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

/// Copies what lies in a workspace. Links are not followed and not copied: a fork reaches nothing
/// that its original could not.
fn copy_workspace(from: &Path, to: &Path) -> Result<(), AppError> {
    let broken = |error: &std::io::Error| {
        AppError::new(
            AppErrorCode::Io,
            format!("The workspace {} can't be copied: {error}.", from.display()),
            "Check that the disk has room and that you may write to it.",
        )
    };
    longrein_store::file_system::make_private_folder(to).map_err(|error| broken(&error))?;
    let (mut count, mut bytes) = (0_usize, 0_u64);
    let mut folders = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = folders.pop() {
        let entries = match std::fs::read_dir(&from) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(broken(&error)),
        };
        for entry in entries {
            let entry = entry.map_err(|error| broken(&error))?;
            let meta = entry.metadata().map_err(|error| broken(&error))?;
            let target = to.join(entry.file_name());
            count += 1;
            bytes += meta.len();
            if count > FILES || bytes > BYTES {
                let message = "The workspace is too large to be copied for a fork.";
                let remedy = "Move what the fork does not need out of it.";
                return Err(AppError::new(AppErrorCode::Io, message, remedy));
            }
            if meta.is_dir() {
                std::fs::create_dir(&target).map_err(|error| broken(&error))?;
                folders.push((entry.path(), target));
            } else if meta.is_file() {
                std::fs::copy(entry.path(), &target).map_err(|error| broken(&error))?;
            }
        }
    }
    Ok(())
}
