//! What a stand-in answers, put together by small builders.

use std::sync::Arc;
use std::time::Duration;

use longrein_protocol::block::{ModelErrorClass, StopReason, Usage};
use longrein_runtime::ports::{ModelError, ModelReply, ReplyBlock};
use serde_json::Value;

use crate::gate::Gate;
use crate::request::SeenRequest;

/// Makes an answer out of a request.
pub type Answer = dyn Fn(&SeenRequest) -> Result<ModelReply, ModelError> + Send + Sync;

/// One answer of a script.
#[derive(Clone)]
pub struct Scripted {
    pub(crate) answer: Arc<Answer>,
    pub(crate) gate: Option<Gate>,
}

/// Answers with words.
pub fn say(text: &str) -> Scripted {
    Scripted::reply(vec![ReplyBlock::Text {
        text: text.to_owned(),
        raw: None,
    }])
}

/// Answers with a call.
pub fn call(tool: &str, arguments: Value) -> Scripted {
    Scripted::reply(Vec::new()).and_call(tool, arguments)
}

/// Answers with an error.
pub fn fail(class: ModelErrorClass, retry_after: Option<Duration>) -> Scripted {
    let error = ModelError {
        class,
        message: format!("The script says {class:?}."),
        remedy: "Change the script.".to_owned(),
        retry_after,
        unreachable: false,
        unsent: false,
    };
    Scripted::new(move |_| Err(error.clone()))
}

/// Answers by looking at the request. A gate of the answer that it chooses does not hold.
pub fn then(choose: impl Fn(&SeenRequest) -> Scripted + Send + Sync + 'static) -> Scripted {
    Scripted::new(move |request| (choose(request).answer)(request))
}

impl Scripted {
    /// Answers with what a rule makes of the request.
    pub fn new(
        answer: impl Fn(&SeenRequest) -> Result<ModelReply, ModelError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            answer: Arc::new(answer),
            gate: None,
        }
    }

    /// Answers with blocks. A call with an empty id is given one that fits the request.
    pub fn reply(blocks: Vec<ReplyBlock>) -> Self {
        Self::new(move |request| Ok(reply_of(blocks.clone(), request)))
    }

    /// Asks for one more action beside what was said so far.
    #[must_use]
    pub fn and_call(self, tool: &str, arguments: Value) -> Self {
        let (tool, arguments) = (tool.to_owned(), arguments.to_string());
        self.changed(move |reply, request| {
            let mut blocks = std::mem::take(&mut reply.blocks);
            blocks.push(ReplyBlock::ToolUse {
                id: String::new(),
                name: tool.clone(),
                arguments: arguments.clone(),
                raw: None,
            });
            *reply = reply_of(blocks, request);
        })
    }

    /// Reports this usage instead of an estimate.
    #[must_use]
    pub fn using(self, usage: Option<Usage>) -> Self {
        self.changed(move |reply, _| reply.usage = usage)
    }

    /// Stops for this reason.
    #[must_use]
    pub fn stopping(self, stop: StopReason) -> Self {
        self.changed(move |reply, _| reply.stop = stop)
    }

    /// Waits at a gate before the answer is given.
    #[must_use]
    pub fn behind(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    fn changed(
        mut self,
        change: impl Fn(&mut ModelReply, &SeenRequest) + Send + Sync + 'static,
    ) -> Self {
        let before = self.answer;
        self.answer = Arc::new(move |request| {
            let mut reply = before(request)?;
            change(&mut reply, request);
            Ok(reply)
        });
        self
    }
}

/// A whole reply: missing ids are filled in, usage is estimated at four bytes a token.
pub fn reply_of(mut blocks: Vec<ReplyBlock>, request: &SeenRequest) -> ModelReply {
    let mut written = 0;
    let mut stop = StopReason::End;
    for (position, block) in blocks.iter_mut().enumerate() {
        match block {
            ReplyBlock::Text { text, .. } | ReplyBlock::Thinking { text, .. } => {
                written += text.len()
            }
            ReplyBlock::ToolUse { id, arguments, .. } => {
                written += arguments.len();
                stop = StopReason::ToolUse;
                if id.is_empty() {
                    // The length tells apart what two stand-ins, one after the other, ask for.
                    let length = request.body.len();
                    *id = format!("call_{}_{length}_{}", request.number, position + 1);
                }
            }
        }
    }
    ModelReply {
        blocks,
        stop,
        usage: Some(Usage {
            input: tokens(request.body.len()),
            output: tokens(written),
            ..Usage::default()
        }),
        response_id: format!("scripted-{}", request.number),
    }
}

fn tokens(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(4)).unwrap_or(u32::MAX)
}
