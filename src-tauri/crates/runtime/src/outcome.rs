//! From what came back to the events that say so.

use std::collections::HashMap;

use longrein_core::passage;
use longrein_core::run::Run;
use longrein_protocol::block::{Block, ModelErrorClass, Origin, Trust, Usage};
use longrein_protocol::body::NewBlob;
use longrein_protocol::event::{
    ActionFinished, ActionLost, ActionUncertain, ArtifactPublished, ModelFailed, ModelResponded,
    NotePinned, NoteUnpinned, Payload, PlanUpdated, SkillLoaded, SourceCaptured,
};
use longrein_protocol::media::MEDIA_ITEMS_PER_MESSAGE;
use longrein_protocol::source::Note;
use longrein_protocol::tool::Repeat;
use longrein_protocol::{ActionId, BlobHash, Body, Media, SourceId, ToolErrorClass, ToolSpec};

use crate::patience::Retry;
use crate::ports::{
    Captured, Fact, ModelError, ModelReply, NewArtifact, NewMedia, Part, ReplyBlock, ToolError,
    ToolOutput,
};

/// Events with the blobs that they refer to.
#[derive(Default)]
pub struct Facts {
    /// In order.
    pub payloads: Vec<Payload>,
    /// To be stored with them.
    pub blobs: Vec<NewBlob>,
}

impl Facts {
    fn body(&mut self, text: String) -> Body {
        let (body, blob) = Body::of(text);
        self.blobs.extend(blob);
        body
    }

    fn blob(&mut self, bytes: Vec<u8>) -> Body {
        let blob = NewBlob::of(bytes);
        let body = blob.body();
        self.blobs.push(blob);
        body
    }
}

/// A response as an event.
pub fn of_reply(run: &Run, reply: ModelReply, latency_ms: u32) -> Facts {
    let mut facts = Facts::default();
    let said: usize = reply.blocks.iter().map(reply_bytes).sum();
    let usage = reply.usage.unwrap_or_else(|| Usage {
        input: run.estimate(run.body_weight as usize),
        output: said.div_ceil(4) as u32,
        estimated: true,
        ..Usage::default()
    });
    let mut blocks = Vec::with_capacity(reply.blocks.len());
    for block in reply.blocks {
        blocks.push(match block {
            ReplyBlock::Text { text, raw } => Block::Text {
                text: facts.body(text),
                raw: raw.map(|raw| facts.body(raw)),
            },
            ReplyBlock::Thinking { text, raw } => Block::Thinking {
                text: facts.body(text),
                raw: raw.map(|raw| facts.body(raw)),
            },
            ReplyBlock::ToolUse {
                id,
                name,
                arguments,
                raw,
            } => Block::ToolUse {
                id,
                name,
                arguments: facts.body(arguments),
                raw: raw.map(|raw| facts.body(raw)),
            },
        });
    }
    let responded = ModelResponded {
        blocks,
        stop: reply.stop,
        usage,
        response_id: reply.response_id,
        latency_ms,
    };
    facts.payloads.push(responded.into());
    facts
}

fn reply_bytes(block: &ReplyBlock) -> usize {
    match block {
        ReplyBlock::Text { text, .. } | ReplyBlock::Thinking { text, .. } => text.len(),
        ReplyBlock::ToolUse {
            name, arguments, ..
        } => name.len() + arguments.len(),
    }
}

/// Whether a provider may have worked on a request that failed, and charge for it. One that
/// refuses a request, or was not reached, does not.
pub fn may_have_cost(error: &ModelError) -> bool {
    let broke_off = matches!(
        error.class,
        ModelErrorClass::Network | ModelErrorClass::Malformed
    );
    broke_off && !error.unreachable && !error.unsent
}

/// A failed request as an event.
pub(crate) fn of_model_error(error: ModelError, retry: Retry, latency_ms: u32) -> Payload {
    let cost_unknown = may_have_cost(&error);
    let ModelError {
        class,
        message,
        remedy,
        unsent,
        ..
    } = error;
    ModelFailed {
        cost_unknown,
        class,
        message,
        remedy,
        unsent,
        retry_at: retry.at,
        asked: retry.asked,
        back_at: retry.back_at,
        latency_ms,
    }
    .into()
}

/// The result of an action as events: sources and facts first, the end of the action last.
pub fn of_output(
    run: &Run,
    spec: &ToolSpec,
    action: &ActionId,
    output: ToolOutput,
    latency_ms: u32,
) -> Facts {
    let mut facts = Facts::default();
    let mut sources = SourceIds::of(run);
    let mut text = String::new();
    let mut media = Vec::new();
    for part in output.parts {
        match part {
            Part::Media(more) => text.push_str(&media_part(&mut facts, &mut media, *more)),
            Part::Text(more) => text.push_str(&more),
            Part::Passage(captured) => {
                passage_part(&mut facts, &mut sources, &mut text, action, &captured)
            }
        }
    }
    let mut notes = run.pins_made;
    for fact in output.facts {
        let payload = match fact {
            Fact::Plan(items) => PlanUpdated { items }.into(),
            Fact::Pin(text) => {
                notes += 1;
                pinned(notes, text)
            }
            Fact::Unpin(number) => NoteUnpinned { number }.into(),
            Fact::Artifact(artifact) => published(&mut facts, action, *artifact),
        };
        facts.payloads.push(payload);
    }
    if let Some(given) = output.skill.as_ref().filter(|given| given.instructions) {
        let loaded = SkillLoaded {
            action: action.clone(),
            skill: given.skill.clone(),
            hash: given.hash.clone(),
            place: given.place.clone(),
        };
        facts.payloads.push(loaded.into());
    }
    let own = Origin::Tool {
        tool: spec.name.clone(),
        place: output.place,
    };
    let (origin, trust) = match (output.skill, output.origin) {
        (Some(given), _) => (Origin::Skill { skill: given.skill }, trust(spec)),
        (None, Some(original)) => original,
        (None, None) => (own, trust(spec)),
    };
    let finished = ActionFinished {
        action: action.clone(),
        error: None,
        result: facts.body(text),
        shown: None,
        file: output.file,
        media,
        outcome: output.outcome,
        origin,
        trust,
        receipt: output.receipt,
        latency_ms,
    };
    facts.payloads.push(finished.into());
    facts
}

