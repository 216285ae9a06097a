//! One key's pace, shared by every run and child of this process: who may send, and when. A rate
//! limit that one of them meets slows all of them, first come first served; a provider that fails
//! again and again is left alone for a while.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use longrein_core::dialect::Dialect;
use longrein_protocol::block::ModelErrorClass;
use longrein_runtime::ports::{Model, ModelCall, ModelError, ModelReply};
use tokio::time::{Instant, sleep_until};

/// The distance between two requests after the first rate limit.
const FIRST_STEP: Duration = Duration::from_millis(100);
/// The longest distance between two requests.
const LONGEST_STEP: Duration = Duration::from_secs(10);
/// A distance below this is none.
const SHORTEST_STEP: Duration = Duration::from_millis(5);
/// How long everybody waits when a rate limit names no time.
const DEFAULT_REST: Duration = Duration::from_secs(1);
/// The longest rest that is waited for here; a longer one is the driver's affair.
const LONGEST_REST: Duration = Duration::from_secs(60);
/// Failures in a row after which the provider is left alone.
const FAILURES: u32 = 5;
/// How long it is left alone at first; doubled each time, up to [`LONGEST_REST`].
const FIRST_BREAK: Duration = Duration::from_secs(5);

/// The pace of one key. All copies are one.
#[derive(Clone)]
pub struct Pace(Arc<Inner>);

struct Inner {
    /// Held by the one whose turn it is; the others wait in order.
    turn: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

struct State {
    /// Nobody sends before.
    not_before: Instant,
    /// The distance between two requests.
    step: Duration,
    failures: u32,
    breaks: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self(Arc::new(Inner {
            turn: tokio::sync::Mutex::default(),
            state: Mutex::new(State {
                not_before: Instant::now(),
                step: Duration::ZERO,
                failures: 0,
                breaks: 0,
            }),
        }))
    }
}

impl Pace {
    /// A pace without a limit, until one is met.
    pub fn new() -> Self {
        Self::default()
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.0.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits for its turn. May be dropped at any point.
    async fn turn(&self) {
        let _turn = self.0.turn.lock().await;
        loop {
            let at = self.with(|state| state.not_before);
            if Instant::now() >= at {
                break;
            }
            // What is met meanwhile may have moved it.
            sleep_until(at).await;
        }
        self.with(|state| state.not_before = Instant::now() + state.step);
    }

    fn learn(&self, result: &Result<ModelReply, ModelError>) {
        let now = Instant::now();
        self.with(|state| match result {
            Ok(_) => {
                (state.failures, state.breaks) = (0, 0);
                state.step = state.step.mul_f64(0.9);
                if state.step < SHORTEST_STEP {
                    state.step = Duration::ZERO;
                }
            }
            Err(error) if error.class == ModelErrorClass::RateLimited => {
                let rest = error.retry_after.unwrap_or(DEFAULT_REST).min(LONGEST_REST);
                state.not_before = state.not_before.max(now + rest);
                state.step = (state.step * 2).clamp(FIRST_STEP, LONGEST_STEP);
            }
            Err(error) if is_outage(error) => {
                state.failures += 1;
                if state.failures >= FAILURES {
                    let rest = FIRST_BREAK * 2u32.pow(state.breaks.min(4));
                    state.not_before = state.not_before.max(now + rest.min(LONGEST_REST));
                    state.breaks += 1;
                    // The next one is let through to see whether it is over.
                    state.failures = FAILURES - 1;
                }
            }
            Err(_) => {}
        });
    }
}

fn is_outage(error: &ModelError) -> bool {
    matches!(
        error.class,
        ModelErrorClass::Overloaded | ModelErrorClass::Network
    )
}

/// A model whose requests keep the pace of its key.
pub struct Paced {
    model: Arc<dyn Model>,
    pace: Pace,
}

impl Paced {
    /// Wraps a model.
    pub fn new(model: Arc<dyn Model>, pace: Pace) -> Self {
        Self { model, pace }
    }
}

#[async_trait]
impl Model for Paced {
    fn dialect(&self) -> &dyn Dialect {
        self.model.dialect()
    }

