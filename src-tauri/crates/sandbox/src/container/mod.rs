//! One container per run and purpose: made when first needed, hardened, connected to through its
//! resident agent, stopped when idle, started again, removed with all that belongs to it.

mod create;
mod give;
mod names;
mod reap;
mod seccomp;

use std::collections::BTreeMap;
use std::path::PathBuf;

use bollard::container::LogOutput;
use bollard::exec::{CreateExecOptions, StartExecOptions, StartExecResults};
use bollard::models::ContainerInspectResponse;
use bollard::query_parameters::{
    InspectContainerOptions, KillContainerOptions, RemoveContainerOptions, StartContainerOptions,
    StopContainerOptions,
};
use futures::{StreamExt, TryStreamExt};
use longrein_resident::wire::{SOCKET, Setup};
use tokio_util::io::StreamReader;

#[cfg(target_os = "linux")]
pub(crate) use create::{COMMAND_USER, environment as environment_of};
pub use give::{hand_over, mend};
pub use names::{Owner, RunBox};
pub use reap::{Reaped, reap, reap_all_but, runs};

use crate::engine::{Engine, settled, unless_missing};
use crate::session::{Incoming, Session};
use crate::{SandboxError, resident};

/// Where the workspace is, inside.
pub const WORKSPACE: &str = "/workspace";
/// Where receipts and outputs are, inside; commands can't enter it.
pub(crate) const STATE: &str = "/longrein/state";
/// Where the sockets for calls are, inside.
pub(crate) const RUN: &str = "/run/longrein";
/// How long an engine waits for the agent to end before it kills it. The agent takes less.
const STOP_LIMIT_S: i32 = 8;
/// How large one piece of the agent's output may be on its way through the engine.
const PIPE_BYTES: usize = 64 * 1024;

/// What a container is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerSpec {
    /// Whose it is.
    pub owner: Owner,
    /// The image, which must be there.
    pub image: String,
    /// The run's folder on this machine. Commands run as its owner, or as a user of their own
    /// where that is root.
    pub workspace: PathBuf,
    /// Whether commands can only read it: for a verifier.
    pub read_only: bool,
    /// The limits of the container as a whole.
    pub limits: ContainerLimits,
    /// A folder on this machine for what containers mount from the app; others may read it.
    pub shared: PathBuf,
}

/// What all commands of a container may use together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContainerLimits {
    /// Memory, swap included.
    pub memory_bytes: u64,
    /// Processes and threads; a few of them are the agent's.
    pub processes: u32,
    /// Thousandths of a processor.
    pub cpus_milli: u32,
    /// Size of `/tmp`, which counts as memory.
    pub tmp_bytes: u64,
}

/// A container that is there, whether it runs or not.
#[derive(Clone, Debug)]
pub struct Container {
    engine: Engine,
    name: String,
    environment: BTreeMap<String, String>,
}

impl Container {
    /// The container of this spec, made if it is not there. One that was made to another spec, or
    /// by another version of the app, is replaced: its outputs and receipts stay, its processes
    /// end.
    ///
    /// # Errors
    /// When the image is not there, the engine refuses, or its machines are of another kind.
    pub async fn ensure(engine: &Engine, spec: &ContainerSpec) -> Result<Self, SandboxError> {
        resident::check(&engine.architecture)?;
        let plan = create::plan(engine, spec).await?;
        let container = Self {
            engine: engine.clone(),
            name: plan.name.clone(),
            environment: plan.environment.clone(),
        };
        match container.setup().await? {
            Some(setup) if setup == plan.setup => return Ok(container),
            Some(_) => container.remove_container().await?,
            None => {}
        }
        match create::create(engine, &plan).await {
            Ok(()) => Ok(container),
            // Another one may have been quicker: each engine says that with a number of its own.
            Err(error) => match container.setup().await? {
                Some(setup) if setup == plan.setup => Ok(container),
                _ => Err(error),
            },
        }
    }

