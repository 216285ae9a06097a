//! What a model can do, found out by asking it: the back of `models test`.
//!
//! Each question is small. What a question shows is what the model did this once: a model that can
//! call tools may have chosen not to, which the notes say.

mod questions;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use longrein_core::dialect::Thinking;
use longrein_protocol::block::{ModelErrorClass, Usage};
use longrein_runtime::ports::{
    CancellationToken, LiveText, Model, ModelCall, ModelError, ModelReply, ReplyBlock,
};

use crate::format::{Format, ModelConfig, ToolMode, build};
use questions::Question;

/// What a model can do.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// Whether an answer comes piece by piece.
    pub streams: Finding,
    /// Whether it calls a tool.
    pub tools: Finding,
    /// Whether it calls several at once.
    pub parallel_tools: Finding,
    /// Whether it reasons before it answers, and shows it.
    pub thinking: Finding,
    /// Whether it takes images.
    pub images: Finding,
    /// Whether the provider keeps the front of a request and says so.
    pub cache: Finding,
    /// Whether it calls a tool in schema mode.
    pub schema_tools: Finding,
    /// What all this used, as far as the provider said.
    pub used: Usage,
}

impl Report {
    /// The mode in which the model can be given tools; `None` where neither works.
    pub fn tool_mode(&self) -> Option<ToolMode> {
        match (self.tools.answer, self.schema_tools.answer) {
            (Answer::Yes, _) => Some(ToolMode::Native),
            (_, Answer::Yes) => Some(ToolMode::Schema),
            _ => None,
        }
    }

    /// Each question with its finding, in the order in which they are shown.
    pub fn findings(&self) -> [(&'static str, &Finding); 7] {
        [
            ("streams", &self.streams),
            ("tools", &self.tools),
            ("parallel tools", &self.parallel_tools),
            ("thinking", &self.thinking),
            ("images", &self.images),
            ("cache", &self.cache),
            ("schema mode", &self.schema_tools),
        ]
    }
}

/// The answer to one question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// In a word.
    pub answer: Answer,
    /// What was seen, in a few words; may be empty.
    pub note: String,
}

/// The answer to a question, in a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// It could not be found out.
    Unknown,
    /// It was not asked.
    Skipped,
}

impl Finding {
    fn new(answer: Answer, note: impl Into<String>) -> Self {
        Self {
            answer,
            note: note.into(),
        }
    }

    fn skipped(note: &str) -> Self {
        Self::new(Answer::Skipped, note)
    }

    /// A question that failed: a request that is refused shows that the model can't, anything
    /// else shows nothing.
    fn failed(error: &ModelError) -> Self {
        let answer = match error.class {
            ModelErrorClass::BadRequest | ModelErrorClass::MediaRefused => Answer::No,
            _ => Answer::Unknown,
        };
        Self::new(answer, error.message.clone())
    }
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Extent {
    /// Whether the cache is tested, for which two requests of several thousand tokens are sent.
    pub cache: bool,
    /// Ends the questions.
    pub cancel: CancellationToken,
}

impl Default for Extent {
    fn default() -> Self {
        Self {
            cache: true,
            cancel: CancellationToken::new(),
        }
    }
}

/// Asks a model.
///
/// # Errors
/// When even the plainest question is not answered: nobody there, a wrong key, no such model.
pub async fn probe(
    format: Format,
    config: &ModelConfig,
    extent: Extent,
) -> Result<Report, ModelError> {
    let model = build(format, ToolMode::Native, config)?;
    let mut asker = Asker {
        model,
        name: config.model.clone(),
        cancel: extent.cancel,
        used: Usage::default(),
        costs: Costs::None,
    };
    let streams = asker.streams().await?;
    let tools = asker.tools().await;
    let parallel_tools = match tools.answer {
        Answer::Yes => asker.parallel_tools().await,
        _ => Finding::skipped("only asked of models that call one"),
    };
    let thinking = asker.thinking().await;
    let images = asker.images().await;
    let cache = match extent.cache {
        true => asker.cache().await,
        false => Finding::skipped("not asked"),
    };
    let schema_tools = match format {
        Format::OpenAiChat => {
            asker.model = build(format, ToolMode::Schema, config)?;
            asker.tools().await
        }
        _ => Finding::skipped("only for openai-chat"),
    };
    Ok(Report {
        streams,
        tools,
        parallel_tools,
        thinking,
        images,
        cache,
        schema_tools,
        used: Usage {
            cost_micro: match asker.costs {
                Costs::All(micro) => Some(micro),
                Costs::None | Costs::Some => None,
            },
            ..asker.used
        },
    })
}

/// Sends the questions and counts what they use.
struct Asker {
    model: Arc<dyn Model>,
    name: String,
    cancel: CancellationToken,
    used: Usage,
    costs: Costs,
}

/// How many of the answers said what they cost.
#[derive(Clone, Copy)]
enum Costs {
    /// There is no answer yet.
    None,
    /// All of them: so many millionths of a dollar.
    All(u64),
    /// Not all of them, so that their sum says nothing.
    Some,
}

/// Counts the pieces in which words come.
#[derive(Default)]
struct Pieces {
    words: AtomicU32,
    thoughts: AtomicU32,
}

impl LiveText for Pieces {
    fn text(&self, _more: &str) {
        self.words.fetch_add(1, Ordering::Relaxed);
    }

