//! The servers of this machine: how each is reached, signing in, what its tools were when the
//! person approved them, and a look at one outside of any run.

mod approved;
mod list;
mod look;
mod presets;
mod request;
mod tokens;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use longrein_core::policy::may_be_granted;
use longrein_keys::SecretName;
use longrein_mcp::{
    AddressConfig, ClientIdentity, Definition, Limits, McpError, McpServer, ProcessConfig, Reach,
    ServerConfig, SignIn, SignInError,
};
use longrein_protocol::{Effect, Repeat};

use crate::config::{self, McpConfig};
use crate::error::{AppError, AppErrorCode};
use crate::keys::Keys;
use crate::paths::Paths;
use crate::{Longrein, error};

pub use approved::Standing;
pub use list::{
    EnvMissing, FlagLine, FlagWord, FoundLine, FoundTool, GrantLine, GrantSource, PresetLine,
    PromptLine, ServerFailure, ServerLine, ServerList, ServerState, ToolChange, ToolTrouble,
};
pub use longrein_mcp::{
    Browser, BrowserError, Change, Confinement, Flag, FlagKind, Prompt, ToolProblem, conformance,
};
pub use presets::{PRESETS, Preset};
pub use request::{GrantRequest, ReachRequest, ServerRequest};

use approved::Approved;
use look::{LookError, Looks, Seen};
use tokens::KeptToken;

/// The servers of one installation. Copies are one.
#[derive(Clone)]
pub(crate) struct Servers {
    paths: Paths,
    keys: Keys,
    /// The sign-in of each address, shared by all that reach it, so that a token is renewed once.
    sign_ins: Arc<Mutex<SignIns>>,
    looks: Looks,
}

/// Sign-ins by a server's name and address.
type SignIns = BTreeMap<(String, String), Arc<SignIn>>;

impl Servers {
    pub(crate) fn new(paths: Paths, keys: Keys) -> Self {
        Self {
            paths,
            keys,
            sign_ins: Arc::default(),
            looks: Looks::default(),
        }
    }

    /// The last look at each server.
    fn looks(&self) -> Looks {
        self.looks.clone()
    }

    /// How a server is reached, with what it is granted. `workspace` is the folder that it works
    /// in.
    ///
    /// # Errors
    /// When something that it is granted can't be had.
    pub(crate) async fn config(
        &self,
        name: &str,
        config: &McpConfig,
        workspace: PathBuf,
    ) -> Result<ServerConfig, AppError> {
        let reach = match &config.url {
            Some(url) => Reach::Address(AddressConfig {
                url: url.clone(),
                headers: self.keys.headers_of_server(name, config).await?,
                sign_in: Some(self.sign_in(name, url, config).await?),
            }),
            None => Reach::Process(ProcessConfig {
                command: config.command.clone(),
                env: self.keys.of_server(name, config).await?,
                groups_file: self.paths.groups_file(),
                hidden: vec![self.paths.data.clone()],
            }),
        };
        let mut limits = Limits::default();
        if let Some(seconds) = config.start_seconds {
            limits.start = Duration::from_secs(seconds.into());
        }
        Ok(ServerConfig {
            name: name.to_owned(),
            reach,
            trusted: config.trusted,
            workspace,
            limits,
        })
    }

