//! What can go wrong around the box.

use std::io;
use std::path::PathBuf;

use longrein_resident::wire::{Code, FrameError, VERSION};

/// Why something of the sandbox failed. Each message is one sentence for a person.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// An engine was named, or `DOCKER_HOST` names one, and it does not answer.
    #[error(
        "the container engine at {address} does not answer ({why}); start it, or name another one"
    )]
    Unreachable {
        /// Where it should be.
        address: String,
        /// What connecting said.
        why: String,
    },
    /// The engine refused a request.
    #[error("{engine} could not {what}: {error}")]
    Engine {
        /// The engine's name.
        engine: &'static str,
        /// What was asked of it.
        what: String,
        /// What it said.
        error: Box<bollard::errors::Error>,
    },
    /// The image is not there and can't be made.
    #[error("the image {image} is not usable: {why}")]
    Image {
        /// The image's name.
        image: String,
        /// What is wrong with it.
        why: String,
    },
    /// This build carries no resident agent for the engine's machines.
    #[error(
        "this build has no resident agent for {wanted} containers; it takes a Linux build of Longrein for that architecture"
    )]
    NoResident {
        /// The architecture that the engine runs.
        wanted: String,
    },
    /// The resident agent is another version than this app, which has been updated meanwhile.
    #[error(
        "the container's resident agent speaks version {theirs} and this app {VERSION}; the container has to be made anew"
    )]
    OtherVersion {
        /// The agent's version.
        theirs: u32,
    },
    /// The pipe to the resident agent has ended. What runs goes on; connect again.
    #[error("the pipe to the resident agent has ended{why}")]
    Gone {
        /// What is known of it, with its punctuation; may be empty.
        why: String,
    },
    /// What arrived on the pipe is no frame.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The resident agent refused.
    #[error("{message}")]
    Refused {
        /// Which kind of refusal.
        code: Code,
        /// Its words.
        message: String,
    },
    /// Something took longer than it may.
    #[error("{what} took longer than {limit_s} s")]
    TimedOut {
        /// What was waited for.
        what: String,
        /// Its limit.
        limit_s: u64,
    },
    /// A file or folder can't be used.
    #[error("{}: {error}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A limit of a snapshot is passed.
    #[error("{what} is more than a snapshot may have: {limit}")]
    TooLarge {
        /// What there is too much of.
        what: String,
        /// The limit.
        limit: u64,
    },
    /// There is no box here that holds enough to run anything in it.
    #[error("there is no box for commands: {why}")]
    Unusable {
        /// What it lacks, and what helps.
        why: String,
    },
}

impl SandboxError {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::File { path, error }
    }

    /// Whether connecting again may help: the pipe ended and nothing else is known to be wrong.
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Gone { .. } | Self::Frame(FrameError::Io(_)))
    }
}
