//! A whole world in simulated time: seeded model, tools of every kind, a person, a clock that
//! jumps, a disk that fails, processes that are killed. What happens in it is a [`Scenario`], which
//! is data; the laws of the runtime are held against every play of one.

mod boxes;
mod catalogue;
mod clock;
mod ending;
mod fold;
mod generate;
mod laws;
mod log;
mod model;
mod outside;
mod person;
mod play;
mod scenario;
mod shrink;
mod skills;
mod sweep;
mod world;

pub use ending::Ending;
pub use fold::hold as hold_fold;
pub use generate::scenario;
pub use laws::{Law, Violation};
pub use play::{Played, play, play_blind};
pub use scenario::*;
pub use shrink::{shrink, shrink_while};
pub use sweep::{Found, Swept, sweep, sweep_blind};
