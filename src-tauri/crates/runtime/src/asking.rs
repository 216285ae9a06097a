//! What servers ask the person while an action uses them. The question is on disk before anybody
//! sees it, and the answer before the server does.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use longrein_core::question;
use longrein_core::run::{ActionStage, Run};
use longrein_protocol::event::{
    QuestionAnswered, QuestionAsked, QuestionRefused, QuestionWithdrawn,
};
use longrein_protocol::gate::Surface;
use longrein_protocol::question::{QUESTIONS_PER_ACTION, Reply, ServerQuestion};
use longrein_protocol::{ActionId, Body};
use tokio::sync::{mpsc, oneshot, watch};

use crate::driver::{DriveError, Driver, Message};
use crate::ports::{Answer, Clock, Person, Question, RefusedQuestion};

/// What a server asks, on its way to the driver.
#[derive(Debug)]
pub(crate) struct ServerAsks {
    action: ActionId,
    question: Question,
    /// Which one it is of those that this process asks, so that it can be withdrawn.
    mark: u64,
    answer: oneshot::Sender<Answer>,
}

/// What was said of a question, on its way to the driver.
#[derive(Debug)]
pub(crate) enum Word {
    /// A server asks.
    Asks(Box<ServerAsks>),
    /// Whoever asked does not wait any more.
    Withdrawn {
        /// The action during which it was asked.
        action: ActionId,
        /// Its mark.
        mark: u64,
    },
    /// A server asked for what nobody is asked for.
    Refused {
        /// The action during which it was asked.
        action: ActionId,
        /// What it asked, and why it was refused.
        refused: Box<RefusedQuestion>,
    },
}

/// The questions of servers that this driver holds open.
#[derive(Default)]
pub(crate) struct Questions {
    open: HashMap<(ActionId, u32), Held>,
    /// Answers that wait for their commit.
    owed: Vec<(oneshot::Sender<Answer>, Answer)>,
}

struct Held {
    mark: u64,
    answer: oneshot::Sender<Answer>,
}

impl Questions {
    /// Hands out the answers that are on disk by now.
    pub(crate) fn hand_out(&mut self) {
        for (answer, said) in self.owed.drain(..) {
            // A server that does not wait any more was told of by its withdrawal.
            let _ = answer.send(said);
        }
    }
}

/// The person, as one action reaches them.
pub(crate) struct ByDriver {
    action: ActionId,
    sender: mpsc::Sender<Message>,
    clock: Arc<dyn Clock>,
    waits: watch::Sender<Waits>,
}

/// How long an action waited for a person.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Waits {
    /// How many questions are open.
    open: u32,
    /// When the first of them was asked, on the monotonic clock.
    since_ms: u64,
    /// What is over, in milliseconds.
    over_ms: u64,
    /// How many questions were asked so far.
    asked: u64,
}

impl Waits {
    /// Whether it waits now.
    pub(crate) fn is_waiting(self) -> bool {
        self.open > 0
    }

    /// How long it has waited altogether.
    pub(crate) fn waited_ms(self, now_ms: u64) -> u64 {
        let now = now_ms.saturating_sub(self.since_ms);
        self.over_ms + if self.is_waiting() { now } else { 0 }
    }
}

impl ByDriver {
    pub(crate) fn new(
        action: ActionId,
        sender: mpsc::Sender<Message>,
        clock: Arc<dyn Clock>,
    ) -> (Self, watch::Receiver<Waits>) {
        let (waits, watched) = watch::channel(Waits::default());
        let person = Self {
            action,
            sender,
            clock,
            waits,
        };
        (person, watched)
    }
}

/// A question that is open as long as this is held.
struct Asking<'p> {
    person: &'p ByDriver,
    mark: u64,
    is_answered: bool,
}

