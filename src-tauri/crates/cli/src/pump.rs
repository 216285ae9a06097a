//! What happens to a run, read in a task of its own so that nothing is lost while the command
//! looks elsewhere.

use longrein_app::{Followed, Follower, Longrein, ViewFeed};
use longrein_core::run::{ActionStage, Run};
use longrein_protocol::view::{LiveRow, Row, RunHead, RunState, ViewUpdate};
use longrein_protocol::{Effect, Event, Repeat, RunId};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::failure::Failure;

/// Things seen that may wait for the command; the pump then waits with the next.
const SEEN_WAITING: usize = 64;

/// One thing that was seen, and how the run stands after it.
#[derive(Debug)]
pub struct Seen {
    /// What it is.
    pub what: What,
    /// How the run stands.
    pub standing: Standing,
}

/// What was seen.
#[derive(Debug)]
pub enum What {
    /// A committed event.
    Event(Box<Event>),
    /// Rows that are new or changed.
    Rows {
        /// In order.
        rows: Vec<Row>,
        /// The panel, when it changed.
        head: Option<Box<RunHead>>,
        /// Whether this is all there was when the watch began.
        is_snapshot: bool,
    },
    /// The model is writing: so many letters so far.
    Writing(usize),
    /// What running actions show of themselves.
    Acting(Vec<LiveRow>),
    /// The log can't be read any further.
    Problem(String),
}

/// How a run stands, as far as it was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standing {
    /// The last event.
    pub seq: u32,
    /// What the run does.
    pub state: RunState,
    /// Whether something runs that can't simply be done again.
    pub acts: bool,
    /// Whether it has children that have not ended.
    pub delegates: bool,
}

impl Standing {
    fn of(run: &Run) -> Self {
        let once = |effect, repeat: Repeat| effect != Effect::Read && !repeat.is_safe();
        let acts = run.actions.iter().any(|action| {
            action.stage == ActionStage::Started && once(action.effect, action.repeat)
        });
        Self {
            seq: run.seq,
            state: run.standing().0,
            acts,
            delegates: run.open_children().next().is_some(),
        }
    }
}

/// Reads a run until it is dropped.
#[derive(Debug)]
pub struct Pump {
    seen: mpsc::Receiver<Result<Seen, Failure>>,
    task: JoinHandle<()>,
}

impl Pump {
    /// Begins to read a run as events, from the first.
    ///
    /// # Errors
    /// When the store can't be watched.
    pub fn events(app: &Longrein, run: RunId) -> Result<Self, Failure> {
        let follower = app.follow(run, 1)?;
        let (sender, seen) = mpsc::channel(SEEN_WAITING);
        let task = tokio::spawn(pump_events(follower, sender));
        Ok(Self { seen, task })
    }

    /// Begins to read a run as rows.
    ///
    /// # Errors
    /// When the store can't be watched.
    pub fn rows(app: &Longrein, run: RunId) -> Result<Self, Failure> {
        let feed = app.feed(run)?;
        let (sender, seen) = mpsc::channel(SEEN_WAITING);
        let task = tokio::spawn(pump_rows(feed, sender));
        Ok(Self { seen, task })
    }

    /// The next thing; `None` when there will be none. Cancel-safe.
    pub async fn next(&mut self) -> Option<Result<Seen, Failure>> {
        self.seen.recv().await
    }

    /// Whether everything that was read has been taken.
    pub fn is_taken(&self) -> bool {
        self.seen.is_empty()
    }
}

impl Drop for Pump {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn pump_events(mut follower: Follower, sender: mpsc::Sender<Result<Seen, Failure>>) {
    let mut run = Run::default();
    loop {
        let what = match follower.next().await {
            Ok(Followed::Event(event)) => {
                run.apply(&event);
                What::Event(event)
            }
            Ok(Followed::Provisional(_) | Followed::Acting(_)) => continue,
            Ok(Followed::Damaged(damage)) => {
                What::Problem(format!("Event {} is damaged: {}.", damage.seq, damage.what))
            }
            Err(error) => {
                // Who has gone has no use for it.
                let _ = sender.send(Err(error.into())).await;
                return;
            }
        };
        let is_last = matches!(what, What::Problem(_));
        let standing = Standing::of(&run);
        if sender.send(Ok(Seen { what, standing })).await.is_err() || is_last {
            return;
        }
    }
}

async fn pump_rows(mut feed: ViewFeed, sender: mpsc::Sender<Result<Seen, Failure>>) {
    loop {
        let what = match feed.next().await {
            Ok(ViewUpdate::Snapshot { view }) => What::Rows {
                rows: view.rows,
                head: Some(Box::new(view.head)),
                is_snapshot: true,
            },
            Ok(ViewUpdate::Change { change }) => What::Rows {
                rows: change.rows,
                head: change.head.map(Box::new),
                is_snapshot: false,
            },
            Ok(ViewUpdate::Provisional { text, thinking }) => {
                What::Writing(text.chars().count() + thinking.chars().count())
            }
            Ok(ViewUpdate::Acting { actions }) => What::Acting(actions),
            Ok(ViewUpdate::Problem { message }) => What::Problem(message),
            Err(error) => {
                // Who has gone has no use for it.
                let _ = sender.send(Err(error.into())).await;
                return;
            }
        };
        let is_last = matches!(what, What::Problem(_));
        let standing = Standing::of(feed.view().run());
        if sender.send(Ok(Seen { what, standing })).await.is_err() || is_last {
            return;
        }
    }
}
