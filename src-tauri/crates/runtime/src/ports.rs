//! What the driver needs of the world. Each port has a real implementation and a simulated one.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use longrein_core::dialect::{AnswerForm, Dialect};
use longrein_core::policy::Onward;
use longrein_core::run::{Job, KeptResult};
use longrein_protocol::agent::Criterion;
use longrein_protocol::block::{ModelErrorClass, Origin, StopReason, Trust, Usage};
use longrein_protocol::gate::ActionFacts;
use longrein_protocol::source::{
    Claim, CriterionResult, Note, PlanItem, SourceMeta, SourceRecord, TextRange,
};
use longrein_protocol::{ActionId, BlobHash, Millis, RunId, ToolErrorClass, ToolSpec};

pub use crate::beside::{Beside, CallEnd, LiveAction, NoLiveAction, Tells, Untold};
pub use crate::media::NewMedia;
pub use crate::past::{NoPast, PastRead, PastText};
pub use longrein_protocol::question::{Reply, Wants};
pub use tokio_util::sync::CancellationToken;

/// Time. Simulated in tests, so nothing else in the driver may ask for it.
#[async_trait]
pub trait Clock: Send + Sync {
    /// Wall-clock milliseconds since the epoch; may jump.
    fn now(&self) -> Millis;
    /// Milliseconds that never jump back and don't count sleep of the machine.
    fn monotonic_ms(&self) -> u64;
    /// Waits.
    async fn sleep(&self, duration: Duration);
}

/// Chance. Seeded in tests.
pub trait Chance: Send + Sync {
    /// 128 random bits.
    fn random(&self) -> u128;
}

/// A model provider's model.
#[async_trait]
pub trait Model: Send + Sync {
    /// How its requests are written.
    fn dialect(&self) -> &dyn Dialect;
    /// Sends a body and reads the response to its end. Must obey `call.cancel` and have first-byte
    /// and idle limits of its own.
    async fn send(&self, call: ModelCall) -> Result<ModelReply, ModelError>;
}

/// One request, already recorded.
#[derive(Clone)]
pub struct ModelCall {
    /// The exact bytes.
    pub body: Arc<[u8]>,
    /// Ends the request.
    pub cancel: CancellationToken,
    /// Takes provisional text for the screen.
    pub live: Arc<dyn LiveText>,
}

/// Takes text while it streams. What it shows is provisional until the response is committed.
pub trait LiveText: Send + Sync {
    /// More of the answer.
    fn text(&self, more: &str);
    /// More of the reasoning.
    fn thinking(&self, more: &str);
}

/// A [`LiveText`] that shows nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoLiveText;

impl LiveText for NoLiveText {
    fn text(&self, _more: &str) {}
    fn thinking(&self, _more: &str) {}
}

/// One block of a response: what the model said, before it is recorded.
pub use longrein_core::dialect::Said as ReplyBlock;

/// A whole response.
#[derive(Clone, PartialEq, Debug)]
pub struct ModelReply {
    /// In order.
    pub blocks: Vec<ReplyBlock>,
    /// Why it stopped.
    pub stop: StopReason,
    /// What it used; `None` where the provider says nothing.
    pub usage: Option<Usage>,
    /// The provider's id of the response; may be empty.
    pub response_id: String,
}

/// No response, or none that can be used.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// What kind of fault it is.
    pub class: ModelErrorClass,
    /// What happened, in a sentence, without secrets.
    pub message: String,
    /// What the person can do, in a sentence.
    pub remedy: String,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
    /// Whether there was nobody to talk to (connection refused, unknown host).
    pub unreachable: bool,
    /// Whether it was never sent: the provider is left alone for a while, or others go first.
    pub unsent: bool,
}

/// A tool, built in or of a server.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What it is. The same for the whole life of the tool box.
    fn spec(&self) -> &ToolSpec;
    /// Does it once. Arguments satisfy the schema. Must obey `call.cancel`.
    async fn run(&self, call: ToolCall) -> Result<ToolOutput, ToolError>;
}

/// One action, already recorded as started.
#[derive(Clone)]
pub struct ToolCall {
    /// The run.
    pub run: RunId,
    /// The action.
    pub action: ActionId,
    /// The same for every attempt of this action.
    pub key: String,
    /// Counted from 1.
    pub attempt: u32,
    /// The effective arguments, an object.
    pub arguments: serde_json::Value,
    /// What the decision to start it rests on.
    pub facts: ActionFacts,
    /// What the run has at this point.
    pub context: Arc<RunContext>,
    /// Who answers what the tool's server asks back.
    pub person: Arc<dyn Person>,
    /// Where a page that the call fetches may send on to.
    pub onward: Arc<Onward>,
    /// Ends the call.
    pub cancel: CancellationToken,
    /// What there is besides while it runs.
    pub beside: Beside,
}

