//! The thread that asks a place for secrets, since a keychain may wait for a person. Whoever asks
//! waits a limited time. The thread is no part of the executor: one that hangs holds up nothing,
//! and ends with the process.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

use super::Vault;
use crate::KeyError;
use crate::error::cause;

/// How many questions may wait.
const QUESTIONS_MAX: usize = 32;

type Question = Box<dyn FnOnce(&mut dyn Vault) + Send>;

/// Asks a place for secrets from a thread of its own.
pub(super) struct Worker {
    /// Who is asked, as the subject of a sentence.
    whose: &'static str,
    state: Mutex<State>,
}

enum State {
    /// Nobody has asked yet.
    Resting(Box<dyn Vault>),
    Asked(SyncSender<Question>),
    /// The thread could not be started.
    Failed(String),
}

impl Worker {
    pub(super) fn new(whose: &'static str, vault: Box<dyn Vault>) -> Self {
        Self {
            whose,
            state: Mutex::new(State::Resting(vault)),
        }
    }

    /// Asks one question. One that nobody waits for any more is not begun.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        limit: Duration,
        question: impl FnOnce(&mut dyn Vault) -> Result<T, KeyError> + Send + 'static,
    ) -> Result<T, KeyError> {
        let whose = self.whose;
        let (answer, answered) = oneshot::channel();
        let question: Question = Box::new(move |vault| {
            if !answer.is_closed() {
                // It is nobody's loss when whoever asked has gone meanwhile.
                let _ = answer.send(question(vault));
            }
        });
        match self.questions()?.try_send(question) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => return Err(KeyError::Busy { whose }),
            Err(TrySendError::Disconnected(_)) => return Err(self.ended()),
        }
        match tokio::time::timeout(limit, answered).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(self.ended()),
            Err(_) => Err(KeyError::Slow {
                whose,
                limit_s: limit.as_secs(),
            }),
        }
    }

    /// Where questions go; the first one starts the thread.
    fn questions(&self) -> Result<SyncSender<Question>, KeyError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*state, State::Resting(_)) {
            let (questions, asked) = sync_channel::<Question>(QUESTIONS_MAX);
            let resting = std::mem::replace(&mut *state, State::Asked(questions));
            if let State::Resting(mut vault) = resting {
                let answer = move || {
                    for question in asked {
                        // A library that panics must not take the other secrets with it.
                        let _ = catch_unwind(AssertUnwindSafe(|| question(vault.as_mut())));
                    }
                };
                let thread = thread::Builder::new().name("secrets".to_owned());
                if let Err(error) = thread.spawn(answer) {
                    *state = State::Failed(cause(&error));
                }
            }
        }
        match &*state {
            State::Asked(questions) => Ok(questions.clone()),
            State::Failed(cause) => Err(KeyError::Failed {
                whose: self.whose,
                cause: cause.clone(),
            }),
            State::Resting(_) => Err(self.ended()),
        }
    }

    fn ended(&self) -> KeyError {
        KeyError::Failed {
            whose: self.whose,
            cause: "it ended without an answer".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use super::super::Standing;
    use super::*;
    use crate::{SecretName, SecretText};

    /// A keychain that waits for a person at every look.
    struct Waiting(Receiver<()>);

    impl Vault for Waiting {
        fn look(&mut self) -> Result<Standing, KeyError> {
            self.0.recv().map_err(|_| KeyError::Dismissed)?;
            Ok(Standing::Ready)
        }

        fn get(&mut self, _name: &SecretName) -> Result<Option<SecretText>, KeyError> {
            panic!("a library that panics");
        }

        fn set(&mut self, _name: &SecretName, _secret: &SecretText) -> Result<(), KeyError> {
            Ok(())
        }

        fn remove(&mut self, _name: &SecretName) -> Result<bool, KeyError> {
            Ok(false)
        }

        fn names(&mut self) -> Result<Vec<SecretName>, KeyError> {
            Ok(Vec::new())
        }
    }

    const SHORT: Duration = Duration::from_millis(50);
    const LONG: Duration = Duration::from_secs(60);
    const WHOSE: &str = "The keychain";

    #[tokio::test]
    async fn a_keychain_that_waits_for_a_person_holds_up_nobody_for_long() {
        let (person, waits) = channel();
        let worker = Worker::new(WHOSE, Box::new(Waiting(waits)));
        let slow = KeyError::Slow {
            whose: WHOSE,
            limit_s: 0,
        };
        assert_eq!(
            worker.ask(SHORT, |vault| vault.look()).await.unwrap_err(),
            slow
        );
        // The next one waits behind it, and is not begun once nobody waits for it.
        let (begun, begins) = channel();
        let question = move |_: &mut dyn Vault| {
            begun.send(()).unwrap();
            Ok(())
        };
        assert_eq!(worker.ask(SHORT, question).await.unwrap_err(), slow);
        // The person answers the first and then the last.
        person.send(()).unwrap();
        person.send(()).unwrap();
        assert_eq!(
            worker.ask(LONG, |vault| vault.look()).await.unwrap(),
            Standing::Ready
        );
        assert!(begins.recv().is_err());
    }

    #[tokio::test]
    async fn too_many_questions_are_refused() {
        let (person, waits) = channel();
        let worker = Worker::new(WHOSE, Box::new(Waiting(waits)));
        let _ = worker.ask(SHORT, |vault| vault.look()).await;
        // Nobody waits for the answers, and yet they stand in line.
        for _ in 0..QUESTIONS_MAX {
            worker.questions().unwrap().send(Box::new(|_| {})).unwrap();
        }
        let busy = KeyError::Busy { whose: WHOSE };
        assert_eq!(
            worker.ask(LONG, |vault| vault.look()).await.unwrap_err(),
            busy
        );
        drop(person);
        // The first look ends, and those that stand in line with it.
        loop {
            match worker.ask(LONG, |vault| vault.look()).await.unwrap_err() {
                KeyError::Busy { .. } => thread::yield_now(),
                error => {
                    assert_eq!(error, KeyError::Dismissed);
                    break;
                }
            }
        }
    }

    #[tokio::test]
    async fn a_library_that_panics_fails_once() {
        let (person, waits) = channel();
        let worker = Worker::new(WHOSE, Box::new(Waiting(waits)));
        let name = SecretName::new("exa").unwrap();
        let failed = worker.ask(LONG, move |vault| vault.get(&name)).await;
        assert!(matches!(failed, Err(KeyError::Failed { .. })));
        person.send(()).unwrap();
        assert_eq!(
            worker.ask(LONG, |vault| vault.look()).await.unwrap(),
            Standing::Ready
        );
    }
}