/// Keeps media as far as one message may bring it; what it may not is a line of the text.
fn media_part(facts: &mut Facts, kept: &mut Vec<Media>, media: NewMedia) -> String {
    if kept.len() >= MEDIA_ITEMS_PER_MESSAGE {
        return format!(
            "\n[{}: left out, since one result brings at most {MEDIA_ITEMS_PER_MESSAGE}]",
            media.in_words()
        );
    }
    kept.push(media.record(&mut facts.blobs));
    String::new()
}

fn pinned(number: u32, text: String) -> Payload {
    let note = Note { number, text };
    NotePinned { note }.into()
}

fn trust(spec: &ToolSpec) -> Trust {
    if spec.untrusted {
        Trust::Untrusted
    } else {
        Trust::Trusted
    }
}

/// The ids of a run's sources, by the hashes of their bytes and of the text that was read of them:
/// a page that is read in another way has other words at the same place.
struct SourceIds {
    known: HashMap<(BlobHash, BlobHash), SourceId>,
    next: u32,
}

impl SourceIds {
    fn of(run: &Run) -> Self {
        let known = run
            .sources
            .iter()
            .map(|source| ((source.bytes.hash(), source.text.hash()), source.id))
            .collect();
        Self {
            known,
            next: run.next_source(),
        }
    }

    /// The id of a version of a document, and whether it is new.
    fn id(&mut self, bytes: BlobHash, text: BlobHash) -> (SourceId, bool) {
        if let Some(id) = self.known.get(&(bytes, text)) {
            return (*id, false);
        }
        let id = SourceId(self.next);
        self.next += 1;
        self.known.insert((bytes, text), id);
        (id, true)
    }
}

fn passage_part(
    facts: &mut Facts,
    ids: &mut SourceIds,
    text: &mut String,
    action: &ActionId,
    captured: &Captured,
) {
    let hash = BlobHash::of(&captured.bytes);
    let extracted = BlobHash::of(captured.text.as_bytes());
    let (source, is_new) = ids.id(hash, extracted);
    let range = captured.range;
    let words = captured
        .text
        .get(range.start as usize..range.end as usize)
        .unwrap_or("");
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&passage::heading(source, &captured.meta, range));
    text.push('\n');
    text.push_str(words.trim());
    text.push_str("\n\n");
    let extracted = Body::Blob {
        blob: extracted,
        bytes: captured.text.len() as u32,
    };
    if is_new {
        facts.blob(captured.bytes.to_vec());
        facts.blob(captured.text.as_bytes().to_vec());
    }
    let event = SourceCaptured {
        source,
        action: action.clone(),
        meta: captured.meta.clone(),
        bytes: Body::Blob {
            blob: hash,
            bytes: captured.bytes.len() as u32,
        },
        text: extracted,
        range,
    };
    facts.payloads.push(event.into());
}

fn published(facts: &mut Facts, action: &ActionId, artifact: NewArtifact) -> Payload {
    ArtifactPublished {
        action: action.clone(),
        path: artifact.path,
        title: artifact.title,
        media_type: artifact.media_type,
        original: facts.blob(artifact.original),
        rendered: facts.blob(artifact.rendered),
        rendered_path: artifact.rendered_path,
        ledger: artifact.ledger,
    }
    .into()
}

/// A failed action as an event. Where nobody knows whether it happened, what the tool declares
/// says how it is found out; where it declares nothing, it is uncertain.
pub fn of_tool_error(
    spec: &ToolSpec,
    action: &ActionId,
    error: ToolError,
    latency_ms: u32,
) -> Payload {
    let safe = spec.effect == longrein_protocol::Effect::Read || spec.repeat == Repeat::Repeatable;
    if error.uncertain && !safe {
        let (action, why) = (action.clone(), error.message);
        return match spec.repeat {
            Repeat::Keyed | Repeat::Queryable => {
                let gone = false;
                ActionLost { action, why, gone }.into()
            }
            Repeat::Once | Repeat::Repeatable | Repeat::Reattach | Repeat::Replay => {
                ActionUncertain { action, why }.into()
            }
        };
    }
    let origin = Origin::Tool {
        tool: spec.name.clone(),
        place: None,
    };
    failure(
        action,
        error.class,
        error.message,
        origin,
        trust(spec),
        latency_ms,
    )
}

fn failure(
    action: &ActionId,
    class: ToolErrorClass,
    message: String,
    origin: Origin,
    trust: Trust,
    latency_ms: u32,
) -> Payload {
    let end = message.floor_char_boundary(longrein_protocol::body::INLINE_LIMIT_BYTES);
    ActionFinished {
        action: action.clone(),
        error: Some(class),
        result: Body::Text(message[..end].to_owned()),
        shown: None,
        file: None,
        media: Vec::new(),
        outcome: String::new(),
        origin,
        trust,
        receipt: None,
        latency_ms,
    }
    .into()
}
