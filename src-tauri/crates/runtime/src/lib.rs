//! The driver: what `next` says is done, and what happened becomes events.

mod asking;
mod beside;
mod calling;
mod checking;
mod children;
mod driver;
mod effects;
mod files;
mod findings;
mod gate;
pub mod history;
mod inbox;
mod links;
mod mask;
pub mod media;
mod offload;
mod outcome;
pub mod past;
mod patience;
pub mod ports;
mod programs;
mod recovery;
mod request;
mod summing;
mod telling;
pub mod verify;
pub mod wire;
pub mod world;

pub use driver::{DriveError, Driver, Ports, Waker};
