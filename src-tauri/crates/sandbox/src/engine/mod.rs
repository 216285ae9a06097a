//! The container engine: which one, what it is, and requests that say what they were for.

mod find;
mod probe;
mod rootless;

use std::time::{Duration, Instant};

use bollard::Docker;
use bollard::errors::Error;

pub use find::{Candidate, Places, Unavailable};
pub(crate) use probe::PREFIX as PROBE_PREFIX;
pub use probe::{Lack, Lacking, Probe, Wanted, is_left_probe};

use crate::SandboxError;

/// How long an engine may take for a request that is not a build.
const REQUEST_LIMIT: Duration = Duration::from_secs(120);
/// How long an engine may take to say that it is there.
const PING_LIMIT: Duration = Duration::from_secs(5);
/// How long it may take to describe itself.
const DESCRIBE_LIMIT: Duration = Duration::from_secs(60);

/// How long an engine may be between two states.
const SETTLE_LIMIT: Duration = Duration::from_secs(10);
/// How long to wait before it is asked again.
const SETTLE_PAUSE: Duration = Duration::from_millis(50);

/// Whose engine it is. Only where the two differ does it matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Podman.
    Podman,
    /// Docker, or what behaves like it.
    Docker,
}

impl Kind {
    /// The name that people know.
    pub fn name(self) -> &'static str {
        match self {
            Self::Podman => "Podman",
            Self::Docker => "Docker",
        }
    }
}

/// A container engine that answers. Clones are the same connection.
#[derive(Clone, Debug)]
pub struct Engine {
    pub(crate) docker: Docker,
    /// Whose it is.
    pub kind: Kind,
    /// Its version, as it says.
    pub version: String,
    /// Whether it runs without root.
    pub rootless: bool,
    /// Where it was found, as an address.
    pub address: String,
    /// The architecture of its machine, as it says.
    pub architecture: String,
}

impl Engine {
    /// Takes what answers at an address.
    ///
    /// # Errors
    /// When nothing answers in time, or no engine does.
    pub async fn at(address: &str) -> Result<Self, SandboxError> {
        let unreachable = |why: String| SandboxError::Unreachable {
            address: address.to_owned(),
            why,
        };
        let docker = find::connect(address).map_err(|error| unreachable(error.to_string()))?;
        // Whether anybody is there shows soon; an engine that is busy describes itself slowly.
        let late = |limit: Duration| format!("no answer within {} s", limit.as_secs());
        let pinged = tokio::time::timeout(PING_LIMIT, docker.ping()).await;
        let pinged = pinged.map_err(|_| unreachable(late(PING_LIMIT)))?;
        pinged.map_err(|error| unreachable(error.to_string()))?;
        let asked = tokio::time::timeout(DESCRIBE_LIMIT, async {
            // The two versions agree on the older one.
            let docker = docker.negotiate_version().await?;
            let info = docker.info().await?;
            let version = docker.version().await?;
            Ok::<_, Error>((docker, info, version))
        });
        let (docker, info, version) = asked
            .await
            .map_err(|_| unreachable(late(DESCRIBE_LIMIT)))?
            .map_err(|error| unreachable(error.to_string()))?;
        let components = version.components.unwrap_or_default();
        let is_podman = components
            .iter()
            .any(|component| component.name.starts_with("Podman"));
        Ok(Self {
            docker,
            kind: if is_podman {
                Kind::Podman
            } else {
                Kind::Docker
            },
            version: version.version.unwrap_or_default(),
            rootless: rootless::is_rootless(address, &info).await,
            address: address.to_owned(),
            architecture: info.architecture.unwrap_or_default(),
        })
    }

    /// Says what was asked of the engine when it refuses.
    pub(crate) fn failed(&self, what: impl Into<String>) -> impl FnOnce(Error) -> SandboxError {
        let (engine, what) = (self.kind.name(), what.into());
        move |error| SandboxError::Engine {
            engine,
            what,
            error: Box::new(error),
        }
    }
}

/// The status of an engine's refusal, where it is one.
pub(crate) fn status(error: &Error) -> Option<u16> {
    match error {
        Error::DockerResponseServerError { status_code, .. } => Some(*status_code),
        _ => None,
    }
}

/// Asks once more while an answer can't be read: for a moment after a container's end, Podman says
/// that it is `stopped`, which is none of the states that the API has.
pub(crate) async fn settled<T, Answer>(ask: impl Fn() -> Answer) -> Result<T, Error>
where
    Answer: Future<Output = Result<T, Error>>,
{
    let begun = Instant::now();
    loop {
        match ask().await {
            Err(Error::JsonDataError { .. }) if begun.elapsed() < SETTLE_LIMIT => {
                tokio::time::sleep(SETTLE_PAUSE).await;
            }
            other => return other,
        }
    }
}

/// What is not there is gone as it should be.
pub(crate) fn unless_missing(result: Result<(), Error>) -> Result<(), Error> {
    match result {
        Err(error) if status(&error) == Some(404) => Ok(()),
        other => other,
    }
}
