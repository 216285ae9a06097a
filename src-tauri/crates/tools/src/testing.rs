//! What the tests of this crate share: a run's context in memory, and a way to call a tool.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use longrein_protocol::source::{SourceMeta, SourceRecord, TextRange};
use longrein_protocol::{ActionId, BlobHash, Body, RunId, SourceId, ToolErrorClass};
use longrein_runtime::ports::{
    Asks, BlobRead, CancellationToken, NobodyThere, Part, RunContext, Tool, ToolCall, ToolError,
    ToolOutput,
};
use serde_json::Value;

use crate::error;

/// Blobs in memory.
#[derive(Default)]
pub(crate) struct Blobs(Mutex<HashMap<BlobHash, Arc<[u8]>>>);

impl Blobs {
    pub(crate) fn add(&self, bytes: &[u8]) -> Body {
        let hash = BlobHash::of(bytes);
        self.0.lock().unwrap().insert(hash, bytes.into());
        Body::Blob {
            blob: hash,
            bytes: bytes.len() as u32,
        }
    }
}

#[async_trait]
impl BlobRead for Blobs {
    async fn read(&self, hash: BlobHash) -> Result<Arc<[u8]>, ToolError> {
        let blobs = self.0.lock().unwrap();
        blobs
            .get(&hash)
            .cloned()
            .ok_or_else(|| error::failed("no such blob"))
    }
}

/// What a verifier is answered: the same to every question, which it keeps.
#[derive(Default)]
pub(crate) struct Answers {
    /// The answer of every tool and of every model; without one it is an error.
    pub(crate) answer: Option<String>,
    pub(crate) asked: Mutex<Vec<String>>,
}

impl Answers {
    pub(crate) fn of(answer: &str) -> Self {
        Self {
            answer: Some(answer.to_owned()),
            ..Self::default()
        }
    }

    fn give(&self, asked: String) -> Result<String, ToolError> {
        self.asked.lock().unwrap().push(asked);
        self.answer
            .clone()
            .ok_or_else(|| error::temporary("nobody answers"))
    }
}

#[async_trait]
impl Asks for Answers {
    async fn tool(&self, tool: &str, arguments: Value) -> Result<String, ToolError> {
        self.give(format!("{tool} {arguments}"))
    }

    async fn judge(
        &self,
        model: Option<&str>,
        system: &str,
        question: &str,
    ) -> Result<String, ToolError> {
        let model = model.unwrap_or("the run's own model");
        self.give(format!("{model}\n{system}\n{question}"))
    }
}

/// A run with nothing in it but a workspace.
pub(crate) fn context(workspace: &Path) -> RunContext {
    RunContext {
        workspace: workspace.to_owned(),
        sources: Vec::new(),
        artifacts: Vec::new(),
        plan: Vec::new(),
        jobs: Vec::new(),
        results: Vec::new(),
        notes: Vec::new(),
        blobs: Arc::new(Blobs::default()),
        past: Arc::new(longrein_runtime::ports::NoPast),
    }
}

/// A captured library document, with its first 40 bytes shown.
pub(crate) fn source(blobs: &Blobs, number: u32, title: &str, text: &str) -> SourceRecord {
    SourceRecord {
        id: SourceId(number),
        meta: SourceMeta {
            title: title.to_owned(),
            file: Some(format!("doc{number}.md")),
            media_type: "text/markdown".to_owned(),
            private: true,
            ..SourceMeta::default()
        },
        bytes: blobs.add(text.as_bytes()),
        text: blobs.add(text.as_bytes()),
        shown: vec![TextRange {
            start: 0,
            end: text.len().min(40) as u32,
            page: None,
        }],
    }
}

/// A call as the driver makes it.
pub(crate) fn call(context: RunContext, arguments: Value) -> ToolCall {
    ToolCall {
        run: RunId::from_parts(0, 1),
        action: ActionId::from_random(7),
        key: "key".to_owned(),
        attempt: 1,
        onward: Arc::default(),
        arguments,
        facts: longrein_protocol::gate::ActionFacts::default(),
        context: Arc::new(context),
        person: Arc::new(NobodyThere),
        cancel: CancellationToken::new(),
        beside: longrein_runtime::ports::Beside::default(),
    }
}

/// Runs a tool as the driver does: arguments that don't fit the schema never reach it.
pub(crate) async fn run(tool: &Arc<dyn Tool>, call: ToolCall) -> Result<ToolOutput, ToolError> {
    let schema = jsonschema::draft202012::new(&tool.spec().schema).expect("the schema is valid");
    if let Err(error) = schema.validate(&call.arguments) {
        return Err(error::invalid(format!("schema: {error}")));
    }
    tool.run(call).await
}

/// What the model is shown, passages as `«words»`.
pub(crate) fn text(output: &ToolOutput) -> String {
    let parts = output.parts.iter().map(|part| match part {
        Part::Text(text) => text.clone(),
        Part::Passage(captured) => format!("«{}»", words(captured)),
        Part::Media(media) => format!("[{}]", media.in_words()),
    });
    parts.collect::<Vec<_>>().join("\n")
}

/// The words of a passage.
pub(crate) fn words(captured: &longrein_runtime::ports::Captured) -> &str {
    &captured.text[captured.range.start as usize..captured.range.end as usize]
}

/// `class: message`, for comparing what a model is told.
pub(crate) fn told(result: Result<ToolOutput, ToolError>) -> String {
    match result {
        Ok(output) => text(&output),
        Err(error) => format!("{}: {}", class(error.class), error.message),
    }
}

fn class(class: ToolErrorClass) -> String {
    serde_json::to_value(class)
        .unwrap()
        .as_str()
        .unwrap()
        .to_owned()
}
