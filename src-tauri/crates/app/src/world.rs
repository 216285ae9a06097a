//! The world of a real run: providers from the configuration, built-in tools, the library and
//! MCP servers.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use longrein_core::agent_file::Problem;
use longrein_core::run::Run;
use longrein_keys::Masker;
use longrein_mcp::McpServer;
use longrein_protocol::agent::AgentSpec;
use longrein_protocol::gate::{Always, PathFact, Scope, SecretFact, StandingRule};
use longrein_protocol::{ActionId, BlobHash, RunId, ToolSpec};
use longrein_runtime::ports::{
    BlobRead, CancellationToken, CommandEnd, LiveAction, LiveText, Model, ModelError, NoLiveAction,
    ToolError, Verifier,
};
use longrein_runtime::world::{
    ModelFacts, NewSnapshot, OnDisk, SkillSeen, SnapshotOf, ToolBox, Unavailable, World, standing,
};
use longrein_tools::{HarnessVerifier, Library, ToolsConfig, builtin_tools};

use crate::agents::expand_home;
use crate::config::Current;
use crate::error::AppError;
use crate::files::Keeper;
use crate::keys::Keys;
use crate::live::LiveHub;
use crate::mcp::{self, Servers};
use crate::models::Models;
use crate::pages::Pages;
use crate::paths::Paths;
use crate::policy::{self, KeptRule};
use crate::sandbox::Sandboxes;
use crate::skills;

mod folder;
mod granted;

pub(crate) use folder::workspace_of;
use granted::{boxed, secrets_of, servers_of};

/// The name of the demonstration model.
pub const DEMO_MODEL: &str = "demo/researcher";
/// How many servers start side by side.
const STARTING: usize = 8;

/// The world of the runs of this process.
pub struct AppWorld {
    paths: Paths,
    config: Current,
    keys: Keys,
    models: Models,
    mcp: Servers,
    live: LiveHub,
    /// Servers by run tree and name.
    servers: Mutex<HashMap<(RunId, String), Arc<McpServer>>>,
    libraries: Mutex<HashMap<Vec<PathBuf>, Arc<Library>>>,
    files: Keeper,
    pages: Pages,
    sandboxes: Sandboxes,
    /// The policy file's text as it was last understood, with its rules.
    rules: Mutex<Option<(String, Arc<Vec<KeptRule>>)>>,
}

impl AppWorld {
    /// A world with this configuration.
    pub(crate) fn new(
        paths: Paths,
        config: Current,
        keys: Keys,
        live: LiveHub,
        demo_pace: Duration,
    ) -> Self {
        Self {
            models: Models::new(&paths.data, config.clone(), keys.clone(), demo_pace),
            mcp: Servers::new(paths.clone(), keys.clone()),
            files: Keeper::new(&paths.files()),
            sandboxes: Sandboxes::new(&paths, &config.get().sandbox),
            keys,
            paths,
            config,
            live,
            servers: Mutex::default(),
            libraries: Mutex::default(),
            pages: Pages::new(),
            rules: Mutex::default(),
        }
    }

    /// The servers of this machine.
    pub(crate) fn mcp(&self) -> &Servers {
        &self.mcp
    }

    /// What keeps the files of runs.
    pub(crate) fn files(&self) -> &Keeper {
        &self.files
    }

    /// The boxes of this process's runs.
    pub(crate) fn sandboxes(&self) -> &Sandboxes {
        &self.sandboxes
    }

    /// Ends the servers of a run tree, lets its boxes go as its first run stands, and its pages.
    pub async fn close(&self, tree: RunId, first: &Run) {
        self.sandboxes.close(tree, first).await;
        self.files.forget(tree);
        self.pages.forget(tree);
        let mine = {
            let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
            let names: Vec<_> = servers
                .keys()
                .filter(|(of, _)| *of == tree)
                .cloned()
                .collect();
            names
                .into_iter()
                .filter_map(|name| servers.remove(&name))
                .collect::<Vec<_>>()
        };
        for server in mine {
            server.close().await;
        }
    }

