//! What the state of a run is made of.

use std::collections::VecDeque;

use longrein_protocol::agent::Decision;
use longrein_protocol::block::{Block, ModelErrorClass, Origin, Trust};
use longrein_protocol::event::{Fragment, HandoffReason, ModelFailed, Outcome, Within};
use longrein_protocol::gate::{ActionFacts, Actor};
use longrein_protocol::question::ServerQuestion;
use longrein_protocol::tool::{Effect, Repeat};
use longrein_protocol::{ActionId, BlobHash, Body, Media, Millis, ToolErrorClass};

use super::Files;

/// What a run is doing, as its log says.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Phase {
    /// No turn was opened yet.
    #[default]
    Created,
    /// It works, or waits for what it asked for.
    Going,
    /// A person paused it.
    Paused,
    /// It stopped by rule.
    HandedOff {
        /// The rule.
        reason: HandoffReason,
        /// What happened.
        message: String,
        /// What the person can do.
        remedy: String,
    },
    /// It came to its end.
    Finished(Outcome),
    /// A person ended it.
    Cancelled,
}

/// How far the request of the current step is.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Request {
    /// None is open.
    #[default]
    None,
    /// Put together, not sent.
    Compiled,
    /// Sent.
    InFlight {
        /// Counted from 1.
        attempt: u32,
    },
    /// It was in flight when its process ended.
    Lost,
    /// It failed.
    Failed {
        /// How often it was sent.
        attempt: u32,
        /// What went wrong.
        class: ModelErrorClass,
        /// When it failed.
        failed_at: Millis,
        /// When it is sent again.
        retry_at: Option<Millis>,
        /// What happened.
        message: String,
        /// What the person can do.
        remedy: String,
    },
}

/// What became of the attempts of one request, counted from when it was put together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Patience {
    /// How often it failed by itself.
    pub failures: u32,
    /// How often it was to come back later: the provider named the time, or it was never sent.
    pub put_off: u32,
    /// How long it has waited in all, as the waits were planned, in milliseconds.
    pub waited_ms: u64,
}

impl Patience {
    /// Takes in one more failure.
    pub(super) fn tried(&mut self, at: Millis, failed: &ModelFailed) {
        if failed.unsent || failed.asked {
            self.put_off = self.put_off.saturating_add(1);
        } else {
            self.failures = self.failures.saturating_add(1);
        }
        let wait = failed.retry_at.map_or(0, |until| until.saturating_sub(at));
        let wait = u64::try_from(wait).unwrap_or(0);
        self.waited_ms = self.waited_ms.saturating_add(wait);
    }
}

/// A wait before something is tried again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pause {
    /// When it began.
    pub since: Millis,
    /// When it ends.
    pub until: Millis,
}

impl Pause {
    /// Whether it is over. It is when the clock stands before its beginning: the clock was set
    /// back, nobody knows how much of it is left, and it was a short one.
    pub fn is_over(self, now: Millis) -> bool {
        now >= self.until || now < self.since
    }
}

/// How far an action is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ActionStage {
    /// Not decided.
    Proposed,
    /// The gate says that a person has to be asked.
    ToAsk,
    /// A person is asked whether it may start.
    Asked,
    /// A person is asked the question that it is.
    Questioned,
    /// It may start.
    Allowed,
    /// It runs.
    Started,
    /// It was started, and what became of it is not known yet.
    Lost,
    /// It may or may not have happened.
    Uncertain,
    /// It ended, in whatever way.
    Closed,
}

/// One action of the current step.
#[derive(Clone, PartialEq, Debug)]
pub struct Action {
    /// Its id.
    pub id: ActionId,
    /// The provider's id of the call.
    pub call: String,
    /// The tool's inner name.
    pub tool: String,
    /// The arguments.
    pub arguments: Body,
    /// What it may do.
    pub effect: Effect,
    /// Whether it may be started again.
    pub repeat: Repeat,
    /// How far it is.
    pub stage: ActionStage,
    /// How often it was started.
    pub attempt: u32,
    /// What the gate said.
    pub decision: Option<Decision>,
    /// Why a person has to be asked, or why nobody knows what became of it.
    pub why: String,
    /// Who asked for it.
    pub by: Actor,
    /// The action that it takes back.
    pub undoes: Option<ActionId>,
    /// Which call of which program it is.
    pub within: Option<Box<Within>>,
    /// The hash of the arguments as a program wrote them, whatever a person made of them.
    pub called: Option<BlobHash>,
    /// What the last decision rests on.
    pub facts: ActionFacts,
    /// What the person was shown.
    pub shown: Option<BlobHash>,
    /// What a person's approval rests on. It holds for nothing else.
    pub approved: Option<BlobHash>,
    /// When it was first started.
    pub started_at: Millis,
    /// The life of the box's agent that its command was last given to.
    pub life: Option<String>,
    /// How often it was begun anew, since what it had begun was gone.
    pub lives: u32,
    /// Whether its command was let reach something over the network.
    pub reached: bool,
    /// What the workspace held before it was first started, where it may be begun anew on that.
    pub files: Option<Box<Files>>,
    /// How often its status tool could not say what became of it.
    pub queries: u32,
    /// The wait before the status tool is asked again.
    pub query_at: Option<Pause>,
    /// What servers ask the person while it runs.
    pub questions: Vec<OpenQuestion>,
    /// How many questions of servers it has brought, those that were refused included.
    pub asked: u32,
    /// How it ended.
    pub result: Option<ActionResult>,
}

