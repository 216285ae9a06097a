//! One tool of a server.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jsonschema::Validator;
use longrein_protocol::agent::ToolSettings;
use longrein_protocol::{BlobHash, Effect, Repeat, ToolErrorClass, ToolSpec};
use longrein_runtime::ports::{Tool, ToolCall, ToolError, ToolOutput};
use rmcp::model::{CallToolRequestParams, RequestMetaObject, ToolAnnotations};
use rmcp::service::ServiceError;
use serde_json::Value;

use crate::call::{Call, Patience, Unanswered};
use crate::clean::{head, plain, without_hidden};
use crate::config::Limits;
use crate::http::{Reached, innermost, is_refused, reached};
use crate::keyless;
use crate::listing::Listed;
use crate::live::Live;
use crate::outcome;
use crate::server::{Link, not_called};

/// How much of a result the model is shown unless the person says otherwise, in tokens.
const RESULT_TOKENS: u32 = 4_000;

/// The longest description that the model is shown.
const DESCRIPTION_BYTES: usize = 4_096;

/// The longest reason that a message carries.
const REASON_BYTES: usize = 2_000;

/// Where a request's `_meta` carries the idempotency key, for servers that know to use it.
const META_KEY: &str = "longrein/key";

/// Where a request's `_meta` carries the action's id.
const META_ACTION: &str = "longrein/action";

/// A tool of a server.
pub(crate) struct McpTool {
    spec: ToolSpec,
    /// The tool's name as the server knows it.
    name: String,
    /// What it was when it was opened.
    definition: BlobHash,
    output: Option<Arc<Validator>>,
    patience: Patience,
    link: Arc<Link>,
}

