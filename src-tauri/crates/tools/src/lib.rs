//! The tools that come with the harness: files of the workspace, the person's library, sources,
//! the plan, publishing, and the verifier that checks what a run claims.
//!
//! What is absent: no tool here leaves the workspace or a library folder through a link, and none
//! trusts the workspace for what a source says.

mod error;
mod files;
mod plan;
mod show;
#[cfg(test)]
mod testing;
mod tool;
mod workspace;

use std::sync::{Arc, Mutex};

use longrein_runtime::ports::Tool;

/// What the built-in tools are made with.
#[derive(Clone, Default)]
pub struct ToolsConfig {}

/// Every built-in tool, in the order in which a request lists them. Which of them an agent has is
/// its grants' affair.
pub fn builtin_tools(config: ToolsConfig) -> Vec<Arc<dyn Tool>> {
    let _ = config;
    let mut tools = files::tools(Arc::new(Mutex::new(())));
    tools.push(plan::update_plan());
    tools.push(plan::finish());
    tools
}