    async fn sign_in(
        &self,
        name: &str,
        url: &str,
        config: &McpConfig,
    ) -> Result<Arc<SignIn>, AppError> {
        let secret = self.keys.client_secret_of_server(name, config).await?;
        let place = (name.to_owned(), url.to_owned());
        let mut known = self.sign_ins.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sign_in) = known.get(&place) {
            return Ok(sign_in.clone());
        }
        let identity = ClientIdentity {
            id: config.sign_in.client_id.clone(),
            secret,
            metadata_url: None,
            scopes: config.sign_in.scopes.clone(),
        };
        let store = KeptToken::new(name, &self.paths.data, self.keys.clone())?;
        let sign_in = Arc::new(SignIn::new(url, identity, Arc::new(store)));
        known.insert(place, sign_in.clone());
        Ok(sign_in)
    }

    /// Whether the tools of a server that `allow` grants are what the person approved. The first
    /// time that a server is met, what it says is taken as approved: the person has just named it.
    ///
    /// # Errors
    /// When a granted tool has changed, with the difference.
    pub(crate) fn check(
        &self,
        name: &str,
        now: &[Definition],
        allow: &[String],
    ) -> Result<(), AppError> {
        let Standing::Changed(changes) = Approved::meet(&self.paths.data, name, now)? else {
            return Ok(());
        };
        let granted = |tool: &str| may_be_granted(allow, &format!("{name}.{tool}"));
        let mut told: Vec<String> = Vec::new();
        for (tool, change) in changes.iter().filter(|(tool, _)| granted(tool)) {
            told.push(match change {
                Change::New => format!("{name}.{tool} is new."),
                Change::Changed { difference } => {
                    format!("{name}.{tool} is said to be something else:\n{difference}")
                }
            });
        }
        if told.is_empty() {
            return Ok(());
        }
        Err(AppError::new(
            AppErrorCode::Refused,
            format!(
                "The server {name} has changed what it says of its tools since you approved them. {}",
                told.join("\n")
            ),
            format!(
                "Look at it with: longrein mcp test {name}. If it is right, approve it with: longrein mcp approve {name}"
            ),
        ))
    }
}

/// Which tools of a run look like one another, in sentences: `offered` are pairs of server and tool.
/// Servers often have a `search` each, so that these together are one sentence, and what only looks
/// the same comes first in it.
pub(crate) fn shadows(offered: &[(String, String)], built_in: &[String]) -> Vec<String> {
    let pairs = offered
        .iter()
        .map(|(server, tool)| (server.as_str(), tool.as_str()));
    let built_in: Vec<&str> = built_in.iter().map(String::as_str).collect();
    let flags = longrein_mcp::shadows(pairs, &built_in).into_iter();
    let (of_built_in, mut of_servers): (Vec<_>, Vec<_>) =
        flags.partition(|flag| !flag.found.contains('.'));
    let mut told: Vec<String> = of_built_in
        .iter()
        .map(|flag| {
            format!(
                "The tool {} has a name like that of {}.",
                flag.tool, flag.found
            )
        })
        .collect();
    let own = |name: &str| name.split_once('.').map(|(_, own)| own.to_owned());
    of_servers.sort_by_key(|flag| own(&flag.tool) == own(&flag.found));
    let alike: Vec<String> = of_servers
        .iter()
        .map(|flag| format!("{} and {}", flag.found, flag.tool))
        .collect();
    if !alike.is_empty() {
        told.push(format!(
            "Tools of different servers have names like one another: {}.",
            alike.join(", ")
        ));
    }
    told
}

/// A server's failure in the words of the app.
pub(crate) fn as_error(name: &str, error: &McpError) -> AppError {
    let remedy = match error {
        McpError::SignIn { .. } => format!("Sign in with: longrein mcp login {name}"),
        _ => format!("Look at it with: longrein mcp test {name}"),
    };
    let code = match error {
        McpError::SignIn { .. } | McpError::Unreachable { .. } => AppErrorCode::Refused,
        _ => AppErrorCode::Usage,
    };
    AppError::new(code, error::sentence(&error.to_string()), remedy)
}

/// What a look at a server has found.
pub struct Looked {
    /// The version of the protocol that is spoken.
    pub version: Option<String>,
    /// Its tools.
    pub tools: Vec<LookedTool>,
    /// Tools that can't be used.
    pub problems: Vec<ToolProblem>,
    /// What a person should see of its words.
    pub flags: Vec<Flag>,
    /// Its prompts.
    pub prompts: Vec<Prompt>,
    /// Whether its program is kept away from the data folder; `None` for an address.
    pub confinement: Option<Confinement>,
    /// What its program wrote to standard error; `None` for an address.
    pub last_words: Option<String>,
    /// The memory that its program holds, in bytes, where that can be told.
    pub memory_bytes: Option<u64>,
    /// How it stands to what was approved.
    pub standing: Standing,
}

