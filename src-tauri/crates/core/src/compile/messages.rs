//! The conversation as messages that every format can send, whatever the log holds: every call has
//! exactly one result directly after it, no result stands without its call, and media that can't
//! be sent is a note. It is a view: the log stays as it is.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use longrein_protocol::block::{Block, Origin, Trust};
use longrein_protocol::media::{MEDIA_ITEMS_PER_REQUEST, MEDIA_REQUEST_BYTES};
use longrein_protocol::tool::wire_name;
use longrein_protocol::{ActionId, Body, Media};

use super::below::Below;
use super::bodies::class_name;
use super::{Known, Label};
use crate::dialect::{Attached, Dialect, Message, Said, Speaker};
use crate::run::{ActionResult, Item, Run, STAGE_CALL, Words};

/// What stands for the result of a call that has none.
const NO_RESULT: &str =
    "This call was not carried out: the run was stopped, or its turn ended, before that.";

/// Why media is left out of a request.
const TO_SAVE_ROOM: &str = "left out to save room";

/// Lays items of a run's conversation out as messages.
pub(super) struct Laying<'a> {
    run: &'a Run,
    dialect: &'a dyn Dialect,
    known: &'a Known<'a>,
    /// The media that the request has room for: the item's number, and the place within it.
    room: HashSet<(u32, usize)>,
}

