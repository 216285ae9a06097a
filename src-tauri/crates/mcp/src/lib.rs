//! MCP servers as tools: a server is started over stdio in a process group of its own, its tools
//! are listed once, and each becomes a [`Tool`](longrein_runtime::ports::Tool) named
//! `server.tool`. The group ends with us, however we end.
//!
//! What a server says is never believed further than the person said: without their trust its
//! annotations count for nothing, and its text is always untrusted.

mod bounded;
mod clean;
mod error;
mod group;
mod leader;
mod listing;
mod outcome;
mod server;
mod stderr;
mod tool;

pub use error::McpError;
pub use listing::ToolProblem;
pub use server::{McpServer, ServerConfig};
