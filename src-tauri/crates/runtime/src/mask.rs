//! Known secrets are masked before an event exists: whatever says them, they reach no log.
//!
//! A secret is replaced by as many asterisks as it has bytes, so that ranges into a text stay true.
//! What is kept as a blob is masked where it comes in, since its hash is taken then; what stands in
//! an event itself is looked through once more when the event is recorded.

use std::sync::{Arc, Mutex, PoisonError};

use longrein_keys::{MaskStream, Masker};
use longrein_protocol::event::Payload;
use longrein_protocol::source::{Claim, PlanItem, SourceMeta};
use serde_json::Value;

use crate::ports::{
    Captured, Fact, LiveAction, LiveText, ModelError, ModelReply, NewArtifact, NewMedia, Part,
    ReplyBlock, ToolError, ToolOutput,
};

/// Masks a reply. Where it said a secret, its words are kept alone: a raw form is signed or stands
/// beside one that is, so a provider would refuse it changed, and one without the other. What
/// remains is sent as after a switch of model.
pub(crate) fn reply(masker: &Masker, reply: &mut ModelReply) {
    if masker.is_empty() {
        return;
    }
    masker.text(&mut reply.response_id);
    let mut found = false;
    for block in &mut reply.blocks {
        found |= reply_block(masker, block);
    }
    if found {
        reply.blocks.retain_mut(without_raw);
    }
}

/// Masks a block; true when there was a secret in it.
fn reply_block(masker: &Masker, block: &mut ReplyBlock) -> bool {
    let (found, raw) = match block {
        ReplyBlock::Text { text, raw } | ReplyBlock::Thinking { text, raw } => {
            (masker.text(text), raw)
        }
        ReplyBlock::ToolUse {
            id,
            name,
            arguments,
            raw,
        } => {
            let mut found = false;
            for words in [id, name, arguments] {
                found |= masker.text(words);
            }
            (found, raw)
        }
    };
    found | raw.as_mut().is_some_and(|raw| masker.text(raw))
}

/// Takes the raw form out; false when nothing is left of the block.
fn without_raw(block: &mut ReplyBlock) -> bool {
    match block {
        ReplyBlock::Text { raw, .. } | ReplyBlock::ToolUse { raw, .. } => {
            *raw = None;
            true
        }
        ReplyBlock::Thinking { text, raw } => {
            *raw = None;
            !text.is_empty()
        }
    }
}

/// Masks a failure of a model.
pub(crate) fn model_error(masker: &Masker, error: &mut ModelError) {
    masker.text(&mut error.message);
    masker.text(&mut error.remedy);
}

/// Masks a failure of a tool.
pub(crate) fn tool_error(masker: &Masker, error: &mut ToolError) {
    masker.text(&mut error.message);
}

/// Masks what an action returned.
pub(crate) fn output(masker: &Masker, output: &mut ToolOutput) {
    if masker.is_empty() {
        return;
    }
    masker.text(&mut output.outcome);
    for words in [&mut output.receipt, &mut output.place, &mut output.file]
        .into_iter()
        .flatten()
    {
        masker.text(words);
    }
    for part in &mut output.parts {
        match part {
            Part::Text(words) => {
                masker.text(words);
            }
            Part::Passage(captured) => passage(masker, captured),
            Part::Media(given) => media(masker, given),
        }
    }
    for fact in &mut output.facts {
        match fact {
            Fact::Plan(items) => items.iter_mut().for_each(|item| plan_item(masker, item)),
            Fact::Pin(text) => {
                masker.text(text);
            }
            Fact::Unpin(_) => {}
            Fact::Artifact(made) => artifact(masker, made),
        }
    }
}

fn passage(masker: &Masker, captured: &mut Captured) {
    meta(masker, &mut captured.meta);
    shared_text(masker, &mut captured.text);
    shared_bytes(masker, &mut captured.bytes);
}

fn media(masker: &Masker, media: &mut NewMedia) {
    masker.text(&mut media.name);
    if let Some(text) = &mut media.text {
        shared_text(masker, text);
    }
    shared_bytes(masker, &mut media.bytes);
}

fn shared_text(masker: &Masker, text: &mut Arc<str>) {
    if masker.finds(text.as_bytes()) {
        let mut words = text.to_string();
        masker.text(&mut words);
        *text = words.into();
    }
}