/// A tool as a look has found it.
pub struct LookedTool {
    /// `server.name`.
    pub name: String,
    /// What it says of itself.
    pub description: String,
    /// What it may do to the world, as far as the server is believed.
    pub effect: Effect,
    /// Whether it may be started again.
    pub repeat: Repeat,
}

impl Longrein {
    /// The server of this name, as the configuration has it.
    fn server_config(&self, name: &str) -> Result<McpConfig, AppError> {
        let known = self.config();
        known.mcp.get(name).cloned().ok_or_else(|| {
            AppError::new(
                AppErrorCode::NotFound,
                format!("There is no server {name}."),
                "See which there are with: longrein mcp list",
            )
        })
    }

    /// Starts or reaches a server outside of any run, in a folder of its own, looks at what it
    /// offers, and ends it again.
    ///
    /// # Errors
    /// Why it can't be looked at, and what would help.
    pub async fn look_at_server(&self, name: &str) -> Result<Looked, AppError> {
        let seen = self.look(name).await;
        let (looked, _) = seen.map_err(|error| error.into_error(name))?;
        Ok(looked)
    }

    async fn look(&self, name: &str) -> Result<Seen, LookError> {
        let (server, _folder) = self.started(name).await?;
        let prompts = server.prompts().await.unwrap_or_default();
        let definitions = server.definitions();
        let standing = self
            .standing(name, &definitions)
            .map_err(LookError::Before)?;
        let looked = Looked {
            version: server.protocol_version(),
            tools: server
                .tools(&BTreeMap::new())
                .iter()
                .map(looked_tool)
                .collect(),
            problems: server.problems(),
            flags: server.flags(),
            prompts,
            confinement: server.confinement(),
            last_words: server.last_words(),
            memory_bytes: server.memory_bytes(),
            standing,
        };
        server.close().await;
        Ok((looked, definitions))
    }

    /// How a server stands to what was approved; what it says the first time is approved by it.
    fn standing(&self, name: &str, now: &[Definition]) -> Result<Standing, AppError> {
        Approved::meet(&self.paths().data, name, now)
    }

    /// A server outside of any run, in a folder of its own, which goes with what is returned.
    async fn started(&self, name: &str) -> Result<(McpServer, tempfile::TempDir), LookError> {
        let config = self.server_config(name).map_err(LookError::Before)?;
        let folder = tempfile::tempdir().map_err(|error| {
            LookError::Before(AppError::new(
                AppErrorCode::Io,
                format!("A folder for the server can't be made: {error}."),
                "Check that the folder for temporary files can be written.",
            ))
        })?;
        let place = folder.path().to_path_buf();
        let wanted = self.known_servers().config(name, &config, place).await;
        let started = McpServer::start(wanted.map_err(LookError::Before)?).await;
        Ok((started.map_err(LookError::Server)?, folder))
    }

    /// Looks at a server and gives, beside what was found, what an approval of just that takes down.
    ///
    /// # Errors
    /// As [`Self::look_at_server`].
    pub async fn look_to_approve(&self, name: &str) -> Result<(Looked, Vec<Definition>), AppError> {
        let seen = self.look(name).await;
        seen.map_err(|error| error.into_error(name))
    }

    /// Approves what a look has found, whatever the server says by now.
    ///
    /// # Errors
    /// When the approval can't be kept.
    pub fn approve_looked(&self, name: &str, definitions: &[Definition]) -> Result<(), AppError> {
        Approved::keep(&self.paths().data, name, definitions)
    }

    /// Signs the person in to a server at an address.
    ///
    /// # Errors
    /// Why it did not work, and what would help.
    pub async fn sign_in_to_server(
        &self,
        name: &str,
        browser: &dyn Browser,
    ) -> Result<(), AppError> {
        let sign_in = self.sign_in_of(name).await?;
        let signed_in = sign_in.sign_in(None, browser).await;
        signed_in.map_err(|error| of_sign_in(name, &error))?;
        self.known_servers().looks().forget(name);
        Ok(())
    }

