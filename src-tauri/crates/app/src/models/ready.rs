//! What is looked at before a run begins: whether its key is there, and whether its model reads as
//! much as the agent counts on.

use std::time::Duration;

use longrein_models::ollama::{self, Check};
use longrein_models::{Limits, ModelConfig, list};
use longrein_protocol::agent::AgentSpec;
use url::{Host, Url};

use super::listing::facts_of;
use super::{Models, Reach, misnamed};
use crate::error::AppError;
use crate::world::DEMO_MODEL;

/// How long a server on this machine may take for each question. One that is slower is asked by
/// the run itself, which has more patience.
const PATIENCE: Duration = Duration::from_secs(2);

impl Models {
    /// Looks whether a run of this agent can begin with this model.
    ///
    /// # Errors
    /// When the model's name means nothing here, its key is not there, or its server would cut
    /// requests without a word.
    pub(crate) async fn ready(&self, agent: &AgentSpec, model: &str) -> Result<(), AppError> {
        // A model that can't be built is a mistake in the configuration.
        self.model(model).map_err(misnamed)?;
        if model == DEMO_MODEL {
            return Ok(());
        }
        let reach = self.reach(model).map_err(misnamed)?;
        let window_tokens = agent.model.window_tokens;
        if ollama::is_ollama(&reach.with_key(None)) {
            let config = self.asked_briefly(&reach).await?;
            return check_ollama(&config, model, window_tokens).await;
        }
        self.ask_window(&reach, model).await?;
        if let Some(window) = self.known(model).window_tokens
            && window.value < window_tokens
        {
            tracing::warn!(
                "{model} reads {} tokens ({}), and the agent counts on {window_tokens}: set window_tokens = {} under [model], or longer requests are refused and have to be made shorter",
                window.value,
                window.source.words(),
                window.value
            );
        }
        Ok(())
    }

    /// Asks a server on this machine how much it reads, where nobody else knows. A server that
    /// does not answer is the run's affair, which says so and can be gone on with.
    async fn ask_window(&self, reach: &Reach, model: &str) -> Result<(), AppError> {
        if self.known(model).window_tokens.is_some() || !is_here(&reach.config.base_url) {
            return Ok(());
        }
        let config = self.asked_briefly(reach).await?;
        let listed = list(reach.config.format, &config).await.unwrap_or_default();
        if let Some(found) = listed.iter().find(|listed| listed.id == reach.model) {
            self.learn(model, facts_of(found));
        }
        Ok(())
    }

    /// How a server is asked that may not answer.
    async fn asked_briefly(&self, reach: &Reach) -> Result<ModelConfig, AppError> {
        Ok(ModelConfig {
            limits: Limits {
                connect: PATIENCE,
                first_byte: PATIENCE,
                ..Limits::default()
            },
            ..self.asked(reach).await?
        })
    }
}

/// Ollama cuts what is too long from the front, which would take the agent's instructions first: a
/// run does not begin so.
async fn check_ollama(
    config: &ModelConfig,
    model: &str,
    window_tokens: u32,
) -> Result<(), AppError> {
    // One that does not answer, or has no such model, is the run's affair.
    let Ok(context) = ollama::context(config).await else {
        return Ok(());
    };
    match context.check(&config.model, window_tokens) {
        Check::Fits => Ok(()),
        Check::Cuts { message, remedy } => Err(AppError::usage(message, remedy)),
        Check::Unknown => {
            tracing::warn!(
                "how much of a request Ollama reads is only known once {model} is loaded; it drops the rest without a word, and the agent counts on {window_tokens} tokens: start Ollama with OLLAMA_CONTEXT_LENGTH={window_tokens}"
            );
            Ok(())
        }
    }
}

/// Whether an address is on this machine.
fn is_here(base_url: &str) -> bool {
    let url = Url::parse(base_url).ok();
    match url.as_ref().and_then(Url::host) {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
