//! A run folded up to any of its events, without folding all of it each time: of each run that is
//! looked at, so many folded beginnings are kept at even distances, and the one looked at last.
//! They share the rows that are the same.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use longrein_core::view::{self, View};
use longrein_protocol::{BlobHash, Body, Event, Payload, RunId};
use longrein_store::{Damage, Log as _, Store};

use crate::Longrein;
use crate::error::{AppError, AppErrorCode};

/// The most runs whose beginnings are kept; one more lets the one go that was looked at longest
/// ago.
const RUNS_KEPT: usize = 4;
/// The most beginnings that are kept of one run. When there would be more, every second one is
/// let go: of a run of 100,000 events, at most about 6,000 are folded anew for any point.
const BEGINNINGS_KEPT: usize = 32;
/// The least distance between two of them.
const EVENTS_BETWEEN: u32 = 512;
/// Events that are read at once, with the contents that their rows show.
const PAGE_EVENTS: u32 = 256;

/// A run after one of its events.
#[derive(Clone, Default)]
pub(crate) struct Then {
    /// Its rows, with the state behind them.
    pub view: View,
    /// The requests that were announced by then.
    pub asked: Asked,
}

/// The events that announced requests.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Asked {
    /// How many requests of steps there were; retries are not counted.
    pub number: u32,
    /// The event of the last one's first attempt; 0 before the first.
    pub last: u32,
    /// That of the one before it; 0 where there is none.
    pub before: u32,
    /// The last announcement of any request, also of a retry or one beside the steps.
    pub latest: u32,
}

impl Then {
    /// The event after which it is.
    pub fn seq(&self) -> u32 {
        self.view.run().seq
    }

    fn apply(&mut self, event: &Event, texts: &HashMap<BlobHash, Arc<[u8]>>) -> Vec<String> {
        let content = |body: &Body| match body {
            Body::Text(text) => text.clone(),
            Body::Blob { blob, .. } => match texts.get(blob) {
                Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                None => format!("[the content {blob} is missing or damaged]"),
            },
        };
        match &event.payload {
            Payload::ModelRequested(requested) => {
                self.asked.latest = event.seq;
                if requested.attempt == 1 {
                    self.asked.before = std::mem::replace(&mut self.asked.last, event.seq);
                    self.asked.number += 1;
                }
            }
            Payload::SideRequested(_) => self.asked.latest = event.seq,
            _ => {}
        }
        self.view.apply(event, &content)
    }
}

/// What is kept of the runs that were looked at.
#[derive(Default)]
pub(crate) struct Pasts(Mutex<VecDeque<(RunId, Arc<tokio::sync::Mutex<Past>>)>>);

impl Pasts {
    fn of(&self, run: RunId) -> Arc<tokio::sync::Mutex<Past>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.iter().position(|(known, _)| *known == run);
        let past = known.and_then(|place| kept.remove(place));
        let past = past.map(|(_, past)| past).unwrap_or_default();
        kept.push_back((run, past.clone()));
        if kept.len() > RUNS_KEPT {
            kept.pop_front();
        }
        past
    }

    /// Forgets runs that are deleted.
    pub fn forget(&self, runs: &[RunId]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(run, _)| !runs.contains(run));
    }
}

/// What is kept of one run.
struct Past {
    /// In order, at even distances.
    beginnings: Vec<Arc<Then>>,
    distance: u32,
    /// What was looked at last: the next point is mostly near it.
    last: Arc<Then>,
}

impl Default for Past {
    fn default() -> Self {
        Self {
            beginnings: Vec::new(),
            distance: EVENTS_BETWEEN,
            last: Arc::default(),
        }
    }
}

impl Past {
    /// The nearest that is kept at or before an event. What was looked at last is handed out and not
    /// kept meanwhile, so that to go on from it copies nothing.
    fn nearest(&mut self, seq: Option<u32>) -> Arc<Then> {
        let seq = seq.unwrap_or(u32::MAX);
        let kept = self.beginnings.iter().rev();
        let nearest = kept.clone().find(|then| then.seq() <= seq).cloned();
        let nearest = nearest.unwrap_or_default();
        if (nearest.seq()..=seq).contains(&self.last.seq()) {
            return std::mem::take(&mut self.last);
        }
        nearest
    }

    /// Keeps a beginning where there is none near it.
    fn keep(&mut self, then: &Then) {
        let newest = self.beginnings.last().map_or(0, |then| then.seq());
        if then.seq() < newest.saturating_add(self.distance) {
            return;
        }
        self.beginnings.push(Arc::new(then.clone()));
        if self.beginnings.len() > BEGINNINGS_KEPT {
            self.distance = self.distance.saturating_mul(2);
            let mut place = 0;
            // The second, the fourth and so on are those at the new distance.
            self.beginnings.retain(|_| {
                place += 1;
                place % 2 == 0
            });
        }
    }
}

