//! A server's resources, as two tools: one lists them, one reads one.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use longrein_protocol::agent::ToolSettings;
use longrein_protocol::{Effect, Repeat, ToolErrorClass, ToolSpec};
use longrein_runtime::ports::{Tool, ToolCall, ToolError, ToolOutput};
use rmcp::model::{
    ClientRequest, ListResourceTemplatesRequest, ListResourcesRequest, PaginatedRequestParams,
    ReadResourceRequestParams, ServerResult,
};
use rmcp::service::ServiceError;
use serde_json::{Value, json};

use crate::call::{Call, Unanswered};
use crate::clean::{head, plain, without_hidden};
use crate::listing::Listing;
use crate::outcome;
use crate::server::Link;
use crate::tool::{failed, patience};

/// The tool that lists.
const LIST: &str = "list_resources";
/// The tool that reads.
const READ: &str = "read_resource";

/// How much of a result the model is shown unless the person says otherwise, in tokens.
const RESULT_TOKENS: u32 = 4_000;

/// The most pages that are read.
const PAGES_MAX: usize = 16;

/// The most resources that are listed.
const RESOURCES_MAX: usize = 500;

/// The longest description of one.
const DESCRIPTION_BYTES: usize = 300;

/// The longest address of one.
const URI_BYTES_MAX: u32 = 4_096;

/// Which of the two it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    List,
    Read,
}

struct ResourceTool {
    spec: ToolSpec,
    does: Does,
    said: ToolSettings,
    link: Arc<Link>,
}

/// The two tools, save where the server has a tool of that name. Unless the person trusts the
/// server, even its readings are asked for: only its word would say that they change nothing.
pub(crate) fn tools(
    listing: &Listing,
    settings: &BTreeMap<String, ToolSettings>,
    link: &Arc<Link>,
) -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> = Vec::with_capacity(2);
    for (does, name) in [(Does::List, LIST), (Does::Read, READ)] {
        if listing.named(name).is_none() {
            tools.push(Arc::new(ResourceTool::new(does, name, settings, link)));
        }
    }
    tools
}

impl ResourceTool {
    fn new(
        does: Does,
        name: &str,
        settings: &BTreeMap<String, ToolSettings>,
        link: &Arc<Link>,
    ) -> Self {
        let server = link.name();
        let name = format!("{server}.{name}");
        let said = settings.get(&name).cloned().unwrap_or_default();
        let trusted = link.config().trusted;
        let (description, schema) = match does {
            Does::List => (
                format!(
                    "Lists the resources of {server} that can be read: address, name, type, description, and the patterns of addresses that it knows."
                ),
                json!({"type": "object", "properties": {}, "additionalProperties": false}),
            ),
            Does::Read => (
                format!(
                    "Reads one resource of {server} by its address, as {server}.{LIST} gives it."
                ),
                json!({
                    "type": "object",
                    "properties": {"uri": {
                        "type": "string", "minLength": 1, "maxLength": URI_BYTES_MAX,
                        "description": "The whole address of the resource.",
                    }},
                    "required": ["uri"],
                    "additionalProperties": false,
                }),
            ),
        };
        let (_, timeout_ms) = patience(&link.config().limits, &said);
        let spec = ToolSpec {
            name,
            description,
            schema,
            effect: said.effect.unwrap_or(if trusted {
                Effect::Read
            } else {
                Effect::Irreversible
            }),
            repeat: said.repeat.unwrap_or(if trusted {
                Repeat::Repeatable
            } else {
                Repeat::Once
            }),
            timeout_ms,
            result_tokens: said.result_tokens.unwrap_or(RESULT_TOKENS),
            path_arguments: Vec::new(),
            untrusted: true,
            reach: longrein_protocol::tool::Reach::default(),
            recovery: longrein_protocol::tool::Recovery::default(),
        };
        Self {
            spec,
            does,
            said,
            link: link.clone(),
        }
    }

