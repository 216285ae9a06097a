use std::collections::VecDeque;

use longrein_protocol::block::StopReason;
use longrein_runtime::ports::NoLiveText;

use super::state::{FAILURES, FIRST_BREAK};
use super::*;
use crate::openai_chat::ChatDialect;

/// What a provider answers a request at this moment, counted from 1.
type Rule = dyn Fn(u32, Instant) -> Result<(), ModelError> + Send + Sync;

/// A provider that answers by a rule, after as long as it takes.
struct Provider {
    rule: Box<Rule>,
    takes: Duration,
    dialect: ChatDialect,
    /// When each request came.
    seen: Mutex<Vec<Instant>>,
}

impl Provider {
    fn new(
        takes: Duration,
        rule: impl Fn(u32, Instant) -> Result<(), ModelError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            rule: Box::new(rule),
            takes,
            dialect: ChatDialect::default(),
            seen: Mutex::default(),
        })
    }

    /// One that allows so many requests in each second.
    fn limited(per_second: usize) -> (Arc<Self>, Arc<Mutex<u32>>) {
        let refused = Arc::new(Mutex::new(0));
        let (counted, allowed) = (refused.clone(), Mutex::new(VecDeque::new()));
        let provider = Self::new(Duration::from_millis(20), move |_, now| {
            let mut allowed = allowed.lock().unwrap();
            while allowed
                .front()
                .is_some_and(|at| *at + Duration::from_secs(1) <= now)
            {
                allowed.pop_front();
            }
            if allowed.len() >= per_second {
                *counted.lock().unwrap() += 1;
                return Err(error(ModelErrorClass::RateLimited, Some(1)));
            }
            allowed.push_back(now);
            Ok(())
        });
        (provider, refused)
    }

    fn count(&self) -> usize {
        self.seen.lock().unwrap().len()
    }
}

#[async_trait]
impl Model for Provider {
    fn dialect(&self) -> &dyn Dialect {
        &self.dialect
    }

