//! Which tools of servers stand in a request, and which the model has to look for.
//!
//! Hundreds of definitions would cost more than the work itself, and small models lose their way
//! among them. So a server with many tools starts as one line of the index; its tools are found
//! with `find_tools` and called through `call_tool`, so that the front of the request stays.

use std::collections::BTreeSet;

use longrein_protocol::ToolSpec;
use longrein_protocol::agent::{AgentSpec, ContextLimits};
use longrein_protocol::criterion::Criterion;
use longrein_protocol::tool::{IndexKind, IndexLine};

use crate::policy::covers;

/// The most names of tools that the line of a server tells.
const NAMES: usize = 6;
/// The most characters of those names together.
const NAMES_CHARS: usize = 120;
/// About how many bytes a token has in a definition.
const BYTES_PER_TOKEN: usize = 4;

/// The names of the tools that don't stand in requests.
///
/// `offered` are all tools that the agent is granted, in the order of its grants: of two servers
/// for which there is no room together, the first stays.
pub fn hidden(agent: &AgentSpec, offered: &[ToolSpec]) -> BTreeSet<String> {
    let limits = &agent.context;
    let kept = |tool: &&ToolSpec| is_kept(agent, offered, tool);
    let mut left = (limits.server_tool_tokens as usize)
        .saturating_sub(offered.iter().filter(kept).map(tokens).sum());
    let mut hidden = BTreeSet::new();
    for server in servers(offered) {
        let of_it = offered
            .iter()
            .filter(|tool| tool.server() == Some(server))
            .filter(|tool| !kept(tool));
        let mine: Vec<&ToolSpec> = of_it.collect();
        let cost = mine.iter().map(|tool| tokens(tool)).sum();
        match left.checked_sub(cost) {
            Some(rest) if is_few(limits, mine.len()) => left = rest,
            _ => hidden.extend(mine.into_iter().map(|tool| tool.name.clone())),
        }
    }
    hidden
}

fn is_few(limits: &ContextLimits, tools: usize) -> bool {
    tools <= limits.server_tools as usize
}

/// The servers of tools, each once, in their order.
fn servers(offered: &[ToolSpec]) -> Vec<&str> {
    let mut servers: Vec<&str> = Vec::new();
    for server in offered.iter().filter_map(ToolSpec::server) {
        if !servers.contains(&server) {
            servers.push(server);
        }
    }
    servers
}

/// What the harness itself may have to call, or what the agent's file wants to be there.
fn is_kept(agent: &AgentSpec, offered: &[ToolSpec], tool: &ToolSpec) -> bool {
    if tool.server().is_none() {
        return true;
    }
    let preloaded = agent.tools.preload.iter();
    let checked = agent
        .done_when
        .iter()
        .filter_map(|criterion| match criterion {
            Criterion::Tool(check) => Some(&check.tool),
            _ => None,
        });
    let others = offered.iter().flat_map(|other| {
        let recovery = &other.recovery;
        recovery.status_tool.iter().chain(&recovery.undo_tool)
    });
    let mut named = preloaded.chain(checked).chain(others);
    named.any(|name| covers(name, &tool.name, Some(tool.effect)))
}

/// About what the definition of a tool costs in a request.
fn tokens(tool: &ToolSpec) -> usize {
    let bytes = tool.name.len() + tool.description.len() + tool.schema.to_string().len();
    bytes / BYTES_PER_TOKEN + 1
}

/// One line for each server with hidden tools: its name, how many there are, and the names of some
/// of them. The descriptions are a server's own words, so none of them stands here.
pub fn lines(hidden: &[ToolSpec]) -> Vec<IndexLine> {
    let lines = servers(hidden).into_iter().map(|server| {
        let tools = hidden.iter().filter(|tool| tool.server() == Some(server));
        IndexLine {
            kind: IndexKind::Server,
            name: server.to_owned(),
            text: names(tools),
        }
    });
    lines.collect()
}

fn names<'t>(tools: impl Iterator<Item = &'t ToolSpec>) -> String {
    let (mut told, mut count) = (String::new(), 0);
    for tool in tools {
        count += 1;
        let wire = tool.wire_name();
        let name = wire
            .split_once("__")
            .map_or(wire.as_str(), |(_, name)| name);
        if count > NAMES || told.len() + name.len() > NAMES_CHARS {
            continue;
        }
        if !told.is_empty() {
            told.push_str(", ");
        }
        told.push_str(name);
    }
    let such = if told.is_empty() { "" } else { ", such as " };
    let plural = if count == 1 { "tool" } else { "tools" };
    format!("{count} {plural}{such}{told}")
}

#[cfg(test)]
mod tests;