    async fn list(&self, call: &Call<'_>) -> Result<ToolOutput, Unanswered> {
        let mut lines = Vec::new();
        let mut cursor = None;
        for _ in 0..PAGES_MAX {
            let request = ListResourcesRequest {
                params: page_of(cursor.take()),
                ..ListResourcesRequest::default()
            };
            let result = call
                .ask(ClientRequest::ListResourcesRequest(request))
                .await?;
            let ServerResult::ListResourcesResult(page) = result else {
                return Err(ServiceError::UnexpectedResponse.into());
            };
            for resource in page.resources {
                let kind = resource.mime_type.as_deref().unwrap_or("");
                let what = resource.description.as_deref().unwrap_or("");
                let name = resource.title.as_deref().unwrap_or(&resource.name);
                lines.push(line(&resource.uri, name, kind, what));
            }
            cursor = page.next_cursor;
            if cursor.is_none() || lines.len() >= RESOURCES_MAX {
                break;
            }
        }
        let count = lines.len().min(RESOURCES_MAX);
        let is_cut = cursor.is_some() || lines.len() > RESOURCES_MAX;
        lines.truncate(RESOURCES_MAX);
        if is_cut {
            lines.push(format!(
                "The list goes on after {count}; the rest is left out."
            ));
        }
        lines.extend(self.patterns(call).await?);
        let text = self.link.secrets().mask(lines.join("\n"));
        Ok(ToolOutput::text(text, format!("{count} resources")))
    }

    /// Patterns of addresses; a server without them says so by an error.
    async fn patterns(&self, call: &Call<'_>) -> Result<Vec<String>, Unanswered> {
        let request = ListResourceTemplatesRequest::default();
        let request = ClientRequest::ListResourceTemplatesRequest(request);
        let page = match call.ask(request).await {
            Ok(ServerResult::ListResourceTemplatesResult(page)) => page,
            Ok(_) | Err(Unanswered::Failed(ServiceError::McpError(_))) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let templates = page.resource_templates.into_iter().take(RESOURCES_MAX);
        Ok(templates
            .map(|template| {
                let kind = template.mime_type.as_deref().unwrap_or("");
                let what = template.description.as_deref().unwrap_or("");
                line(&template.uri_template, &template.name, kind, what)
            })
            .collect())
    }
}

fn page_of(cursor: Option<String>) -> Option<PaginatedRequestParams> {
    cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)))
}

/// One resource as a line of JSON, so that no name can look like two.
fn line(uri: &str, name: &str, kind: &str, what: &str) -> String {
    let clean = |text: &str| head(&without_hidden(&plain(text)), DESCRIPTION_BYTES);
    let mut line = json!({"uri": plain(uri), "name": clean(name)});
    if !kind.is_empty() {
        line["type"] = clean(kind).into();
    }
    if !what.is_empty() {
        line["description"] = clean(what).into();
    }
    line.to_string()
}

#[async_trait]
impl Tool for ResourceTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, call: ToolCall) -> Result<ToolOutput, ToolError> {
        let live = self.link.live(&self.spec.name).await?;
        let (patience, _) = patience(&self.link.config().limits, &self.said);
        let made = Call {
            live: &live,
            person: &call.person,
            patience,
            cancel: &call.cancel,
        };
        let result = match self.does {
            Does::List => self.list(&made).await,
            Does::Read => {
                let uri = call.arguments.get("uri").and_then(Value::as_str);
                let uri = uri.ok_or_else(|| {
                    ToolError::new(
                        ToolErrorClass::InvalidArguments,
                        format!("{} needs the address of a resource as uri.", self.spec.name),
                    )
                })?;
                let read = made.resource(ReadResourceRequestParams::new(uri)).await;
                read.map(|read| outcome::of_resource(uri, read, self.link.secrets()))
            }
        };
        match result {
            Ok(output) => Ok(output),
            Err(why) => Err(failed(&self.spec, &self.link, &live, why).await),
        }
    }
}
