//! Taking older parts out of the request: media of tool results first, then their text, then whole
//! steps, never the person's words. In batches down to half, so that the front stays frozen in between.

use longrein_protocol::event::ContextCompacted;

use longrein_protocol::media::{MEDIA_ITEMS_PER_REQUEST, MEDIA_REQUEST_BYTES};

use crate::run::{Item, Run, media_weight};

/// The part of the window that the conversation may still fill after a compaction.
const AFTER: f64 = 0.5;
/// Items at the end that a compaction leaves whole.
const RECENT_ITEMS: u32 = 6;
/// Bytes of a line that stands for a pruned result.
const PRUNED_BYTES: usize = 150;

/// Whether the conversation has grown over the agent's threshold, or shows more media than a
/// request may hold.
pub fn is_due(run: &Run) -> bool {
    is_full(run) || run.has_too_much_media()
}

/// Whether the conversation has grown over the agent's threshold.
pub fn is_full(run: &Run) -> bool {
    let Some(agent) = run.agent() else {
        return false;
    };
    let limit = f64::from(run.window_tokens()) * agent.context.compact_at;
    limit > 0.0 && f64::from(run.estimate_at_most(run.conversation.bytes)) > limit
}

/// The compaction that brings the conversation to half the threshold; `None` when nothing can go.
pub fn down_to_half(run: &Run) -> Option<ContextCompacted> {
    let agent = run.agent()?;
    let threshold = f64::from(run.window_tokens()) * agent.context.compact_at;
    // Where only media is too much, no text goes.
    let target = if is_full(run) {
        (threshold * AFTER) as u32
    } else {
        u32::MAX
    };
    plan(run, target)
}

/// A compaction to half of what the conversation has now, for a provider that refused it.
pub fn harder(run: &Run) -> Option<ContextCompacted> {
    plan(run, run.estimate_at_most(run.conversation.bytes) / 2)
}

/// A conversation from which more and more is taken out.
struct Cut<'r> {
    run: &'r Run,
    target_tokens: u32,
    /// Bytes that are left.
    bytes: usize,
    media_items: usize,
    media_bytes: u64,
    media_before: u32,
    pruned_before: u32,
    dropped_before: u32,
}

impl Cut<'_> {
    fn is_over(&self) -> bool {
        self.run.estimate_at_most(self.bytes) > self.target_tokens
    }

    /// Media goes down to half of what a request may hold, once there is too much of it.
    fn has_much_media(&self) -> bool {
        self.media_items > MEDIA_ITEMS_PER_REQUEST / 2 || self.media_bytes > MEDIA_REQUEST_BYTES / 2
    }

    fn item(&self, number: u32) -> Option<&Item> {
        let conversation = &self.run.conversation;
        let offset = number.checked_sub(conversation.first)?;
        conversation.items.get(offset as usize)
    }

    fn without_media(&mut self, last: u32) {
        if self.media_items == 0 {
            return;
        }
        let too_much = self.run.has_too_much_media();
        while self.media_before < last && (self.is_over() || (too_much && self.has_much_media())) {
            if let Some(Item::Result { result, .. }) = self.item(self.media_before) {
                let (weight, items) = (media_weight(&result.media), result.media.len());
                let bytes: usize = result.media.iter().map(|media| media.body.len()).sum();
                self.bytes = self.bytes.saturating_sub(weight);
                self.media_items = self.media_items.saturating_sub(items);
                self.media_bytes = self.media_bytes.saturating_sub(bytes as u64);
            }
            self.media_before += 1;
        }
    }

    fn without_results(&mut self, last: u32) {
        while self.pruned_before < last && self.is_over() {
            if let Some(Item::Result { action, result, .. }) = self.item(self.pruned_before)
                && !self.run.lasts(action)
            {
                let line = result.body.len().saturating_sub(PRUNED_BYTES);
                self.bytes = self.bytes.saturating_sub(line);
            }
            self.pruned_before += 1;
        }
    }

    fn without_steps(&mut self, last: u32) {
        let mut candidate = self.dropped_before;
        // What goes is counted once it does go: a step goes whole or not at all.
        let mut left = self.bytes;
        while candidate < last && self.run.estimate_at_most(left) > self.target_tokens {
            let pruned = candidate < self.pruned_before;
            let noted = candidate < self.media_before;
            let less = match self.item(candidate) {
                // The words stay, without what was given with them.
                Some(Item::Person(words)) => media_weight(&words.media),
                // What it says is laid before the conversation from then on.
                Some(Item::Result { action, .. }) if self.run.lasts(action) => 0,
                Some(item @ Item::Result { result, .. }) => {
                    let line = result.body.len().saturating_sub(PRUNED_BYTES);
                    let media = media_weight(&result.media);
                    let before = if pruned { line } else { 0 } + if noted { media } else { 0 };
                    item.bytes().saturating_sub(before)
                }
                Some(item) => item.bytes(),
                None => 0,
            };
            left = left.saturating_sub(less);
            candidate += 1;
            if begins_step(self.run, candidate) {
                self.dropped_before = candidate;
                self.bytes = left;
            }
        }
    }
}

fn plan(run: &Run, target_tokens: u32) -> Option<ContextCompacted> {
    let conversation = &run.conversation;
    let tokens_before = run.estimate_at_most(conversation.bytes);
    let last = conversation.end().saturating_sub(RECENT_ITEMS);
    let media = || conversation.shown_media().map(|(_, media)| media);
    let begin = conversation.first;
    let mut cut = Cut {
        run,
        target_tokens,
        bytes: conversation.bytes,
        media_items: media().count(),
        media_bytes: media().map(|media| media.body.len() as u64).sum(),
        media_before: conversation
            .media_before
            .max(conversation.pruned_before)
            .max(begin),
        pruned_before: conversation.pruned_before.max(begin),
        dropped_before: begin,
    };
    cut.without_media(last);
    cut.without_results(last);
    cut.without_steps(last);
    let tokens_after = run.estimate_at_most(cut.bytes);
    let pruned_before = cut.pruned_before.max(cut.dropped_before);
    (tokens_after < tokens_before).then_some(ContextCompacted {
        dropped_before: cut.dropped_before,
        pruned_before,
        // Where it says nothing more than the others, it says nothing.
        media_before: match cut.media_before > pruned_before {
            true => cut.media_before,
            false => 0,
        },
        tokens_before,
        tokens_after,
    })
}

/// Whether a request may begin with this item: a result may not stand without its call.
fn begins_step(run: &Run, number: u32) -> bool {
    let offset = (number - run.conversation.first) as usize;
    !matches!(
        run.conversation.items.get(offset),
        Some(Item::Result { .. })
    )
}
