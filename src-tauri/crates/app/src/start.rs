//! Beginning a run. A mistake found here is a usage error, and nothing was begun.

use std::path::{Path, PathBuf};

use longrein_core::agent_file;
use longrein_core::run::Run;
use longrein_models::demo;
use longrein_protocol::agent::{AgentSpec, Budget, Criterion};
use longrein_protocol::event::{Limits, Payload, Price, RunCreated};
use longrein_protocol::{HARNESS_VERSION, RunId};
use longrein_runtime::Driver;
use longrein_runtime::ports::Chance;
use longrein_runtime::world::World as _;
use longrein_store::TreeLock;
use longrein_store::file_system::make_private_folder;

use crate::drivers::Driving;
use crate::error::{AppError, AppErrorCode, of_lock};
use crate::system::{SystemChance, now};
use crate::{DEMO_MODEL, Longrein, agents, attachments};

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
    /// The folder of the project that the person works in, where its skills lie.
    pub project: Option<PathBuf>,
    /// Limits over the agent's own; what is absent stays as its file says.
    pub limits: Limits,
    /// Images, PDFs and recordings that belong to the question.
    pub attachments: Vec<PathBuf>,
}

impl Longrein {
    /// Begins a run and drives it in the background of this process.
    ///
    /// # Errors
    /// [`AppError`] when the question is empty, the agent, its model or its library can't be
    /// used, the rules of this machine can't be read, or the disk refuses. Nothing was begun then.
    pub async fn start(&self, new: NewRun) -> Result<Driving, AppError> {
        let question = new.question.trim().to_owned();
        if question.is_empty() {
            return Err(AppError::usage(
                "The question is empty.",
                "Say what should be found out.",
            ));
        }
        let mut agent = self.agent_for(&new)?;
        let model = self.model_for(&agent).await?;
        self.check_others(&agent).await?;
        let price = self.price_for(&agent, &model)?;
        let takes = self.inner.world.model_facts(&model).takes;
        agent.agents.saved = self.saved_agents(&agent, &model).await?;
        // Without the rules of this machine nothing could be decided.
        self.rules()?;
        self.inner.world.library(&agent)?;
        self.check_skills(&agent, new.project.as_deref())?;
        self.reap_boxes().await;
        let given = attachments::read(new.attachments.clone()).await?;
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
            project: new
                .project
                .as_deref()
                .map(|folder| folder.to_string_lossy().into_owned()),
            price,
            takes,
            tainted: false,
            private: false,
            depth: 0,
            parent: None,
            root: None,
            copies: None,
        }))?;
        for blob in given.blobs {
            driver.keep(Some(blob));
        }
        driver.give(question, given.media)?;
        driver.commit().await?;
        Ok(self.drive_in_background(run, driver, lock))
    }

    fn agent_for(&self, new: &NewRun) -> Result<AgentSpec, AppError> {
        let mut agent = agents::resolve(&self.inner.paths.data, &new.agent)?;
        if let Some(model) = &new.model {
            agent.model.use_ = vec![model.clone()];
        }
        if agent
            .model
            .use_
            .first()
            .is_some_and(|model| model == DEMO_MODEL)
        {
            let window = &mut agent.model.window_tokens;
            *window = demo::WINDOW_TOKENS.min(*window);
        }
        if let Some(folders) = &new.library {
            agent.library.folders.clone_from(folders);
        }
        limit(&mut agent.budget, new.limits);
        Ok(agent)
    }

    /// The model that an agent begins with.
    ///
    /// # Errors
    /// When it names none, or the one that it names can't be used.
    pub(crate) async fn model_for(&self, agent: &AgentSpec) -> Result<String, AppError> {
        let Some(model) = agent.model.use_.first() else {
            return Err(AppError::usage(
                format!("The agent {} names no model.", agent.name),
                "Name one with --model, or under [model] use in the agent file. See: longrein models",
            ));
        };
        self.inner.world.models().ready(agent, model).await?;
        self.check_key(model).await?;
        Ok(model.clone())
    }

    /// What the model's tokens cost. An agent with a limit of money needs to know: what can't be
    /// counted can't be held to a limit.
    pub(crate) fn price_for(
        &self,
        agent: &AgentSpec,
        model: &str,
    ) -> Result<Option<Price>, AppError> {
        let price = self.inner.world.models().price(model);
        if agent.budget.money_usd.is_none() {
            return Ok(price);
        }
        // Any of the list may take over.
        let others = agent.model.use_.iter().map(String::as_str);
        let mut models = std::iter::once(model).chain(others);
        if let Some(unknown) = models.find(|model| self.inner.world.models().price(model).is_none())
        {
            return Err(AppError::usage(
                format!(
                    "The agent {} has a limit of money, and what {unknown} costs is not known.",
                    agent.name
                ),
                format!(
                    "Add [models.\"{unknown}\"] with input_usd and output_usd to config.toml (0 where it costs nothing), or take money_usd out of [budget]."
                ),
            ));
        }
        self.check_steps(agent, model)?;
        // It is known: the model itself was the first to be looked at.
        let known = price.unwrap_or_default();
        for judge in judges_of(agent).filter(|judge| *judge != model) {
            let price = self.inner.world.models().price(judge);
            if price.is_none_or(|price| is_dearer(&price, &known)) {
                return Err(AppError::usage(
                    format!(
                        "The agent {} has a limit of money, which is counted by the price of {model}; {judge}, which judges, is dearer or has no known price.",
                        agent.name
                    ),
                    "Let the run's own model judge, name a cheaper one, or take money_usd out of [budget].",
                ));
            }
        }
        Ok(price)
    }
}

