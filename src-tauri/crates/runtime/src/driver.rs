//! The loop of one run: ask the core what is owed, do it, make what happened durable.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use longrein_core::run::{ActionStage, Illegal, Next, Phase, Run, WaitsFor};
use longrein_protocol::body::NewBlob;
use longrein_protocol::event::Payload;
use longrein_protocol::source::CriterionResult;
use longrein_protocol::wish::Wish;
use longrein_protocol::{ActionId, Event, RunId};
use longrein_store::log::{Append, Fence, Log, LogError, RunAppend};
use tokio::sync::{mpsc, watch};

use crate::asking::{Questions, Word};
use crate::children::Children;
use crate::links::Links;
use crate::mask;
use crate::outcome::{self, Facts};
use crate::ports::{CancellationToken, Chance, Clock, Model, RunContext};
use crate::programs::Callers;
use crate::wire::{Sealed, Wire};
use crate::world::{ToolBox, World};

mod opening;
mod waker;

pub use waker::Waker;

/// Messages that may wait for one driver.
const MAILBOX_MESSAGES: usize = 1_024;
/// Facts in a row that follow from the log alone; more means that the core is stuck.
const FACTS_WITHOUT_EFFECT: u32 = 10_000;
/// How long a cancelled effect may take to end before it is left behind.
pub(crate) const CANCEL_GRACE: Duration = Duration::from_millis(900);

/// What the driver needs besides a run.
#[derive(Clone)]
pub struct Ports {
    /// Where facts become durable.
    pub log: Arc<dyn Log>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Chance.
    pub chance: Arc<dyn Chance>,
    /// Models, tools, verifier.
    pub world: Arc<dyn World>,
}

/// Why a driver ended before its run stopped. Nothing that was committed is lost.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// The log refuses.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The core made an event that its own check refuses: a fault of Longrein.
    #[error("a fault in Longrein: {0}")]
    Illegal(#[from] Illegal),
    /// The core goes round without an effect: a fault of Longrein.
    #[error("a fault in Longrein: run {0} owes facts without end")]
    Stuck(String),
}

/// What reaches a driver while it waits.
#[derive(Debug)]
pub(crate) enum Message {
    /// A request ended.
    Model(Box<crate::effects::ModelEnd>),
    /// An action ended.
    Tool(Box<crate::effects::ToolEnd>),
    /// The criteria were checked.
    Checked(Vec<CriterionResult>),
    /// The check of the criteria asks a model.
    Judge(Box<crate::checking::JudgeAsk>),
    /// That model answered, or did not.
    Judged(Box<crate::checking::JudgeEnd>),
    /// The model that sums up the older part answered, or did not.
    SummedUp(Box<crate::effects::ModelEnd>),
    /// A status tool answered, or did not.
    Queried(Box<crate::recovery::QueryEnd>),
    /// A child's driver came to rest.
    Child(Box<crate::children::ChildRest>),
    /// A server asks the person something, or does not any more.
    Word(Word),
    /// The parent was cancelled, and so is this run.
    CancelRun,
    /// What a running action, or what one left behind, came to.
    Told(Box<crate::telling::Told>),
    /// A program calls a tool.
    Called(Box<crate::programs::Called>),
    /// A program may have been stuck for a while.
    Stuck(crate::programs::Stuck),
    /// Somebody may have put a wish into the inbox.
    Wake,
}

/// Whether this adds facts and does nothing outside: the core may not owe such things without end.
fn follows_from_log(next: &Next) -> bool {
    !matches!(
        next,
        Next::Spawn(_)
            | Next::Query(_)
            | Next::Request { .. }
            | Next::Start(_)
            | Next::Summarise { .. }
            | Next::Verify { .. }
            | Next::Wait(_)
    )
}

/// What the opening of tools is not waited for where it can be left.
fn ends_or_pauses(wish: &Wish) -> bool {
    matches!(wish, Wish::Cancel | Wish::Pause)
}

