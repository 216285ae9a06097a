//! The driver: what `next` says is done, and what happened becomes events.

mod driver;
mod effects;
pub mod history;
mod inbox;
mod mask;
mod outcome;
pub mod ports;
mod request;
pub mod wire;
pub mod world;

pub use driver::{DriveError, Driver, Ports, Waker};