impl<'p> Asking<'p> {
    fn begin(person: &'p ByDriver) -> Self {
        let now = person.clock.monotonic_ms();
        let mut mark = 0;
        person.waits.send_modify(|waits| {
            if waits.open == 0 {
                waits.since_ms = now;
            }
            waits.open += 1;
            waits.asked += 1;
            mark = waits.asked;
        });
        Self {
            person,
            mark,
            is_answered: false,
        }
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let now = self.person.clock.monotonic_ms();
        self.person.waits.send_modify(|waits| {
            waits.open = waits.open.saturating_sub(1);
            if waits.open == 0 {
                waits.over_ms += now.saturating_sub(waits.since_ms);
            }
        });
        if self.is_answered {
            return;
        }
        // Where the mailbox is full, the end of the action withdraws it.
        let _ = self.person.sender.try_send(Message::Word(Word::Withdrawn {
            action: self.person.action.clone(),
            mark: self.mark,
        }));
    }
}

#[async_trait]
impl Person for ByDriver {
    async fn ask(&self, question: Question) -> Answer {
        let mut asking = Asking::begin(self);
        let (answer, answered) = oneshot::channel();
        let asks = Box::new(ServerAsks {
            action: self.action.clone(),
            question,
            mark: asking.mark,
            answer,
        });
        let sent = self.sender.send(Message::Word(Word::Asks(asks))).await;
        let answer = match sent {
            Ok(()) => answered.await.ok(),
            Err(_) => None,
        };
        asking.is_answered = true;
        // Its driver is gone: whoever takes the run up withdraws the question.
        answer.unwrap_or_else(|| Answer::Nobody("The run is not driven any more.".to_owned()))
    }

    async fn told_of(&self, refused: RefusedQuestion) {
        let word = Word::Refused {
            action: self.action.clone(),
            refused: Box::new(refused),
        };
        // A driver that is gone has nobody to tell.
        let _ = self.sender.send(Message::Word(word)).await;
    }
}

impl Driver {
    pub(crate) fn word(&mut self, word: Word) -> Result<(), DriveError> {
        match word {
            Word::Asks(asks) => self.server_asks(*asks),
            Word::Withdrawn { action, mark } => self.question_dropped(&action, mark),
            Word::Refused { action, refused } => self.question_refused(&action, *refused),
        }
    }

    /// How many questions an action has brought; `None` where none can be asked for it.
    fn asked_of(&self, id: &ActionId) -> Option<u32> {
        let action = self.run.action(id)?;
        (action.stage == ActionStage::Started).then_some(action.asked)
    }

    fn server_asks(&mut self, asks: ServerAsks) -> Result<(), DriveError> {
        let ServerAsks {
            action,
            question,
            mark,
            answer,
        } = asks;
        let Some(asked) = self.asked_of(&action) else {
            let gone = "The action that it asked for has ended.".to_owned();
            let _ = answer.send(Answer::Nobody(gone));
            return Ok(());
        };
        let Question {
            server,
            message,
            wants,
        } = question;
        if asked >= QUESTIONS_PER_ACTION {
            let why = format!("One action asks at most {QUESTIONS_PER_ACTION} times.");
            self.one_too_many(&action, &server, asked, &why)?;
            let _ = answer.send(Answer::Nobody(why));
            return Ok(());
        }
        let number = asked + 1;
        let (question, blob) = Body::of(message);
        self.keep(blob);
        self.record(QuestionAsked {
            action: action.clone(),
            question,
            options: Vec::new(),
            by: Some(Box::new(ServerQuestion {
                number,
                server,
                wants,
            })),
        })?;
        let held = Held { mark, answer };
        self.questions.open.insert((action, number), held);
        Ok(())
    }

    fn question_refused(
        &mut self,
        action: &ActionId,
        refused: RefusedQuestion,
    ) -> Result<(), DriveError> {
        let Some(asked) = self.asked_of(action) else {
            return Ok(());
        };
        let RefusedQuestion {
            server,
            message,
            why,
        } = refused;
        if asked >= QUESTIONS_PER_ACTION {
            let why = format!("One action asks at most {QUESTIONS_PER_ACTION} times.");
            return self.one_too_many(action, &server, asked, &why);
        }
        let (question, blob) = Body::of(message);
        self.keep(blob);
        self.record(QuestionRefused {
            action: action.clone(),
            server,
            question,
            why,
        })
    }