/// A server's question that a person has not answered.
#[derive(Clone, PartialEq, Debug)]
pub struct OpenQuestion {
    /// Who asks, and for what.
    pub question: ServerQuestion,
    /// Since when.
    pub since: Millis,
}

impl Action {
    /// An action that was just asked for by the model, of a tool that only reads.
    pub fn new(id: &ActionId, call: &str, tool: &str, arguments: &Body) -> Self {
        Self {
            id: id.clone(),
            call: call.to_owned(),
            tool: tool.to_owned(),
            arguments: arguments.clone(),
            effect: Effect::Read,
            repeat: Repeat::Repeatable,
            stage: ActionStage::Proposed,
            attempt: 0,
            decision: None,
            why: String::new(),
            by: Actor::Model,
            undoes: None,
            within: None,
            called: None,
            facts: ActionFacts::default(),
            shown: None,
            approved: None,
            started_at: 0,
            life: None,
            lives: 0,
            reached: false,
            files: None,
            queries: 0,
            query_at: None,
            questions: Vec::new(),
            asked: 0,
            result: None,
        }
    }

    /// Whether it runs, and no server asks the person for it.
    pub(super) fn runs(&self) -> bool {
        self.stage == ActionStage::Started && self.questions.is_empty()
    }

    /// The question of a server that a person can answer: the call in which it was asked is still
    /// there.
    pub fn open_question(&self, number: u32) -> Option<&OpenQuestion> {
        let mut questions = self.questions.iter();
        let open = questions.find(|open| open.question.number == number);
        open.filter(|_| self.stage == ActionStage::Started)
    }
}

/// How an action ended, as the model is shown it.
#[derive(Clone, PartialEq, Debug)]
pub struct ActionResult {
    /// The text.
    pub body: Body,
    /// All of the text, where `body` is a part of it.
    pub whole: Option<Body>,
    /// The file beneath the workspace in which the tool left more than the text holds.
    pub file: Option<String>,
    /// What it returned beside text.
    pub media: Vec<Media>,
    /// The class of the error.
    pub error: Option<ToolErrorClass>,
    /// Where the text comes from.
    pub origin: Origin,
    /// Whether it may be believed.
    pub trust: Trust,
    /// How long it took.
    pub latency_ms: u32,
}

/// What a person said, with what they gave.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Words {
    /// The words.
    pub body: Body,
    /// What they gave with them.
    pub media: Vec<Media>,
}

/// One item of the conversation.
#[derive(Clone, PartialEq, Debug)]
pub enum Item {
    /// The person's words.
    Person(Words),
    /// What the model said.
    Assistant(Vec<Block>),
    /// What an action returned.
    Result {
        /// The action.
        action: ActionId,
        /// The provider's id of the call.
        call: String,
        /// The tool's inner name.
        tool: String,
        /// What it returned.
        result: ActionResult,
    },
    /// What the harness told the model.
    Notice(Body),
}

impl Item {
    /// The bytes that it will need in a request, about.
    pub fn bytes(&self) -> usize {
        const ENVELOPE: usize = 60;
        ENVELOPE
            + match self {
                Self::Person(words) => words.body.len() + media_weight(&words.media),
                Self::Notice(body) => body.len(),
                Self::Result { result, .. } => result.body.len() + media_weight(&result.media),
                Self::Assistant(blocks) => blocks.iter().map(block_bytes).sum(),
            }
    }

    /// What it shows beside text.
    pub fn media(&self) -> &[Media] {
        match self {
            Self::Person(words) => &words.media,
            Self::Result { result, .. } => &result.media,
            Self::Assistant(_) | Self::Notice(_) => &[],
        }
    }
}

/// Bytes of text that weigh as much as media: what a model counts for it, not its base64.
pub fn media_weight(media: &[Media]) -> usize {
    media
        .iter()
        .map(|media| media.tokens() as usize * BYTES_PER_TOKEN)
        .sum()
}

