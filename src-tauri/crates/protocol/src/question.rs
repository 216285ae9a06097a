//! What a server asks the person while an action of the run uses it: values for a form, or a visit
//! to a page. Everything in here but the numbers is the server's words, and untrusted.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How many questions of servers one action may bring, those that were refused included.
pub const QUESTIONS_PER_ACTION: u32 = 32;

/// The most fields of a form.
pub const FIELDS_MAX: usize = 32;

/// The most choices of a field.
pub const CHOICES_MAX: usize = 200;

/// The largest form, in bytes of its names, words and choices.
pub const FORM_BYTES_MAX: usize = 32 << 10;

/// The largest answer, in bytes of JSON.
pub const ANSWER_BYTES_MAX: usize = 64 << 10;

/// A server's question; its words are beside it, in the event.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ServerQuestion {
    /// Counted from 1 within the action.
    pub number: u32,
    /// The server that asks.
    pub server: String,
    /// What it wants.
    pub wants: Wants,
}

/// What a server wants of the person.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "wants", rename_all = "snake_case")]
pub enum Wants {
    /// Values for these fields, in order.
    Form {
        /// The fields.
        fields: Vec<Field>,
    },
    /// A visit to this page, in the person's own browser.
    Visit {
        /// The whole address, `https`, or `http` on this machine.
        url: String,
        /// Its host, to be shown before anything is opened.
        host: String,
    },
}

/// One field of a form.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Field {
    /// Its key in the answer.
    pub name: String,
    /// What it is called.
    pub title: String,
    /// What it means; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Whether the form can't be sent without it.
    #[serde(default)]
    pub required: bool,
    /// What is taken when nothing is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// What may be given.
    #[serde(flatten)]
    pub kind: FieldKind,
}

/// What may be given in a field.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FieldKind {
    /// A text.
    Text {
        /// The fewest characters.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min_letters: Option<u32>,
        /// The most characters.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_letters: Option<u32>,
        /// What it has to be.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        format: Option<TextFormat>,
    },
    /// A number.
    Number {
        /// Whether only whole numbers fit.
        whole: bool,
        /// The least.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        least: Option<f64>,
        /// The most.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        most: Option<f64>,
    },
    /// Yes or no.
    YesNo,
    /// One of these.
    One {
        /// The choices.
        choices: Vec<Choice>,
    },
    /// Several of these.
    Many {
        /// The choices.
        choices: Vec<Choice>,
        /// The fewest that may be chosen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fewest: Option<u32>,
        /// The most that may be chosen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        most: Option<u32>,
    },
}

/// What a text has to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum TextFormat {
    /// An address of e-mail.
    Email,
    /// A whole address, with its scheme.
    Uri,
    /// `2026-07-28`.
    Date,
    /// `2026-07-28T09:00:00Z`.
    DateTime,
}

/// A value that can be chosen.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Choice {
    /// The value that is sent.
    pub value: String,
    /// What it is called.
    pub title: String,
}

/// What a person does about a server's question.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    /// They agree, with values for a form; none for a visit.
    Given {
        /// The values by the names of the fields.
        #[serde(default)]
        values: Map<String, Value>,
    },
    /// They say no.
    Declined,
    /// They give no answer.
    Dismissed,
}

/// The same without the values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Replied {
    /// They agreed.
    Given,
    /// They said no.
    Declined,
    /// They gave no answer.
    Dismissed,
}

impl Reply {
    /// What was done, without the values.
    pub fn replied(&self) -> Replied {
        match self {
            Self::Given { .. } => Replied::Given,
            Self::Declined => Replied::Declined,
            Self::Dismissed => Replied::Dismissed,
        }
    }
}
