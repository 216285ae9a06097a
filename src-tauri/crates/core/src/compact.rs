//! Taking older parts out of the request: tool results first, then whole steps, never the
//! person's words. In batches down to half, so that the front stays frozen in between.

use longrein_protocol::event::ContextCompacted;

use crate::run::{Item, Run};

/// The part of the window that the conversation may still fill after a compaction.
const AFTER: f64 = 0.5;
/// Items at the end that a compaction leaves whole.
const RECENT_ITEMS: u32 = 6;
/// Bytes of a line that stands for a pruned result.
const PRUNED_BYTES: usize = 150;

/// Whether the conversation has grown over the agent's threshold.
pub fn is_due(run: &Run) -> bool {
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
    plan(run, (threshold * AFTER) as u32)
}

/// A compaction to half of what the conversation has now, for a provider that refused it.
pub fn harder(run: &Run) -> Option<ContextCompacted> {
    plan(run, run.estimate_at_most(run.conversation.bytes) / 2)
}

fn plan(run: &Run, target_tokens: u32) -> Option<ContextCompacted> {
    let conversation = &run.conversation;
    let tokens_before = run.estimate_at_most(conversation.bytes);
    let last = conversation.end().saturating_sub(RECENT_ITEMS);
    let mut bytes = conversation.bytes;
    let mut pruned_before = conversation.pruned_before.max(conversation.first);
    while pruned_before < last && run.estimate_at_most(bytes) > target_tokens {
        let item = &conversation.items[(pruned_before - conversation.first) as usize];
        if let Item::Result { result, .. } = item {
            bytes -= result.body.len().saturating_sub(PRUNED_BYTES);
        }
        pruned_before += 1;
    }
    let mut dropped_before = conversation.first;
    let mut candidate = dropped_before;
    while candidate < last && run.estimate_at_most(bytes) > target_tokens {
        let item = &conversation.items[(candidate - conversation.first) as usize];
        bytes -= match item {
            Item::Person(_) => 0,
            Item::Result { result, .. } if candidate < pruned_before => {
                item.bytes() - result.body.len().saturating_sub(PRUNED_BYTES)
            }
            _ => item.bytes(),
        };
        candidate += 1;
        if begins_step(run, candidate) {
            dropped_before = candidate;
        }
    }
    let tokens_after = run.estimate_at_most(bytes);
    let pruned_before = pruned_before.max(dropped_before);
    (tokens_after < tokens_before).then_some(ContextCompacted {
        dropped_before,
        pruned_before,
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