/// Takes what a server asks during one action to the person. A question may wait for days: while
/// it does, neither the action's limit nor its working time goes on.
#[async_trait]
pub trait Person: Send + Sync {
    /// Asks, and returns when the person has answered. Dropping it withdraws the question.
    async fn ask(&self, question: Question) -> Answer;
    /// Tells the person that a server asked for what nobody is asked for.
    async fn told_of(&self, refused: RefusedQuestion);
}

/// What a server asks the person: untrusted words, without control and hidden characters.
#[derive(Clone, PartialEq, Debug)]
pub struct Question {
    /// The server that asks.
    pub server: String,
    /// Its words.
    pub message: String,
    /// What it wants.
    pub wants: Wants,
}

/// What a server asked and nobody is asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RefusedQuestion {
    /// The server that asked.
    pub server: String,
    /// Its words, without control and hidden characters; may be empty.
    pub message: String,
    /// Why it was refused, in sentences for the person.
    pub why: String,
}

/// What became of a question.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    /// The person said this; what they gave fits what was wanted.
    Reply(Reply),
    /// Nobody can be asked; why, in a sentence.
    Nobody(String),
}

/// A [`Person`] who is not there.
#[derive(Clone, Copy, Debug)]
pub struct NobodyThere;

#[async_trait]
impl Person for NobodyThere {
    async fn ask(&self, _question: Question) -> Answer {
        Answer::Nobody("There is nobody here who could answer.".to_owned())
    }

    async fn told_of(&self, refused: RefusedQuestion) {
        tracing::warn!(
            "a question of the server {} was refused: {}",
            refused.server,
            refused.why
        );
    }
}

/// What a tool or the verifier may know of its run.
#[derive(Clone)]
pub struct RunContext {
    /// The folder that the run works in; open it with `cap-std`.
    pub workspace: PathBuf,
    /// Sources captured so far.
    pub sources: Vec<SourceRecord>,
    /// Artifacts published so far: path and the blob of the original.
    pub artifacts: Vec<PublishedArtifact>,
    /// The plan.
    pub plan: Vec<PlanItem>,
    /// Commands that run, or ran, beside the steps.
    pub jobs: Vec<Job>,
    /// Results that can be read on in, in their order; `read_result` alone is given them.
    pub results: Vec<KeptResult>,
    /// What the model keeps in its view.
    pub notes: Vec<Note>,
    /// Reads captured bytes.
    pub blobs: Arc<dyn BlobRead>,
    /// Reads what the run has said, done and been given since its beginning.
    pub past: Arc<dyn PastRead>,
}

/// An artifact of the run so far.
#[derive(Clone, PartialEq, Debug)]
pub struct PublishedArtifact {
    /// The path beneath the workspace.
    pub path: String,
    /// Its media type.
    pub media_type: String,
    /// The file as the model wrote it.
    pub original: BlobHash,
}

/// Reads content by hash.
#[async_trait]
pub trait BlobRead: Send + Sync {
    /// The bytes, checked against the hash.
    async fn read(&self, hash: BlobHash) -> Result<Arc<[u8]>, ToolError>;
}

/// What an action returned.
#[derive(Clone, Default, Debug)]
pub struct ToolOutput {
    /// What the model is shown, in order.
    pub parts: Vec<Part>,
    /// The result in a few words, for the person: `8 passages of 3 documents`.
    pub outcome: String,
    /// What it changed of the run's own state.
    pub facts: Vec<Fact>,
    /// What shows that it happened: an external id, a version.
    pub receipt: Option<String>,
    /// Where the text comes from, when not simply from the tool: an address or a document's name.
    pub place: Option<String>,
    /// The skill that the text is part of, when it is.
    pub skill: Option<GivenSkill>,
    /// Where the text really comes from and whether it may be believed, when it is not the tool's
    /// own: part of an earlier result.
    pub origin: Option<(Origin, Trust)>,
    /// The file beneath the workspace in which the tool left more than it returns.
    pub file: Option<String>,
}

/// What the model is given of a skill.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GivenSkill {
    /// Its name.
    pub skill: String,
    /// What it is made of: 64 hexadecimal digits.
    pub hash: String,
    /// Where it lies, in words.
    pub place: String,
    /// Whether these are its instructions, which stay in view, and not one of its files.
    pub instructions: bool,
}

impl ToolOutput {
    /// A result that is one text.
    pub fn text(text: impl Into<String>, outcome: impl Into<String>) -> Self {
        Self {
            parts: vec![Part::Text(text.into())],
            outcome: outcome.into(),
            ..Self::default()
        }
    }
}

/// A part of a result.
#[derive(Clone, Debug)]
pub enum Part {
    /// Plain text.
    Text(String),
    /// A passage that may be cited. The driver gives it its source id and writes its heading
    /// (see `longrein_core::passage`) before its words.
    Passage(Box<Captured>),
    /// An image, a document or a recording.
    Media(Box<NewMedia>),
}

