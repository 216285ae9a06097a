//! The tools that come with the harness: files of the workspace, the person's library, pages, sources,
//! the plan, publishing, and the verifier that checks what a run claims.
//!
//! What is absent: no tool here leaves the workspace or a library folder through a link, and none
//! trusts the workspace for what a source says.

mod ask;
mod attached;
pub mod code;
mod delegate;
mod error;
mod files;
mod find;
mod library;
pub mod look;
mod markup;
mod notes;
mod page;
mod plan;
mod publish;
mod recall;
mod results;
mod show;
mod sources;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod tool;
mod verify;
mod web_fetch;
mod workspace;

use std::sync::{Arc, Mutex};

use longrein_runtime::ports::Tool;

pub use attached::attached;
pub use delegate::AgentOffer;
pub use find::finding;
pub use library::{Findings, Library, LibraryError};
pub use results::{lay_down, result_path};
pub use verify::HarnessVerifier;
pub use web_fetch::{Web, fetcher};

/// What the built-in tools are made with.
#[derive(Clone, Default)]
pub struct ToolsConfig {
    /// The person's documents; none when the agent names no folders.
    pub library: Option<Arc<Library>>,
    /// Where pages of the web come from.
    pub web: Web,
    /// The saved agents that work may be given to.
    pub agents: Vec<AgentOffer>,
}

/// Every built-in tool, in the order in which a request lists them. Which of them an agent has is
/// its grants' affair.
pub fn builtin_tools(config: ToolsConfig) -> Vec<Arc<dyn Tool>> {
    let writing = Arc::new(Mutex::new(()));
    let mut tools = files::tools(Arc::clone(&writing));
    tools.push(library::search_library(config.library));
    tools.push(web_fetch::web_fetch(config.web));
    tools.push(sources::ReadSource::tool());
    tools.push(results::ReadResult::tool());
    tools.push(plan::update_plan());
    tools.push(notes::pin_note());
    tools.push(recall::Recall::tool());
    tools.push(publish::PublishArtifact::tool(writing));
    tools.push(delegate::Delegate::tool(&config.agents));
    tools.push(ask::ask_person());
    tools.push(plan::finish());
    tools
}
