//! Taking older parts out of the request: media of tool results first, then their text, then whole
//! steps, never the person's words. In batches down to half, so that the front stays frozen in between.
//!
//! Before steps go, and with them what the model said, a summary of them is asked for; they go
//! without one where none can be had.

use longrein_protocol::block::ModelErrorClass;
use longrein_protocol::event::{ContextCompacted, Section, Summary};
use longrein_protocol::media::{MEDIA_ITEMS_PER_REQUEST, MEDIA_REQUEST_BYTES};

use crate::run::{Item, Request, Run, fragment_weight, media_weight};
use crate::summary::{self, Unusable};

/// The part of the room for the conversation that it may still fill after a compaction.
const AFTER: f64 = 0.5;
/// The part of the window that the conversation may fill, however large rules and tools are.
const LEAST_ROOM: f64 = 0.1;
/// Items at the end that a compaction leaves whole.
const RECENT_ITEMS: u32 = 6;
/// Bytes of a line that stands for a pruned result.
const PRUNED_BYTES: usize = 150;
/// Bytes of the fence around a summary, about.
const FENCE_BYTES: usize = 100;
/// How much larger than a summary may be what it stands for has to be: else it saves nothing worth
/// a request.
const WORTH_A_SUMMARY: usize = 2;
/// The part of the request's conversation that is left at most once a summary stands for the rest.
const PROGRESS: f64 = 0.9;

/// What a conversation that has grown owes.
#[derive(Clone, PartialEq, Debug)]
pub enum Owed {
    /// Nothing: there is room.
    Nothing,
    /// Older parts are taken out.
    Compaction(Box<ContextCompacted>),
    /// A summary of the items before this one has to be asked for first.
    Summary {
        /// Counted over the whole run.
        before: u32,
    },
    /// Nothing more can be taken out, and there is no room.
    Full,
}

/// Whether the conversation has grown over the agent's threshold.
pub fn is_full(run: &Run) -> bool {
    let room = room(run);
    room > 0 && run.estimate_at_most(run.conversation.bytes) > room
}

/// What is owed before the next request, or where a provider refused the last one as too long.
pub fn owed(run: &Run) -> Owed {
    let Some(target) = target(run) else {
        return Owed::Nothing;
    };
    let Some(mut plain) = down_to(run, target) else {
        // Media that is too much all the same is noted where the request is put together.
        return match target {
            u32::MAX => Owed::Nothing,
            _ => Owed::Full,
        };
    };
    if plain.dropped_before == run.conversation.first {
        return Owed::Compaction(Box::new(plain));
    }
    let may = run.may_summarise();
    if let Some(before) = worth_a_summary(run, target).filter(|_| may) {
        return Owed::Summary { before };
    }
    plain.unsummarised = why_there_is_none(run);
    Owed::Compaction(Box::new(plain))
}

/// The compaction that brings the conversation to about so many tokens by itself: results first,
/// then steps. `None` where nothing can go.
pub fn down_to(run: &Run, tokens: u32) -> Option<ContextCompacted> {
    plan(run, tokens, First::Results)
}

/// The compaction that goes without a summary, for this reason; `None` where nothing can go.
pub fn without_summary(run: &Run, why: &str) -> Option<ContextCompacted> {
    let mut plain = down_to(run, target(run)?)?;
    if plain.dropped_before > run.conversation.first {
        plain.unsummarised = why.to_owned();
    }
    Some(plain)
}

/// The compaction by which a summary takes the place of the items before `before`, and of the
/// summary that stood there.
///
/// # Errors
/// [`Unusable::NoSmaller`] when the conversation would not shrink by enough.
pub fn with_summary(
    run: &Run,
    before: u32,
    summary: Summary,
) -> Result<ContextCompacted, Unusable> {
    let mut cut = Cut::of(run, 0);
    let tokens_before = run.estimate_at_most(cut.bytes);
    cut.drop_to(before);
    let weight = |summary: &Summary| summary::text(summary, "").len() + FENCE_BYTES;
    let gone = run.summary.as_deref().map_or(0, weight);
    cut.bytes = (cut.bytes + weight(&summary)).saturating_sub(gone);
    let tokens_after = run.estimate_at_most(cut.bytes);
    let most = f64::from(tokens_before) * PROGRESS;
    if before <= run.conversation.first || f64::from(tokens_after) > most {
        return Err(Unusable::NoSmaller);
    }
    Ok(ContextCompacted {
        summary: Some(Box::new(summary)),
        ..cut.compacted(tokens_before)
    })
}

