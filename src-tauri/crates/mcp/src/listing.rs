//! What tools a server has: every page of its list, each tool judged for itself.

use std::collections::BTreeSet;
use std::sync::Arc;

use jsonschema::Validator;
use rmcp::model::{
    ClientRequest, CustomResult, ListToolsRequest, PaginatedRequestParams, ServerResult, Tool,
};
use rmcp::service::{Peer, RoleClient, ServiceError};
use serde_json::Value;

use crate::clean::{head, plain};
use crate::definition::Definition;
use crate::schema;
use crate::suspicion::{self, Flag};

/// The most pages that are read.
const PAGES_MAX: usize = 64;

/// The most tools that a server may have.
const TOOLS_MAX: usize = 512;

/// The longest name of a tool.
const NAME_BYTES_MAX: usize = 128;

/// The longest part of an explanation.
const REASON_BYTES: usize = 300;

/// A tool that the server offers and that can't be used. The others can.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ToolProblem {
    /// The tool's name, or its place in the list (`tool 3`) when it has none.
    pub tool: String,
    /// What is off, in a sentence.
    pub message: String,
}

/// A tool that can be used.
pub(crate) struct Listed {
    pub(crate) tool: Tool,
    pub(crate) definition: Definition,
    /// What checks its structured results, where it says what they look like.
    pub(crate) output: Option<Arc<Validator>>,
    /// What a person should see of its words.
    pub(crate) flags: Vec<Flag>,
}

/// The tools of a server.
#[derive(Default)]
pub(crate) struct Listing {
    /// Those that can be used, in the server's order.
    pub(crate) tools: Vec<Listed>,
    /// Whether it has resources.
    pub(crate) has_resources: bool,
    /// Those that can't.
    pub(crate) problems: Vec<ToolProblem>,
    names: BTreeSet<String>,
    seen: usize,
}

/// Reads the whole list.
pub(crate) async fn read(peer: &Peer<RoleClient>) -> Result<Listing, ServiceError> {
    let mut listing = Listing::default();
    let info = peer.peer_info();
    listing.has_resources = info
        .as_ref()
        .is_some_and(|info| info.capabilities.resources.is_some());
    let has_tools = info.is_none_or(|info| info.capabilities.tools.is_some());
    if !has_tools {
        return Ok(listing);
    }
    let mut cursor: Option<String> = None;
    for _ in 0..PAGES_MAX {
        let params = cursor
            .take()
            .map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        let request = ListToolsRequest {
            method: Default::default(),
            params,
            extensions: Default::default(),
        };
        let result = peer
            .send_request(ClientRequest::ListToolsRequest(request))
            .await?;
        let next = listing.take_page(result)?;
        match next {
            Some(next) if listing.seen < TOOLS_MAX => cursor = Some(next),
            Some(_) => break,
            None => return Ok(listing),
        }
    }
    listing.lose(
        "list",
        format!(
            "The list of tools goes on after {} of them; the rest is left out.",
            listing.seen
        ),
    );
    Ok(listing)
}

impl Listing {
    /// Takes one page and returns the cursor of the next.
    fn take_page(&mut self, result: ServerResult) -> Result<Option<String>, ServiceError> {
        match result {
            ServerResult::ListToolsResult(page) => {
                for tool in page.tools {
                    self.take(tool);
                }
                Ok(page.next_cursor)
            }
            // One tool of another shape makes the whole page unknown to the library; the page is
            // then read tool by tool.
            ServerResult::CustomResult(CustomResult(page)) => {
                let Some(tools) = page.get("tools").and_then(Value::as_array) else {
                    return Err(ServiceError::UnexpectedResponse);
                };
                for tool in tools {
                    match serde_json::from_value::<Tool>(tool.clone()) {
                        Ok(tool) => self.take(tool),
                        Err(error) => self.take_malformed(tool, &error),
                    }
                }
                Ok(page
                    .get("nextCursor")
                    .and_then(Value::as_str)
                    .map(str::to_owned))
            }
            _ => Err(ServiceError::UnexpectedResponse),
        }
    }

    fn take_malformed(&mut self, tool: &Value, error: &serde_json::Error) {
        self.seen += 1;
        let place = format!("tool {}", self.seen);
        let name = tool.get("name").and_then(Value::as_str).unwrap_or(&place);
        let schema = tool.get("inputSchema");
        let message = if schema.is_some_and(Value::is_object) {
            format!("Its description is malformed: {error}.")
        } else {
            "Its inputSchema is not a JSON Schema object.".to_owned()
        };
        self.lose(name, message);
    }

