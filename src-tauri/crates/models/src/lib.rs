//! Model providers: thin adapters from each provider's format to the one vocabulary of the ports,
//! and the demonstration model, which needs no provider.

pub mod demo;
pub mod openai_chat;

mod fault;
mod http;
mod secret;

pub use openai_chat::{Limits, OpenAiChat, OpenAiChatConfig, list_models};
pub use secret::Secret;