    fn thinking(&self, _more: &str) {
        self.thoughts.fetch_add(1, Ordering::Relaxed);
    }
}

impl Asker {
    async fn ask(&mut self, question: &Question<'_>) -> Result<(ModelReply, u32), ModelError> {
        let pieces = Arc::new(Pieces::default());
        let body = question.bytes(&self.name, self.model.dialect());
        let call = ModelCall {
            body: body.into_bytes().into(),
            cancel: self.cancel.clone(),
            live: pieces.clone(),
        };
        let reply = self.model.send(call).await?;
        if let Some(usage) = reply.usage {
            self.used.input = self.used.input.saturating_add(usage.input);
            self.used.output = self.used.output.saturating_add(usage.output);
            self.used.cached = self.used.cached.saturating_add(usage.cached);
            self.used.reasoning = self.used.reasoning.saturating_add(usage.reasoning);
            let more = usage.cost_micro;
            self.costs = match (self.costs, more) {
                (Costs::None, Some(more)) => Costs::All(more),
                (Costs::All(sum), Some(more)) => Costs::All(sum.saturating_add(more)),
                (_, None) | (Costs::Some, _) => Costs::Some,
            };
        }
        let words = pieces.words.load(Ordering::Relaxed);
        Ok((reply, words))
    }

    async fn streams(&mut self) -> Result<Finding, ModelError> {
        let (reply, pieces) = self.ask(&Question::plain(questions::COUNT)).await?;
        let said = reply
            .blocks
            .iter()
            .any(|block| matches!(block, ReplyBlock::Text { text, .. } if !text.is_empty()));
        Ok(match pieces {
            _ if !said => Finding::new(Answer::Unknown, "it answered without words"),
            0 | 1 => Finding::new(Answer::No, "the answer came in one piece"),
            pieces => Finding::new(Answer::Yes, format!("the answer came in {pieces} pieces")),
        })
    }

    async fn tools(&mut self) -> Finding {
        let reply = match self.ask(&Question::with_tool(questions::ONE_CITY)).await {
            Ok((reply, _)) => reply,
            Err(error) => return Finding::failed(&error),
        };
        match cities(&reply).as_slice() {
            [] => Finding::new(
                Answer::No,
                "it answered in words where it was to call a tool",
            ),
            [None, ..] => {
                Finding::new(Answer::No, "it called a tool with arguments that don't fit")
            }
            _ => Finding::new(Answer::Yes, ""),
        }
    }

    async fn parallel_tools(&mut self) -> Finding {
        let reply = match self.ask(&Question::with_tool(questions::TWO_CITIES)).await {
            Ok((reply, _)) => reply,
            Err(error) => return Finding::failed(&error),
        };
        match cities(&reply).len() {
            0 | 1 => Finding::new(Answer::No, "it called one where two were asked for"),
            count => Finding::new(Answer::Yes, format!("{count} at once")),
        }
    }

    async fn thinking(&mut self) -> Finding {
        let question = Question {
            thinking: Some(Thinking::Low),
            ..Question::plain(questions::RIDDLE)
        };
        let reply = match self.ask(&question).await {
            Ok((reply, _)) => reply,
            Err(error) => return Finding::failed(&error),
        };
        let tokens = reply.usage.map_or(0, |usage| usage.reasoning);
        let thoughts = reply.blocks.iter().filter_map(|block| match block {
            ReplyBlock::Thinking { text, .. } => Some(!text.is_empty()),
            _ => None,
        });
        let shown: Vec<bool> = thoughts.collect();
        match (shown.contains(&true), !shown.is_empty() || tokens > 0) {
            (true, _) => Finding::new(Answer::Yes, "and shows it"),
            (false, true) => Finding::new(Answer::Yes, "and keeps it to itself"),
            (false, false) => Finding::new(Answer::No, "no reasoning came"),
        }
    }

    async fn images(&mut self) -> Finding {
        let reply = match self.ask(&Question::with_picture(questions::COLOUR)).await {
            Ok((reply, _)) => reply,
            Err(error) => return Finding::failed(&error),
        };
        let sees = reply.blocks.iter().any(|block| match block {
            ReplyBlock::Text { text, .. } => {
                text.to_lowercase().contains(questions::PICTURE_COLOUR)
            }
            _ => false,
        });
        match sees {
            true => Finding::new(Answer::Yes, ""),
            false => Finding::new(Answer::No, "it did not say which colour a picture has"),
        }
    }

    async fn cache(&mut self) -> Finding {
        let front = questions::long_front();
        let question = Question {
            system: &front,
            ..Question::plain(questions::COUNT)
        };
        let mut seen = None;
        for _ in 0..2 {
            match self.ask(&question).await {
                Ok((reply, _)) => seen = reply.usage,
                Err(error) => return Finding::failed(&error),
            }
        }
        match seen {
            None => Finding::new(Answer::Unknown, "the provider says nothing of tokens"),
            Some(usage) if usage.cached > 0 => {
                let note = format!("{} of {} tokens", usage.cached, usage.input);
                Finding::new(Answer::Yes, note)
            }
            Some(_) => Finding::new(Answer::No, "the second request was read anew"),
        }
    }
}

/// The city of each call; `None` where the arguments don't fit.
fn cities(reply: &ModelReply) -> Vec<Option<String>> {
    let calls = reply.blocks.iter().filter_map(|block| match block {
        ReplyBlock::ToolUse {
            name, arguments, ..
        } => Some((name, arguments)),
        _ => None,
    });
    calls
        .map(|(name, arguments)| {
            let arguments: serde_json::Value = serde_json::from_str(arguments).ok()?;
            let city = arguments.get("city")?.as_str()?;
            (name == questions::TOOL).then(|| city.to_owned())
        })
        .collect()
}
