//! The box that a run's commands work in.

mod error;
mod resident;
pub mod session;

pub use error::SandboxError;
pub use longrein_resident::wire;
