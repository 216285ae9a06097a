//! The demonstration model `demo/researcher`: a rule-based stand-in for a model, so that a run
//! can be shown and tested without a key and without a network.
//!
//! It is an adapter like any other and sees only the bytes of the request. What it writes is
//! made of what the tools returned: with another library it writes another page.

mod library;
mod long;
mod page;
mod rank;
mod record;
mod request;
mod rules;
mod staged;
#[cfg(test)]
mod tests;
mod text;

use std::time::Duration;

use async_trait::async_trait;
use longrein_core::dialect::Dialect;
use longrein_protocol::block::{ModelErrorClass, StopReason, Usage};
use longrein_runtime::ports::{LiveText, Model, ModelCall, ModelError, ModelReply, ReplyBlock};

pub use library::{LIBRARY, QUESTION};

use crate::openai_chat::ChatDialect;
use request::Seen;

/// The provider's name.
pub const PROVIDER: &str = "demo";
/// The model's name.
pub const MODEL: &str = "researcher";
/// The model's window in tokens: as small as that of a small model, so that it is seen how a run
/// goes on when the window is full.
pub const WINDOW_TOKENS: u32 = 19_200;

/// The demonstration model.
#[derive(Clone, Copy, Debug, Default)]
pub struct Demo {
    pace: Duration,
    dialect: ChatDialect,
}

impl Demo {
    /// `pace` is how long each word takes to appear; zero answers at once.
    pub fn new(pace: Duration) -> Self {
        Self {
            pace,
            dialect: ChatDialect::default(),
        }
    }

    async fn speak(&self, text: &str, live: &dyn LiveText) {
        if self.pace.is_zero() {
            live.text(text);
            return;
        }
        for word in text.split_inclusive(' ') {
            live.text(word);
            tokio::time::sleep(self.pace).await;
        }
    }
}

#[async_trait]
impl Model for Demo {
    fn dialect(&self) -> &dyn Dialect {
        &self.dialect
    }

    async fn send(&self, call: ModelCall) -> Result<ModelReply, ModelError> {
        let reply = reply(&call.body);
        let speak = async {
            for block in &reply.blocks {
                if let ReplyBlock::Text { text, .. } = block {
                    self.speak(text, &*call.live).await;
                }
            }
        };
        tokio::select! {
            biased;
            () = call.cancel.cancelled() => Err(ModelError {
                class: ModelErrorClass::Network,
                message: "The request to the demonstration model was ended before its answer was complete.".to_owned(),
                remedy: "Resume the run to send it again.".to_owned(),
                retry_after: None,
                unreachable: false,
                unsent: false,
            }),
            () = speak => Ok(reply),
        }
    }
}

/// The demonstration model's answer to a request in the chat format. The same request gives the
/// same answer.
pub fn reply(body: &[u8]) -> ModelReply {
    let seen = Seen::read(body);
    let blocks = match record::asked_for(body) {
        Some(text) => vec![ReplyBlock::Text { text, raw: None }],
        None => rules::decide(&seen).into_blocks(&seen),
    };
    let written: usize = blocks.iter().map(bytes).sum();
    let calls = blocks
        .iter()
        .any(|block| matches!(block, ReplyBlock::ToolUse { .. }));
    ModelReply {
        blocks,
        stop: if calls {
            StopReason::ToolUse
        } else {
            StopReason::End
        },
        usage: Some(Usage {
            input: tokens(body.len()),
            output: tokens(written),
            estimated: true,
            ..Usage::default()
        }),
        response_id: format!("demo-{}", seen.replies + 1),
    }
}

fn bytes(block: &ReplyBlock) -> usize {
    match block {
        ReplyBlock::Text { text, .. } | ReplyBlock::Thinking { text, .. } => text.len(),
        ReplyBlock::ToolUse {
            name, arguments, ..
        } => name.len() + arguments.len(),
    }
}

/// Four bytes are about a token.
fn tokens(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(4)).unwrap_or(u32::MAX)
}
