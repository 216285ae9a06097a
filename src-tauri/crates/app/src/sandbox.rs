//! The boxes that commands of this installation's runs work in.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use longrein_core::policy::{COMMAND_TOOLS, is_callable, runs_commands};
use longrein_core::run::{Action, ActionStage, Phase, Run};
use longrein_protocol::agent::SandboxSettings;
use longrein_protocol::view::RunState;
use longrein_protocol::{RunId, ToolErrorClass, ToolSpec};
use longrein_runtime::ports::{CancellationToken, CommandEnd, Tool, ToolError};
use longrein_runtime::world::Unavailable;
use longrein_sandbox::code::{Boxes, BoxesConfig, Closing, CodeConfig, StationSpec, code_tools};
use longrein_sandbox::engine::Places;
use longrein_sandbox::{Backing, SandboxError, egress};

mod cost;

pub use cost::{BoxBench, BoxCost};

use crate::config::SandboxConfig;
use crate::paths::Paths;
use crate::{Longrein, system};

/// How much of its hash names an installation.
const INSTANCE_DIGITS: usize = 16;

/// The boxes of this process's runs.
pub(crate) struct Sandboxes {
    boxes: Boxes,
    /// The runs of each tree that may have a box.
    trees: Mutex<HashMap<RunId, HashSet<RunId>>>,
    /// Whether what earlier processes left was looked for.
    reaped: tokio::sync::OnceCell<()>,
}

/// Private, loopback, link-local and metadata addresses are nobody's business.
fn guard(address: IpAddr) -> Option<String> {
    longrein_web::special(address).map(|special| special.to_string())
}

impl Sandboxes {
    pub(crate) fn new(paths: &Paths, config: &SandboxConfig) -> Self {
        // Of all installations on an engine, this one is known by where it lies.
        let data = paths.data.canonicalize();
        let data = data.unwrap_or_else(|_| paths.data.clone());
        let instance = blake3::hash(data.as_os_str().as_encoded_bytes()).to_hex();
        Self {
            boxes: Boxes::new(BoxesConfig {
                places: Places::of_environment(config.engine.as_deref()),
                instance: instance[..INSTANCE_DIGITS].to_owned(),
                folder: paths.boxes(),
                base: config.base.clone(),
                guard,
                resolver: egress::system_resolver(),
            }),
            trees: Mutex::default(),
            reaped: tokio::sync::OnceCell::new(),
        }
    }

    /// The boxes.
    pub(crate) fn boxes(&self) -> &Boxes {
        &self.boxes
    }

    /// The tools of a run that run commands; none where its agent is granted none. Programs call the
    /// others, which are given.
    ///
    /// # Errors
    /// When an engine is named and does not answer: the person has to see to it.
    pub(crate) async fn tools(
        &self,
        run: &Run,
        others: &[ToolSpec],
    ) -> Result<Vec<Arc<dyn Tool>>, Unavailable> {
        let (Some(agent), Some(id)) = (run.agent(), run.id) else {
            return Ok(Vec::new());
        };
        if !runs_commands(&agent.tools.allow) {
            return Ok(Vec::new());
        }
        let root = run.created.as_ref().and_then(|created| created.root);
        self.trees()
            .entry(root.unwrap_or(id))
            .or_default()
            .insert(id);
        let backing = self.boxes.backing().await.map_err(|error| Unavailable {
            message: crate::error::sentence(&error.to_string()),
            remedy: "Start the engine, or name another one under [sandbox] in config.toml; see: longrein doctor"
                .to_owned(),
        })?;
        let off = match &backing {
            Backing::Nothing(nothing) => {
                tracing::warn!("{nothing}");
                Some(nothing.to_string())
            }
            _ => None,
        };
        let hosts = !agent.sandbox.hosts.is_empty();
        Ok(code_tools(&CodeConfig {
            station: self.boxes.station(id, spec(run)),
            egress: hosts && matches!(backing, Backing::Engine(_)),
            off,
            package: package(others),
        }))
    }

