//! What is known of one key: who waits, how fast it may be used, and whether its provider works.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::Why;

/// The distance between two requests after the first rate limit.
const FIRST_STEP: Duration = Duration::from_millis(200);
/// The longest distance between two requests.
const LONGEST_STEP: Duration = Duration::from_secs(10);
/// A distance below this is none.
const SHORTEST_STEP: Duration = Duration::from_millis(5);
/// What an answer leaves of the distance.
const FASTER: f64 = 0.97;
/// How far above the distance that was refused the pace stays.
const MARGIN: f64 = 1.25;
/// After so long without a refusal the distance that was refused is tried once more.
const FORGET: Duration = Duration::from_secs(60);
/// How long everybody waits when a rate limit names no time.
const DEFAULT_REST: Duration = Duration::from_secs(1);
/// The longest rest that one answer imposes on everybody; what it asks for beyond that is for the
/// run that was refused.
const LONGEST_REST: Duration = Duration::from_secs(60);
/// The longest rest that is waited for in silence.
const SILENT_REST: Duration = Duration::from_secs(2);
/// Failures in a row after which the provider is left alone.
pub(super) const FAILURES: u32 = 5;
/// How long it is left alone at first; doubled each time, up to [`LONGEST_REST`].
pub(super) const FIRST_BREAK: Duration = Duration::from_secs(5);
/// How often that is doubled.
const DOUBLINGS: u32 = 4;
/// The shortest time after which a request comes back that found others before it.
const SHORTEST_RETURN: Duration = Duration::from_secs(1);
/// The most requests that wait in here; more come back later.
const WAITING_LIMIT: usize = 1_024;

/// A request that was not let through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Hold {
    pub why: Why,
    /// When to come back.
    pub after: Duration,
}

/// A place in the queue: since when it waits, and a number that no other place has.
pub(super) struct Place {
    key: (Instant, u64),
    /// Rings when there may be something new.
    pub bell: Arc<Notify>,
}

impl Place {
    pub fn number(&self) -> u64 {
        self.key.1
    }
}

/// What a look at the state says to one who waits.
pub(super) enum Look {
    /// It is its turn.
    Go,
    /// Everybody rests longer than is waited for here.
    Rests(Hold),
    /// It is the first, and goes at this time.
    At(Instant),
    /// Others are before it.
    Behind,
}

pub(super) struct State {
    /// Who waits; who has waited longest comes first.
    waiting: BTreeMap<(Instant, u64), Arc<Notify>>,
    numbers: u64,
    /// Nobody sends before.
    not_before: Instant,
    /// Why that is later than the step says, if it is.
    why: Why,
    /// The distance between two requests.
    step: Duration,
    /// The last distance that was too short, and when that was found.
    too_fast: Option<(Duration, Instant)>,
    failures: u32,
    breaks: u32,
    /// The request that finds out whether a provider that failed works again.
    trial: Option<u64>,
}

impl State {
    pub fn new(now: Instant) -> Self {
        Self {
            waiting: BTreeMap::new(),
            numbers: 0,
            not_before: now,
            why: Why::Queue,
            step: Duration::ZERO,
            too_fast: None,
            failures: 0,
            breaks: 0,
            trial: None,
        }
    }

    /// Gives a place to one who waits since `since`.
    pub fn enter(&mut self, since: Instant) -> Result<Place, Hold> {
        if self.waiting.len() >= WAITING_LIMIT {
            return Err(Hold {
                why: Why::Queue,
                after: SHORTEST_RETURN,
            });
        }
        self.numbers += 1;
        let place = Place {
            key: (since, self.numbers),
            bell: Arc::default(),
        };
        self.waiting.insert(place.key, place.bell.clone());
        Ok(place)
    }

    /// Somebody goes away without a turn.
    pub fn leave(&mut self, place: &Place) {
        self.waiting.remove(&place.key);
        self.ring_first();
    }

