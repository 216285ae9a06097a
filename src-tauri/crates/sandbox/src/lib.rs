//! The box that a run's commands work in.

#[cfg(target_os = "linux")]
pub mod bubblewrap;
pub mod container;
pub mod egress;
pub mod engine;
mod error;
pub mod image;
mod resident;
pub mod session;
pub mod snapshot;

pub use error::SandboxError;
pub use longrein_resident::wire;