impl Longrein {
    /// A run after an event; absent: after the last that can be read.
    pub(crate) async fn past(&self, run: RunId, seq: Option<u32>) -> Result<Arc<Then>, AppError> {
        let past = self.inner.pasts.of(run);
        let mut past = past.lock().await;
        let mut then = past.nearest(seq);
        let mut reading = Pages::new(&self.inner.store, run, then.seq() + 1);
        while seq.is_none_or(|seq| then.seq() < seq) {
            let Some(page) = reading.next().await? else {
                break;
            };
            let wanted = |event: &&Event| seq.is_none_or(|seq| event.seq <= seq);
            for event in page.events.iter().take_while(wanted) {
                let then = Arc::make_mut(&mut then);
                then.apply(event, &page.texts);
                past.keep(then);
            }
        }
        past.last = then.clone();
        match missing(run, seq, then.seq(), reading.damage.as_ref()) {
            Some(error) => Err(error),
            None => Ok(then),
        }
    }

    /// Goes on from a point, at most `limit` events; `visit` sees each with the run after it and
    /// the keys of the rows that it made or changed. Returns whether the log goes on behind that.
    pub(crate) async fn go_on(
        &self,
        run: RunId,
        then: &mut Then,
        limit: u32,
        mut visit: impl FnMut(&Event, &Then, &[String]),
    ) -> Result<bool, AppError> {
        let end = then.seq().saturating_add(limit);
        let mut reading = Pages::new(&self.inner.store, run, then.seq() + 1);
        while let Some(page) = reading.next().await? {
            for event in &page.events {
                if event.seq > end {
                    return Ok(true);
                }
                let keys = then.apply(event, &page.texts);
                visit(event, then, &keys);
            }
        }
        Ok(false)
    }

    /// The events of a run from one on, until `visit` has seen enough of them.
    pub(crate) async fn events_from(
        &self,
        run: RunId,
        from: u32,
        mut goes_on: impl FnMut(Event) -> bool,
    ) -> Result<(), AppError> {
        let mut from = from;
        loop {
            let reading = self.inner.store.read(run, from, PAGE_EVENTS).await?;
            let count = reading.events.len() as u32;
            for event in reading.events {
                if !goes_on(event) {
                    return Ok(());
                }
            }
            if count < PAGE_EVENTS {
                return Ok(());
            }
            from += count;
        }
    }
}

/// Why a run can't be shown at an event.
fn missing(run: RunId, seq: Option<u32>, last: u32, damage: Option<&Damage>) -> Option<AppError> {
    if let Some(damage) = damage.filter(|_| seq.is_some_and(|seq| last < seq) || last == 0) {
        return Some(AppError::new(
            AppErrorCode::Unreadable,
            format!(
                "Event {} of run {run} is damaged: {}.",
                damage.seq, damage.what
            ),
            "Choose an event before it. See what else is damaged with: longrein log check",
        ));
    }
    let seq = seq.filter(|seq| *seq == 0 || *seq > last)?;
    Some(AppError::usage(
        format!("Run {run} has no event {seq}: it has {last}."),
        "Choose an event that longrein show lists.",
    ))
}

/// A run's events, with the contents that their rows show.
struct Pages<'s> {
    store: &'s Store,
    run: RunId,
    from: u32,
    over: bool,
    damage: Option<Damage>,
}

struct Page {
    events: Vec<Event>,
    texts: HashMap<BlobHash, Arc<[u8]>>,
}

impl<'s> Pages<'s> {
    fn new(store: &'s Store, run: RunId, from: u32) -> Self {
        Self {
            store,
            run,
            from,
            over: false,
            damage: None,
        }
    }

    async fn next(&mut self) -> Result<Option<Page>, AppError> {
        if self.over {
            return Ok(None);
        }
        let reading = self.store.read(self.run, self.from, PAGE_EVENTS).await?;
        let events = reading.events;
        self.from += events.len() as u32;
        self.over = events.len() < PAGE_EVENTS as usize;
        self.damage = reading.damage;
        let bodies = events.iter().flat_map(view::bodies_needed);
        let mut hashes: Vec<BlobHash> = bodies
            .filter_map(|body| match body {
                Body::Blob { blob, .. } => Some(*blob),
                Body::Text(_) => None,
            })
            .collect();
        hashes.sort_unstable();
        hashes.dedup();
        let texts = match hashes.is_empty() {
            true => HashMap::new(),
            false => self.store.blobs(hashes).await?,
        };
        Ok(Some(Page { events, texts }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn then(seq: u32) -> Then {
        let event = Event {
            run: RunId::from_parts(1, 1),
            seq,
            at: 0,
            payload: longrein_protocol::event::RunPaused::default().into(),
        };
        let mut then = Then::default();
        then.apply(&event, &HashMap::new());
        then
    }

    #[test]
    fn beginnings_stay_at_even_distances_and_bounded_however_long_a_run_is() {
        let mut past = Past::default();
        for seq in 1..=100_000 {
            if seq % 64 == 0 {
                past.keep(&then(seq));
            }
        }
        let seqs: Vec<u32> = past.beginnings.iter().map(|then| then.seq()).collect();
        assert!(seqs.len() <= BEGINNINGS_KEPT, "{seqs:?}");
        let mut before = 0;
        for seq in &seqs {
            assert_eq!(seq - before, past.distance, "{seqs:?}");
            before = *seq;
        }
        assert!(100_000 - before <= past.distance, "{seqs:?}");
        assert_eq!(past.nearest(Some(before + 5)).seq(), before);
        assert_eq!(past.nearest(Some(5)).seq(), 0);
    }
}
