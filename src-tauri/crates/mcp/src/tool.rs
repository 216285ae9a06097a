//! One tool of a server.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use longrein_protocol::agent::ToolSettings;
use longrein_protocol::{Effect, Repeat, ToolErrorClass, ToolSpec};
use longrein_runtime::ports::{Tool, ToolCall, ToolError, ToolOutput};
use rmcp::model::{CallToolRequestParams, CallToolResponse, RequestMetaObject, ToolAnnotations};
use rmcp::service::ServiceError;
use serde_json::Value;

use crate::clean::{head, plain};
use crate::outcome;
use crate::server::Connection;

/// How long one call may take unless the person says otherwise.
const CALL_TIMEOUT_MS: u32 = 60_000;

/// How much of a result the model is shown unless the person says otherwise, in tokens.
const RESULT_TOKENS: u32 = 4_000;

/// The longest description that the model is shown.
const DESCRIPTION_BYTES: usize = 4_096;

/// Where a request's `_meta` carries the idempotency key, for servers that know to use it.
const META_KEY: &str = "longrein/key";

/// Where a request's `_meta` carries the action's id.
const META_ACTION: &str = "longrein/action";

/// A tool of a running server.
pub(crate) struct McpTool {
    spec: ToolSpec,
    /// The tool's name as the server knows it.
    name: String,
    connection: Arc<Connection>,
}

impl McpTool {
    /// Makes the tool; what the person says of it overrides what the server says.
    pub(crate) fn new(
        tool: &rmcp::model::Tool,
        settings: &BTreeMap<String, ToolSettings>,
        connection: Arc<Connection>,
    ) -> Self {
        let name = format!("{}.{}", connection.name(), tool.name);
        let said = settings.get(&name).cloned().unwrap_or_default();
        let believed = tool
            .annotations
            .as_ref()
            .filter(|_| connection.is_trusted());
        let spec = ToolSpec {
            description: description(tool),
            schema: Value::Object(tool.input_schema.as_ref().clone()),
            effect: said.effect.unwrap_or_else(|| effect(believed)),
            repeat: said.repeat.unwrap_or_else(|| repeat(believed)),
            timeout_ms: said
                .timeout_seconds
                .map_or(CALL_TIMEOUT_MS, |seconds| seconds.saturating_mul(1_000)),
            result_tokens: said.result_tokens.unwrap_or(RESULT_TOKENS),
            path_arguments: Vec::new(),
            reach: longrein_protocol::tool::Reach::default(),
            recovery: longrein_protocol::tool::Recovery::default(),
            untrusted: true,
            name,
        };
        Self {
            spec,
            name: tool.name.to_string(),
            connection,
        }
    }

    fn params(&self, call: &ToolCall) -> Result<CallToolRequestParams, ToolError> {
        let arguments = match &call.arguments {
            Value::Object(arguments) => arguments.clone(),
            Value::Null => serde_json::Map::new(),
            _ => {
                return Err(ToolError::new(
                    ToolErrorClass::InvalidArguments,
                    format!("The arguments of {} must be an object.", self.spec.name),
                ));
            }
        };
        let mut meta = RequestMetaObject::default();
        meta.insert(META_KEY.to_owned(), call.key.clone().into());
        meta.insert(META_ACTION.to_owned(), call.action.to_string().into());
        let mut params = CallToolRequestParams::new(self.name.clone()).with_arguments(arguments);
        params.meta = Some(meta);
        Ok(params)
    }

    /// An error after the request was sent: unless the tool only reads, nobody knows whether it
    /// happened.
    fn unknown(&self, class: ToolErrorClass, message: String) -> ToolError {
        ToolError {
            class,
            message,
            uncertain: self.spec.effect != Effect::Read,
        }
    }

