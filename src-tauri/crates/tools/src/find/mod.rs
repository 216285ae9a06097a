//! `find_tools` and `call_tool`: the tools of servers that don't stand in requests.

mod index;
#[cfg(test)]
mod tests;
mod texts;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use longrein_protocol::tool::{CALL_TOOL, FIND_TOOLS};
use longrein_protocol::{Effect, ToolSpec};
use longrein_runtime::ports::{Tool, ToolCall, ToolError, ToolOutput};
use serde::Deserialize;
use serde_json::json;

use crate::error;
use crate::show::{brief, count};
use crate::tool::{Blocking, arguments, spec};

use index::Index;

/// The longest query, in characters.
const QUERY_LIMIT: usize = 500;
/// How many definitions are given, unless the call says otherwise, and at most.
const DEFAULT_TOOLS: usize = 5;
const TOOLS_LIMIT: usize = 10;
/// How many more are named without their definitions.
const NAMED: usize = 15;
/// The most bytes of one description and of one schema.
const DESCRIPTION_BYTES: usize = 1_500;
const SCHEMA_BYTES: usize = 6_000;
/// The most bytes of all definitions of one answer. Those for which there is no room are named.
const ANSWER_BYTES: usize = 14_000;

/// The two tools over those that don't stand in requests.
///
/// `about` is what servers say that they are for, by their names; tools are found by it too.
pub fn finding(hidden: Vec<ToolSpec>, about: BTreeMap<String, String>) -> [Arc<dyn Tool>; 2] {
    let tools = Arc::new(Hidden {
        tools: hidden,
        about,
        index: OnceLock::new(),
    });
    let find = Blocking::tool(find_spec(), move |call| tools.find(call));
    [find, Blocking::tool(call_spec(), not_unwrapped)]
}

/// What `find_tools` says of itself. It is the same whatever there is to be found, so that the
/// front of a request stays.
fn find_spec() -> ToolSpec {
    let properties = json!({
        "query": {
            "type": "string", "minLength": 1, "maxLength": QUERY_LIMIT,
            "description": "What you want to do, in plain words: create a calendar event.",
        },
        "server": {
            "type": "string", "minLength": 1, "maxLength": 128,
            "description": "Only tools of this server, by its name in the list of servers.",
        },
        "limit": {
            "type": "integer", "minimum": 1, "maximum": TOOLS_LIMIT,
            "description": format!("How many definitions to give. Default {DEFAULT_TOOLS}."),
        },
    });
    let description = "Finds tools of the servers that are listed as having more tools. Gives the \
        best matches, each with what it does, what it may change and the schema of its arguments; \
        call one with call_tool. One query for each thing that you want to do works best.";
    // The definitions were approved with their servers, like those that stand in a request, so
    // that they don't count as what a stranger says.
    spec(FIND_TOOLS, description, properties, &["query"])
}

fn call_spec() -> ToolSpec {
    let properties = json!({
        "name": {
            "type": "string", "minLength": 1, "maxLength": 256,
            "description": "The tool's name, as find_tools gave it: server__tool.",
        },
        "arguments": {
            "type": "object",
            "description": "Its arguments, as its own schema wants them.",
        },
    });
    let description = "Calls a tool that find_tools found. It counts as a call of that tool: its \
        arguments are checked against its schema, and it needs the same permission.";
    spec(CALL_TOOL, description, properties, &["name"])
}

fn not_unwrapped(_: &ToolCall) -> Result<ToolOutput, ToolError> {
    Err(error::failed(
        "The harness calls the tool inside; this one does nothing by itself.",
    ))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    query: String,
    server: Option<String>,
    limit: Option<usize>,
}

struct Hidden {
    tools: Vec<ToolSpec>,
    about: BTreeMap<String, String>,
    /// Made when it is first needed: most runs never look for a tool.
    index: OnceLock<Mutex<Index>>,
}