impl Longrein {
    /// The models that an agent names beside those of its steps: a name that means nothing here is a
    /// mistake, and not a reason to do without.
    ///
    /// # Errors
    /// When one of them can't be used.
    async fn check_others(&self, agent: &AgentSpec) -> Result<(), AppError> {
        let summaries = agent.context.summary_model.as_deref();
        let summaries = summaries.filter(|_| agent.context.summaries);
        let named = summaries.map(|model| ("writes the summaries", model));
        let judges = judges_of(agent).map(|model| ("judges", model));
        for (what, model) in named.into_iter().chain(judges) {
            let ready = self.inner.world.models().ready(agent, model).await;
            ready.map_err(|error| AppError {
                message: format!("The model that {what}: {}", error.message),
                ..error
            })?;
        }
        Ok(())
    }

    /// A limit of money is counted by one price, so that no request may be so long that the
    /// provider asks for more.
    fn check_steps(&self, agent: &AgentSpec, model: &str) -> Result<(), AppError> {
        let others = agent.model.use_.iter().map(String::as_str);
        for name in std::iter::once(model).chain(others) {
            let price = self.known_of(name).price.map(|price| price.value);
            let Some(above) = price.and_then(|price| price.dearer_above_tokens) else {
                continue;
            };
            if agent.model.window_tokens > above {
                return Err(AppError::usage(
                    format!(
                        "The agent {} has a limit of money, and {name} costs more from {above} tokens of a request on.",
                        agent.name
                    ),
                    format!(
                        "Set window_tokens = {above} or less under [model], or take money_usd out of [budget]."
                    ),
                ));
            }
        }
        Ok(())
    }
}

/// Puts limits over those of an agent.
fn limit(budget: &mut Budget, limits: Limits) {
    budget.steps = limits.steps.unwrap_or(budget.steps);
    budget.tokens_in = limits.tokens_in.or(budget.tokens_in);
    budget.tokens_out = limits.tokens_out.or(budget.tokens_out);
    budget.working_minutes = limits.working_minutes.or(budget.working_minutes);
    budget.actions = limits.actions.or(budget.actions);
    let usd = limits.money_micro.map(|micro| micro as f64 / 1e6);
    budget.money_usd = usd.or(budget.money_usd);
}

/// The models that criteria name.
fn judges_of(agent: &AgentSpec) -> impl Iterator<Item = &str> {
    agent
        .done_when
        .iter()
        .filter_map(|criterion| match criterion {
            Criterion::Judge(judge) => judge.model.as_deref(),
            _ => None,
        })
}

/// Whether a million tokens of any kind cost more.
fn is_dearer(price: &Price, than: &Price) -> bool {
    let cached = |price: &Price| price.cached.unwrap_or(price.input);
    price.input > than.input || price.output > than.output || cached(price) > cached(than)
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

#[cfg(test)]
mod tests;
