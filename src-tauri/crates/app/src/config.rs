//! `config.toml` in the data folder: what belongs to this machine. Written by a person, so every
//! mistake is told with its line; edited by the window, so comments stay. A file that can't be
//! read is never replaced, and nothing goes on without it.

mod edit;
mod prices;
mod read;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use longrein_core::agent_file::Problem;
use longrein_models::Secret;
use longrein_protocol::event::Price;
use serde::Serialize;

pub use edit::{remove_provider, set_provider, set_theme};
pub use read::{Checked, check};

use longrein_runtime::world::Unavailable;

use crate::error::AppError;
use crate::own_file;

/// The file's name in the data folder.
pub const FILE_NAME: &str = "config.toml";

/// The whole configuration.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Config {
    /// Model providers by name.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// MCP servers by name.
    pub mcp: BTreeMap<String, McpConfig>,
    /// What models cost, by `provider/model`.
    pub models: BTreeMap<String, Price>,
    /// The window.
    pub ui: UiConfig,
}

/// The configuration of this process: every copy sees what was last taken.
#[derive(Clone, Default)]
pub(crate) struct Current(Arc<RwLock<Standing>>);

#[derive(Default)]
struct Standing {
    config: Arc<Config>,
    /// Why the file could not be read; what needs it is refused until it can.
    problem: Option<Unavailable>,
}

impl Current {
    pub(crate) fn new(config: Config) -> Self {
        Self::of(config, None)
    }

    /// A file that could not be read: it counts as empty, and what needs it is refused.
    pub(crate) fn broken(problem: &AppError) -> Self {
        let problem = Unavailable {
            message: problem.message.clone(),
            remedy: problem.remedy.clone(),
        };
        Self::of(Config::default(), Some(problem))
    }

    fn of(config: Config, problem: Option<Unavailable>) -> Self {
        let config = Arc::new(config);
        Self(Arc::new(RwLock::new(Standing { config, problem })))
    }

    pub(crate) fn get(&self) -> Arc<Config> {
        self.read().config.clone()
    }

    /// Why the file could not be read.
    pub(crate) fn problem(&self) -> Option<Unavailable> {
        self.read().problem.clone()
    }

    pub(crate) fn take(&self, config: Config) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Standing {
            config: Arc::new(config),
            problem: None,
        };
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Standing> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One provider, `[providers.NAME]`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ProviderConfig {
    /// What it speaks.
    pub format: ProviderFormat,
    /// Where it is: `http` or `https`, without a slash at the end.
    pub base_url: String,
    /// The variable that holds its key, from `key = "env:NAME"`.
    pub key_variable: Option<String>,
}

/// What a provider speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub enum ProviderFormat {
    /// OpenAI's Chat Completions, and all that speak it.
    #[default]
    #[serde(rename = "openai-chat")]
    OpenAiChat,
}

impl ProviderFormat {
    /// As it is written in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
        }
    }
}

/// One MCP server, `[mcp.NAME]`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct McpConfig {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// What its environment gets besides a path, the home folder and the language.
    pub env: BTreeMap<String, EnvValue>,
    /// Whether what it says about its tools is believed.
    pub trusted: bool,
}

/// A value of a server's environment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EnvValue {
    /// Written in the file; no secret.
    Plain(String),
    /// Taken from this variable of our own environment.
    Variable(String),
}

/// How the window looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct UiConfig {
    /// Light, dark, or as the system has it.
    pub theme: Theme,
}

/// Light, dark, or as the system has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    /// As the system has it.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl Theme {
    /// As it is written in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// The theme of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::System, Self::Light, Self::Dark]
            .into_iter()
            .find(|theme| theme.name() == name)
    }
}

/// Where the file lies.
pub fn path(data_dir: &Path) -> PathBuf {
    data_dir.join(FILE_NAME)
}

/// Reads the file; a missing one is an empty one.
///
/// # Errors
/// Every mistake in it; the file stays as it is.
pub fn load(data_dir: &Path) -> Result<Config, Vec<Problem>> {
    let checked = check(&own_file::read(&path(data_dir))?);
    checked.config.ok_or(checked.problems)
}

/// What is wrong with the configuration, as one failure.
pub fn as_error(problems: &[Problem]) -> AppError {
    own_file::as_error(FILE_NAME, problems)
}

