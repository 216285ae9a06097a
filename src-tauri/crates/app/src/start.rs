//! Beginning a run. A mistake found here is a usage error, and nothing was begun.

use std::path::Path;

use longrein_core::agent_file;
use longrein_core::run::Run;
use longrein_protocol::agent::AgentSpec;
use longrein_protocol::event::{Payload, RunCreated};
use longrein_protocol::{HARNESS_VERSION, RunId};
use longrein_runtime::Driver;
use longrein_runtime::ports::Chance;
use longrein_store::TreeLock;
use longrein_store::file_system::make_private_folder;

use crate::drivers::Driving;
use crate::error::{AppError, AppErrorCode, of_lock};
use crate::system::{SystemChance, now};
use crate::{Longrein, agents};

/// What a person asks for.
#[derive(Clone, Debug, Default)]
pub struct NewRun {
    /// A name or a file.
    pub agent: String,
    /// The question.
    pub question: String,
    /// Another model than the agent's first.
    pub model: Option<String>,
    /// Another library than the agent's.
    pub library: Option<Vec<String>>,
}

impl Longrein {
    /// Begins a run and drives it in the background of this process.
    ///
    /// # Errors
    /// [`AppError`] when the question is empty, the agent, its model or its library can't be
    /// used, or the disk refuses. Nothing was begun then.
    pub async fn start(&self, new: NewRun) -> Result<Driving, AppError> {
        let question = new.question.trim().to_owned();
        if question.is_empty() {
            return Err(AppError::usage(
                "The question is empty.",
                "Say what should be found out.",
            ));
        }
        let agent = self.agent_for(&new)?;
        let model = self.model_for(&agent)?;
        self.inner.world.library(&agent)?;
        let run = RunId::from_parts(now(), SystemChance.random());
        let workspace = self.inner.paths.workspace(run);
        make_folder(&workspace)?;
        let (lock, fence) = TreeLock::acquire(&self.inner.store, run)
            .await
            .map_err(|error| of_lock(run, error))?;
        let mut driver = Driver::new(self.ports(), fence, Run::default());
        driver.record(Payload::RunCreated(RunCreated {
            agent_hash: agent_file::hash(&agent),
            window_tokens: agent.model.window_tokens,
            agent,
            model,
            harness: HARNESS_VERSION.to_owned(),
            workspace: workspace.to_string_lossy().into_owned(),
            parent: None,
        }))?;
        driver.say(question)?;
        driver.commit().await?;
        Ok(self.drive_in_background(run, driver, lock))
    }

    fn agent_for(&self, new: &NewRun) -> Result<AgentSpec, AppError> {
        let mut agent = agents::resolve(&self.inner.paths.data, &new.agent)?;
        if let Some(model) = &new.model {
            agent.model.use_ = vec![model.clone()];
        }
        if let Some(folders) = &new.library {
            agent.library.folders.clone_from(folders);
        }
        Ok(agent)
    }

    fn model_for(&self, agent: &AgentSpec) -> Result<String, AppError> {
        use longrein_runtime::world::World as _;
        let Some(model) = agent.model.use_.first() else {
            return Err(AppError::usage(
                format!("The agent {} names no model.", agent.name),
                "Name one with --model, or under [model] use in the agent file. See: longrein models",
            ));
        };
        match self.inner.world.model(model) {
            Ok(_) => Ok(model.clone()),
            Err(error) => Err(AppError::usage(error.message, error.remedy)),
        }
    }
}

fn make_folder(folder: &Path) -> Result<(), AppError> {
    make_private_folder(folder).map_err(|error| {
        AppError::new(
            AppErrorCode::Io,
            format!("The workspace {} can't be made: {error}.", folder.display()),
            "Check that the folder above it exists and that you may write to it.",
        )
    })
}