/// What becomes of one item of media in a message of some speaker.
enum Way<'a> {
    /// It is sent there.
    Here(&'a Media),
    /// It follows in a message of the person.
    Below(&'a Media),
    /// It is not sent, for this reason.
    Note(&'static str),
}

/// The results of a step and what stood between and behind them.
#[derive(Default)]
struct Step<'a> {
    results: Vec<(u32, &'a ActionId, &'a str, &'a str, &'a ActionResult)>,
    others: Vec<(u32, &'a Item)>,
}

impl<'a> Laying<'a> {
    /// What a request has room for is told from the whole conversation, in its order, so that it
    /// is the same whether the request grows or is made anew.
    pub fn new(run: &'a Run, dialect: &'a dyn Dialect, known: &'a Known<'a>) -> Self {
        let (mut items_left, mut bytes_left) = (MEDIA_ITEMS_PER_REQUEST, MEDIA_REQUEST_BYTES);
        let mut room = HashSet::new();
        for (number, item) in run.conversation.numbered() {
            let speaker = match item {
                Item::Result { .. } => Speaker::Tool,
                _ => Speaker::Person,
            };
            let shown = run.conversation.shows_media(number, item);
            for (place, media) in item.media().iter().enumerate() {
                let (Way::Here(sent) | Way::Below(sent)) = way(run, dialect, media, speaker, shown)
                else {
                    continue;
                };
                let bytes = sent.body.len() as u64;
                if items_left > 0 && bytes <= bytes_left {
                    items_left -= 1;
                    bytes_left -= bytes;
                    room.insert((number, place));
                }
            }
        }
        Self {
            run,
            dialect,
            known,
            room,
        }
    }

    /// The messages of the items from number `from` on. What an earlier request held began and
    /// ended with whole steps.
    pub fn messages(&self, from: u32) -> Vec<(Message, Label)> {
        let items: Vec<(u32, &Item)> = self
            .run
            .conversation
            .numbered()
            .filter(|(number, _)| *number >= from)
            .collect();
        let mut messages = Vec::new();
        let mut rest = &items[..];
        while let Some(((_, first), _)) = rest.split_first() {
            let blocks = match first {
                Item::Assistant(blocks) => &blocks[..],
                _ => &[],
            };
            let own = usize::from(matches!(first, Item::Assistant(_)));
            let end = rest
                .iter()
                .skip(own)
                .position(|(_, item)| matches!(item, Item::Assistant(_)))
                .map_or(rest.len(), |place| place + own);
            let step = step_of(&rest[own..end]);
            self.step(blocks, step, &mut messages);
            rest = &rest[end..];
        }
        messages
    }

    fn step(&self, blocks: &[Block], step: Step<'_>, messages: &mut Vec<(Message, Label)>) {
        let said = self.said(blocks);
        let calls: Vec<(String, String)> = said.iter().filter_map(call_of).collect();
        if !said.is_empty() {
            let said = Message::Assistant { blocks: said };
            messages.push((said, Label::said(self.run)));
        }
        let mut results: HashMap<&str, VecDeque<_>> = HashMap::new();
        for (number, action, call, tool, result) in step.results {
            let waiting = results.entry(call).or_default();
            waiting.push_back((number, action, tool, result));
        }
        let mut below = Below::default();
        for ((id, name), own) in calls.into_iter().zip(own_ids(blocks)) {
            let found = results.get_mut(own).and_then(VecDeque::pop_front);
            messages.push(match found {
                Some((number, action, _, result)) => {
                    let label = Label::result(result);
                    let call = (id, name);
                    (self.result(number, action, call, result, &mut below), label)
                }
                None => {
                    let none = Message::Result {
                        call: id,
                        name,
                        text: NO_RESULT.to_owned(),
                        media: Vec::new(),
                        failed: true,
                    };
                    (none, Label::harness())
                }
            });
        }
        messages.extend(below.message());
        // In the order in which they came: what belongs to no call here, and what stands beside.
        let mut late: Vec<(u32, Message, Label)> = Vec::new();
        for (call, results) in results {
            for (number, action, tool, result) in results {
                let text = self.result_text(action, result, &[]);
                let how = match call.starts_with(STAGE_CALL) {
                    true => "The helpers of the stage report".to_owned(),
                    false => format!("{tool} returned, for a call that is no longer here"),
                };
                let message = Message::user(format!("[harness] {how}:\n{text}"));
                late.push((number, message, Label::result(result)));
            }
        }
        for (number, item) in step.others {
            let label = match item {
                Item::Person(_) => Label::person(),
                _ => Label::harness(),
            };
            late.push((number, self.words(number, item), label));
        }
        late.sort_by_key(|(number, ..)| *number);
        let late = late.into_iter();
        messages.extend(late.map(|(_, message, label)| (message, label)));
    }

    fn said(&self, blocks: &[Block]) -> Vec<Said> {
        // Reasoning that led to nothing (the reply was cut, or what followed had no words) can't
        // go back: providers refuse it without what belongs to it.
        let led = blocks
            .iter()
            .rposition(|block| !matches!(block, Block::Thinking { .. }))
            .map_or(0, |last| last + 1);
        let blocks = &blocks[..led];
        let mut ids: HashMap<&str, u32> = HashMap::new();
        let text = |body: &Body| (self.known.text)(body);
        blocks
            .iter()
            .map(|block| match block {
                Block::Text { text: words, raw } => Said::Text {
                    text: text(words),
                    raw: raw.as_ref().map(text),
                },
                Block::Thinking { text: words, raw } => Said::Thinking {
                    text: text(words),
                    raw: raw.as_ref().map(text),
                },
                Block::ToolUse {
                    id,
                    name,
                    arguments,
                    raw,
                } => {
                    let times = ids.entry(id).or_default();
                    *times += 1;
                    // Two calls of one id can't be told apart; the provider's own form has it too.
                    let (id, raw) = match *times {
                        1 => (id.clone(), raw.as_ref().map(text)),
                        times => (format!("{id}_{times}"), None),
                    };
                    Said::ToolUse {
                        id,
                        name: name.clone(),
                        arguments: text(arguments),
                        raw,
                    }
                }
            })
            .collect()
    }

    fn result(
        &self,
        number: u32,
        action: &ActionId,
        (call, name): (String, String),
        result: &ActionResult,
        below: &mut Below,
    ) -> Message {
        let shown = self.shows(number, &result.media);
        let mut media = Vec::new();
        let mut notes = Vec::new();
        for (place, item) in result.media.iter().enumerate() {
            let place = (number, place);
            match way(self.run, self.dialect, item, Speaker::Tool, shown) {
                Way::Here(sent) => match self.attached(place, sent) {
                    Ok(attached) => media.push(attached),
                    Err(why) => notes.push(self.note(item, why)),
                },
                Way::Below(sent) => {
                    let words = item.in_words();
                    notes.push(format!("[{words}: shown after the results]"));
                    below.label(Label::result(result));
                    match self.attached(place, sent) {
                        Ok(attached) => below.add(attached, format!("{words}, of {name} ({call})")),
                        Err(why) => below.say(self.note(item, why)),
                    }
                }
                Way::Note(why) => notes.push(self.note(item, why)),
            }
        }
        Message::Result {
            text: self.result_text(action, result, &notes),
            call,
            name,
            media,
            failed: result.error.is_some(),
        }
    }

    fn words(&self, number: u32, item: &Item) -> Message {
        match item {
            Item::Person(words) => self.person(words, Some(number)),
            Item::Notice(body) => Message::user(format!("[harness] {}", (self.known.text)(body))),
            // Both are parts of a step, and never among what stands beside one.
            Item::Assistant(_) | Item::Result { .. } => Message::user(String::new()),
        }
    }

    /// A person's words; what they gave with them is noted where they are no item any more.
    pub fn person(&self, words: &Words, number: Option<u32>) -> Message {
        let mut text = (self.known.text)(&words.body);
        let mut media = Vec::new();
        for (place, item) in words.media.iter().enumerate() {
            let way = way(
                self.run,
                self.dialect,
                item,
                Speaker::Person,
                number.is_some(),
            );
            let attached = match (way, number) {
                (Way::Here(sent) | Way::Below(sent), Some(number)) => {
                    self.attached((number, place), sent)
                }
                (Way::Note(why), _) => Err(why),
                (_, None) => Err(TO_SAVE_ROOM),
            };
            match attached {
                Ok(attached) => media.push(attached),
                Err(why) => {
                    text.push('\n');
                    text.push_str(&self.note(item, why));
                }
            }
        }
        Message::User { text, media }
    }

    fn shows(&self, number: u32, media: &[Media]) -> bool {
        let conversation = &self.run.conversation;
        let offset = number.saturating_sub(conversation.first) as usize;
        let item = conversation.items.get(offset);
        !media.is_empty() && item.is_some_and(|item| conversation.shows_media(number, item))
    }

    /// The bytes of an item, as far as the request has room for them.
    fn attached(&self, place: (u32, usize), media: &Media) -> Result<Attached, &'static str> {
        if !self.room.contains(&place) {
            return Err("one request holds no more");
        }
        let base64 = (self.known.base64)(media).ok_or("its bytes can't be read")?;
        Ok(Attached {
            kind: media.kind,
            media_type: media.media_type.clone(),
            name: media.name.clone(),
            base64,
            tokens: media.tokens(),
        })
    }

    /// The line that says what was there, with the text that stands for it.
    fn note(&self, media: &Media, why: &str) -> String {
        let words = media.in_words();
        match media.text.as_ref().filter(|_| why != TO_SAVE_ROOM) {
            Some(text) => format!(
                "[{words}: not shown, {why}; its text follows]\n{}",
                (self.known.text)(text)
            ),
            None => format!("[{words}: not shown, {why}]"),
        }
    }

    fn result_text(&self, action: &ActionId, result: &ActionResult, notes: &[String]) -> String {
        let mut text = (self.known.text)(&result.body);
        for note in notes {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(note);
        }
        let error = result
            .error
            .map(|class| format!("error: {}\n", class_name(class)))
            .unwrap_or_default();
        let (Trust::Untrusted, Origin::Tool { tool, place }) = (result.trust, &result.origin)
        else {
            return format!("{error}{text}");
        };
        let place = place
            .as_deref()
            .map(|place| format!(" at=\"{}\"", place.replace(['"', '\n', '<', '>'], " ")))
            .unwrap_or_default();
        let fence = super::fence(action);
        format!(
            "{error}<untrusted id=\"{fence}\" from=\"{tool}\"{place}>\n{text}\n</untrusted id=\"{fence}\">"
        )
    }
}

/// What the model's facts, the format and what was refused say of an item.
fn way<'m>(
    run: &'m Run,
    dialect: &dyn Dialect,
    media: &'m Media,
    speaker: Speaker,
    shown: bool,
) -> Way<'m> {
    if !shown {
        return Way::Note(TO_SAVE_ROOM);
    }
    let sent = match run.reduced.get(&media.hash()) {
        Some(None) => return Way::Note("since this model refused it"),
        Some(Some(copy)) => copy,
        None => media,
    };
    let takes = run.created.as_ref().map(|created| created.takes);
    let carries = |speaker| dialect.carries(speaker, sent.kind, &sent.media_type);
    if takes.is_some_and(|takes| takes.refuses(sent.kind)) {
        return Way::Note("since this model takes none");
    }
    if carries(speaker) {
        return Way::Here(sent);
    }
    match carries(Speaker::Person) {
        true => Way::Below(sent),
        false => Way::Note("since this provider's format takes none"),
    }
}