    pub fn look(&mut self, place: &Place, now: Instant) -> Look {
        let rest = self.not_before.saturating_duration_since(now);
        if self.why != Why::Queue && rest > SILENT_REST {
            return Look::Rests(Hold {
                why: self.why,
                after: rest,
            });
        }
        let first = self.waiting.first_key_value().map(|(key, _)| *key);
        if first != Some(place.key) || self.trial.is_some() {
            return Look::Behind;
        }
        if !rest.is_zero() {
            return Look::At(self.not_before);
        }
        self.waiting.remove(&place.key);
        self.not_before = now + self.step;
        if self.failures >= FAILURES {
            self.trial = Some(place.number());
        } else {
            self.why = Why::Queue;
        }
        self.ring_first();
        Look::Go
    }

    /// What one is told who has waited long enough.
    pub fn busy(&self, place: &Place, now: Instant) -> Hold {
        let before = self.waiting.range(..place.key).count();
        let before = u32::try_from(before).unwrap_or(u32::MAX);
        let why = match self.trial {
            Some(_) => Why::Tried,
            None => Why::Queue,
        };
        let rest = self.not_before.saturating_duration_since(now);
        let after = rest.saturating_add(self.step.saturating_mul(before));
        Hold {
            why,
            after: after.clamp(SHORTEST_RETURN, LONGEST_REST),
        }
    }

    /// A request was answered as it should be.
    pub fn succeeded(&mut self, now: Instant) {
        self.answered();
        let mut step = self.step.mul_f64(FASTER);
        match self.too_fast {
            Some((_, at)) if now.saturating_duration_since(at) > FORGET => self.too_fast = None,
            Some((refused, _)) => step = step.max(refused.mul_f64(MARGIN)).min(self.step),
            None => {}
        }
        self.step = if step < SHORTEST_STEP {
            Duration::ZERO
        } else {
            step
        };
    }

    /// Somebody answers, so that the provider works.
    pub fn answered(&mut self) {
        (self.failures, self.breaks) = (0, 0);
        if matches!(self.why, Why::Failing(_)) {
            self.why = Why::Queue;
        }
        self.ring_first();
    }

    /// A rate limit was met by a request that was sent at `sent_at`. What was sent before the last
    /// one was met says nothing new of the distance.
    pub fn limited(&mut self, now: Instant, sent_at: Instant, asked: Option<Duration>) {
        self.answered();
        let rest = asked.unwrap_or(DEFAULT_REST).min(LONGEST_REST);
        self.rest_until(now + rest, Why::Limited);
        if self.too_fast.is_none_or(|(_, at)| sent_at >= at) {
            self.too_fast = Some((self.step, now));
            self.step = (self.step * 2).clamp(FIRST_STEP, LONGEST_STEP);
        }
    }

    /// The provider is down, or can't be reached.
    pub fn failed(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        if self.failures < FAILURES {
            return;
        }
        // What was on its way when it was found out says nothing new.
        if matches!(self.why, Why::Failing(_)) && now < self.not_before {
            return;
        }
        let rest = FIRST_BREAK * 2u32.pow(self.breaks.min(DOUBLINGS));
        self.breaks = self.breaks.saturating_add(1);
        self.rest_until(now + rest.min(LONGEST_REST), Why::Failing(self.failures));
    }

    fn rest_until(&mut self, at: Instant, why: Why) {
        if at >= self.not_before {
            (self.not_before, self.why) = (at, why);
        }
        // Who waits in silence may have to be told.
        self.waiting.values().for_each(|bell| bell.notify_one());
    }

    /// A request with its turn is over, whatever became of it.
    pub fn ended(&mut self, number: u64) {
        if self.trial == Some(number) {
            self.trial = None;
            self.ring_first();
        }
    }

    fn ring_first(&self) {
        if let Some(bell) = self.waiting.values().next() {
            bell.notify_one();
        }
    }
}