    /// The rules of the policy file as it is now. Every decision asks for them, so a text that was
    /// understood before is not taken apart again.
    fn kept_rules(&self) -> Result<Arc<Vec<KeptRule>>, Unavailable> {
        let unavailable = |problems: Vec<Problem>| {
            let error = policy::as_error(&problems);
            Unavailable {
                message: error.message,
                remedy: error.remedy,
            }
        };
        let text = policy::text(&self.paths.data).map_err(unavailable)?;
        let mut known = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, rules)) = known.as_ref().filter(|(of, _)| *of == text) {
            return Ok(rules.clone());
        }
        let rules = Arc::new(policy::rules_in(&text).map_err(unavailable)?);
        *known = Some((text, rules.clone()));
        Ok(rules)
    }

    /// Opens the library of an agent, or says what is wrong with its folders.
    ///
    /// # Errors
    /// [`Unavailable`], which names the folder.
    pub fn library(&self, agent: &AgentSpec) -> Result<Option<Arc<Library>>, Unavailable> {
        let folders: Vec<PathBuf> = agent
            .library
            .folders
            .iter()
            .map(|folder| expand_home(folder))
            .collect();
        if folders.is_empty() {
            return Ok(None);
        }
        if let Some(inside) = folders.iter().find(|folder| self.holds_our_data(folder)) {
            return Err(Unavailable {
                message: format!(
                    "{} holds Longrein's own data, which no tool may read.",
                    inside.display()
                ),
                remedy: "Name another folder under [library] in the agent file.".to_owned(),
            });
        }
        let mut libraries = self
            .libraries
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(library) = libraries.get(&folders) {
            return Ok(Some(library.clone()));
        }
        let opened = Library::open(&folders, &self.paths.library_index());
        let library = Arc::new(opened.map_err(|error| {
            Unavailable {
                message: crate::error::sentence(&error.to_string()),
                remedy: "Correct [library] folders in the agent file, or the folder's permissions."
                    .to_owned(),
            }
        })?);
        libraries.insert(folders, library.clone());
        Ok(Some(library))
    }

    /// The models of this machine.
    pub(crate) fn models(&self) -> &Models {
        &self.models
    }

    /// Whether a folder is the data folder, holds it, or lies in it, the demonstration library
    /// excepted.
    fn holds_our_data(&self, folder: &Path) -> bool {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let (folder, data) = (real(folder), real(&self.paths.data));
        let is_demo = folder == real(&self.paths.demo_library());
        !is_demo && (folder.starts_with(&data) || data.starts_with(&folder))
    }

    async fn server(&self, run: &Run, name: &str) -> Result<Arc<McpServer>, Unavailable> {
        let Some(own) = run.id else {
            return Err(no_run());
        };
        let root = run.created.as_ref().and_then(|created| created.root);
        let tree = root.unwrap_or(own);
        let key = (tree, name.to_owned());
        let running = self
            .servers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&key)
            .cloned();
        if let Some(server) = running.filter(|server| server.ended().is_none()) {
            return Ok(server);
        }
        if let Some(problem) = self.config.problem() {
            return Err(problem);
        }
        let known = self.config.get();
        let Some(config) = known.mcp.get(name) else {
            return Err(Unavailable {
                message: format!("The agent uses the server {name}, which is not configured."),
                remedy: format!(
                    "Add it with: longrein mcp add {name}, or write [mcp.{name}] in config.toml in the data folder."
                ),
            });
        };
        // The servers of a tree work where its first run does, whoever needs them first.
        let workspace = match root {
            Some(root) => self.paths.workspace(root),
            None => workspace_of(run),
        };
        let wanted = self.mcp.config(name, config, workspace).await;
        let started = McpServer::start(wanted.map_err(unavailable)?).await;
        let started = started.map_err(|error| unavailable(mcp::as_error(name, &error)));
        let server = Arc::new(started?);
        self.servers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(key, server.clone());
        Ok(server)
    }

    /// The servers of a run, started side by side where they don't run yet, in their order.
    async fn started(
        &self,
        run: &Run,
        names: Vec<String>,
    ) -> Result<Vec<(String, Arc<McpServer>)>, Unavailable> {
        let starting = names.into_iter().map(|name| async move {
            let server = self.server(run, &name).await?;
            Ok((name, server))
        });
        stream::iter(starting)
            .buffered(STARTING)
            .try_collect()
            .await
    }
}