    /// Forgets the person's sign-in; `false` when there was none.
    ///
    /// # Errors
    /// When it can't be forgotten.
    pub async fn sign_out_of_server(&self, name: &str) -> Result<bool, AppError> {
        let signed_out = self.sign_in_of(name).await?.sign_out().await;
        self.known_servers().looks().forget(name);
        signed_out.map_err(|error| AppError::new(AppErrorCode::Io, error.to_string(), ""))
    }

    /// Whether the person has signed in to a server; `None` for one that is a program.
    ///
    /// # Errors
    /// When what is kept can't be read.
    pub async fn is_signed_in_to_server(&self, name: &str) -> Result<Option<bool>, AppError> {
        if self.server_config(name)?.url.is_none() {
            return Ok(None);
        }
        let signed_in = self.sign_in_of(name).await?.is_signed_in().await;
        signed_in
            .map(Some)
            .map_err(|error| AppError::new(AppErrorCode::Io, error.to_string(), ""))
    }

    async fn sign_in_of(&self, name: &str) -> Result<Arc<SignIn>, AppError> {
        let config = self.server_config(name)?;
        let Some(url) = &config.url else {
            return Err(AppError::usage(
                format!("The server {name} is a program, which nobody signs in to."),
                "Give it what it needs in env, with secrets by name.",
            ));
        };
        self.known_servers().sign_in(name, url, &config).await
    }

    /// Whether something is kept under a name; no, where the place can't be read.
    pub async fn keeps_secret(&self, name: &str) -> bool {
        let Ok(name) = SecretName::new(name) else {
            return false;
        };
        matches!(self.keys().own(&name).await, Ok(Some(_)))
    }

    /// Adds a server, or changes the one of this name.
    ///
    /// # Errors
    /// As [`config::set_server`].
    pub fn add_server(&self, name: &str, server: &McpConfig) -> Result<(), AppError> {
        self.take_config(config::set_server(&self.paths().data, name, server)?);
        self.known_servers().looks().forget(name);
        Ok(())
    }

    /// Removes a server, with what was approved of it and the person's sign-in.
    ///
    /// # Errors
    /// When there is none, or a file can't be written.
    pub async fn remove_server(&self, name: &str) -> Result<(), AppError> {
        let config = self.server_config(name)?;
        if config.url.is_some() {
            self.sign_out_of_server(name).await?;
        }
        self.take_config(config::remove_server(&self.paths().data, name)?);
        self.known_servers().looks().forget(name);
        Approved::lose(&self.paths().data, name)
    }

    fn known_servers(&self) -> &Servers {
        self.inner.world.mcp()
    }
}

fn looked_tool(tool: &Arc<dyn longrein_runtime::ports::Tool>) -> LookedTool {
    let spec = tool.spec();
    LookedTool {
        name: spec.name.clone(),
        description: spec.description.clone(),
        effect: spec.effect,
        repeat: spec.repeat,
    }
}

fn of_sign_in(name: &str, error: &SignInError) -> AppError {
    let code = match error {
        SignInError::Store(_) | SignInError::Loopback(_) => AppErrorCode::Io,
        _ => AppErrorCode::Refused,
    };
    AppError::new(
        code,
        error.to_string(),
        format!("Look at the server with: longrein mcp test {name}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_with_the_same_names_are_told_in_one_sentence_the_deceptive_first() {
        let of = |server: &str, tool: &str| (server.to_owned(), tool.to_owned());
        let offered = [
            of("a", "search"),
            of("a", "list"),
            of("b", "search"),
            of("c", "read_fi1e"),
            of("c", "Iist"),
        ];
        let told = shadows(&offered, &["read_file".to_owned()]);
        assert_eq!(
            told,
            [
                "The tool c.read_fi1e has a name like that of read_file.",
                "Tools of different servers have names like one another: a.list and c.Iist, \
                 a.search and b.search.",
            ]
        );
        assert_eq!(shadows(&offered[..2], &[]), [""; 0]);
    }
}