/// The driver of one run.
pub struct Driver {
    pub(crate) ports: Ports,
    pub(crate) run: Run,
    pub(crate) fence: Fence,
    pub(crate) pause_wanted: bool,
    /// Rows of the inbox that ask for the pause that is wanted.
    pub(crate) pauses: Vec<i64>,
    pub(crate) taken: Vec<i64>,
    /// The run, before its first event too.
    own: RunId,
    events: Vec<Event>,
    /// First events of children, which become durable with this run's next ones.
    pub(crate) others: Vec<RunAppend>,
    /// Children whose drivers go, and those that stand still.
    pub(crate) children: Children,
    pub(crate) blobs: Vec<NewBlob>,
    sender: mpsc::Sender<Message>,
    mailbox: mpsc::Receiver<Message>,
    /// What came while the tools were opened.
    put_off: VecDeque<Message>,
    pub(crate) wire: Option<Wire>,
    pub(crate) sealed: Option<Sealed>,
    pub(crate) model: Option<Arc<dyn Model>>,
    /// Opened when this driver first needs them.
    pub(crate) tools: Option<Arc<ToolBox>>,
    /// Actions that were decided since the last commit: nothing can have changed since.
    pub(crate) fresh: HashSet<ActionId>,
    /// Addresses that the run has met, once they are needed.
    pub(crate) links: Option<Links>,
    pub(crate) in_flight: HashMap<String, CancellationToken>,
    pub(crate) context: Option<Arc<RunContext>>,
    /// What servers ask the person.
    pub(crate) questions: Questions,
    /// Up to which change files were looked at, where they were found as they are recorded.
    pub(crate) files_seen: Option<u32>,
    /// Cancelled when this driver is let go.
    pub(crate) let_go: CancellationToken,
    pub(crate) callers: Callers,
    /// Whether the run waits for a person, and a program with it.
    pub(crate) held: watch::Sender<bool>,
}

impl Driver {
    /// A driver for a run in this state, which may be a new one without events.
    pub fn new(ports: Ports, fence: Fence, run: Run) -> Self {
        let own = run.id.unwrap_or(fence.tree);
        Self::of(ports, fence, own, run)
    }

    /// A driver for a run of the tree that may be a new one.
    pub(crate) fn of(ports: Ports, fence: Fence, own: RunId, run: Run) -> Self {
        let (sender, mailbox) = mpsc::channel(MAILBOX_MESSAGES);
        Self {
            ports,
            run,
            fence,
            pause_wanted: false,
            pauses: Vec::new(),
            taken: Vec::new(),
            own,
            events: Vec::new(),
            others: Vec::new(),
            children: Children::default(),
            blobs: Vec::new(),
            sender,
            mailbox,
            put_off: VecDeque::new(),
            wire: None,
            sealed: None,
            model: None,
            tools: None,
            fresh: HashSet::new(),
            links: None,
            in_flight: HashMap::new(),
            context: None,
            questions: Questions::default(),
            files_seen: None,
            let_go: CancellationToken::new(),
            callers: Callers::default(),
            held: watch::Sender::new(false),
        }
    }

    /// The state of the run, as far as it is decided.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Wakes this driver.
    pub fn waker(&self) -> Waker {
        Waker(self.sender.clone())
    }

    pub(crate) async fn next_message(&mut self) -> Option<Message> {
        match self.put_off.pop_front() {
            Some(message) => Some(message),
            None => self.mailbox.recv().await,
        }
    }

    pub(crate) fn sender(&self) -> mpsc::Sender<Message> {
        self.sender.clone()
    }

    /// Checks and folds an event; it becomes durable with the next commit.
    ///
    /// # Errors
    /// [`DriveError::Illegal`] when the state does not allow it.
    pub fn record(&mut self, payload: impl Into<Payload>) -> Result<(), DriveError> {
        let payload = mask::payload(&self.ports.world.masker(), payload.into());
        let event = Event {
            run: self.own,
            seq: self.run.seq + 1,
            at: self.ports.clock.now(),
            payload,
        };
        self.run.check(&event)?;
        if crate::effects::is_in_context(&event.payload) {
            self.context = None;
        }
        self.run.apply(&event);
        self.events.push(event);
        Ok(())
    }

    /// Keeps a blob for the next commit.
    pub fn keep(&mut self, blob: Option<NewBlob>) {
        self.blobs.extend(blob);
    }

