//! What a run's log says, as texts that words can be looked for in.

use std::collections::VecDeque;
use std::sync::Arc;

use async_trait::async_trait;
use longrein_protocol::block::{Block, Trust};
use longrein_protocol::event::Payload;
use longrein_protocol::{ActionId, Body, Event, RunId, ToolErrorClass};
use longrein_store::log::Log;

use crate::history;
use crate::ports::ToolError;
use crate::wire;

/// Reads what a run's log says, as texts.
#[async_trait]
pub trait PastRead: Send + Sync {
    /// What was said, called and returned so far, oldest first. Of a very long run it is what is
    /// newest.
    ///
    /// # Errors
    /// When the log can't be read.
    async fn texts(&self) -> Result<Vec<PastText>, ToolError>;
}

/// A text of a run's log.
#[derive(Clone, PartialEq, Debug)]
pub struct PastText {
    /// The event.
    pub seq: u32,
    /// The step; 0 before the first.
    pub step: u32,
    /// Whose it is, in words: `the person`, `the result of read_file`.
    pub from: String,
    /// The action that it is of.
    pub action: Option<ActionId>,
    /// The words, all of them.
    pub text: String,
    /// Whether they may be believed.
    pub trust: Trust,
}

/// A [`PastRead`] of a run that has said nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoPast;

#[async_trait]
impl PastRead for NoPast {
    async fn texts(&self) -> Result<Vec<PastText>, ToolError> {
        Ok(Vec::new())
    }
}

/// The tool that looks through the past: what it found before is not found again.
pub const RECALL: &str = "recall";

/// The most bytes of all texts together: of more, the oldest are not looked through.
const PAST_LIMIT_BYTES: usize = 24 * 1024 * 1024;
/// The most bytes of one text that are looked through.
const TEXT_LIMIT_BYTES: usize = 512 * 1024;
/// The most texts.
const TEXTS_LIMIT: usize = 50_000;

/// Reads what is durable of a run.
pub(crate) struct LogPast {
    pub log: Arc<dyn Log>,
    pub run: RunId,
}

/// A text whose words are not read yet.
struct Entry {
    seq: u32,
    step: u32,
    from: String,
    action: Option<ActionId>,
    body: Body,
    trust: Trust,
}

#[async_trait]
impl PastRead for LogPast {
    async fn texts(&self) -> Result<Vec<PastText>, ToolError> {
        let mut past = Past::default();
        let mut take = |event: &Event| past.take(event);
        let read = history::each_event(&*self.log, self.run, &mut take);
        read.await.map_err(|error| unreadable(&error))?;
        let mut left = PAST_LIMIT_BYTES;
        let mut texts = Vec::new();
        // The newest first, so that what is left out is what is oldest.
        for entry in past.entries.into_iter().rev() {
            let size = entry.body.len().min(TEXT_LIMIT_BYTES);
            if size > left {
                break;
            }
            left -= size;
            let read = wire::body_text(&*self.log, &entry.body).await;
            let mut text = read.map_err(|error| unreadable(&error))?;
            text.truncate(text.floor_char_boundary(TEXT_LIMIT_BYTES));
            texts.push(PastText {
                seq: entry.seq,
                step: entry.step,
                from: entry.from,
                action: entry.action,
                text,
                trust: entry.trust,
            });
        }
        texts.reverse();
        Ok(texts)
    }
}

fn unreadable(error: &longrein_store::LogError) -> ToolError {
    ToolError::new(ToolErrorClass::Failed, error.to_string())
}

/// Folds events to texts.
#[derive(Default)]
struct Past {
    entries: VecDeque<Entry>,
    step: u32,
    tainted: bool,
    /// The tools of the actions of this step.
    tools: Vec<(ActionId, String)>,
}

impl Past {
    fn take(&mut self, event: &Event) {
        let seq = event.seq;
        match &event.payload {
            Payload::RunCreated(created) => self.tainted = created.tainted,
            Payload::TurnStarted(turn) => self.say(seq, "the person", &turn.input, Trust::Trusted),
            Payload::TurnSteered(turn) => self.say(seq, "the person", &turn.input, Trust::Trusted),
            Payload::NoticeGiven(notice) => {
                self.say(seq, "the harness", &notice.text, self.trust());
            }
            Payload::ModelRequested(requested) if requested.attempt == 1 => {
                self.step += 1;
                self.tools.clear();
            }
            Payload::ModelAbandoned(_) => self.step = self.step.saturating_sub(1),
            Payload::ModelResponded(responded) => {
                for block in &responded.blocks {
                    if let Block::Text { text, .. } = block {
                        self.say(seq, "the model", text, self.trust());
                    }
                }
            }
            Payload::ActionProposed(proposed) => {
                let (id, tool) = (proposed.action.clone(), proposed.tool.clone());
                if tool != RECALL {
                    let from = format!("the call of {tool}");
                    self.push(
                        seq,
                        from,
                        Some(id.clone()),
                        &proposed.arguments,
                        self.trust(),
                    );
                }
                self.tools.push((id, tool));
            }
            Payload::ActionFinished(finished) => {
                self.tainted |= finished.trust == Trust::Untrusted;
                let mut tools = self.tools.iter();
                let tool = tools.find(|(id, _)| *id == finished.action);
                let tool = tool
                    .map_or("an action", |(_, tool)| tool.as_str())
                    .to_owned();
                // What was recalled stands in the log itself.
                if tool != RECALL {
                    let (id, from) = (finished.action.clone(), format!("the result of {tool}"));
                    self.push(seq, from, Some(id), &finished.result, finished.trust);
                }
            }
            Payload::AcceptanceResolved(resolved) => {
                self.say(seq, "the person", &resolved.note, Trust::Trusted);
            }
            _ => {}
        }
    }

    /// Whether what the model says may be believed: once it has read words of strangers, they may
    /// stand in whatever it says.
    fn trust(&self) -> Trust {
        match self.tainted {
            true => Trust::Untrusted,
            false => Trust::Trusted,
        }
    }

    fn say(&mut self, seq: u32, from: &str, body: &Body, trust: Trust) {
        self.push(seq, from.to_owned(), None, body, trust);
    }

    fn push(
        &mut self,
        seq: u32,
        from: String,
        action: Option<ActionId>,
        body: &Body,
        trust: Trust,
    ) {
        if body.is_empty() {
            return;
        }
        if self.entries.len() == TEXTS_LIMIT {
            self.entries.pop_front();
        }
        self.entries.push_back(Entry {
            seq,
            step: self.step,
            from,
            action,
            body: body.clone(),
            trust,
        });
    }
}