/// Estimated tokens that the conversation may have before something is taken out of it: the
/// agent's share of the window, without what rules and tools take.
fn room(run: &Run) -> u32 {
    let share = run.agent().map_or(0.0, |agent| agent.context.compact_at);
    let window = f64::from(run.window_tokens());
    let is_head = |part| matches!(part, Section::System | Section::Tools | Section::Index);
    let head = run
        .fragments
        .iter()
        .filter(|fragment| is_head(fragment.part));
    let head: usize = head
        .map(|fragment| fragment_weight(fragment) as usize)
        .sum();
    let left = window * share - f64::from(run.estimate_at_most(head));
    left.max(window * LEAST_ROOM) as u32
}

/// Estimated tokens that the conversation has to come down to; `None` where it may stay as it is,
/// and the largest number where only media has to go, and no text.
fn target(run: &Run) -> Option<u32> {
    let refused = matches!(
        run.request,
        Request::Failed {
            class: ModelErrorClass::ContextTooLong,
            ..
        }
    );
    if refused {
        return Some(run.estimate_at_most(run.conversation.bytes) / 2);
    }
    if is_full(run) {
        return Some((f64::from(room(run)) * AFTER) as u32);
    }
    run.has_too_much_media().then_some(u32::MAX)
}

/// Up to which item a summary would stand for what is taken out, where that is worth a request.
fn worth_a_summary(run: &Run, target_tokens: u32) -> Option<u32> {
    let limit = summary::limit_bytes(run);
    let for_summary = run.estimate_at_most(limit);
    let target = target_tokens.saturating_sub(for_summary);
    let plan = plan(run, target, First::Steps)?;
    let mut cut = Cut::of(run, 0);
    cut.drop_to(plan.dropped_before);
    let gone = run.conversation.bytes.saturating_sub(cut.bytes);
    (gone >= limit * WORTH_A_SUMMARY).then_some(plan.dropped_before)
}

fn why_there_is_none(run: &Run) -> String {
    let asks = run.agent().is_some_and(|agent| agent.context.summaries);
    match run.summaries.why.as_str() {
        _ if !asks => "This agent asks for no summaries.".to_owned(),
        "" => "A summary would have saved too little.".to_owned(),
        why => format!("No summary could be had: {why}."),
    }
}

/// What is taken out first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum First {
    /// The text of results, wherever they stand, and only then whole steps.
    Results,
    /// The oldest steps, whole, so that what is newer stays as it is.
    Steps,
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

impl<'r> Cut<'r> {
    fn of(run: &'r Run, target_tokens: u32) -> Self {
        let conversation = &run.conversation;
        let media = || conversation.shown_media().map(|(_, media)| media);
        let begin = conversation.first;
        Self {
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
        }
    }

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
            left = left.saturating_sub(self.gone_with(candidate));
            candidate += 1;
            if begins_step(self.run, candidate) {
                self.dropped_before = candidate;
                self.bytes = left;
            }
        }
    }

    /// Drops the items before this one, whatever is left then.
    fn drop_to(&mut self, before: u32) {
        for number in self.dropped_before..before {
            self.bytes = self.bytes.saturating_sub(self.gone_with(number));
        }
        self.dropped_before = self.dropped_before.max(before);
    }

    /// Bytes that go with an item, as it stands now.
    fn gone_with(&self, number: u32) -> usize {
        let (pruned, noted) = (number < self.pruned_before, number < self.media_before);
        match self.item(number) {
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
        }
    }

    /// The event by which this is taken out.
    fn compacted(&self, tokens_before: u32) -> ContextCompacted {
        let pruned_before = self.pruned_before.max(self.dropped_before);
        ContextCompacted {
            dropped_before: self.dropped_before,
            pruned_before,
            // Where it says nothing more than the others, it says nothing.
            media_before: match self.media_before > pruned_before {
                true => self.media_before,
                false => 0,
            },
            tokens_before,
            tokens_after: self.run.estimate_at_most(self.bytes),
            summary: None,
            unsummarised: String::new(),
        }
    }
}

fn plan(run: &Run, target_tokens: u32, first: First) -> Option<ContextCompacted> {
    let conversation = &run.conversation;
    let tokens_before = run.estimate_at_most(conversation.bytes);
    let last = conversation.end().saturating_sub(RECENT_ITEMS);
    let mut cut = Cut::of(run, target_tokens);
    cut.without_media(last);
    match first {
        First::Results => {
            cut.without_results(last);
            cut.without_steps(last);
        }
        First::Steps => {
            cut.without_steps(last);
            cut.pruned_before = cut.pruned_before.max(cut.dropped_before);
            cut.without_results(last);
        }
    }
    let compacted = cut.compacted(tokens_before);
    (compacted.tokens_after < tokens_before).then_some(compacted)
}

/// Whether a request may begin with this item: a result may not stand without its call.
fn begins_step(run: &Run, number: u32) -> bool {
    let offset = (number - run.conversation.first) as usize;
    !matches!(
        run.conversation.items.get(offset),
        Some(Item::Result { .. })
    )
}