    pub(crate) fn record_facts(&mut self, facts: Facts) -> Result<(), DriveError> {
        self.blobs.extend(facts.blobs);
        facts
            .payloads
            .into_iter()
            .try_for_each(|payload| self.record(payload))
    }

    /// Makes everything recorded so far durable. Nothing leaves the process before this returns.
    ///
    /// # Errors
    /// [`DriveError::Log`]; the driver must then be dropped.
    pub async fn commit(&mut self) -> Result<(), DriveError> {
        self.fresh.clear();
        if self.events.is_empty() && self.taken.is_empty() {
            return self.tell_callers().await;
        }
        let mut runs: Vec<RunAppend> = self.take_events().into_iter().collect();
        runs.append(&mut self.others);
        let append = Append {
            fence: self.fence,
            runs,
            blobs: std::mem::take(&mut self.blobs),
            taken: std::mem::take(&mut self.taken),
        };
        self.ports.log.append(append).await?;
        self.questions.hand_out();
        self.tell_callers().await
    }

    /// What was recorded and is not durable yet.
    pub(crate) fn take_events(&mut self) -> Option<RunAppend> {
        let events = std::mem::take(&mut self.events);
        let run = events.first()?.run;
        let line = self.run.line();
        Some(RunAppend { run, events, line })
    }

    /// Drives the run until it stops or waits for a person with nothing in flight and
    /// `wait_for_person` is off.
    ///
    /// # Errors
    /// [`DriveError`]; what was committed stays, and another driver can take the run up.
    pub async fn drive(&mut self, wait_for_person: bool) -> Result<(), DriveError> {
        loop {
            let driven = self.drive_to_stop(wait_for_person).await;
            self.end_effects().await;
            driven?;
            // What a person wished while the effects ended is obeyed as well.
            if !self.has_unread().await? {
                return Ok(());
            }
        }
    }

    async fn drive_to_stop(&mut self, wait_for_person: bool) -> Result<(), DriveError> {
        let mut idle_facts = 0;
        self.own_up_to_lost()?;
        self.read_inbox().await?;
        self.take_up_children().await?;
        loop {
            while let Some(message) = self.message_at_hand() {
                self.receive(message).await?;
            }
            idle_facts += 1;
            if idle_facts > FACTS_WITHOUT_EFFECT {
                return Err(DriveError::Stuck(self.fence.tree.to_string()));
            }
            if self.owes_snapshot() {
                self.take_snapshot().await?;
                continue;
            }
            let next = self.run.next(self.ports.clock.now());
            self.hold_programs(&next);
            let needs_tools = matches!(
                next,
                Next::Propose(_)
                    | Next::Start(_)
                    | Next::Query(_)
                    | Next::Verify { .. }
                    | Next::Request { .. }
            );
            // What a person wished before a request is obeyed before it, however late the wake is.
            let asks_model = matches!(next, Next::Request { .. } | Next::Summarise { .. });
            let pauses = asks_model && self.pause_wanted;
            if needs_tools && self.tools.is_none() && !pauses {
                self.reveal(ends_or_pauses).await?;
                continue;
            }
            if asks_model && self.read_inbox().await? {
                continue;
            }
            if !follows_from_log(&next) {
                idle_facts = 0;
            }
            if self.obeys(next, wait_for_person).await? {
                return self.commit().await;
            }
        }
    }

