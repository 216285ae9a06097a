//! Folding what a compaction takes out of the conversation.

use longrein_protocol::Body;
use longrein_protocol::event::ContextCompacted;
use longrein_protocol::view::KnotShape;

use super::{Item, Request, Run};
use crate::compile;

impl Run {
    pub(super) fn compacted(&mut self, compacted: &ContextCompacted) {
        let mut gone = Vec::new();
        let conversation = &mut self.conversation;
        while conversation.first < compacted.dropped_before {
            match conversation.items.pop_front() {
                Some(Item::Person(words)) => conversation.kept.push(words),
                Some(Item::Result { action, .. }) => gone.push(action),
                Some(_) => {}
                None => break,
            }
            conversation.first += 1;
        }
        conversation.pruned_before = conversation.pruned_before.max(compacted.pruned_before);
        conversation.media_before = conversation.media_before.max(compacted.media_before);
        let first = conversation.first;
        for (offset, item) in conversation.items.iter_mut().enumerate() {
            if first + offset as u32 >= conversation.pruned_before {
                break;
            }
            if let Item::Result { action, result, .. } = item {
                let whole = result.whole.as_ref().unwrap_or(&result.body);
                let line = match whole {
                    Body::Blob { bytes, .. } => format!(
                        "[{bytes} bytes; read_result with \"result\": \"{action}\" shows any part]"
                    ),
                    Body::Text(text) => format!(
                        "[{} bytes, kept in the log as the result of {action}; recall finds words in it]",
                        text.len()
                    ),
                };
                if line.len() < result.body.len() {
                    result.body = Body::Text(line);
                    gone.push(action.clone());
                }
            }
        }
        self.pin_skills(&gone);
        if let Some(summary) = &compacted.summary {
            self.summary = Some(summary.clone());
        }
        self.weigh();
        self.front_changed = true;
        self.request = Request::None;
        self.knot(KnotShape::Square);
    }

    /// Counts the bytes of the conversation anew, with what is laid before it.
    pub(super) fn weigh(&mut self) {
        let pinned = self.pinned_skill_bytes() + compile::pinned_bytes(self);
        self.conversation.weigh(pinned);
    }
}
