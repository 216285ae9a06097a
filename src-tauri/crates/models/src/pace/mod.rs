//! One key's pace, shared by every run and child of this process: who may send, and when. A rate
//! limit that one of them meets slows all of them, and whoever has waited longest goes first. A
//! provider that fails again and again is left alone for a while; then one request is let through
//! to see whether it is over, and the others wait for what becomes of it.
//!
//! Nobody waits long in here: what takes longer than a moment is answered by an error that was
//! never sent, with the time to come back. The run records it, so that the wait is seen, can be
//! ended, and outlives the process. Who comes back keeps the place that it had.

mod state;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use longrein_core::dialect::Dialect;
use longrein_protocol::block::ModelErrorClass;
use longrein_runtime::ports::{CancellationToken, Model, ModelCall, ModelError, ModelReply};
use tokio::time::{Instant, sleep_until};

use state::{Hold, Look, Place, State};

/// How long a request waits for its turn in silence. After that the run says that it waits.
const QUEUE_WAIT: Duration = Duration::from_secs(10);

/// The pace of one key. All copies are one.
#[derive(Clone)]
pub struct Pace(Arc<Inner>);

struct Inner {
    /// The provider's name, for words.
    provider: String,
    state: Mutex<State>,
}

impl Pace {
    /// The pace of a key of this provider: without a limit, until one is met.
    pub fn of(provider: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            provider: provider.into(),
            state: Mutex::new(State::new(Instant::now())),
        }))
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.0.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits for a turn, with the place of one who waits since `since`. May be dropped at any
    /// point.
    async fn turn(&self, since: Instant) -> Result<Turn, Hold> {
        let limit = Instant::now() + QUEUE_WAIT;
        let mut queued = Queued {
            pace: self,
            place: self.with(|state| state.enter(since))?,
            went: false,
        };
        loop {
            // Told from here on, so that nothing is missed between the look and the wait.
            let notified = queued.place.bell.notified();
            let until = match self.with(|state| state.look(&queued.place, Instant::now())) {
                Look::Go => {
                    queued.went = true;
                    return Ok(Turn {
                        pace: self.clone(),
                        number: queued.place.number(),
                        sent_at: Instant::now(),
                    });
                }
                Look::Rests(hold) => return Err(hold),
                Look::At(at) => Some(at),
                Look::Behind => None,
            };
            if Instant::now() >= limit {
                return Err(self.with(|state| state.busy(&queued.place, Instant::now())));
            }
            tokio::select! {
                () = notified => {}
                () = sleep_until(until.map_or(limit, |at| at.min(limit))) => {}
            }
        }
    }

    /// What a request that was not sent says of it.
    fn held(&self, hold: Hold) -> ModelError {
        let provider = match self.0.provider.as_str() {
            "" => "The provider".to_owned(),
            name => format!("Provider {name}"),
        };
        let (class, message) = match hold.why {
            Why::Failing(times) => (
                ModelErrorClass::Overloaded,
                format!("{provider} has failed {times} times in a row and is left alone."),
            ),
            Why::Limited => (
                ModelErrorClass::RateLimited,
                format!("{provider} takes no more requests with this key for a while."),
            ),
            Why::Tried => (
                ModelErrorClass::Overloaded,
                format!("{provider} had failed; another run finds out whether it is back."),
            ),
            Why::Queue => (
                ModelErrorClass::RateLimited,
                format!("{provider} takes few requests at a time; others are before this one."),
            ),
        };
        ModelError {
            class,
            message,
            remedy: "It goes on by itself. To end the wait, cancel the run or pause it.".to_owned(),
            retry_after: Some(hold.after),
            unreachable: false,
            unsent: true,
        }
    }
}

/// Why nothing is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Why {
    /// So many requests in a row failed.
    Failing(u32),
    /// A rate limit was met.
    Limited,
    /// One request is on its way to find out whether the provider works again.
    Tried,
    /// Others are before it.
    Queue,
}

/// One who waits. Gone from the queue when it is dropped.
struct Queued<'a> {
    pace: &'a Pace,
    place: Place,
    went: bool,
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        if !self.went {
            self.pace.with(|state| state.leave(&self.place));
        }
    }
}

/// The right to send one request, and the duty to say what became of it.
struct Turn {
    pace: Pace,
    number: u64,
    sent_at: Instant,
}

impl Turn {
    fn learn(&self, result: &Result<ModelReply, ModelError>) {
        let now = Instant::now();
        self.pace.with(|state| match result {
            Ok(_) => state.succeeded(now),
            Err(error) if error.class == ModelErrorClass::RateLimited => {
                state.limited(now, self.sent_at, error.retry_after);
            }
            Err(error) if is_outage(error) => state.failed(now),
            // Whatever else it says: somebody answers.
            Err(_) => state.answered(),
        });
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.pace.with(|state| state.ended(self.number));
    }
}

fn is_outage(error: &ModelError) -> bool {
    matches!(
        error.class,
        ModelErrorClass::Overloaded | ModelErrorClass::Network
    )
}

/// A model whose requests keep the pace of its key. Each run has one of its own, which keeps the
/// run's place among the others.
pub struct Paced {
    model: Arc<dyn Model>,
    pace: Pace,
    /// Since when a request waits that was not answered yet.
    since: Mutex<Option<Instant>>,
}

impl Paced {
    /// Wraps a model.
    pub fn new(model: Arc<dyn Model>, pace: Pace) -> Self {
        Self {
            model,
            pace,
            since: Mutex::default(),
        }
    }

    fn since(&self) -> Instant {
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        *since.get_or_insert_with(Instant::now)
    }

    async fn exchange(&self, call: ModelCall) -> Result<ModelReply, ModelError> {
        let cancel = call.cancel.clone();
        let turn = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(stopped()),
            turn = self.pace.turn(self.since()) => turn,
        };
        let turn = turn.map_err(|hold| self.pace.held(hold))?;
        let result = self.model.send(call).await;
        // What a person ended says nothing of the provider.
        if !is_ended(&cancel, &result) {
            turn.learn(&result);
        }
        result
    }
}

fn is_ended(cancel: &CancellationToken, result: &Result<ModelReply, ModelError>) -> bool {
    cancel.is_cancelled() && result.is_err()
}

fn stopped() -> ModelError {
    ModelError {
        class: ModelErrorClass::Network,
        message: "The request was stopped before it was sent.".to_owned(),
        remedy: "Resume the run to send it.".to_owned(),
        retry_after: None,
        unreachable: false,
        unsent: true,
    }
}

#[async_trait]
impl Model for Paced {
    fn dialect(&self) -> &dyn Dialect {
        self.model.dialect()
    }

    async fn send(&self, call: ModelCall) -> Result<ModelReply, ModelError> {
        let result = self.exchange(call).await;
        let waits_on =
            |error: &ModelError| error.class == ModelErrorClass::RateLimited || error.unsent;
        if !result.as_ref().is_err_and(waits_on) {
            let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
            *since = None;
        }
        result
    }
}

#[cfg(test)]
mod tests;