impl ProviderConfig {
    /// The key: from `LONGREIN_<PROVIDER>_API_KEY`, else from the variable that the file names,
    /// else from the provider's usual one. `None` when the provider needs none or none is there.
    ///
    /// # Errors
    /// When the file names a variable that is not set.
    pub fn resolve_key(&self, provider: &str) -> Result<Option<Secret>, AppError> {
        self.key_from(provider, &variable)
    }

    fn key_from(
        &self,
        provider: &str,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Secret>, AppError> {
        let own = own_variable(provider);
        if let Some(key) = variable(&own) {
            return Ok(Some(Secret::new(key)));
        }
        if let Some(named) = &self.key_variable {
            let Some(key) = variable(named) else {
                return Err(AppError::usage(
                    format!(
                        "The key of provider {provider} is not there: the variable {named} is not set."
                    ),
                    format!("Set {named} or {own}, or take key out of [providers.{provider}]."),
                ));
            };
            return Ok(Some(Secret::new(key)));
        }
        let usual = USUAL_VARIABLES.iter().filter(|(name, _)| *name == provider);
        Ok(usual
            .filter_map(|(_, name)| variable(name))
            .next()
            .map(Secret::new))
    }
}

impl McpConfig {
    /// The variables that the person granted, with their values.
    ///
    /// # Errors
    /// When one is to be taken from a variable that is not set.
    pub fn resolve_env(&self) -> Result<BTreeMap<String, String>, AppError> {
        self.env_from(&variable)
    }

    fn env_from(
        &self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<BTreeMap<String, String>, AppError> {
        let resolved = self.env.iter().map(|(name, value)| {
            let value = match value {
                EnvValue::Plain(value) => value.clone(),
                EnvValue::Variable(from) => variable(from).ok_or_else(|| {
                    AppError::usage(
                        format!("The server's {name} is to come from the variable {from}, which is not set."),
                        format!("Set {from}, or take {name} out of env in {FILE_NAME}."),
                    )
                })?,
            };
            Ok((name.clone(), value))
        });
        resolved.collect()
    }
}

/// The variables that people have already set for a provider of this name.
const USUAL_VARIABLES: &[(&str, &str)] = &[
    ("anthropic", "ANTHROPIC_API_KEY"),
    ("deepseek", "DEEPSEEK_API_KEY"),
    ("gemini", "GEMINI_API_KEY"),
    ("google", "GEMINI_API_KEY"),
    ("groq", "GROQ_API_KEY"),
    ("mistral", "MISTRAL_API_KEY"),
    ("openai", "OPENAI_API_KEY"),
    ("openrouter", "OPENROUTER_API_KEY"),
    ("together", "TOGETHER_API_KEY"),
    ("xai", "XAI_API_KEY"),
];

/// The variable that holds a provider's key for Longrein alone.
pub fn own_variable(provider: &str) -> String {
    let name = provider.to_ascii_uppercase().replace('-', "_");
    format!("LONGREIN_{name}_API_KEY")
}

/// A variable of our environment; an empty one counts as not set.
fn variable(name: &str) -> Option<String> {
    std::env::var(name)
        .ok()
        .filter(|value| !value.trim().is_empty())
}

#[cfg(test)]
mod tests;

/// Values of our own environment that are secrets: keys of providers, and what the file grants to
/// servers by name. Short values are left out: they would mask ordinary words.
pub(crate) fn known_secrets(config: &Config) -> Vec<String> {
    const SHORTEST_SECRET: usize = 8;
    let own = |name: &str| name.starts_with("LONGREIN_") && name.ends_with("_API_KEY");
    let usual = |name: &str| USUAL_VARIABLES.iter().any(|(_, usual)| *usual == name);
    let named = |name: &str| {
        let of_providers = config
            .providers
            .values()
            .filter_map(|provider| provider.key_variable.as_deref());
        let of_servers = config
            .mcp
            .values()
            .flat_map(|server| server.env.values())
            .filter_map(|value| match value {
                EnvValue::Variable(variable) => Some(variable.as_str()),
                EnvValue::Plain(_) => None,
            });
        of_providers
            .chain(of_servers)
            .any(|variable| variable == name)
    };
    let mut secrets: Vec<String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, value)| {
            value.len() >= SHORTEST_SECRET && (own(name) || usual(name) || named(name))
        })
        .map(|(_, value)| value)
        .collect();
    // The longest first: one secret may be a part of another.
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    secrets.dedup();
    secrets
}
