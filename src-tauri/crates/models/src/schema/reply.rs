//! From the JSON that the model wrote to the blocks that it means.

use longrein_protocol::block::StopReason;
use longrein_runtime::ports::{LiveText, ModelReply, ReplyBlock};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::grammar::ANSWER;
use super::watch::Watch;
use crate::ids::make_unique;
use crate::json::string;
use crate::openai_chat::{CALL_LIMIT, ChatAssembly};
use crate::patience::Progress;
use crate::reading::{Assembly, Fault};

/// A reply of the chat format whose text is read as JSON.
#[derive(Default)]
pub(crate) struct SchemaAssembly {
    chat: ChatAssembly,
    watch: Watch,
}

/// One object of those that the schema allows.
#[derive(Deserialize)]
struct Written<'a> {
    tool: String,
    #[serde(default, borrow)]
    arguments: Option<&'a RawValue>,
}

impl Assembly for SchemaAssembly {
    fn take(&mut self, data: &str, live: &dyn LiveText) -> Result<(), Fault> {
        self.chat.take(data, &self.watch.over(live))
    }

    fn take_whole(&mut self, json: &[u8], live: &dyn LiveText) -> Result<(), Fault> {
        self.chat.take_whole(json, &self.watch.over(live))
    }

    fn is_done(&self) -> bool {
        self.chat.is_done()
    }

    fn progress(&self) -> Progress {
        self.chat.progress()
    }

    fn finish(self, body: &[u8]) -> Result<ModelReply, Fault> {
        let mut reply = self.chat.finish(body)?;
        let mut blocks = Vec::new();
        for block in std::mem::take(&mut reply.blocks) {
            match block {
                ReplyBlock::Text { text, .. } => match read(&text) {
                    Some(read) => blocks.extend(read),
                    // An answer that was cut off is still the part that was written.
                    None => blocks.push(words(self.watch.answer().unwrap_or(text))),
                },
                other => blocks.push(other),
            }
        }
        let calls = blocks
            .iter()
            .filter(|block| matches!(block, ReplyBlock::ToolUse { .. }))
            .count();
        if calls > CALL_LIMIT {
            let what = format!("asked for more than {CALL_LIMIT} actions at once");
            return Err(Fault::Malformed(what));
        }
        if reply.stop == StopReason::End && calls > 0 {
            reply.stop = StopReason::ToolUse;
        }
        make_unique(&mut blocks, body, "tool_call_id");
        Ok(ModelReply { blocks, ..reply })
    }
}

/// The blocks that a text means; `None` where it is not in the form. A server that does not hold
/// the model to the schema lets it write several objects, or words and fences around them.
fn read(text: &str) -> Option<Vec<ReplyBlock>> {
    let from = text.find('{')?;
    let written = serde_json::Deserializer::from_str(&text[from..]).into_iter::<Written<'_>>();
    let blocks: Vec<ReplyBlock> = written.map_while(Result::ok).filter_map(block).collect();
    (!blocks.is_empty()).then_some(blocks)
}

fn block(written: Written<'_>) -> Option<ReplyBlock> {
    let arguments = written.arguments.map_or("{}", RawValue::get);
    if written.tool == ANSWER {
        let arguments: Value = serde_json::from_str(arguments).ok()?;
        return string(&arguments, "text").map(|text| words(text.to_owned()));
    }
    (!written.tool.is_empty()).then(|| ReplyBlock::ToolUse {
        id: String::new(),
        name: written.tool,
        arguments: arguments.to_owned(),
        raw: None,
    })
}

fn words(text: String) -> ReplyBlock {
    ReplyBlock::Text { text, raw: None }
}