    /// The container of an owner as it is, whatever it was made to; `None` where there is none. For
    /// taking up what an earlier app left, which a container that is made anew would end.
    ///
    /// # Errors
    /// When the engine does not answer.
    pub async fn find(engine: &Engine, owner: &Owner) -> Result<Option<Self>, SandboxError> {
        let name = owner.name();
        let found = inspect(engine, &name).await;
        let failed = engine.failed(format!("inspect the container {name}"));
        let found = match found {
            Ok(found) => found,
            Err(error) if crate::engine::status(&error) == Some(404) => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        // The image may have been removed meanwhile; what runs does not need it.
        let image = engine
            .docker
            .inspect_image(found.image.as_deref().unwrap_or_default())
            .await;
        let config = image.ok().and_then(|image| image.config);
        let environment =
            create::environment(config.and_then(|config| config.env).unwrap_or_default());
        Ok(Some(Self {
            engine: engine.clone(),
            name,
            environment,
        }))
    }

    /// The container's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The environment that the image gives to programs, with what the box adds.
    pub fn environment(&self) -> &BTreeMap<String, String> {
        &self.environment
    }

    /// Starts it if it does not run, wakes it if it is paused, and connects to its agent.
    ///
    /// # Errors
    /// When the engine refuses or the agent does not answer.
    pub async fn connect(&self) -> Result<(Session, Incoming), SandboxError> {
        match self.state().await? {
            ContainerState::Running => {}
            ContainerState::Paused => self.unpause().await?,
            ContainerState::Stopped => {
                let started = self
                    .engine
                    .docker
                    .start_container(&self.name, None::<StartContainerOptions>);
                started.await.map_err(self.failed("start"))?;
            }
        }
        let relay = CreateExecOptions {
            cmd: Some(vec![
                resident::INSIDE.to_owned(),
                "relay".to_owned(),
                format!("{STATE}/{SOCKET}"),
            ]),
            user: Some("0:0".to_owned()),
            attach_stdin: Some(true),
            attach_stdout: Some(true),
            attach_stderr: Some(true),
            working_dir: Some("/".to_owned()),
            ..CreateExecOptions::default()
        };
        let docker = &self.engine.docker;
        let exec = docker
            .create_exec(&self.name, relay)
            .await
            .map_err(self.failed("enter"))?;
        let options = StartExecOptions {
            detach: false,
            tty: false,
            output_capacity: Some(PIPE_BYTES),
        };
        let started = docker.start_exec(&exec.id, Some(options)).await;
        let StartExecResults::Attached { output, input } = started.map_err(self.failed("enter"))?
        else {
            return Err(SandboxError::Gone {
                why: ": the engine gave none".to_owned(),
            });
        };
        let output = output
            .map_err(std::io::Error::other)
            .filter_map(async |said| match said {
                Ok(LogOutput::StdOut { message }) => Some(Ok(message)),
                Ok(other) => {
                    tracing::debug!(said = %other, "a relay complained");
                    None
                }
                Err(error) => Some(Err(error)),
            });
        Session::open(StreamReader::new(Box::pin(output)), input).await
    }

    /// Whether it runs.
    ///
    /// # Errors
    /// When the engine does not know it or does not answer.
    pub async fn state(&self) -> Result<ContainerState, SandboxError> {
        let state = inspect(&self.engine, &self.name)
            .await
            .map_err(self.failed("inspect"))?
            .state
            .unwrap_or_default();
        Ok(
            match (
                state.running.unwrap_or(false),
                state.paused.unwrap_or(false),
            ) {
                (_, true) => ContainerState::Paused,
                (true, false) => ContainerState::Running,
                (false, false) => ContainerState::Stopped,
            },
        )
    }

    /// Stops it with all that runs inside; each command's receipt says so. Workspace, outputs and
    /// receipts stay, and [`Container::connect`] starts it again.
    ///
    /// # Errors
    /// When the engine refuses.
    pub async fn stop(&self) -> Result<(), SandboxError> {
        if self.state().await? == ContainerState::Paused {
            // What stands still can't end in order.
            self.unpause().await?;
        }
        let options = StopContainerOptions {
            t: Some(STOP_LIMIT_S),
            ..Default::default()
        };
        let stopped = self
            .engine
            .docker
            .stop_container(&self.name, Some(options))
            .await;
        stopped.map_err(self.failed("stop"))
    }

    /// Lets all of it stand still. The time of commands stands still with it.
    ///
    /// # Errors
    /// When the engine refuses.
    pub async fn pause(&self) -> Result<(), SandboxError> {
        self.engine
            .docker
            .pause_container(&self.name)
            .await
            .map_err(self.failed("pause"))
    }

    /// Lets it go on.
    ///
    /// # Errors
    /// When the engine refuses.
    pub async fn unpause(&self) -> Result<(), SandboxError> {
        self.engine
            .docker
            .unpause_container(&self.name)
            .await
            .map_err(self.failed("wake"))
    }

    /// Kills all of it at once, without receipts: for when the agent does not answer any more.
    ///
    /// # Errors
    /// When the engine refuses.
    pub async fn kill(&self) -> Result<(), SandboxError> {
        let killed = self
            .engine
            .docker
            .kill_container(&self.name, None::<KillContainerOptions>)
            .await;
        match killed {
            // What does not run is dead.
            Err(_) if self.state().await? == ContainerState::Stopped => Ok(()),
            other => other.map_err(self.failed("kill")),
        }
    }

    /// Removes it with its outputs and receipts. The workspace stays.
    ///
    /// # Errors
    /// When the engine refuses.
    pub async fn remove(&self) -> Result<(), SandboxError> {
        self.remove_container().await?;
        reap::remove_volume(&self.engine, &self.name).await
    }

    async fn remove_container(&self) -> Result<(), SandboxError> {
        let options = RemoveContainerOptions {
            force: true,
            ..Default::default()
        };
        let removed = self
            .engine
            .docker
            .remove_container(&self.name, Some(options))
            .await;
        unless_missing(removed).map_err(self.failed("remove"))
    }

    /// The mark of the spec that it was made to; `None` where it is not there.
    async fn setup(&self) -> Result<Option<String>, SandboxError> {
        match inspect(&self.engine, &self.name).await {
            Ok(found) => {
                let labels = found
                    .config
                    .and_then(|config| config.labels)
                    .unwrap_or_default();
                Ok(Some(labels.get(names::SETUP).cloned().unwrap_or_default()))
            }
            Err(error) if crate::engine::status(&error) == Some(404) => Ok(None),
            Err(error) => Err(self.failed("inspect")(error)),
        }
    }

    fn failed(&self, what: &str) -> impl FnOnce(bollard::errors::Error) -> SandboxError {
        self.engine
            .failed(format!("{what} the container {}", self.name))
    }
}

async fn inspect(
    engine: &Engine,
    name: &str,
) -> Result<ContainerInspectResponse, bollard::errors::Error> {
    let options = || None::<InspectContainerOptions>;
    settled(|| engine.docker.inspect_container(name, options())).await
}

/// Whether a container runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContainerState {
    /// It runs.
    Running,
    /// It stands still.
    Paused,
    /// Nothing of it runs.
    Stopped,
}

/// How the agent of a container is set up.
fn setup(user: (u32, u32)) -> Setup {
    Setup {
        state: STATE.into(),
        run: RUN.into(),
        run_inside: RUN.into(),
        user: Some(user),
        door: Vec::new(),
        idle_limit_ms: 0,
    }
}