    async fn send(&self, _call: ModelCall) -> Result<ModelReply, ModelError> {
        let now = Instant::now();
        let number = {
            let mut seen = self.seen.lock().unwrap();
            seen.push(now);
            seen.len() as u32
        };
        tokio::time::sleep(self.takes).await;
        (self.rule)(number, now).map(|()| ModelReply {
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
        unsent: false,
    }
}

fn call() -> ModelCall {
    ModelCall {
        body: Arc::from(&b""[..]),
        cancel: CancellationToken::new(),
        live: Arc::new(NoLiveText),
    }
}

/// Sends until it is answered, and comes back when it is told to, as a run does. Gives how often
/// the provider refused it, and how long it took.
async fn insist(model: &Paced) -> (u32, Duration) {
    let (mut refusals, began) = (0, Instant::now());
    loop {
        match model.send(call()).await {
            Ok(_) => return (refusals, began.elapsed()),
            Err(error) => {
                refusals += u32::from(!error.unsent);
                tokio::time::sleep(error.retry_after.unwrap_or_default()).await;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn twelve_on_one_key_slow_down_together_and_none_waits_much_longer_than_the_others() {
    let (provider, refused) = Provider::limited(5);
    let pace = Pace::of("local");
    let began = Instant::now();
    let runs: Vec<_> = (0..12)
        .map(|_| {
            let model = Paced::new(provider.clone(), pace.clone());
            tokio::spawn(async move {
                let mut longest = Duration::ZERO;
                for _ in 0..20 {
                    longest = longest.max(insist(&model).await.1);
                }
                longest
            })
        })
        .collect();
    let mut longest = Duration::ZERO;
    for run in runs {
        longest = longest.max(run.await.unwrap());
    }
    let refused = *refused.lock().unwrap();
    // Seven of the first twelve, and a few until the right distance is found.
    assert!(refused <= 16, "{refused} refusals for 240 requests");
    assert!(longest < Duration::from_secs(12), "{longest:?}");
    // 240 requests at 5 a second take 48 seconds.
    let took = began.elapsed();
    assert!(took < Duration::from_secs(90), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn who_has_waited_longest_goes_first_also_after_it_was_sent_away() {
    let provider = Provider::new(Duration::ZERO, |_, _| Ok(()));
    let pace = Pace::of("local");
    let first = Paced::new(provider.clone(), pace.clone());
    let rest = Some(Duration::from_secs(30));
    pace.with(|state| state.limited(Instant::now(), Instant::now(), rest));
    let held = first.send(call()).await.unwrap_err();
    assert!(held.unsent && held.retry_after == rest, "{held:?}");
    assert_eq!(provider.count(), 0);
    tokio::time::sleep(Duration::from_secs(29)).await;
    let order = Arc::new(Mutex::new(Vec::new()));
    let going = |name: u32, model: Paced| {
        let order = order.clone();
        tokio::spawn(async move {
            model.send(call()).await.unwrap();
            order.lock().unwrap().push(name);
        })
    };
    let second = going(2, Paced::new(provider.clone(), pace.clone()));
    tokio::task::yield_now().await;
    let first = going(1, first);
    second.await.unwrap();
    first.await.unwrap();
    assert_eq!(*order.lock().unwrap(), [1, 2]);
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_fails_again_and_again_is_left_alone_and_then_tried_by_one() {
    let provider = Provider::new(Duration::from_secs(1), |number, _| {
        match number <= FAILURES + 1 {
            true => Err(error(ModelErrorClass::Overloaded, None)),
            false => Ok(()),
        }
    });
    let pace = Pace::of("local");
    let model = || Paced::new(provider.clone(), pace.clone());
    for _ in 0..FAILURES {
        assert!(!model().send(call()).await.unwrap_err().unsent);
    }
    let held = model().send(call()).await.unwrap_err();
    assert_eq!(held.retry_after, Some(FIRST_BREAK));
    assert_eq!(
        held.message,
        "Provider local has failed 5 times in a row and is left alone."
    );
    tokio::time::sleep(FIRST_BREAK).await;
    let ten: Vec<_> = (0..10)
        .map(|_| {
            let model = model();
            tokio::spawn(async move { model.send(call()).await })
        })
        .collect();
    let mut unsent = 0;
    for one in ten {
        unsent += u32::from(one.await.unwrap().unwrap_err().unsent);
    }
    // One of them found that it is still down, and the others were not sent.
    assert_eq!((unsent, provider.count() as u32), (9, FAILURES + 1));
    let held = model().send(call()).await.unwrap_err();
    assert!(held.retry_after > Some(FIRST_BREAK), "{held:?}");
    tokio::time::sleep(FIRST_BREAK * 2).await;
    let ten: Vec<_> = (0..10)
        .map(|_| {
            let model = model();
            tokio::spawn(async move { model.send(call()).await })
        })
        .collect();
    for one in ten {
        assert!(one.await.unwrap().is_ok());
    }
}

#[tokio::test(start_paused = true)]
async fn a_trial_that_is_ended_lets_the_next_one_through() {
    let provider = Provider::new(Duration::from_secs(1), |_, _| Ok(()));
    let pace = Pace::of("local");
    for _ in 0..FAILURES {
        pace.with(|state| state.failed(Instant::now()));
    }
    tokio::time::sleep(FIRST_BREAK).await;
    let ended = call();
    let cancel = ended.cancel.clone();
    let trial = Paced::new(provider.clone(), pace.clone());
    let stop = cancel.clone();
    let trial = tokio::spawn(async move {
        tokio::select! {
            () = stop.cancelled() => None,
            sent = trial.send(ended) => Some(sent),
        }
    });
    tokio::task::yield_now().await;
    let next = Paced::new(provider.clone(), pace.clone());
    let next = tokio::spawn(async move { next.send(call()).await });
    tokio::task::yield_now().await;
    assert_eq!(provider.count(), 1);
    cancel.cancel();
    assert!(trial.await.unwrap().is_none());
    assert!(next.await.unwrap().is_ok());
    assert_eq!(provider.count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_waits_for_its_turn_can_be_stopped() {
    let pace = Pace::of("local");
    let rest = Some(Duration::from_secs(2));
    pace.with(|state| state.limited(Instant::now(), Instant::now(), rest));
    let provider = Provider::new(Duration::ZERO, |_, _| Ok(()));
    let call = call();
    call.cancel.cancel();
    let began = Instant::now();
    let error = Paced::new(provider.clone(), pace)
        .send(call)
        .await
        .unwrap_err();
    assert!(error.unsent && provider.count() == 0, "{error:?}");
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_long_queue_is_told_of_and_a_short_rest_is_waited_for_in_silence() {
    let provider = Provider::new(Duration::ZERO, |_, _| Ok(()));
    let pace = Pace::of("local");
    let limited = |seconds| {
        let (now, rest) = (Instant::now(), Some(Duration::from_secs(seconds)));
        pace.with(|state| state.limited(now, now, rest));
    };
    limited(1);
    let one = Paced::new(provider.clone(), pace.clone());
    assert!(one.send(call()).await.is_ok());
    // The distance grows to ten seconds.
    for _ in 0..8 {
        limited(1);
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let three: Vec<_> = (0..3)
        .map(|_| {
            let model = Paced::new(provider.clone(), pace.clone());
            tokio::spawn(async move { model.send(call()).await })
        })
        .collect();
    let mut held = Vec::new();
    for one in three {
        held.extend(one.await.unwrap().err());
    }
    // One goes at once, one after ten seconds, and the last one is told when to come back.
    let [held] = &held[..] else {
        panic!("{held:?}");
    };
    assert!(held.unsent && held.class == ModelErrorClass::RateLimited);
    assert!(held.message.contains("others are before this one"));
    assert_eq!(held.retry_after, Some(Duration::from_secs(10)));
}