fn shared_bytes(masker: &Masker, bytes: &mut Arc<[u8]>) {
    if masker.finds(bytes) {
        let mut masked = bytes.to_vec();
        masker.bytes(&mut masked);
        *bytes = masked.into();
    }
}

fn meta(masker: &Masker, meta: &mut SourceMeta) {
    let SourceMeta {
        title,
        authors,
        date,
        url,
        file,
        media_type,
        private: _,
        pdf: _,
    } = meta;
    let words = [title, media_type].into_iter().chain(authors);
    let words = words.chain([date, url, file].into_iter().flatten());
    words.for_each(|words| {
        masker.text(words);
    });
}

fn plan_item(masker: &Masker, item: &mut PlanItem) {
    masker.text(&mut item.text);
    if let Some(evidence) = &mut item.evidence {
        masker.text(evidence);
    }
}

fn artifact(masker: &Masker, artifact: &mut NewArtifact) {
    let NewArtifact {
        path,
        title,
        media_type,
        original,
        rendered,
        rendered_path,
        ledger,
    } = artifact;
    for words in [path, title, media_type, rendered_path] {
        masker.text(words);
    }
    masker.bytes(original);
    masker.bytes(rendered);
    ledger.iter_mut().for_each(|line| claim(masker, line));
}

fn claim(masker: &Masker, claim: &mut Claim) {
    masker.text(&mut claim.sentence);
    masker.text(&mut claim.source);
    for words in [&mut claim.quote, &mut claim.difference]
        .into_iter()
        .flatten()
    {
        masker.text(words);
    }
}

/// Looks through what stands in an event itself. A request's own fragments are left alone: what
/// they are made of has been masked, and what was sent must be what the log rebuilds.
pub(crate) fn payload(masker: &Masker, payload: Payload) -> Payload {
    if masker.is_empty() || matches!(payload, Payload::ContextCompiled(_)) {
        return payload;
    }
    let Ok(mut value) = serde_json::to_value(&payload) else {
        // What can't be written can't reach the log either.
        return payload;
    };
    if !values(masker, &mut value) {
        return payload;
    }
    // A secret that is a word of the log's own format is none there.
    serde_json::from_value(value).unwrap_or(payload)
}

pub(crate) fn values(masker: &Masker, value: &mut Value) -> bool {
    match value {
        Value::String(text) => masker.text(text),
        Value::Array(list) => list
            .iter_mut()
            .fold(false, |found, value| values(masker, value) | found),
        Value::Object(fields) => fields
            .values_mut()
            .fold(false, |found, value| values(masker, value) | found),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// A screen that is shown no secret, wherever the pieces of the text were cut.
pub(crate) fn live(masker: &Masker, live: Arc<dyn LiveText>) -> Arc<dyn LiveText> {
    if masker.is_empty() {
        return live;
    }
    Arc::new(MaskedLive {
        live,
        text: Mutex::new(masker.stream()),
        thinking: Mutex::new(masker.stream()),
    })
}

struct MaskedLive {
    live: Arc<dyn LiveText>,
    text: Mutex<MaskStream>,
    thinking: Mutex<MaskStream>,
}

/// What may be shown after one more piece. What may yet become a secret is held back; the committed
/// response shows it in the end.
fn shown(stream: &Mutex<MaskStream>, more: &str) -> String {
    let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
    stream.push_text(more)
}

impl LiveText for MaskedLive {
    fn text(&self, more: &str) {
        let more = shown(&self.text, more);
        if !more.is_empty() {
            self.live.text(&more);
        }
    }

    fn thinking(&self, more: &str) {
        let more = shown(&self.thinking, more);
        if !more.is_empty() {
            self.live.thinking(&more);
        }
    }
}

/// The same for what a running action shows.
pub(crate) fn live_action(masker: &Masker, live: Arc<dyn LiveAction>) -> Arc<dyn LiveAction> {
    if masker.is_empty() {
        return live;
    }
    Arc::new(MaskedAction {
        live,
        output: Mutex::new(masker.stream()),
        masker: masker.clone(),
    })
}

struct MaskedAction {
    live: Arc<dyn LiveAction>,
    output: Mutex<MaskStream>,
    masker: Masker,
}

impl LiveAction for MaskedAction {
    fn output(&self, more: &str) {
        let more = shown(&self.output, more);
        if !more.is_empty() {
            self.live.output(&more);
        }
    }

    fn doing(&self, words: &str) {
        let mut words = words.to_owned();
        self.masker.text(&mut words);
        self.live.doing(&words);
    }
}
