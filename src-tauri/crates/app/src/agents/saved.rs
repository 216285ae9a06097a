//! The saved agents that an agent may give work to, as they are when a run begins.

use futures::future::BoxFuture;
use longrein_core::agent_file::{Problem, Severity};
use longrein_protocol::agent::{AgentSpec, SavedAgent};
use longrein_runtime::world::World as _;

use super::{AgentFile, find_saved};
use crate::Longrein;
use crate::error::AppError;

/// The most agents that one run may give work to, those of its helpers among them.
const ALL_MAX: usize = 64;

/// Who names an agent: the chain of names from the run's own on.
struct Above<'a> {
    names: Vec<&'a str>,
    agent: &'a AgentSpec,
    model: &'a str,
    /// The limit of money that everything below is counted by, in dollars.
    money: Option<f64>,
}

impl Longrein {
    /// The agents that an agent may give work to, each ready to run.
    ///
    /// # Errors
    /// When there is none of a name, its file has mistakes, its model can't be used, or agents
    /// name each other in a circle.
    pub(crate) async fn saved_agents(
        &self,
        agent: &AgentSpec,
        model: &str,
    ) -> Result<Vec<SavedAgent>, AppError> {
        let above = Above {
            names: vec![&agent.name],
            agent,
            model,
            money: agent.budget.money_usd,
        };
        let mut left = ALL_MAX;
        self.saved_below(above, &mut left).await
    }

    fn saved_below<'a>(
        &'a self,
        above: Above<'a>,
        left: &'a mut usize,
    ) -> BoxFuture<'a, Result<Vec<SavedAgent>, AppError>> {
        Box::pin(async move {
            let mut all = Vec::with_capacity(above.agent.agents.use_.len());
            for name in &above.agent.agents.use_ {
                *left = left.checked_sub(1).ok_or_else(|| {
                    AppError::usage(
                        format!("More than {ALL_MAX} agents are named below one another."),
                        "Take some out of [agents] use.",
                    )
                })?;
                all.push(self.saved(name, &above, left).await?);
            }
            Ok(all)
        })
    }

    async fn saved(
        &self,
        name: &str,
        above: &Above<'_>,
        left: &mut usize,
    ) -> Result<SavedAgent, AppError> {
        if above.names.contains(&name) {
            let names = above.names.join(", which names ");
            return Err(AppError::usage(
                format!("Agents name each other in a circle: {names}, which names {name}."),
                "Take one of them out of [agents] use.",
            ));
        }
        let named_by = |error: AppError| AppError {
            message: format!(
                "{}, which {} may give work to: {}",
                name, above.agent.name, error.message
            ),
            ..error
        };
        let file = find_saved(&self.inner.paths.data, name).map_err(named_by)?;
        let mut agent = file.usable().map_err(named_by)?;
        if agent.model.use_.is_empty() {
            agent.model = above.agent.model.clone();
            agent.model.use_ = vec![above.model.to_owned()];
        }
        let model = self.model_for(&agent).await.map_err(named_by)?;
        // What it costs is counted to the limit of the run that gives it work.
        let mut counted = agent.clone();
        counted.budget.money_usd = agent.budget.money_usd.or(above.money);
        let price = self.price_for(&counted, &model).map_err(named_by)?;
        let mut names = above.names.clone();
        names.push(name);
        let below = Above {
            names,
            agent: &agent,
            model: &model,
            money: counted.budget.money_usd,
        };
        let saved = self.saved_below(below, left).await?;
        agent.agents.saved = saved;
        Ok(SavedAgent {
            name: name.to_owned(),
            takes: self.inner.world.model_facts(&model).takes,
            agent,
            model,
            price,
        })
    }
}

/// What is wrong with the agents that a file names: a run of it would not begin.
pub fn problems_of_named(data_dir: &std::path::Path, file: &AgentFile) -> Vec<Problem> {
    let names = file.spec.iter().flat_map(|spec| &spec.agents.use_);
    let problems = names.filter_map(|name| {
        let error = find_saved(data_dir, name)
            .and_then(AgentFile::usable)
            .err()?;
        Some(Problem {
            severity: Severity::Warning,
            line: 0,
            column: 0,
            path: "agents.use".to_owned(),
            message: error.message,
            remedy: error.remedy,
        })
    });
    problems.collect()
}
