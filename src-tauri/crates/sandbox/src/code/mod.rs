//! The tools that run commands, and the boxes of runs behind them: made when first needed, stopped
//! when nobody uses them, found again after a crash.
//!
//! What is absent: no command runs without a box, none is begun twice, and none is begun before it
//! is on record which life of the box's agent it is given to.

mod boxes;
mod check;
mod copy;
mod follow;
mod job;
mod keep;
mod left;
mod plain;
mod programs;
mod requests;
mod start;
mod station;
mod tools;
#[cfg(target_os = "linux")]
mod trying;

pub use boxes::{Boxes, BoxesConfig, Closing};
pub use copy::{Room, copy_files};
pub use station::{Lease, Make, Station, StationSpec};
pub use tools::{CodeConfig, PACKAGES, code_tools};