#[async_trait::async_trait]
impl World for AppWorld {
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, ModelError> {
        self.models.model(name)
    }

    fn model_facts(&self, name: &str) -> ModelFacts {
        self.models.facts(name)
    }

    async fn open_tools(&self, run: &Run) -> Result<ToolBox, Unavailable> {
        let Some(agent) = run.agent() else {
            return Ok(ToolBox::default());
        };
        folder::of_child(run).await?;
        let library = self.library(agent)?;
        let config = self.config.get();
        let root = run.created.as_ref().and_then(|created| created.root);
        let web = self.pages.of(root.or(run.id), &config.web);
        let mut granted = Vec::new();
        let placed = |tool| granted::placed(agent, &config, tool);
        let mut built_in = Vec::new();
        let agents = granted::agents_of(agent);
        let made_with = ToolsConfig {
            library,
            web,
            agents,
        };
        for tool in builtin_tools(made_with) {
            built_in.push(tool.spec().name.clone());
            granted.extend(placed(tool));
        }
        let found = skills::skills_of(&self.paths, &self.config, run);
        let skills = skills::offered(found, agent.skills.clone()).await?;
        let mut lines = Vec::new();
        if let Some((of_skills, tool)) = skills {
            built_in.push(tool.spec().name.clone());
            granted.extend(placed(tool));
            lines = of_skills;
        }
        let (mut offered, mut about) = (Vec::new(), BTreeMap::new());
        let mut notes = Vec::new();
        for (name, server) in self.started(run, servers_of(agent)).await? {
            let definitions = server.definitions();
            about.insert(name.clone(), server.about());
            self.mcp
                .check(&name, &definitions, &agent.tools.allow)
                .map_err(unavailable)?;
            let tools = definitions.into_iter().map(|definition| definition.tool);
            offered.extend(tools.map(|tool| (name.clone(), tool)));
            notes.extend(granted::notes_of(&name, &server, &agent.tools.allow));
            let of_server = server.tools(&agent.tools.settings);
            granted.extend(of_server.into_iter().filter_map(placed));
        }
        let others: Vec<ToolSpec> = granted.iter().map(|(.., spec)| spec.clone()).collect();
        let commands = self.sandboxes.tools(run, &others, &self.live).await?;
        for tool in commands.tools {
            built_in.push(tool.spec().name.clone());
            granted.extend(placed(tool));
        }
        notes.extend(commands.note);
        if let Some(off) = commands.off {
            notes.push(off.note());
            lines.push(off.line());
        }
        notes.extend(granted::idle_grants(&agent.tools.allow, &granted));
        notes.extend(mcp::shadows(&offered, &built_in));
        let mut tools = boxed(agent, granted, about);
        lines.into_iter().for_each(|line| tools.tell(line));
        notes.iter().for_each(|note| tools.note(note));
        Ok(tools)
    }

    async fn look(
        &self,
        run: &Run,
        spec: &ToolSpec,
        arguments: &serde_json::Value,
    ) -> (Vec<PathFact>, Vec<SecretFact>) {
        let granted = match spec.server() {
            Some(server) => secrets_of(&self.config.get(), server),
            None => Vec::new(),
        };
        let secrets: Vec<SecretFact> = spec
            .reach
            .secrets
            .iter()
            .map(|secret| SecretFact {
                secret: secret.clone(),
                granted: granted.contains(secret),
                expired: false,
            })
            .collect();
        if spec.path_arguments.is_empty() {
            return (Vec::new(), secrets);
        }
        let names = spec.path_arguments.clone();
        let (root, spec, arguments) = (workspace_of(run), spec.clone(), arguments.clone());
        let looked = move || longrein_tools::look::paths(&root, &spec, &arguments);
        let paths = tokio::task::spawn_blocking(looked).await;
        // What could not be looked at counts as leading outside.
        let outside = |argument| PathFact {
            argument,
            real: None,
            content: None,
        };
        let paths = paths.unwrap_or_else(|_| names.into_iter().map(outside).collect());
        (paths, secrets)
    }