/// Who speaks the last message of the items before number `end`; `None` where there are none.
pub(super) fn last_speaker(run: &Run, dialect: &dyn Dialect, end: u32) -> Option<Speaker> {
    let before: Vec<(u32, &Item)> = run
        .conversation
        .numbered()
        .take_while(|(number, _)| *number < end)
        .collect();
    let said = before
        .iter()
        .rposition(|(_, item)| matches!(item, Item::Assistant(_)));
    let step = step_of(&before[said.map_or(0, |place| place + 1)..]);
    if !step.others.is_empty() {
        return Some(Speaker::Person);
    }
    let Some(Item::Assistant(blocks)) = said.map(|place| before[place].1) else {
        return (!step.results.is_empty()).then_some(Speaker::Person);
    };
    let goes_below = step.results.iter().any(|(number, .., result)| {
        let shown = *number
            >= run
                .conversation
                .media_before
                .max(run.conversation.pruned_before);
        result.media.iter().any(|media| {
            let way = way(run, dialect, media, Speaker::Tool, shown);
            matches!(way, Way::Below(_))
        })
    });
    let calls = own_ids(blocks).count();
    Some(match (calls, goes_below || step.results.len() > calls) {
        (_, true) => Speaker::Person,
        (0, false) => Speaker::Model,
        (_, false) => Speaker::Tool,
    })
}

fn step_of<'a>(items: &[(u32, &'a Item)]) -> Step<'a> {
    let mut step = Step::default();
    for (number, item) in items {
        match item {
            Item::Result {
                action,
                call,
                tool,
                result,
            } => step.results.push((*number, action, call, tool, result)),
            other => step.others.push((*number, other)),
        }
    }
    step
}

fn own_ids(blocks: &[Block]) -> impl Iterator<Item = &str> {
    blocks.iter().filter_map(|block| match block {
        Block::ToolUse { id, .. } => Some(id.as_str()),
        Block::Text { .. } | Block::Thinking { .. } => None,
    })
}

fn call_of(said: &Said) -> Option<(String, String)> {
    match said {
        Said::ToolUse { id, name, .. } => Some((id.clone(), wire_name(name))),
        Said::Text { .. } | Said::Thinking { .. } => None,
    }
}

/// Base64 of an item's bytes, looked up.
pub type Base64<'a> = dyn Fn(&Media) -> Option<Arc<str>> + 'a;
