//! Following a run from any process: committed events in order, and the provisional text of runs
//! that are driven here.

use std::collections::VecDeque;

use longrein_protocol::{Event, Payload, RunId};
use longrein_store::{Changes, Damage, Log as _, Store};
use tokio::sync::watch;

use crate::Longrein;
use crate::error::AppError;
use crate::live::{Acting, Provisional};

/// Events that are read at once.
const PAGE_EVENTS: u32 = 256;

/// What a follower sees.
#[derive(Clone, Debug)]
pub enum Followed {
    /// A committed event.
    Event(Box<Event>),
    /// Text that is not committed yet.
    Provisional(Provisional),
    /// What running actions show of themselves.
    Acting(Acting),
    /// The log can't be read any further.
    Damaged(Damage),
}

/// Follows one run.
pub struct Follower {
    store: Store,
    run: RunId,
    next_seq: u32,
    read: VecDeque<Event>,
    changes: Changes,
    live: watch::Receiver<Provisional>,
    /// Whether the provisional text has changed and was not told yet.
    live_changed: bool,
    acting: watch::Receiver<Acting>,
    /// Whether what actions show has changed and was not told yet.
    acting_changed: bool,
    /// Whether the last request that was read has no response yet, as far as was read.
    streams: bool,
}

impl Longrein {
    /// Follows a run from an event on, counted from 1.
    ///
    /// # Errors
    /// When the store can't be watched.
    pub fn follow(&self, run: RunId, from: u32) -> Result<Follower, AppError> {
        let mut live = self.inner.live.follow(run);
        // Who comes in the middle of an answer sees what it has so far.
        if *live.borrow() != Provisional::default() {
            live.mark_changed();
        }
        let mut acting = self.inner.live.follow_actions(run);
        if !acting.borrow().is_empty() {
            acting.mark_changed();
        }
        Ok(Follower {
            store: self.inner.store.clone(),
            run,
            next_seq: from.max(1),
            read: VecDeque::new(),
            changes: self.inner.store.watch()?,
            live,
            live_changed: false,
            acting,
            acting_changed: false,
            streams: true,
        })
    }
}

impl Follower {
    /// What is committed and not seen yet, without waiting.
    ///
    /// # Errors
    /// What reading gives.
    pub async fn ready(&mut self) -> Result<Option<Followed>, AppError> {
        if let Some(event) = self.read.pop_front() {
            return Ok(Some(self.committed(event)));
        }
        let reading = self
            .store
            .read(self.run, self.next_seq, PAGE_EVENTS)
            .await?;
        self.next_seq += reading.events.len() as u32;
        self.read.extend(reading.events);
        match (self.read.pop_front(), reading.damage) {
            (Some(event), _) => Ok(Some(self.committed(event))),
            (None, Some(damage)) => Ok(Some(Followed::Damaged(damage))),
            (None, None) => Ok(None),
        }
    }

    /// A response takes the place of its provisional text, which is not told after it.
    fn committed(&mut self, event: Event) -> Followed {
        match event.payload {
            Payload::ModelRequested(_) => self.streams = true,
            Payload::ModelResponded(_) | Payload::ModelFailed(_) => self.streams = false,
            _ => {}
        }
        Followed::Event(Box::new(event))
    }

    /// The next thing that happens. Cancel-safe.
    ///
    /// # Errors
    /// What reading gives.
    pub async fn next(&mut self) -> Result<Followed, AppError> {
        loop {
            if let Some(followed) = self.ready().await? {
                return Ok(followed);
            }
            // What was committed by the time that the text changed has been read by now.
            if std::mem::take(&mut self.live_changed) && self.streams {
                return Ok(Followed::Provisional(self.live.borrow().clone()));
            }
            if std::mem::take(&mut self.acting_changed) {
                return Ok(Followed::Acting(self.acting.borrow().clone()));
            }
            let live_is_open = self.live.has_changed().is_ok();
            let acting_is_open = self.acting.has_changed().is_ok();
            tokio::select! {
                changed = self.changes.changed() => changed?,
                changed = self.live.changed(), if live_is_open => {
                    self.live_changed = changed.is_ok();
                }
                changed = self.acting.changed(), if acting_is_open => {
                    self.acting_changed = changed.is_ok();
                }
            }
        }
    }
}