    /// Runs a command of a check.
    ///
    /// # Errors
    /// When there is no box, or nothing is known of how the command ended.
    pub(crate) async fn check(
        &self,
        run: &Run,
        command: &str,
        cancel: CancellationToken,
    ) -> Result<CommandEnd, ToolError> {
        let Some(id) = run.id else {
            let message = "The run has not begun.";
            return Err(ToolError::new(ToolErrorClass::Failed, message));
        };
        let name = format!(
            "{:x}",
            longrein_runtime::ports::Chance::random(&system::SystemChance)
        );
        self.boxes
            .check(id, &name, &spec(run), command, cancel)
            .await
    }

    /// Lets the boxes of a run tree go, as its first run stands.
    pub(crate) async fn close(&self, tree: RunId, first: &Run) {
        let started = |action: &Action| action.stage == ActionStage::Started;
        let how = match first.phase {
            Phase::Finished(_) | Phase::Cancelled => Closing::Over,
            Phase::Paused | Phase::HandedOff { .. } if !first.actions.iter().any(started) => {
                Closing::Still
            }
            // A command that is on its way is found again when the run is taken up.
            _ => Closing::LetGo,
        };
        let runs = self.trees().remove(&tree);
        for run in runs.into_iter().flatten() {
            self.boxes.close(run, how).await;
        }
    }

    fn trees(&self) -> std::sync::MutexGuard<'_, HashMap<RunId, HashSet<RunId>>> {
        // A panic elsewhere leaves nothing half done in here.
        self.trees.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The tools that programs call, as a package; nothing where there are none.
fn package(others: &[ToolSpec]) -> Vec<(String, String)> {
    if !others.iter().any(|spec| is_callable(&spec.name)) {
        return Vec::new();
    }
    let files = longrein_tools::code::python_package(others).into_iter();
    files.map(|file| (file.path, file.text)).collect()
}

fn spec(run: &Run) -> StationSpec {
    let mut settings = SandboxSettings::default();
    if let Some(agent) = run.agent() {
        settings = (*agent.sandbox).clone();
        let said = COMMAND_TOOLS
            .iter()
            .filter_map(|tool| agent.tools.settings.get(*tool));
        let seconds = said.filter_map(|said| said.timeout_seconds);
        settings.timeout_seconds = seconds.fold(settings.timeout_seconds, u32::min);
    }
    StationSpec {
        settings,
        workspace: crate::world::workspace_of(run),
    }
}

impl Longrein {
    /// Removes the boxes that earlier processes left and no run needs, running or not. Once in a
    /// process; where no box was ever made, nothing is looked for.
    pub(crate) async fn reap_boxes(&self) {
        let sandboxes = self.inner.world.sandboxes();
        let reaping = async {
            if let Err(error) = self.reap_boxes_now().await {
                tracing::warn!(%error, "boxes of earlier runs can't be looked for");
            }
        };
        sandboxes.reaped.get_or_init(|| reaping).await;
    }

    /// The same, whenever it is asked for.
    ///
    /// # Errors
    /// When the engine does not list them.
    pub(crate) async fn reap_boxes_now(&self) -> Result<(), SandboxError> {
        let boxes = self.inner.world.sandboxes().boxes();
        if !boxes.config().folder.exists() {
            return Ok(());
        }
        // What is there is listed before the runs are: a run that begins now is not among it.
        for run in boxes.left().await? {
            if self.is_over(&run).await {
                boxes.remove_left(&run).await?;
            }
        }
        Ok(())
    }

    /// Whether nothing that runs or ran in the box of a run is needed any more.
    async fn is_over(&self, run: &str) -> bool {
        let Ok(id) = run.parse::<RunId>() else {
            return false;
        };
        match self.run_line(id).await {
            Ok(line) => {
                let rests = matches!(
                    line.state,
                    RunState::Accepted
                        | RunState::Unverified
                        | RunState::Failed
                        | RunState::Cancelled
                );
                let tree = line.root.and_then(|root| root.parse().ok()).unwrap_or(id);
                rests && !self.is_driven(tree)
            }
            Err(error) => error.code == crate::AppErrorCode::NotFound,
        }
    }
}
