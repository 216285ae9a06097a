//! The box that a run's commands work in.
//!
//! [`Backing::find`] says what boxes can be made of here; [`container::Container::ensure`] or
//! [`BubblewrapBox`] makes a run's box; [`Sandbox::connect`] gives the [`session::Session`] with its
//! resident agent, which starts commands and keeps what they leave. Beside it stand the way to the
//! network ([`egress`]), the image ([`image`]), what a workspace holds ([`usage`]) and held at a
//! moment ([`snapshot`]).
//!
//! Of all this, [`code`] alone knows runs: it holds the tools that run commands. The rest knows no
//! run, no log and no policy: what happens is told to whoever asks, and decided there.

#[cfg(target_os = "linux")]
pub mod bubblewrap;
pub mod code;
pub mod container;
pub mod egress;
pub mod engine;
mod error;
pub mod image;
mod resident;
mod sandbox;
pub mod session;
pub mod snapshot;
pub mod usage;

pub use error::SandboxError;
pub use longrein_resident::wire;
#[cfg(target_os = "linux")]
pub use sandbox::BubblewrapBox;
pub use sandbox::{Backing, Nothing, Sandbox};