impl McpTool {
    /// Makes the tool; what the person says of it overrides what the server says.
    pub(crate) fn new(
        listed: &Listed,
        settings: &BTreeMap<String, ToolSettings>,
        link: Arc<Link>,
    ) -> Self {
        let tool = &listed.tool;
        let name = format!("{}.{}", link.name(), tool.name);
        let said = settings.get(&name).cloned().unwrap_or_default();
        let is_believed = said.trusted.unwrap_or(link.config().trusted);
        let believed = tool.annotations.as_ref().filter(|_| is_believed);
        let (patience, timeout_ms) = patience(&link.config().limits, &said);
        let spec = ToolSpec {
            description: description(tool),
            schema: Value::Object(tool.input_schema.as_ref().clone()),
            effect: said.effect.unwrap_or_else(|| effect(believed)),
            repeat: said.repeat.unwrap_or_else(|| repeat(believed)),
            timeout_ms,
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
            definition: listed.definition.hash,
            output: listed.output.clone(),
            patience,
            link,
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

    /// A tool that says that it failed may say that it lacks a key.
    fn with_key_in_mind(&self, error: ToolError) -> ToolError {
        match keyless::says_so(&error.message) {
            true => keyless::error(&self.spec.name, self.link.name(), &error.message),
            false => error,
        }
    }

    /// The person decided about the tool as it was. What it has become since is another tool.
    fn is_still_the_same(&self, live: &Live) -> Result<(), ToolError> {
        let name = &self.spec.name;
        match live.listing().named(&self.name) {
            Some(listed) if listed.definition.hash == self.definition => Ok(()),
            Some(_) => Err(ToolError::new(
                ToolErrorClass::Conflict,
                format!(
                    "{name} was not called: its server has changed what it says of it since this run opened it. It can be called again once the run was resumed and the person has seen the change."
                ),
            )),
            None => Err(ToolError::new(
                ToolErrorClass::NotFound,
                format!("{name} was not called: its server does not offer it any more."),
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
        let params = self.params(&call)?;
        let live = tokio::select! {
            live = self.link.live(&self.spec.name) => live?,
            () = call.cancel.cancelled() => {
                return Err(ToolError::new(
                    ToolErrorClass::Cancelled,
                    format!("{} was stopped before it was called.", self.spec.name),
                ));
            }
        };
        self.is_still_the_same(&live)?;
        let made = Call {
            live: &live,
            person: &call.person,
            patience: self.patience,
            cancel: &call.cancel,
        };
        match made.tool(params).await {
            Ok(result) => {
                let taken = outcome::of_result(result, self.output.as_deref(), self.link.secrets());
                taken.map_err(|error| self.with_key_in_mind(error))
            }
            Err(why) => Err(failed(&self.spec, &self.link, &live, why).await),
        }
    }
}

/// How long a call may take: what the person said, else the limits, with signs of life counted.
pub(crate) fn patience(limits: &Limits, said: &ToolSettings) -> (Patience, u32) {
    let said = said
        .timeout_seconds
        .map(|seconds| Duration::from_secs(seconds.into()));
    let patience = Patience {
        idle: said.unwrap_or(limits.call_idle),
        total: said.unwrap_or(limits.call_total),
    };
    let timeout_ms = u32::try_from(patience.total.as_millis()).unwrap_or(u32::MAX);
    (patience, timeout_ms)
}

/// An error after the request was sent: unless the tool only reads, nobody knows whether it
/// happened.
fn unknown(spec: &ToolSpec, class: ToolErrorClass, message: String) -> ToolError {
    ToolError {
        class,
        message,
        uncertain: spec.effect != Effect::Read,
        gone: false,
    }
}

/// A call without a result, in words, with what is known of its effect.
pub(crate) async fn failed(
    spec: &ToolSpec,
    link: &Link,
    live: &Live,
    why: Unanswered,
) -> ToolError {
    let tool = &spec.name;
    match why {
        Unanswered::Cancelled => unknown(
            spec,
            ToolErrorClass::Cancelled,
            format!("{tool} was stopped before it answered."),
        ),
        Unanswered::Late(limit) => unknown(
            spec,
            ToolErrorClass::Temporary,
            format!("{tool} did not answer within {} s.", limit.as_secs_f32()),
        ),
        Unanswered::Refused(why) => ToolError::new(
            ToolErrorClass::Failed,
            format!("{tool} did nothing: {why}."),
        ),
        Unanswered::Failed(error) => of_error(spec, link, live, error).await,
    }
}

async fn of_error(spec: &ToolSpec, link: &Link, live: &Live, error: ServiceError) -> ToolError {
    let tool = &spec.name;
    if error.is_authorization_required() || error.auth_challenge().is_some() {
        let server = link.name();
        return ToolError::new(
            ToolErrorClass::NotPermitted,
            format!(
                "{tool} was not called: its server wants the person to sign in, or does not take the key. The person can sign in with: longrein mcp login {server}."
            ),
        );
    }
    match error {
        ServiceError::McpError(error) => {
            let told = outcome::of_error(tool, &error, link.secrets());
            match keyless::says_so(&told.message) {
                true => keyless::error(tool, link.name(), &told.message),
                false => told,
            }
        }
        ServiceError::TransportSend(error) => {
            let cause = error.error.as_ref();
            let why = link.secrets().mask(short(&innermost(cause)));
            if is_refused(cause) || keyless::is_refusal(&why) {
                return keyless::error(tool, link.name(), &why);
            }
            match (live.program.is_some(), reached(cause)) {
                // The line of the request did not reach the program whole.
                (true, _) => {
                    let why = live.why_ended().await;
                    not_called(tool, &format!("its server has ended ({why})"))
                }
                (false, Reached::No) => {
                    not_called(tool, &format!("its server can't be reached ({why})"))
                }
                (false, Reached::Perhaps) => unknown(
                    spec,
                    ToolErrorClass::Failed,
                    format!("The connection to the server of {tool} broke during the call: {why}."),
                ),
            }
        }
        ServiceError::TransportClosed => {
            let why = live.why_ended().await;
            let message = format!("The server of {tool} ended during the call: {why}.");
            unknown(spec, ToolErrorClass::Failed, message)
        }
        ServiceError::Cancelled { .. } => unknown(
            spec,
            ToolErrorClass::Cancelled,
            format!("{tool} was cancelled."),
        ),
        other => {
            let said = link.secrets().mask(short(&other.to_string()));
            let message = format!("The server of {tool} gave no usable answer: {said}.");
            unknown(spec, ToolErrorClass::Failed, message)
        }
    }
}

fn short(text: &str) -> String {
    head(&plain(text), REASON_BYTES)
}

fn description(tool: &rmcp::model::Tool) -> String {
    let said = tool
        .description
        .as_deref()
        .or(tool.title.as_deref())
        .unwrap_or("");
    head(without_hidden(&plain(said)).trim(), DESCRIPTION_BYTES)
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
