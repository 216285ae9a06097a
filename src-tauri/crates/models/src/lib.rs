//! Model providers: thin adapters from each provider's format to the one vocabulary of the ports,
//! and the demonstration model, which needs no provider.

pub mod anthropic;
pub mod catalogue;
pub mod demo;
pub mod discovery;
pub mod gemini;
pub mod ollama;
pub mod openai_chat;
pub mod openai_responses;
pub mod probe;
pub mod schema;

mod adapter;
mod fault;
mod format;
mod http;
mod ids;
mod json;
mod listing;
mod openai_names;
mod pace;
mod patience;
mod places;
mod reading;
mod secret;
mod sse;
mod subset;
#[cfg(test)]
mod testing;

pub use format::{Format, ModelConfig, ToolMode, build};
pub use ids::IdShape;
pub use listing::{Listed, list, list_models};
pub use openai_chat::{OpenAiChat, OpenAiChatConfig};
pub use pace::{Pace, Paced};
pub use patience::Limits;
pub use places::{WELL_KNOWN, WellKnown, usual_base_url, well_known};
pub use secret::Secret;