    async fn send(&self, call: ModelCall) -> Result<ModelReply, ModelError> {
        tokio::select! {
            () = self.pace.turn() => {}
            () = call.cancel.cancelled() => return Err(ModelError {
                class: ModelErrorClass::Network,
                message: "The request was stopped before it was sent.".to_owned(),
                remedy: String::new(),
                retry_after: None,
                unreachable: false,
            }),
        }
        let result = self.model.send(call).await;
        self.pace.learn(&result);
        result
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use longrein_protocol::block::StopReason;
    use longrein_runtime::ports::{CancellationToken, NoLiveText};

    use super::*;
    use crate::openai_chat::ChatDialect;

    /// A provider that allows so many requests in each second.
    struct Limited {
        per_second: usize,
        dialect: ChatDialect,
        seen: Mutex<VecDeque<Instant>>,
        refused: Mutex<u32>,
    }

    #[async_trait]
    impl Model for Limited {
        fn dialect(&self) -> &dyn Dialect {
            &self.dialect
        }

        async fn send(&self, _call: ModelCall) -> Result<ModelReply, ModelError> {
            let now = Instant::now();
            let mut seen = self.seen.lock().unwrap();
            while seen
                .front()
                .is_some_and(|at| *at + Duration::from_secs(1) <= now)
            {
                seen.pop_front();
            }
            if seen.len() >= self.per_second {
                *self.refused.lock().unwrap() += 1;
                return Err(error(ModelErrorClass::RateLimited, Some(1)));
            }
            seen.push_back(now);
            Ok(ModelReply {
                blocks: Vec::new(),
                stop: StopReason::End,
                usage: None,
                response_id: String::new(),
            })
        }
    }

    fn error(class: ModelErrorClass, seconds: Option<u64>) -> ModelError {
        ModelError {
            class,
            message: String::new(),
            remedy: String::new(),
            retry_after: seconds.map(Duration::from_secs),
            unreachable: false,
        }
    }

    fn call() -> ModelCall {
        ModelCall {
            body: Arc::from(&b""[..]),
            cancel: CancellationToken::new(),
            live: Arc::new(NoLiveText),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn twelve_on_one_key_slow_down_together_and_all_come_to_their_end() {
        let provider = Arc::new(Limited {
            per_second: 5,
            dialect: ChatDialect::default(),
            seen: Mutex::default(),
            refused: Mutex::default(),
        });
        let pace = Pace::new();
        let began = Instant::now();
        let runs: Vec<_> = (0..12)
            .map(|_| {
                let model = Paced::new(provider.clone(), pace.clone());
                tokio::spawn(async move {
                    let mut refusals = 0;
                    for _ in 0..10 {
                        while model.send(call()).await.is_err() {
                            refusals += 1;
                        }
                    }
                    refusals
                })
            })
            .collect();
        let mut most = 0;
        for run in runs {
            most = most.max(run.await.unwrap());
        }
        let refused = *provider.refused.lock().unwrap();
        assert!(refused < 60, "{refused} refusals for 120 requests");
        assert!(most < 12, "one run was refused {most} times");
        let took = began.elapsed();
        assert!(took < Duration::from_secs(90), "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_provider_that_fails_again_and_again_is_left_alone_for_a_while() {
        let pace = Pace::new();
        for _ in 0..FAILURES {
            pace.learn(&Err(error(ModelErrorClass::Overloaded, None)));
        }
        let began = Instant::now();
        pace.turn().await;
        assert!(began.elapsed() >= FIRST_BREAK);
        pace.learn(&Err(error(ModelErrorClass::Overloaded, None)));
        let again = Instant::now();
        pace.turn().await;
        assert!(again.elapsed() >= FIRST_BREAK * 2, "{:?}", again.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_waits_for_its_turn_can_be_stopped() {
        let pace = Pace::new();
        pace.learn(&Err(error(ModelErrorClass::RateLimited, Some(50))));
        let provider = Arc::new(Limited {
            per_second: 5,
            dialect: ChatDialect::default(),
            seen: Mutex::default(),
            refused: Mutex::default(),
        });
        let call = call();
        call.cancel.cancel();
        let began = Instant::now();
        let sent = Paced::new(provider, pace).send(call).await;
        assert!(sent.is_err() && began.elapsed() < Duration::from_secs(1));
    }
}
