//! MCP servers as tools: a server is started over stdio in a process group of its own, or reached
//! at an address over streamable HTTP; its tools are listed, and each becomes a
//! [`Tool`](longrein_runtime::ports::Tool) named `server.tool`. The group ends with us, however we
//! end.
//!
//! What a server says is never believed further than the person said: without their trust its
//! annotations count for nothing, and its text is always untrusted.

mod auth;
mod bounded;
mod call;
mod clean;
mod config;
mod confine;
pub mod conformance;
mod definition;
mod elicit;
mod error;
mod group;
mod host;
mod http;
mod keyless;
mod leader;
mod listing;
mod live;
mod memory;
mod outcome;
mod prompts;
mod resources;
mod schema;
mod server;
mod stderr;
mod stdio;
mod suspicion;
mod tool;

pub use auth::{
    Browser, BrowserError, ClientIdentity, SignIn, SignInError, TokenStore, TokenStoreError,
};
pub use config::{AddressConfig, Limits, ProcessConfig, Reach, ServerConfig};
pub use confine::Confinement;
pub use definition::{Change, Definition, compare};
pub use error::McpError;
pub use listing::ToolProblem;
pub use prompts::Prompt;
pub use server::McpServer;
pub use suspicion::{Flag, FlagKind, shadows};