/// What a fragment of a request weighs, in bytes of text.
pub fn fragment_weight(fragment: &Fragment) -> u32 {
    let text = (fragment.body.len() as u32).saturating_sub(fragment.media_bytes);
    let media = fragment.media_tokens.saturating_mul(BYTES_PER_TOKEN as u32);
    text.saturating_add(media)
}

/// Bytes of text that are taken for one token before anything is known of a model.
pub const BYTES_PER_TOKEN: usize = 4;

/// Bytes of a note that stands for media.
const NOTE_BYTES: usize = 80;

fn block_bytes(block: &Block) -> usize {
    match block {
        Block::Text { text, .. } | Block::Thinking { text, .. } => text.len(),
        Block::ToolUse {
            name, arguments, ..
        } => name.len() + arguments.len() + 60,
    }
}

/// The conversation since the last compaction.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Conversation {
    /// Items of the whole run are counted from 0; this is the number of the first in `items`.
    pub first: u32,
    /// In order.
    pub items: VecDeque<Item>,
    /// The person's words from before `first`, which are never dropped.
    pub kept: Vec<Words>,
    /// Results before this item are shown as one line.
    pub pruned_before: u32,
    /// Media of results before this item is shown as a note.
    pub media_before: u32,
    /// Bytes of `items` and `kept`, about; media by what a model counts for it.
    pub bytes: usize,
}

impl Conversation {
    /// The number that the next item will have.
    pub fn end(&self) -> u32 {
        self.first + self.items.len() as u32
    }

    /// The items with their numbers.
    pub fn numbered(&self) -> impl Iterator<Item = (u32, &Item)> {
        (self.first..).zip(&self.items)
    }

    /// Whether the media of an item is shown, and not only noted.
    pub fn shows_media(&self, number: u32, item: &Item) -> bool {
        !matches!(item, Item::Result { .. }) || number >= self.media_before.max(self.pruned_before)
    }

    /// The media that requests show.
    pub fn shown_media(&self) -> impl Iterator<Item = (u32, &Media)> {
        self.numbered()
            .filter(|(number, item)| self.shows_media(*number, item))
            .flat_map(|(number, item)| item.media().iter().map(move |media| (number, media)))
    }

    /// Counts its bytes anew; `pinned` are those of what is laid before it.
    pub(super) fn weigh(&mut self, pinned: usize) {
        let items = self.numbered().map(|(number, item)| {
            let noted = !self.shows_media(number, item);
            match noted {
                true => item.bytes() - media_weight(item.media()) + item.media().len() * NOTE_BYTES,
                false => item.bytes(),
            }
        });
        let kept = self.kept.iter();
        let kept = kept.map(|words| words.body.len() + words.media.len() * NOTE_BYTES);
        self.bytes = items.sum::<usize>() + kept.sum::<usize>() + pinned;
    }
}

/// A call in a response that is no action yet.
#[derive(Clone, PartialEq, Debug)]
pub struct PendingCall {
    /// The provider's id of the call.
    pub call: String,
    /// The tool's name on the wire.
    pub name: String,
    /// The arguments as they were written.
    pub arguments: Body,
    /// Who calls: the model, or the harness where a stage says so.
    pub by: Actor,
}

/// What has been used.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Used {
    /// Steps.
    pub steps: u32,
    /// Input tokens, settled and in reserve.
    pub tokens_in: u32,
    /// Output tokens, settled and in reserve.
    pub tokens_out: u32,
    /// Actions started.
    pub actions: u32,
    /// Working time.
    pub working_ms: u32,
    /// Millionths of a dollar, settled and in reserve; 0 where the price is not known.
    pub money_micro: u64,
}

/// What a request in flight holds in reserve, or what was never settled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reserve {
    /// Input tokens.
    pub tokens_in: u32,
    /// Output tokens.
    pub tokens_out: u32,
    /// Millionths of a dollar.
    pub money_micro: u64,
}

/// Where a person's acceptance stands.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Acceptance {
    /// Nobody was asked.
    #[default]
    None,
    /// A person is asked this.
    Asked(String),
}

/// A repetition that the model or the person has to be told of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoopOwed {
    /// The tools of the cycle.
    pub tools: String,
    /// How often it came.
    pub times: u32,
    /// Whether it is over the limit.
    pub over: bool,
}

/// A delivered file.
#[derive(Clone, PartialEq, Debug)]
pub struct Artifact {
    /// The path beneath the workspace.
    pub path: String,
    /// Its media type.
    pub media_type: String,
    /// The file as the model wrote it.
    pub original: Body,
}

/// A command that an action left running beside the steps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    /// Its name: `J1`.
    pub name: String,
    /// The action that left it running, and its command's id in the box.
    pub action: ActionId,
    /// What it is for.
    pub intent: String,
    /// How it ended; `None` while nothing is known of its end.
    pub outcome: Option<String>,
}