impl Hidden {
    fn find(&self, call: &ToolCall) -> Result<ToolOutput, ToolError> {
        let wanted: Arguments = arguments(call)?;
        let within = wanted.server.as_deref();
        if let Some(server) = within
            && !self.tools.iter().any(|tool| tool.server() == Some(server))
        {
            return Err(error::not_found(format!(
                "No server called `{server}` has tools to be found. There are: {}.",
                self.servers().join(", ")
            )));
        }
        let found = self.ranked(&wanted.query, within)?;
        if found.is_empty() {
            let text = format!(
                "No tool matches “{}”. Say it in other words, or name a server: {}.",
                brief(&wanted.query, QUERY_LIMIT),
                self.servers().join(", ")
            );
            return Ok(ToolOutput::text(text, "no tool matches"));
        }
        let limit = wanted.limit.unwrap_or(DEFAULT_TOOLS).clamp(1, TOOLS_LIMIT);
        let text = told(&found, limit, self.tools.len());
        let outcome = count(found.len(), "tool matches", "tools match");
        Ok(ToolOutput::text(text, outcome))
    }

    /// The tools that match, best first.
    fn ranked(&self, query: &str, within: Option<&str>) -> Result<Vec<&ToolSpec>, ToolError> {
        let index = match self.index.get() {
            Some(index) => index,
            None => {
                let made = Index::of(&self.tools, &self.about).map_err(broken)?;
                self.index.get_or_init(|| Mutex::new(made))
            }
        };
        let index = index.lock().unwrap_or_else(PoisonError::into_inner);
        let places = index.ranked(query).map_err(broken)?;
        let found = places.into_iter().filter_map(|place| self.tools.get(place));
        Ok(found
            .filter(|tool| within.is_none() || tool.server() == within)
            .collect())
    }

    fn servers(&self) -> Vec<&str> {
        let mut servers: Vec<&str> = self.tools.iter().filter_map(ToolSpec::server).collect();
        servers.dedup();
        servers
    }
}

fn broken(error: rusqlite::Error) -> ToolError {
    error::failed(format!("the index of tools broke: {error}"))
}

/// The answer: definitions of the first, names of the next.
fn told(found: &[&ToolSpec], limit: usize, all: usize) -> String {
    let mut text = format!("{} of {all} tools match, best first:", found.len());
    let mut told = 0;
    for tool in &found[..limit.min(found.len())] {
        let definition = definition(tool);
        if told > 0 && text.len() + definition.len() > ANSWER_BYTES {
            break;
        }
        text.push_str(&definition);
        told += 1;
    }
    let more: Vec<String> = found[told..]
        .iter()
        .take(NAMED)
        .map(|tool| tool.wire_name())
        .collect();
    if !more.is_empty() {
        let rest = found.len() - told - more.len();
        let _ = write!(text, "\n\nAlso: {}", more.join(", "));
        if rest > 0 {
            let _ = write!(text, " and {rest} more");
        }
        text.push_str(". Look for one by its name to be shown its definition.");
    }
    text
}

fn definition(tool: &ToolSpec) -> String {
    let effect = match tool.effect {
        Effect::Read => "reads only",
        Effect::Workspace => "changes files of the workspace",
        Effect::Reversible => "changes something outside, which can be taken back",
        Effect::Irreversible => "may change something outside for good",
    };
    let schema = tool.schema.to_string();
    let schema = match schema.len() > SCHEMA_BYTES {
        true => format!(
            "{} (cut: the schema has {} bytes; a call that does not fit says what is wrong)",
            brief(&schema, SCHEMA_BYTES),
            schema.len()
        ),
        false => schema,
    };
    // In one line: a server's words can't look like the next definition.
    let words: Vec<&str> = tool.description.split_whitespace().collect();
    format!(
        "\n\n{} ({effect})\n{}\narguments: {schema}",
        tool.wire_name(),
        brief(&words.join(" "), DESCRIPTION_BYTES)
    )
}
