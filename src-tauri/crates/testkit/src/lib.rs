//! Stand-ins for the world, for tests and for `bench`: a scripted model in the process, and a
//! provider server that answers over HTTP in every way that providers do, the wrong ones too.

pub mod catalogue;
pub mod gate;
pub mod model;
pub mod provider;
pub mod recorded;
pub mod reply;
pub mod request;
pub mod sim;
pub mod tool;
pub mod world;

pub use longrein_models::Pace;

pub use gate::Gate;
pub use model::ScriptedModel;
pub use provider::MockProvider;
pub use reply::{Scripted, call, fail, say, then};
pub use request::SeenRequest;
pub use tool::{FakeTool, planned};
pub use world::{SeededChance, TestClock, TestWorld};
