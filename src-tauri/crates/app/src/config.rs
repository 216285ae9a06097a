//! `config.toml` in the data folder: what belongs to this machine. Written by a person, so every
//! mistake is told with its line; edited by the window, so comments stay. A file that can't be
//! read is never replaced, and nothing goes on without it.

mod edit;
mod models;
mod provider;
mod read;
mod secret;
mod server;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use longrein_core::agent_file::Problem;
use longrein_keys::{Backend, Named, SecretName};
use serde::Serialize;

pub use longrein_models::{Format, ToolMode, WELL_KNOWN, WellKnown, usual_base_url};

pub use edit::{
    remove_provider, remove_server, set_key_store, set_provider, set_server, set_theme,
    set_tool_mode,
};
pub use models::OwnModel;
pub use read::{Checked, check};
pub use secret::SecretReference;

use longrein_runtime::world::Unavailable;

use crate::error::AppError;
use crate::own_file;

/// The file's name in the data folder.
pub const FILE_NAME: &str = "config.toml";

/// The whole configuration.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Config {
    /// Model providers by name.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// MCP servers by name.
    pub mcp: BTreeMap<String, McpConfig>,
    /// What the person says of models, by `provider/model`.
    pub models: BTreeMap<String, OwnModel>,
    /// Keys.
    pub keys: KeysConfig,
    /// Skills.
    pub skills: SkillsConfig,
    /// Pages of the web.
    pub web: WebConfig,
    /// What commands run in.
    pub sandbox: SandboxConfig,
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
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProviderConfig {
    /// What it speaks.
    pub format: Format,
    /// Where it is: `http` or `https`, without a slash at the end. The usual place where the file
    /// says nothing.
    pub base_url: String,
    /// Where its key comes from, where the file says so.
    pub key: Option<SecretReference>,
    /// How its models are brought to ask for actions.
    pub tool_mode: ToolMode,
}

/// Where keys are kept, `[keys]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KeysConfig {
    /// The place that the person chose; absent: the keychain, where there is one.
    pub store: Option<Backend>,
}

/// Where skills are looked for, `[skills]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SkillsConfig {
    /// Whether `.claude/skills` of the project and of the home folder is looked at as well.
    pub claude: bool,
}

/// How pages of the web are fetched, `[web]`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WebConfig {
    /// Hosts whose `robots.txt` is left aside: `example.org`, or `*.example.org` for it and those
    /// beneath it.
    pub ignore_robots: Vec<String>,
}

/// What commands run in, `[sandbox]`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SandboxConfig {
    /// The container engine: an address, the path of a socket, or `bubblewrap` for none. Absent:
    /// the first that is found.
    pub engine: Option<String>,
    /// Another base of the image that ships than the pinned one.
    pub base: Option<String>,
}

/// One MCP server, `[mcp.NAME]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct McpConfig {
    /// The program and its arguments; empty where it is an address.
    pub command: Vec<String>,
    /// What its environment gets besides a path, the home folder and the language.
    pub env: BTreeMap<String, EnvValue>,
    /// Where it is, when it is no program.
    pub url: Option<String>,
    /// What every request to that address says besides.
    pub headers: BTreeMap<String, HeaderText>,
    /// How we sign in at that address, as far as the person says.
    pub sign_in: SignInConfig,
    /// How long it may take to start, in seconds; the usual where nothing is said.
    pub start_seconds: Option<u32>,
    /// Whether what it says about its tools is believed.
    pub trusted: bool,
}

impl McpConfig {
    /// Everything that it is given: values of its environment and of its headers.
    pub fn values(&self) -> impl Iterator<Item = &EnvValue> {
        let headers = self.headers.values().map(|header| &header.value);
        self.env.values().chain(headers)
    }
}

/// The value of a header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeaderText {
    /// What stands before the value: `Bearer `, or nothing.
    pub before: String,
    /// The value.
    pub value: EnvValue,
}

/// `[mcp.NAME.sign_in]`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SignInConfig {
    /// The id that the server's makers gave the person; without it we register ourselves.
    pub client_id: Option<String>,
    /// The secret that belongs to it.
    pub client_secret: Option<SecretReference>,
    /// The rights to ask for; without any, those that the server names.
    pub scopes: Vec<String>,
}

/// A value of a server's environment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EnvValue {
    /// Written in the file; no secret.
    Plain(String),
    /// Taken from this variable of our own environment.
    Variable(String),
    /// What is kept under this name.
    Secret(SecretName),
}

impl EnvValue {
    /// As it is written in the file.
    pub fn written(&self) -> String {
        match self {
            Self::Plain(text) => text.clone(),
            Self::Variable(variable) => format!("env:{variable}"),
            Self::Secret(name) => format!("secret:{name}"),
        }
    }
}

/// How the window looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
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
    /// Whether its server is on this machine.
    pub fn is_here(&self) -> bool {
        provider::is_on_this_machine(&self.base_url)
    }

    /// What the file says of the key, as [`longrein_keys::KeyStore::find`] asks for it.
    pub fn named_key(&self) -> Named<'_> {
        match &self.key {
            None => Named::Nothing,
            Some(SecretReference::Variable(variable)) => Named::Variable(variable),
            Some(SecretReference::Kept(name)) => Named::Secret(name.clone()),
        }
    }
}

#[cfg(test)]
mod tests;
