//! The texts that messages are made of, and the words for what went wrong.

use longrein_protocol::block::Block;
use longrein_protocol::{Body, ToolErrorClass};

use crate::run::Item;

/// The texts that the messages of an item are made of.
pub(super) fn bodies(item: &Item) -> Vec<&Body> {
    let mut bodies = match item {
        Item::Person(words) => vec![&words.body],
        Item::Notice(body) => vec![body],
        Item::Result { result, .. } => vec![&result.body],
        Item::Assistant(blocks) => blocks.iter().flat_map(block_bodies).collect(),
    };
    bodies.extend(item.media().iter().filter_map(|media| media.text.as_ref()));
    bodies
}

fn block_bodies(block: &Block) -> Vec<&Body> {
    let (text, raw) = match block {
        Block::Text { text, raw } | Block::Thinking { text, raw } => (text, raw),
        Block::ToolUse { arguments, raw, .. } => (arguments, raw),
    };
    std::iter::once(text).chain(raw.as_ref()).collect()
}

/// A class of errors as the model is told it.
pub(super) fn class_name(class: ToolErrorClass) -> &'static str {
    use ToolErrorClass as Class;
    match class {
        Class::InvalidArguments => "invalid_arguments",
        Class::NotPermitted => "not_permitted",
        Class::NotFound => "not_found",
        Class::Conflict => "conflict",
        Class::Temporary => "temporary",
        Class::Failed => "failed",
        Class::Cancelled => "cancelled",
    }
}
