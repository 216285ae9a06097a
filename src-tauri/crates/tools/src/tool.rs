//! What all built-in tools share: how one is described, and how work that blocks is run.

use std::sync::Arc;

use async_trait::async_trait;
use longrein_protocol::tool::{Reach, Recovery};
use longrein_protocol::{Effect, Repeat, ToolSpec};
use longrein_runtime::ports::{Tool, ToolCall, ToolError, ToolOutput};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::error;

/// How long one call of a built-in tool may take, unless it says otherwise.
pub(crate) const TIMEOUT_MS: u32 = 30_000;
/// How much of a result the model is shown, unless the tool says otherwise.
pub(crate) const RESULT_TOKENS: u32 = 4_000;

/// A description with the defaults of a tool that only reads.
pub(crate) fn spec(
    name: &str,
    description: &str,
    properties: Value,
    required: &[&str],
) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        schema: json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        }),
        effect: Effect::Read,
        repeat: Repeat::Repeatable,
        timeout_ms: TIMEOUT_MS,
        result_tokens: RESULT_TOKENS,
        path_arguments: Vec::new(),
        reach: Reach::default(),
        recovery: Recovery::default(),
        untrusted: false,
    }
}

/// The reach of a tool that shows what is the person's own and not public.
pub(crate) fn private() -> Reach {
    Reach {
        private: true,
        ..Reach::default()
    }
}

/// The arguments as the tool's own type. The schema was checked before; what it can't say is
/// said here.
pub(crate) fn arguments<T: DeserializeOwned>(call: &ToolCall) -> Result<T, ToolError> {
    serde_json::from_value(call.arguments.clone())
        .map_err(|error| error::invalid(format!("the arguments do not fit: {error}")))
}

type Work = dyn Fn(&ToolCall) -> Result<ToolOutput, ToolError> + Send + Sync;

/// A tool whose work blocks: it runs on a thread that may wait.
pub(crate) struct Blocking {
    spec: ToolSpec,
    work: Arc<Work>,
}

impl Blocking {
    pub(crate) fn tool(
        spec: ToolSpec,
        work: impl Fn(&ToolCall) -> Result<ToolOutput, ToolError> + Send + Sync + 'static,
    ) -> Arc<dyn Tool> {
        Arc::new(Self {
            spec,
            work: Arc::new(work),
        })
    }
}

#[async_trait]
impl Tool for Blocking {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, call: ToolCall) -> Result<ToolOutput, ToolError> {
        let work = Arc::clone(&self.work);
        let cancel = call.cancel.clone();
        let done = blocking(move || work(&call));
        if self.spec.effect != Effect::Read {
            // A write is short, and its outcome must be known: it is not left in the middle.
            return done.await;
        }
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(error::cancelled()),
            result = done => result,
        }
    }
}

/// Runs `work` on a thread that may wait. A panic there is a failed call, not the end of the run.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(error::failed(format!("the tool broke: {error}"))),
    }
}