    /// Does what is owed; says whether the run stops there.
    async fn obeys(&mut self, next: Next, wait_for_person: bool) -> Result<bool, DriveError> {
        match next {
            Next::Append(payloads) => payloads
                .into_iter()
                .try_for_each(|payload| self.record(payload))?,
            Next::Reveal if self.pause_wanted => self.pause()?,
            Next::Reveal => self.reveal(ends_or_pauses).await?,
            Next::Propose(call) => self.propose(call).await?,
            Next::Decide(action) => self.decide(&action).await?,
            Next::Ask(action) => self.ask(&action).await?,
            Next::Switch { to, why } => self.switch(to, why)?,
            Next::Spawn(action) => self.spawn_children(&action).await?,
            Next::Question(action) => self.question(&action).await?,
            Next::Query(action) if self.is_asked(&action) => {
                self.commit().await?;
                self.wait(WaitsFor::Actions).await?;
            }
            Next::Query(action) => self.query(&action).await?,
            Next::Request { .. } | Next::Summarise { .. } if self.pause_wanted => self.pause()?,
            Next::Summarise { before } => self.summarise(before).await?,
            Next::Request { attempt } => self.request(attempt).await?,
            Next::Reduce(media) => self.reduce(media).await?,
            Next::Offload(results) => self.offload(results).await?,
            Next::Start(actions) => self.start(&actions).await?,
            Next::Verify { attempt } => self.verify(attempt).await?,
            Next::Wait(WaitsFor::Person) if !wait_for_person => return Ok(true),
            // Nothing is under way that a pause would have to wait for.
            Next::Wait(WaitsFor::Retry(_)) if self.pause_wanted && self.in_flight.is_empty() => {
                self.pause()?;
            }
            Next::Wait(waits_for) => {
                self.commit().await?;
                self.wait(waits_for).await?;
            }
            Next::Stopped => {
                self.pause_no_longer();
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What came already, in its order.
    fn message_at_hand(&mut self) -> Option<Message> {
        let put_off = self.put_off.pop_front();
        put_off.or_else(|| self.mailbox.try_recv().ok())
    }

    async fn wait(&mut self, waits_for: WaitsFor) -> Result<(), DriveError> {
        let message = match waits_for {
            WaitsFor::Retry(at) => {
                let left = u64::try_from(at - self.ports.clock.now()).unwrap_or(0);
                let clock = self.ports.clock.clone();
                tokio::select! {
                    biased;
                    message = self.next_message() => message,
                    () = clock.sleep(Duration::from_millis(left)) => None,
                }
            }
            _ => self.next_message().await,
        };
        match message {
            Some(message) => self.receive(message).await,
            None => Ok(()),
        }
    }

    async fn receive(&mut self, message: Message) -> Result<(), DriveError> {
        match message {
            Message::Wake => {
                self.wake_children().await?;
                self.read_inbox().await.map(|_| ())
            }
            Message::Child(rest) => self.child_rests(*rest).await,
            Message::CancelRun => self.cancelled_from_above().await,
            Message::Model(end) => self.model_ended(*end),
            Message::Tool(end) => self.tool_ended(*end),
            Message::Word(word) => self.word(word),
            Message::Checked(results) => self.checked(results),
            Message::Judge(ask) => self.judge(*ask).await,
            Message::Judged(end) => self.judged(*end).await,
            Message::SummedUp(end) => self.summed_up(*end),
            Message::Queried(end) => self.queried(*end),
            Message::Told(told) => self.told(*told).await,
            Message::Called(called) => self.called(*called).await,
            Message::Stuck(stuck) => self.stuck(&stuck),
        }
    }

    fn tool_ended(&mut self, end: crate::effects::ToolEnd) -> Result<(), DriveError> {
        self.in_flight.remove(&end.action.0);
        let Some(action) = self.run.action(&end.action) else {
            return Ok(());
        };
        if action.stage != ActionStage::Started || self.run.phase == Phase::Cancelled {
            return Ok(());
        }
        let Some(spec) = self.run.tool(&action.tool).cloned() else {
            return Ok(());
        };
        let action = action.clone();
        self.withdraw_questions(Some(&end.action), "The action ended without an answer.")?;
        if let Some(why) = self.left_undone(&action, end.result.as_ref().err()) {
            return self.record(why);
        }
        match end.result {
            Ok(mut output) => {
                mask::output(&self.ports.world.masker(), &mut output);
                let facts =
                    outcome::of_output(&self.run, &spec, &end.action, output, end.latency_ms);
                self.meet_links(&spec, &action, &facts);
                self.record_facts(facts)?;
                self.compensated(&action)
            }
            Err(mut error) => {
                mask::tool_error(&self.ports.world.masker(), &mut error);
                self.record(outcome::of_tool_error(
                    &spec,
                    &end.action,
                    error,
                    end.latency_ms,
                ))
            }
        }
    }
}
