//! Who answers what a server asks back: a form, or a page to visit.

use async_trait::async_trait;
use longrein_protocol::ActionId;
use serde_json::{Map, Value};

/// Takes a server's questions to the person. A question may wait for days; whoever asks keeps it
/// where a restart does not lose it.
#[async_trait]
pub trait Person: Send + Sync {
    /// Asks, and returns when the person has answered. Dropping it withdraws the question.
    async fn ask(&self, question: Question) -> Answer;
}

/// What a server wants of the person.
#[derive(Clone, PartialEq, Debug)]
pub struct Question {
    /// The server that asks.
    pub server: String,
    /// The call during which it asks, where that can be told.
    pub action: Option<ActionId>,
    /// The server's words: untrusted, without control and hidden characters.
    pub message: String,
    /// What is asked for.
    pub wants: Wants,
}

/// What is asked for.
#[derive(Clone, PartialEq, Debug)]
pub enum Wants {
    /// Values for these fields, in order.
    Form(Vec<Field>),
    /// A visit to this page, in the person's own browser.
    Visit {
        /// The whole address, `https`, or `http` on this machine.
        url: String,
        /// Its host, to be shown before anything is opened.
        host: String,
    },
}

/// One field of a form.
#[derive(Clone, PartialEq, Debug)]
pub struct Field {
    /// Its key in the answer.
    pub name: String,
    /// What it is called.
    pub title: String,
    /// What it means; may be empty.
    pub description: String,
    /// Whether the form can't be sent without it.
    pub required: bool,
    /// What is taken when nothing is typed.
    pub default: Option<Value>,
    /// What may be typed.
    pub kind: FieldKind,
}

/// What may be typed in a field.
#[derive(Clone, PartialEq, Debug)]
pub enum FieldKind {
    /// A text.
    Text,
    /// A number; whole ones only where it says so.
    Number {
        /// Whether only whole numbers fit.
        whole: bool,
    },
    /// Yes or no.
    YesNo,
    /// One of these.
    One(Vec<Choice>),
    /// Any of these.
    Many(Vec<Choice>),
}

/// A value that can be chosen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The value that is sent.
    pub value: String,
    /// What it is called.
    pub title: String,
}

/// What became of a question.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    /// The person agrees, with values for a form (empty for a visit).
    Given(Map<String, Value>),
    /// The person says no.
    Declined,
    /// The person does not answer, or takes the call back.
    Dismissed,
    /// Nobody can be asked; why, in a sentence.
    Nobody(String),
}

/// A [`Person`] who is not there.
#[derive(Clone, Copy, Debug)]
pub struct NobodyThere;

#[async_trait]
impl Person for NobodyThere {
    async fn ask(&self, _question: Question) -> Answer {
        Answer::Nobody("There is nobody here who could answer.".to_owned())
    }
}
