//! The boxes that commands of this installation's runs work in.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use longrein_core::policy::{COMMAND_TOOLS, grants, is_callable, runs_commands};
use longrein_core::run::{Action, ActionStage, Phase, Run};
use longrein_protocol::agent::{SandboxSettings, ToolGrants};
use longrein_protocol::criterion::Criterion;
use longrein_protocol::tool::{IndexKind, IndexLine};
use longrein_protocol::view::RunState;
use longrein_protocol::{ActionId, RunId, ToolErrorClass, ToolSpec};
use longrein_runtime::ports::{CancellationToken, CommandEnd, Tool, ToolError};
use longrein_runtime::world::Unavailable;
use longrein_sandbox::code::{Boxes, BoxesConfig, Closing, CodeConfig, StationSpec, code_tools};
use longrein_sandbox::engine::Places;
use longrein_sandbox::{Backing, SandboxError, egress};

mod cost;

pub use cost::{BoxBench, BoxCost};

use crate::config::SandboxConfig;
use crate::live::LiveHub;
use crate::paths::Paths;
use crate::{DEMO_MODEL, Longrein, system};

/// The most bytes of a reason that the person is told before the remedy: engines say much.
const WHY_BYTES: usize = 160;
/// Under which name the making of a box is shown.
const MAKING: &str = "box";
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

    /// The tools of a run that run commands; none where its agent is granted none, or where no box
    /// can be made for them. Programs call the others, which are given.
    ///
    /// # Errors
    /// When an engine is named and does not answer: the person has to see to it.
    pub(crate) async fn tools(
        &self,
        run: &Run,
        others: &[ToolSpec],
        live: &LiveHub,
    ) -> Result<Commands, Unavailable> {
        let (Some(agent), Some(id)) = (run.agent(), run.id) else {
            return Ok(Commands::default());
        };
        if !runs_commands(&agent.tools) {
            return Ok(Commands::default());
        }
        let root = run.created.as_ref().and_then(|created| created.root);
        self.trees()
            .entry(root.unwrap_or(id))
            .or_default()
            .insert(id);
        let off = |error: SandboxError| {
            tracing::debug!(run = %id, %error, "commands are off");
            Commands {
                tools: Vec::new(),
                note: None,
                off: Some(Off::of(&agent.tools, &error)),
            }
        };
        let spec = spec(run);
        if is_demo(run) {
            // It needs no network and works everywhere: nothing is fetched for it, and no engine
            // stops it.
            if let Err(error) = self.boxes.is_made(&spec.settings).await {
                return Ok(off(error));
            }
        }
        self.boxes.backing().await.map_err(|error| Unavailable {
            message: crate::error::sentence(&error.to_string()),
            remedy: "Start the engine, or name another one under [sandbox] in config.toml; see: longrein doctor"
                .to_owned(),
        })?;
        // The making of a box is no action: what it shows has a name of its own.
        let shown = live.action(id, ActionId(MAKING.to_owned()));
        if let Err(error) = self.boxes.ready(&spec, &*shown).await {
            return Ok(off(error));
        }
        let ignored = agent.sandbox.image.as_ref();
        let note = match self.boxes.backing().await {
            Ok(Backing::Bubblewrap { .. }) => ignored.map(|image| {
                format!(
                    "The image {image} is not used: there is no engine, so commands find the programs of this machine, in bubblewrap. See: longrein doctor"
                )
            }),
            _ => None,
        };
        Ok(Commands {
            note,
            tools: code_tools(&CodeConfig {
                station: self.boxes.station(id, spec),
                package: package(others),
            }),
            off: None,
        })
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

    /// Lets the boxes of a run tree go that this process entered, as its first run stands.
    pub(crate) async fn close(&self, tree: RunId, first: &Run) {
        let how = closing(first);
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

/// Whether the demonstration model does a run.
fn is_demo(run: &Run) -> bool {
    let created = run.created.as_ref();
    created.is_some_and(|created| created.model == DEMO_MODEL)
}

/// How the boxes of a run tree are let go.
fn closing(first: &Run) -> Closing {
    let started = |action: &Action| action.stage == ActionStage::Started;
    match first.phase {
        Phase::Finished(_) | Phase::Cancelled => Closing::Over,
        Phase::Paused | Phase::HandedOff { .. } if !first.actions.iter().any(started) => {
            Closing::Still
        }
        // A command that is on its way is found again when the run is taken up.
        _ => Closing::LetGo,
    }
}

/// The tools of a run that run commands.
#[derive(Default)]
pub(crate) struct Commands {
    /// What is offered.
    pub tools: Vec<Arc<dyn Tool>>,
    /// What the person should know of them.
    pub note: Option<String>,
    /// Why nothing is, though the agent is granted it.
    pub off: Option<Off>,
}

/// Why commands are off.
pub(crate) struct Off {
    tools: String,
    why: String,
    /// What the person can do, beside asking the doctor.
    remedy: &'static str,
}

impl Off {
    fn of(granted: &ToolGrants, error: &SandboxError) -> Self {
        let granted = |tool: &&&str| grants(granted, tool, None);
        let tools: Vec<&str> = COMMAND_TOOLS.iter().filter(granted).copied().collect();
        Self {
            tools: tools.join(", "),
            why: error.to_string().trim_end_matches('.').to_owned(),
            remedy: match error {
                SandboxError::Image { .. } => {
                    "Name an image, or another base, that the engine has or can fetch, or engine = \"bubblewrap\", under [sandbox]. "
                }
                _ => "",
            },
        }
    }

    /// For the person.
    pub(crate) fn note(&self) -> String {
        let Self { tools, why, remedy } = self;
        // Where the reason is ours it ends with the remedy.
        let end = match remedy.is_empty() {
            true => why.len(),
            false => why.floor_char_boundary(WHY_BYTES),
        };
        let more = if end < why.len() { "…" } else { "" };
        let why = sentence_of(&why[..end]);
        format!("Off in this run: {tools}. {why}{more}. {remedy}See: longrein doctor")
    }

    /// For the model.
    pub(crate) fn line(&self) -> IndexLine {
        let why = &self.why;
        IndexLine {
            kind: IndexKind::Off,
            name: self.tools.clone(),
            text: format!("do without, and say so where it matters; {why}"),
        }
    }
}

fn sentence_of(words: &str) -> String {
    crate::error::sentence(words)
        .trim_end_matches('.')
        .to_owned()
}

/// The tools that programs call, as a package; nothing where there are none.
fn package(others: &[ToolSpec]) -> Vec<(String, String)> {
    if !others.iter().any(|spec| is_callable(&spec.name)) {
        return Vec::new();
    }
    let files = longrein_tools::code::python_package(others).into_iter();
    files.map(|file| (file.path, file.text)).collect()
}

/// Whether a run's agent, and with it its children, may run commands or have them run.
fn may_have_boxes(run: &Run) -> bool {
    run.agent().is_some_and(|agent| {
        let checks = |criterion: &Criterion| matches!(criterion, Criterion::Command(_));
        runs_commands(&agent.tools) || agent.done_when.iter().any(checks)
    })
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

    /// Ends what is left of the boxes of a run tree, as its first run stands, whichever process made
    /// them: who ends a run may never have entered its box. The tree is driven by whoever calls this.
    pub(crate) async fn close_left(&self, tree: RunId, first: &Run) {
        let how = closing(first);
        let boxes = self.inner.world.sandboxes().boxes();
        if how == Closing::LetGo || !may_have_boxes(first) || !boxes.config().folder.exists() {
            return;
        }
        let left = boxes.left().await.unwrap_or_else(|error| {
            tracing::warn!(run = %tree, %error, "boxes of a run can't be looked for");
            HashSet::new()
        });
        for left in left {
            let Ok(run) = left.parse::<RunId>() else {
                continue;
            };
            // A run that is not known any more is reaped at the next start.
            if self.inner.store.tree_of(run).await.ok() != Some(tree) {
                continue;
            }
            let closed = match how {
                Closing::Over => boxes.remove_left(&left).await,
                _ => boxes.stop_left(run).await,
            };
            if let Err(error) = closed {
                tracing::warn!(%run, %error, "the box of a run can't be let go");
            }
        }
    }

    /// Whether nothing that runs or ran in the box of a run is needed any more.
    async fn is_over(&self, run: &str) -> bool {
        let Ok(id) = run.parse::<RunId>() else {
            return longrein_sandbox::engine::is_left_probe(run);
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