    fn take(&mut self, tool: Tool) {
        self.seen += 1;
        if self.tools.len() >= TOOLS_MAX {
            return;
        }
        let name = tool.name.to_string();
        let sound = !name.is_empty()
            && name.len() <= NAME_BYTES_MAX
            && name
                .chars()
                .all(|letter| letter.is_alphanumeric() || "._-/".contains(letter));
        if !sound {
            let message = format!(
                "Its name is not made of letters, digits, “.”, “_”, “-” and “/”, at most {NAME_BYTES_MAX} of them."
            );
            self.lose(&name, message);
        } else if let Some(message) = schema_fault(&tool) {
            self.lose(&name, message);
        } else if self.names.insert(name.clone()) {
            let output = self.output_of(&tool);
            self.tools.push(Listed {
                definition: Definition::of(&tool),
                flags: suspicion::of_tool(&tool),
                output,
                tool,
            });
        } else {
            self.lose(
                &name,
                "Another tool of this server has the same name.".to_owned(),
            );
        }
    }

    /// What checks a tool's structured results. A schema that can't be used is said, and the tool is
    /// kept: its results are then taken as they are.
    fn output_of(&mut self, tool: &Tool) -> Option<Arc<Validator>> {
        let schema = Value::Object(tool.output_schema.as_ref()?.as_ref().clone());
        if let Some(fault) = schema::fault("Its outputSchema", &schema) {
            let message = format!("{fault} Its results are taken as they are.");
            self.lose(&tool.name, message);
            return None;
        }
        jsonschema::validator_for(&schema).ok().map(Arc::new)
    }

    /// The tool of this name.
    pub(crate) fn named(&self, name: &str) -> Option<&Listed> {
        self.tools.iter().find(|listed| listed.tool.name == name)
    }

    fn lose(&mut self, tool: &str, message: String) {
        self.problems.push(ToolProblem {
            tool: head(&plain(tool), NAME_BYTES_MAX),
            message: head(&plain(&message), REASON_BYTES),
        });
    }
}

/// What is wrong with a tool's schema, in a sentence.
fn schema_fault(tool: &Tool) -> Option<String> {
    let schema = Value::Object(tool.input_schema.as_ref().clone());
    if schema.get("type").is_some_and(|kind| kind != "object") {
        return Some("Its inputSchema does not describe an object.".to_owned());
    }
    schema::fault("Its inputSchema", &schema)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn listing(pages: &[Value]) -> (Vec<String>, Vec<String>) {
        let mut listing = Listing::default();
        for page in pages {
            let result = serde_json::from_value(page.clone()).unwrap();
            listing.take_page(result).unwrap();
        }
        let names = listing
            .tools
            .iter()
            .map(|listed| listed.tool.name.to_string())
            .collect();
        let problems = listing
            .problems
            .iter()
            .map(|problem| format!("{}: {}", problem.tool, problem.message))
            .collect();
        (names, problems)
    }

    #[test]
    fn each_malformed_tool_is_lost_alone_and_says_why() {
        let good = json!({"name": "good", "inputSchema": {"type": "object"}});
        let (names, problems) = listing(&[json!({"tools": [
            {"name": "text", "inputSchema": "no"},
            {"name": "none"},
            {"inputSchema": {}},
            {"name": "title", "title": 7, "inputSchema": {}},
            {"name": "array", "inputSchema": {"type": "array"}},
            {"name": "keyword", "inputSchema": {"type": "object", "required": 7}},
            {"name": "elsewhere", "inputSchema": {"$ref": "https://example.invalid/s.json"}},
            {"name": "large", "inputSchema": {"description": "x".repeat(schema::SCHEMA_BYTES_MAX)}},
            {"name": "\u{1b}[31mred", "inputSchema": {}},
            {"name": "", "inputSchema": {}},
            good, good,
        ]})]);
        assert_eq!(names, ["good"]);
        assert_eq!(problems.len(), 11, "{problems:#?}");
        for (problem, start) in problems.iter().zip([
            "text: Its inputSchema is not a JSON Schema object",
            "none: Its inputSchema is not a JSON Schema object",
            "tool 3: Its description is malformed: missing field `name`",
            "title: Its description is malformed",
            "array: Its inputSchema does not describe an object",
            "keyword: Its inputSchema is not a JSON Schema",
            "elsewhere: Its inputSchema is not a JSON Schema",
            "large: Its inputSchema has ",
            "red: Its name is not made of",
            ": Its name is not made of",
            "good: Another tool",
        ]) {
            assert!(problem.starts_with(start), "{problem} | {start}");
        }
    }

    #[test]
    fn a_list_without_an_end_is_cut_and_says_so() {
        let tools: Vec<Value> = (0..TOOLS_MAX + 5)
            .map(|number| json!({"name": format!("t{number}"), "inputSchema": {}}))
            .collect();
        let (names, _) = listing(&[json!({"tools": tools, "nextCursor": "more"})]);
        assert_eq!(names.len(), TOOLS_MAX);
    }
}