    async fn of_error(&self, error: ServiceError) -> ToolError {
        let tool = &self.spec.name;
        match error {
            ServiceError::McpError(error) => {
                outcome::of_error(tool, &error, self.connection.secrets())
            }
            // The line of the request did not reach the server whole.
            ServiceError::TransportSend(_) => self.connection.gone(tool).await,
            ServiceError::TransportClosed => {
                let why = self.connection.why_ended().await;
                let message = format!("The server of {tool} ended during the call: {why}.");
                self.unknown(ToolErrorClass::Failed, message)
            }
            ServiceError::Cancelled { .. } => {
                self.unknown(ToolErrorClass::Cancelled, format!("{tool} was cancelled."))
            }
            other => {
                let said = head(&plain(&other.to_string()), DESCRIPTION_BYTES);
                let message = format!("The server of {tool} gave no usable answer: {said}.");
                self.unknown(ToolErrorClass::Failed, message)
            }
        }
    }

    fn of_response(&self, response: CallToolResponse) -> Result<ToolOutput, ToolError> {
        let tool = &self.spec.name;
        match response {
            CallToolResponse::Complete(result) => {
                outcome::of_result(result, self.connection.secrets())
            }
            CallToolResponse::InputRequired(_) => Err(ToolError::new(
                ToolErrorClass::Failed,
                format!("{tool} asked a question back, which is not built yet; it did nothing."),
            )),
            _ => Err(self.unknown(
                ToolErrorClass::Failed,
                format!("{tool} went on in the background, which is not built yet."),
            )),
        }
    }
}

#[async_trait]
impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, call: ToolCall) -> Result<ToolOutput, ToolError> {
        let tool = &self.spec.name;
        let params = self.params(&call)?;
        let Some(peer) = self.connection.peer() else {
            return Err(self.connection.gone(tool).await);
        };
        let limit = Duration::from_millis(self.spec.timeout_ms.into());
        // Dropping the request tells the server that it is cancelled.
        tokio::select! {
            response = peer.call_tool_once(params) => match response {
                Ok(response) => self.of_response(response),
                Err(error) => Err(self.of_error(error).await),
            },
            () = call.cancel.cancelled() => Err(self.unknown(
                ToolErrorClass::Cancelled,
                format!("{tool} was stopped before it answered."),
            )),
            () = tokio::time::sleep(limit) => Err(self.unknown(
                ToolErrorClass::Temporary,
                format!("{tool} did not answer within {} s.", limit.as_secs_f32()),
            )),
        }
    }
}

fn description(tool: &rmcp::model::Tool) -> String {
    let said = tool
        .description
        .as_deref()
        .or(tool.title.as_deref())
        .unwrap_or("");
    head(plain(said).trim(), DESCRIPTION_BYTES)
}

/// The effect by the annotations of a trusted server; undeclared is irreversible.
fn effect(believed: Option<&ToolAnnotations>) -> Effect {
    match believed {
        Some(hints) if hints.read_only_hint == Some(true) => Effect::Read,
        Some(hints) if hints.destructive_hint == Some(false) => Effect::Reversible,
        _ => Effect::Irreversible,
    }
}

fn repeat(believed: Option<&ToolAnnotations>) -> Repeat {
    match effect(believed) {
        Effect::Read => Repeat::Repeatable,
        _ => Repeat::Once,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_declared_effects_are_lower_than_irreversible() {
        let hints = |read_only, destructive| {
            ToolAnnotations::from_raw(None, read_only, destructive, None, None)
        };
        for (hints, expected) in [
            (hints(Some(true), None), (Effect::Read, Repeat::Repeatable)),
            (
                hints(Some(true), Some(true)),
                (Effect::Read, Repeat::Repeatable),
            ),
            (
                hints(Some(false), Some(false)),
                (Effect::Reversible, Repeat::Once),
            ),
            (hints(None, Some(false)), (Effect::Reversible, Repeat::Once)),
            (
                hints(None, Some(true)),
                (Effect::Irreversible, Repeat::Once),
            ),
            (hints(None, None), (Effect::Irreversible, Repeat::Once)),
        ] {
            assert_eq!(
                (effect(Some(&hints)), repeat(Some(&hints))),
                expected,
                "{hints:?}"
            );
        }
        assert_eq!(
            (effect(None), repeat(None)),
            (Effect::Irreversible, Repeat::Once)
        );
    }
}
