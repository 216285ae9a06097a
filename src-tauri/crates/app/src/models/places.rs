//! Servers on this machine, and adding a provider.

use longrein_models::discovery::{self, FoundServer};
use longrein_models::{usual_base_url, well_known};
use serde::Serialize;

use crate::Longrein;
use crate::config::{self, Format, ProviderConfig, ToolMode};
use crate::error::AppError;

/// A server that answers on this machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Found {
    /// What it is: `Ollama`.
    pub server: &'static str,
    /// Where it answers.
    pub base_url: String,
    /// Its models; empty where it has none or does not say.
    pub models: Vec<String>,
    /// What a provider with it may be called.
    pub name: String,
    /// The provider of the configuration that has this address.
    pub provider: Option<String>,
}

/// A provider that could be added.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// Its name.
    pub name: String,
    /// What would be written.
    pub config: ProviderConfig,
}

impl Place {
    /// The lines of `config.toml`.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![
            format!("[providers.{}]", self.name),
            format!("format = \"{}\"", self.config.format.name()),
            format!("base_url = \"{}\"", self.config.base_url),
        ];
        if self.config.tool_mode != ToolMode::default() {
            lines.push(format!("tool_mode = \"{}\"", self.config.tool_mode.name()));
        }
        lines
    }
}

impl Longrein {
    /// Looks for Ollama, LM Studio and llama.cpp where they usually answer. Takes at most a second.
    pub async fn find_servers(&self) -> Vec<Found> {
        let found = discovery::discover().await;
        found.iter().map(|server| self.found(server)).collect()
    }

    fn found(&self, server: &FoundServer) -> Found {
        let config = self.config();
        let is_it = |known: &ProviderConfig| same_place(&known.base_url, &server.base_url);
        let provider = config.providers.iter().find(|(_, known)| is_it(known));
        Found {
            server: server.server.name(),
            base_url: server.base_url.clone(),
            models: server.models.iter().map(|model| model.id.clone()).collect(),
            name: server.server.provider().to_owned(),
            provider: provider.map(|(name, _)| name.clone()),
        }
    }

    /// What would be written for a provider of this name. What is not said is as the name or the
    /// format has it.
    ///
    /// # Errors
    /// When there is one of this name already, or neither name nor format say enough.
    pub fn place(
        &self,
        name: &str,
        format: Option<Format>,
        base_url: Option<String>,
    ) -> Result<Place, AppError> {
        if let Some(problem) = self.config_problem() {
            return Err(problem.into());
        }
        if self.config().providers.contains_key(name) {
            return Err(AppError::usage(
                format!("There is a provider {name} already."),
                "Choose another name, or change it in config.toml.",
            ));
        }
        let usual = well_known(name).and_then(|known| known.formats.first().copied());
        let Some(format) = format.or(usual) else {
            return Err(AppError::usage(
                format!("What {name} speaks is not known."),
                "Say it with --format; most servers speak openai-chat.",
            ));
        };
        let usual = usual_base_url(name, format).map(str::to_owned);
        let Some(base_url) = base_url.or(usual) else {
            return Err(AppError::usage(
                format!("Where {name} is is not known."),
                "Say it with --base-url, as in --base-url http://127.0.0.1:8080/v1",
            ));
        };
        Ok(Place {
            name: name.to_owned(),
            config: ProviderConfig {
                format,
                base_url,
                key: None,
                tool_mode: ToolMode::default(),
            },
        })
    }

    /// Writes a provider into `config.toml`.
    ///
    /// # Errors
    /// When the file has mistakes, the provider would be one, or the disk refuses.
    pub fn add_provider(&self, place: &Place) -> Result<(), AppError> {
        let changed = config::set_provider(self.data_dir(), &place.name, &place.config)?;
        self.take_config(changed);
        Ok(())
    }

    /// Writes into `config.toml` how a model is brought to ask for actions.
    ///
    /// # Errors
    /// As [`Self::add_provider`].
    pub fn save_tool_mode(&self, model: &str, mode: ToolMode) -> Result<(), AppError> {
        let changed = config::set_tool_mode(self.data_dir(), model, mode)?;
        self.take_config(changed);
        Ok(())
    }
}

/// Whether two addresses are one place of this machine, whatever it is called.
fn same_place(one: &str, other: &str) -> bool {
    let plain = |url: &str| {
        url.trim_end_matches('/')
            .replace("//localhost", "//127.0.0.1")
    };
    plain(one) == plain(other)
}
