//! What a tool has beside its arguments: facts that it makes durable while it runs, and what it
//! shows of itself.

use std::sync::Arc;

use async_trait::async_trait;
use longrein_protocol::event::{JobFinished, Progress};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::ports::ToolError;

/// What a tool has beside its arguments while an action runs.
#[derive(Clone)]
pub struct Beside {
    /// Cancelled before [`crate::ports::ToolCall::cancel`] when the driver is let go and nobody wants what runs
    /// to end: a tool that finds again what it started leaves it running then.
    pub let_go: CancellationToken,
    /// The life of the box's agent that an earlier attempt gave its command to; `None` where none
    /// did.
    pub life: Option<String>,
    /// How often what the action began was gone, and was to be begun anew. What is begun in each of
    /// these lives has a name of its own.
    pub lives: u32,
    /// Makes facts of the action durable while it runs.
    pub tells: Arc<dyn Tells>,
    /// Takes provisional output for the screen.
    pub live: Arc<dyn LiveAction>,
    /// Whether the run waits for a person, and nothing else of it goes on: what a program's calls
    /// wait for may stand still then.
    pub held: watch::Receiver<bool>,
}

impl Default for Beside {
    fn default() -> Self {
        Self {
            let_go: CancellationToken::new(),
            life: None,
            lives: 0,
            tells: Arc::new(Untold),
            live: Arc::new(NoLiveAction),
            held: watch::channel(false).1,
        }
    }
}

/// Makes facts durable while an action, or what it left behind, runs.
#[async_trait]
pub trait Tells: Send + Sync {
    /// What the action came to. True once it is on disk; false where nobody takes it any more, and
    /// nothing may follow from it.
    async fn progress(&self, what: Progress) -> bool;

    /// The action's command is about to be left running beside the steps, under this name and for
    /// this. True once it is on disk.
    async fn job_started(&self, job: String, intent: String) -> bool;

    /// A job ended. True once it is on disk.
    async fn job_finished(&self, finished: JobFinished) -> bool;

    /// The program that the action runs calls a tool, by its inner name, with arguments as JSON.
    /// The same number is the same call, however often it is told: it happens once. Returns what
    /// came of it, once that is on disk; `None` where nobody takes it any more: it is to be told
    /// again to whoever takes the run up.
    async fn call(&self, number: u32, tool: String, arguments: String) -> Option<CallEnd>;
}

/// What came of a program's call: all of the result's text, or why there is none.
pub type CallEnd = Result<String, ToolError>;

/// Where nobody keeps a record, nothing is told and nothing follows.
#[derive(Clone, Copy, Debug)]
pub struct Untold;

#[async_trait]
impl Tells for Untold {
    async fn progress(&self, _what: Progress) -> bool {
        false
    }

    async fn job_started(&self, _job: String, _intent: String) -> bool {
        false
    }

    async fn job_finished(&self, _finished: JobFinished) -> bool {
        false
    }

    async fn call(&self, _number: u32, _tool: String, _arguments: String) -> Option<CallEnd> {
        None
    }
}

/// Takes what a running action shows of itself. It is provisional until the action has ended.
pub trait LiveAction: Send + Sync {
    /// More of its output.
    fn output(&self, more: &str);
    /// What it is doing, in a few words; it replaces what was said before.
    fn doing(&self, words: &str);
}

/// A [`LiveAction`] that shows nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoLiveAction;

impl LiveAction for NoLiveAction {
    fn output(&self, _more: &str) {}
    fn doing(&self, _words: &str) {}
}
