//! What stands behind a run's commands: a container, a bubblewrap, or nothing and a word.

use std::collections::BTreeMap;
use std::fmt;

use async_trait::async_trait;
use longrein_resident::wire::Limits;

use crate::SandboxError;
#[cfg(target_os = "linux")]
use crate::bubblewrap::{Bubblewrap, BubblewrapSpec, NoBubblewrap};
use crate::container::{Container, ContainerState};
use crate::engine::{Engine, Places, Unavailable};
use crate::session::{Incoming, Session};

/// What boxes can be made of here.
#[derive(Clone, Debug)]
pub enum Backing {
    /// A container engine.
    Engine(Engine),
    /// Bubblewrap, since there is no engine.
    #[cfg(target_os = "linux")]
    Bubblewrap {
        /// What works here.
        bubblewrap: Bubblewrap,
        /// Why there is no engine; nothing was tried where the configuration wants none.
        engines: Unavailable,
    },
    /// Nothing: commands are off.
    Nothing(Nothing),
}

/// Why commands are off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nothing {
    /// Why there is no engine.
    pub engines: Unavailable,
    /// Why there is no bubblewrap.
    #[cfg(target_os = "linux")]
    pub bubblewrap: NoBubblewrap,
}

impl fmt::Display for Nothing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "nothing here makes one; {}", self.engines.remedy())?;
        #[cfg(target_os = "linux")]
        write!(out, "; {}", self.bubblewrap)?;
        Ok(())
    }
}

impl Backing {
    /// Looks for an engine, then for bubblewrap. There is no third: commands are never run without
    /// a box.
    ///
    /// # Errors
    /// When an engine is named and does not answer.
    pub async fn find(places: &Places) -> Result<Self, SandboxError> {
        let engines = match places.wants_none() {
            true => Unavailable::default(),
            false => match places.find().await? {
                Ok(engine) => return Ok(Self::Engine(engine)),
                Err(unavailable) => unavailable,
            },
        };
        #[cfg(target_os = "linux")]
        return Ok(match Bubblewrap::find().await {
            Ok(bubblewrap) => Self::Bubblewrap {
                bubblewrap,
                engines,
            },
            Err(bubblewrap) => Self::Nothing(Nothing {
                engines,
                bubblewrap,
            }),
        });
        #[cfg(not(target_os = "linux"))]
        Ok(Self::Nothing(Nothing { engines }))
    }
}

/// The box of one run: where its commands run.
#[async_trait]
pub trait Sandbox: Send + Sync {
    /// Starts it if it does not run, and connects to its agent.
    ///
    /// # Errors
    /// When it can't be started or its agent does not answer.
    async fn connect(&self) -> Result<(Session, Incoming), SandboxError>;

    /// The environment of commands.
    fn environment(&self) -> BTreeMap<String, String>;

    /// The limits of one command, with those that the box itself does not hold.
    fn limits(&self, limits: Limits) -> Limits;

    /// Whether commands inside have a way to the hosts that they may reach.
    fn carries_network(&self) -> bool;

    /// Lets everything stand still; false where that is not possible, and it goes on.
    ///
    /// # Errors
    /// When the engine refuses.
    async fn pause(&self) -> Result<bool, SandboxError>;

    /// Lets everything go on.
    ///
    /// # Errors
    /// When the engine refuses.
    async fn unpause(&self) -> Result<(), SandboxError>;

    /// Ends what runs, in order. Outputs and receipts stay.
    ///
    /// # Errors
    /// When the engine refuses.
    async fn stop(&self) -> Result<(), SandboxError>;

    /// Ends it and removes it with outputs and receipts. The workspace stays.
    ///
    /// # Errors
    /// When the engine refuses.
    async fn remove(&self) -> Result<(), SandboxError>;
}

#[async_trait]
impl Sandbox for Container {
    async fn connect(&self) -> Result<(Session, Incoming), SandboxError> {
        Container::connect(self).await
    }

    fn environment(&self) -> BTreeMap<String, String> {
        Container::environment(self).clone()
    }

    fn limits(&self, limits: Limits) -> Limits {
        limits
    }

    fn carries_network(&self) -> bool {
        true
    }

    async fn pause(&self) -> Result<bool, SandboxError> {
        match Container::pause(self).await {
            Ok(()) => Ok(true),
            // Some engines can't: without root on version 1 of control groups. Then it runs on.
            Err(error) => match self.state().await? {
                ContainerState::Running => {
                    tracing::debug!(%error, "a container can't stand still");
                    Ok(false)
                }
                ContainerState::Paused => Ok(true),
                ContainerState::Stopped => Err(error),
            },
        }
    }

    async fn unpause(&self) -> Result<(), SandboxError> {
        Container::unpause(self).await
    }

    async fn stop(&self) -> Result<(), SandboxError> {
        Container::stop(self).await
    }

    async fn remove(&self) -> Result<(), SandboxError> {
        Container::remove(self).await
    }
}

/// A run's box without an engine.
#[cfg(target_os = "linux")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BubblewrapBox {
    /// What makes it.
    pub bubblewrap: Bubblewrap,
    /// What it is to be.
    pub spec: BubblewrapSpec,
    /// What each process may address.
    pub memory_bytes: u64,
    /// How many processes there may be.
    pub processes: u32,
}

#[cfg(target_os = "linux")]
#[async_trait]
impl Sandbox for BubblewrapBox {
    async fn connect(&self) -> Result<(Session, Incoming), SandboxError> {
        self.bubblewrap.connect(&self.spec).await
    }

    fn environment(&self) -> BTreeMap<String, String> {
        crate::container::environment_of(Vec::new())
    }

    fn limits(&self, limits: Limits) -> Limits {
        Bubblewrap::limits(limits, self.memory_bytes, u64::from(self.processes))
    }

    fn carries_network(&self) -> bool {
        true
    }

    async fn pause(&self) -> Result<bool, SandboxError> {
        Ok(false)
    }

    async fn unpause(&self) -> Result<(), SandboxError> {
        Ok(())
    }

    async fn stop(&self) -> Result<(), SandboxError> {
        Bubblewrap::stop(&self.spec.state).await
    }

    async fn remove(&self) -> Result<(), SandboxError> {
        self.stop().await?;
        let state = &self.spec.state;
        match tokio::fs::remove_dir_all(state).await {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(SandboxError::file(state)(error))
            }
            _ => Ok(()),
        }
    }
}