    async fn look_at_skill(&self, run: &Run, arguments: &serde_json::Value) -> Option<SkillSeen> {
        skills::look(skills::skills_of(&self.paths, &self.config, run), arguments).await
    }

    async fn policy(&self, run: &Run) -> Result<Option<OnDisk>, Unavailable> {
        let Some(agent) = run.agent() else {
            return Ok(None);
        };
        let kept = self.kept_rules()?;
        let mut mine: Vec<&KeptRule> = kept
            .iter()
            .filter(|rule| rule.is_for(&agent.name))
            .collect();
        // What decides is what the rules say, not in which order they stand.
        mine.sort_by(|left, right| left.id.cmp(&right.id));
        let names: Vec<&str> = mine.iter().map(|rule| rule.id.as_str()).collect();
        Ok(Some(OnDisk {
            hash: BlobHash::of(names.join("\n").as_bytes()),
            rules: mine.into_iter().map(KeptRule::standing).collect(),
        }))
    }

    async fn remember(&self, run: &Run, always: &Always) -> Result<Vec<StandingRule>, Unavailable> {
        let agent = match always.scope {
            Scope::Run => return Ok(standing(always)),
            Scope::Agent => Some(run.agent().ok_or_else(no_run)?.name.clone()),
            Scope::Everywhere => None,
        };
        let rules = always.rules.iter().cloned();
        let rules = rules
            .map(|rule| KeptRule::new(agent.clone(), rule))
            .collect();
        let data = self.paths.data.clone();
        let adding = tokio::task::spawn_blocking(move || policy::add(&data, rules));
        match adding.await {
            Ok(Ok(kept)) => Ok(kept.iter().map(KeptRule::standing).collect()),
            Ok(Err(error)) => Err(Unavailable {
                message: error.message,
                remedy: error.remedy,
            }),
            Err(error) => Err(Unavailable {
                message: format!("The rule could not be kept: {error}."),
                remedy: "Answer again.".to_owned(),
            }),
        }
    }

    async fn snapshot(
        &self,
        of: SnapshotOf,
        blobs: Arc<dyn BlobRead>,
    ) -> Result<Option<NewSnapshot>, Unavailable> {
        let masker = self.keys.masker();
        self.files.snapshot(of, &*blobs, &masker).await
    }

    async fn lay_back(&self, of: SnapshotOf, blobs: Arc<dyn BlobRead>) -> Result<(), Unavailable> {
        self.files.lay_back(&of, &*blobs).await
    }

    async fn keep_result(&self, run: &Run, name: &str, bytes: Arc<[u8]>) -> Option<String> {
        folder::keep(workspace_of(run), longrein_tools::result_path(name), bytes).await
    }

    async fn hand_up(&self, run: &Run, path: &str, bytes: Arc<[u8]>) -> Option<String> {
        folder::keep(workspace_of(run), path.to_owned(), bytes).await
    }

    fn masker(&self) -> Masker {
        self.keys.masker()
    }

    async fn check_command(
        &self,
        run: &Run,
        command: &str,
        cancel: CancellationToken,
    ) -> Result<CommandEnd, ToolError> {
        self.sandboxes.check(run, command, cancel).await
    }

    fn live_action(&self, run: &Run, action: &ActionId) -> Arc<dyn LiveAction> {
        match run.id {
            Some(id) => self.live.action(id, action.clone()),
            None => Arc::new(NoLiveAction),
        }
    }

    fn verifier(&self) -> Arc<dyn Verifier> {
        Arc::new(HarnessVerifier)
    }

    fn live(&self, run: &Run) -> Arc<dyn LiveText> {
        match run.id {
            Some(id) => self.live.begin(id),
            None => Arc::new(longrein_runtime::ports::NoLiveText),
        }
    }
}

fn unavailable(error: AppError) -> Unavailable {
    Unavailable {
        message: error.message,
        remedy: error.remedy,
    }
}

fn no_run() -> Unavailable {
    Unavailable {
        message: "The run has not begun.".to_owned(),
        remedy: "Start it first.".to_owned(),
    }
}

#[cfg(test)]
mod tests;