impl Part {
    /// The part in words alone, for whoever reads text only.
    pub fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Passage(captured) => captured.text.to_string(),
            Self::Media(media) => match media.text {
                Some(text) => text.to_string(),
                None => format!("[{}]", media.in_words()),
            },
        }
    }
}

/// A passage with the document that it stands in.
#[derive(Clone, Debug)]
pub struct Captured {
    /// What the document is.
    pub meta: SourceMeta,
    /// The document's bytes as they were read; their hash is the version of the document.
    pub bytes: Arc<[u8]>,
    /// The text that was extracted from them.
    pub text: Arc<str>,
    /// The part of `text` that is shown.
    pub range: TextRange,
}

/// A change of the run's own state.
#[derive(Clone, Debug)]
pub enum Fact {
    /// The plan is now this.
    Plan(Vec<PlanItem>),
    /// The model keeps this line in its view.
    Pin(String),
    /// It no longer keeps the note of this number.
    Unpin(u32),
    /// A file is delivered.
    Artifact(Box<NewArtifact>),
}

/// A file to deliver.
#[derive(Clone, Debug)]
pub struct NewArtifact {
    /// The path of the original beneath the workspace.
    pub path: String,
    /// Its title.
    pub title: String,
    /// Its media type.
    pub media_type: String,
    /// The file as the model wrote it.
    pub original: Vec<u8>,
    /// The file with its citations rendered; already written to `rendered_path`.
    pub rendered: Vec<u8>,
    /// The path of the rendered copy beneath the workspace.
    pub rendered_path: String,
    /// The evidence ledger.
    pub ledger: Vec<Claim>,
}

/// Why an action failed. The message is for the model and the person; it has no secrets.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// The class that the model can act on.
    pub class: ToolErrorClass,
    /// What happened and what would help.
    pub message: String,
    /// Whether nobody knows if it happened (the server died in the middle, the time ran out).
    pub uncertain: bool,
    /// Whether what was begun is gone for certain: it neither goes on nor ends, and what it did
    /// until then is not known. Where it can be, it is begun anew.
    pub gone: bool,
}

impl ToolError {
    /// An error whose effect is certain: it did not happen.
    pub fn new(class: ToolErrorClass, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
            uncertain: false,
            gone: false,
        }
    }

    /// An error after which the effect may or may not have happened.
    pub fn uncertain(message: impl Into<String>) -> Self {
        Self {
            class: ToolErrorClass::Failed,
            message: message.into(),
            uncertain: true,
            gone: false,
        }
    }

    /// What was begun is gone, and nobody knows how far it was.
    pub fn gone(message: impl Into<String>) -> Self {
        Self {
            gone: true,
            ..Self::uncertain(message)
        }
    }
}

/// Checks completion criteria with evidence of the harness's own.
#[async_trait]
pub trait Verifier: Send + Sync {
    /// One result per criterion, in order.
    async fn verify(
        &self,
        criteria: &[Criterion],
        context: &RunContext,
        asks: &dyn Asks,
    ) -> Vec<CriterionResult>;
}

/// What a verifier may ask beside what it can see for itself.
#[async_trait]
pub trait Asks: Send + Sync {
    /// Runs a granted tool that only reads, and gives its whole text.
    ///
    /// # Errors
    /// When there is no such tool, it does more than read, or it fails.
    async fn tool(&self, tool: &str, arguments: serde_json::Value) -> Result<String, ToolError>;

    /// Runs a command in a fresh box, on a copy of the workspace that it can only read.
    ///
    /// # Errors
    /// When there is no box, or nothing is known of how the command ended.
    async fn command(&self, _command: &str) -> Result<CommandEnd, ToolError> {
        Err(ToolError::new(
            ToolErrorClass::NotPermitted,
            "There is no box for commands here.",
        ))
    }

    /// Asks a model, which is recorded and paid for as a side request, and gives its text. Without
    /// a name it is the run's own model.
    ///
    /// # Errors
    /// When the budget does not cover it, or the model does not answer.
    async fn judge(
        &self,
        model: Option<&str>,
        system: &str,
        question: &str,
    ) -> Result<String, ToolError>;

    /// Like [`Asks::judge`]; where the model is known to keep to a form for its answer, it is held
    /// to this one, and the text is an object of that form. Else it is whatever the model writes.
    ///
    /// # Errors
    /// As there.
    async fn judge_in_form(
        &self,
        model: Option<&str>,
        system: &str,
        question: &str,
        _form: AnswerForm<'_>,
    ) -> Result<String, ToolError> {
        self.judge(model, system, question).await
    }
}

/// How a command of a check ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommandEnd {
    /// Its exit status; `None` where it was ended: then `how` says why.
    pub status: Option<i32>,
    /// How it ended, in a few words.
    pub how: String,
    /// Its output, both streams as they were written; the middle left out where it is long.
    pub output: String,
}
