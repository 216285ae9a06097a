//! The words that every part of Longrein speaks: ids, events, model blocks, tool
//! descriptions, the agent specification, wishes and the rows of a view. Types only.

pub mod agent;
pub mod block;
pub mod body;
pub mod criterion;
pub mod event;
pub mod gate;
pub mod host_rule;
pub mod ids;
pub mod media;
pub mod question;
pub mod sandbox;
pub mod source;
pub mod stage;
pub mod tool;
pub mod view;
pub mod wish;

pub use agent::AgentSpec;
pub use block::Block;
pub use body::{BlobHash, Body};
pub use event::{Event, Payload};
pub use ids::{ActionId, Millis, RunId, SourceId};
pub use media::{Media, MediaKind};
pub use tool::{Effect, Repeat, ToolErrorClass, ToolSpec};

/// The version of this harness, as recorded with every run and request.
pub const HARNESS_VERSION: &str = env!("CARGO_PKG_VERSION");