    /// Says once that a server asks too often.
    fn one_too_many(
        &mut self,
        action: &ActionId,
        server: &str,
        asked: u32,
        why: &str,
    ) -> Result<(), DriveError> {
        if asked > QUESTIONS_PER_ACTION {
            return Ok(());
        }
        self.record(QuestionRefused {
            action: action.clone(),
            server: server.to_owned(),
            question: Body::default(),
            why: why.to_owned(),
        })
    }

    fn question_dropped(&mut self, action: &ActionId, mark: u64) -> Result<(), DriveError> {
        let mut open = self.questions.open.iter();
        let dropped = open.find(|((of, _), held)| of == action && held.mark == mark);
        let Some(number) = dropped.map(|((_, number), _)| *number) else {
            return Ok(());
        };
        self.withdraw_question(action, number, "The server does not wait for it any more.")
    }

    fn withdraw_question(
        &mut self,
        action: &ActionId,
        number: u32,
        why: &str,
    ) -> Result<(), DriveError> {
        self.questions.open.remove(&(action.clone(), number));
        let asks = |run: &Run| run.action(action)?.open_question(number).map(|_| ());
        if asks(&self.run).is_none() {
            return Ok(());
        }
        self.record(QuestionWithdrawn {
            action: action.clone(),
            number,
            why: why.to_owned(),
        })
    }

    /// Withdraws what servers still ask of an action, or of all.
    pub(crate) fn withdraw_questions(
        &mut self,
        of: Option<&ActionId>,
        why: &str,
    ) -> Result<(), DriveError> {
        let asking = self
            .run
            .actions
            .iter()
            .filter(|action| of.is_none_or(|of| action.id == *of));
        let open: Vec<(ActionId, u32)> = asking
            .flat_map(|action| {
                let numbers = action.questions.iter().map(|open| open.question.number);
                numbers.map(|number| (action.id.clone(), number))
            })
            .collect();
        open.iter()
            .try_for_each(|(action, number)| self.withdraw_question(action, *number, why))
    }

    /// Takes a person's reply to a server's question. One that comes too late, or that does not
    /// fit what was wanted, is taken without an event: the one who replied sees the state.
    pub(crate) fn reply(
        &mut self,
        action: ActionId,
        number: u32,
        reply: Reply,
        from: Surface,
    ) -> Result<(), DriveError> {
        let held = self.questions.open.contains_key(&(action.clone(), number));
        let open = self.run.action(&action);
        let Some(open) = open.and_then(|action| action.open_question(number)) else {
            return Ok(());
        };
        let Ok(mut reply) = question::fitting(&open.question.wants, reply) else {
            return Ok(());
        };
        if !held {
            return Ok(());
        }
        let answer = match &mut reply {
            Reply::Given { values } if !values.is_empty() => {
                let mut said = serde_json::Value::Object(std::mem::take(values));
                crate::mask::values(&self.ports.world.masker(), &mut said);
                let text = said.to_string();
                // What the server is told is what the log says.
                if let serde_json::Value::Object(said) = said {
                    *values = said;
                }
                text
            }
            _ => String::new(),
        };
        let (answer, blob) = Body::of(answer);
        self.keep(blob);
        self.record(QuestionAnswered {
            action: action.clone(),
            answer,
            by: from,
            number,
            replied: Some(reply.replied()),
        })?;
        if let Some(held) = self.questions.open.remove(&(action, number)) {
            let said = Answer::Reply(reply);
            self.questions.owed.push((held.answer, said));
        }
        Ok(())
    }

    /// Takes words that answer the question of a server that waits longest for this action.
    pub(crate) fn reply_in_words(
        &mut self,
        action: ActionId,
        text: &str,
        from: Surface,
    ) -> Result<(), DriveError> {
        let found = self.run.action(&action);
        let open = found.and_then(|found| found.questions.first());
        let Some(open) = open else {
            return Ok(());
        };
        let number = open.question.number;
        match question::read(&open.question.wants, text) {
            Ok(reply) => self.reply(action, number, reply, from),
            Err(_) => Ok(()),
        }
    }
}
