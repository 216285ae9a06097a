//! What stands before the conversation once older parts of it were taken out.

use longrein_protocol::event::Section;
use longrein_protocol::{ActionId, BlobHash};

use super::messages::Laying;
use super::{Known, Label};
use crate::dialect::Message;
use crate::run::{Item, Run};
use crate::{pinned, summary};

/// Digits of a fence's name.
const FENCE_DIGITS: usize = 12;

/// What stays in view of what a compaction took out: the person's words, skills, and what the
/// harness keeps.
pub(super) fn messages(
    run: &Run,
    laying: &Laying<'_>,
    known: &Known<'_>,
) -> Vec<(Section, Message, Label)> {
    let mut messages = Vec::new();
    for words in &run.conversation.kept {
        let words = laying.person(words, None);
        messages.push((Section::Pinned, words, Label::person()));
    }
    if !is_compacted(run) {
        return messages;
    }
    if let Some(text) = skills(run, known) {
        let label = Label::skills(run.pinned_skills());
        messages.push((Section::Pinned, Message::user(text), label));
    }
    let pinned = Message::user(pinned_text(run));
    messages.push((Section::Pinned, pinned, Label::pinned(run)));
    if let Some(summary) = run.summary.as_deref() {
        let text = summary::text(summary, &fence_of(run));
        let label = Label::model(summary.trust);
        messages.push((Section::Summary, Message::user(text), label));
    }
    messages
}

/// Whether something was taken out of the conversation, so that what the harness keeps of it
/// stands before the rest.
fn is_compacted(run: &Run) -> bool {
    run.conversation.first > 0 || run.conversation.pruned_before > 0
}

fn pinned_text(run: &Run) -> String {
    // What the agent's file says of the stage holds as long as the stage does.
    let stage = match run.stage_in_words() {
        words if words.is_empty() => words,
        words => format!("\n\n{words}"),
    };
    format!(
        "[harness] Older parts of this conversation were taken out to save room ({} messages). \
         The log keeps them; recall finds words in them.{stage}{}",
        run.conversation.first,
        pinned::text(run, &fence_of(run))
    )
}

/// Bytes of what stands before the conversation once it was compacted, beside the person's words
/// and skills.
pub(crate) fn pinned_bytes(run: &Run) -> usize {
    match is_compacted(run) {
        true => pinned_text(run).len() + summary_bytes(run),
        false => 0,
    }
}

/// Bytes of all that stands before the conversation, without the summary, and of the summary.
pub(super) fn weights(run: &Run) -> (usize, usize) {
    if !is_compacted(run) {
        return (0, 0);
    }
    let words = run.conversation.kept.iter();
    let words: usize = words.map(|words| words.body.len()).sum();
    let skills: usize = run.pinned_skills().map(|(_, text)| text.len()).sum();
    (words + skills + pinned_text(run).len(), summary_bytes(run))
}

fn summary_bytes(run: &Run) -> usize {
    let summary = run.summary.as_deref();
    summary.map_or(0, |said| summary::text(said, &fence_of(run)).len())
}

/// The name of the fence around what an action returned. It is made of the action's id, which is
/// chance that no tool and no text knows beforehand, so the text can't close it.
pub(crate) fn fence(action: &ActionId) -> String {
    BlobHash::of(action.0.as_bytes()).to_string()[..FENCE_DIGITS].to_owned()
}

/// The name of the fence around what the harness keeps of strangers' words: made of the run's id and
/// of its last action, of which no text knows both.
pub(crate) fn fence_of(run: &Run) -> String {
    let last = run
        .conversation
        .items
        .iter()
        .rev()
        .find_map(|item| match item {
            Item::Result { action, .. } => Some(action.0.as_str()),
            _ => None,
        });
    let run_id = run.id.map(|id| id.to_string()).unwrap_or_default();
    let name = format!(
        "{run_id} {} {}",
        last.unwrap_or_default(),
        run.conversation.first
    );
    BlobHash::of(name.as_bytes()).to_string()[..FENCE_DIGITS].to_owned()
}

/// The instructions of skills whose place in the conversation is gone, as one message; `None`
/// where there are none.
fn skills(run: &Run, known: &Known<'_>) -> Option<String> {
    let mut text = String::new();
    for (_, body) in run.pinned_skills() {
        text.push_str("\n\n");
        text.push_str(&(known.text)(body));
    }
    let forgotten: Vec<&str> = run
        .forgotten_skills()
        .map(|skill| skill.skill.as_str())
        .collect();
    if !forgotten.is_empty() {
        text.push_str("\n\nLoaded before and taken out, since there is no room: ");
        text.push_str(&forgotten.join(", "));
        text.push_str(". Load one again when you need it.");
    }
    let head = "[harness] The skills that you loaded, which still hold:";
    (!text.is_empty()).then(|| format!("{head}{text}"))
}
