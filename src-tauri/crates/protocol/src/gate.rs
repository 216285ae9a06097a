//! What the gate knows of an action, what it asks, and the rules that people make there.

use serde::{Deserialize, Serialize};

use crate::agent::{Decision, PolicyRule};
use crate::body::{BlobHash, Body};

/// The eight checks, in the order in which they are made.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum CheckName {
    /// Is the tool granted to this agent?
    Granted,
    /// Do the arguments satisfy the schema?
    Schema,
    /// Which effect is declared?
    Effect,
    /// Which secrets does it need, and are they its own?
    Secrets,
    /// Where does it reach, and is that inside the agent's lists?
    Reach,
    /// Does the budget still cover it?
    Budget,
    /// What do the rules say, and where none speaks, the default?
    Rules,
    /// Was untrusted text read, and does it reach outside?
    Taint,
}

/// One check of the gate.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Check {
    /// Which one.
    pub check: CheckName,
    /// What it says.
    pub decision: Decision,
    /// The facts, in words; empty where it simply says yes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub facts: String,
}

/// What was found out about an action before it was decided.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ActionFacts {
    /// Where its path arguments really lead.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathFact>,
    /// The addresses in its arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<UrlFact>,
    /// The simple commands of its command arguments, each with its words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<Vec<String>>,
    /// The secrets that it would be given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<SecretFact>,
    /// The skill that it loads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill: Option<SkillFact>,
    /// What could not be made out, in words: then a person is asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unclear: Vec<String>,
    /// What an approval of it rests on: the effective arguments, the tool's definition and server,
    /// the content of the files that it names. Recorded where a person is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binding: Option<BlobHash>,
}

impl ActionFacts {
    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Where a path argument leads.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PathFact {
    /// The argument's name.
    pub argument: String,
    /// The real path beneath the workspace, links followed; `None` when it leads outside or can't
    /// be followed.
    pub real: Option<String>,
    /// The hash of the file's content, where there is a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<BlobHash>,
}

/// An address in the arguments.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct UrlFact {
    /// The address as written.
    pub url: String,
    /// Its host in lower case, without a final dot, an internationalised name in its ASCII form,
    /// an address of numbers in its usual form; with `:port` where it is not the scheme's own.
    pub host: String,
    /// Whether it occurs word for word in a person's message, a fetched page or a search result.
    pub known: bool,
}

/// A secret that an action would be given.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SecretFact {
    /// Its name; never its value.
    pub secret: String,
    /// Whether it is granted to this tool's server.
    pub granted: bool,
    /// Whether it is past its expiry.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub expired: bool,
}

/// A skill that an action loads, as it is at that moment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SkillFact {
    /// Its name.
    pub skill: String,
    /// What it is made of: an approval is of exactly this.
    pub hash: String,
    /// Why a person has to look at it before the model is given it, as words behind “since”; absent
    /// where they have, or where it ships with the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask: Option<String>,
    /// What the person is shown of it, where they have to look: plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<Body>,
}

/// How far a rule that a person makes reaches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// This run only.
    Run,
    /// Every run of this agent.
    Agent,
    /// Every run.
    Everywhere,
}

/// A rule that is in force beside those of the agent's file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StandingRule {
    /// Its name, by which it is revoked.
    pub id: String,
    /// How far it reaches.
    pub scope: Scope,
    /// What it says.
    pub rule: PolicyRule,
    /// Whether it also holds after the run has read untrusted text. Only for one run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tainted: bool,
}

/// "Always": the rules that an approval makes. They are those that the person was shown.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Always {
    /// How far they reach.
    pub scope: Scope,
    /// The rules.
    pub rules: Vec<PolicyRule>,
    /// Whether they also hold after the run has read untrusted text. Only for [`Scope::Run`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tainted: bool,
}

/// Where a person's wish comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum Surface {
    /// The command line.
    #[default]
    Command,
    /// The window, or its tray.
    Window,
    /// The local API.
    Api,
}

impl Surface {
    /// In the words that the person reads.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Command => "the command line",
            Self::Window => "the window",
            Self::Api => "the API",
        }
    }
}

/// Who asked for an action.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// The model.
    #[default]
    Model,
    /// The person.
    Person,
    /// A program that the model wrote, from within another action.
    Program,
    /// The harness, where the agent's stages say so.
    Harness,
}

impl Actor {
    /// Whether it is the model.
    pub fn is_model(&self) -> bool {
        *self == Self::Model
    }
}
