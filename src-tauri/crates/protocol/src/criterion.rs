//! Completion conditions: what the harness checks before a run is accepted.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One completion condition.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Criterion {
    /// A file exists in the workspace.
    File(FileCriterion),
    /// An artifact's citations hold.
    Evidence(EvidenceCriterion),
    /// A JSON file satisfies a schema.
    Schema(SchemaCriterion),
    /// A text file has, or has not, certain words.
    Text(TextCriterion),
    /// Every link of a page was fetched by this run.
    Links(LinksCriterion),
    /// A reading tool gives a certain answer: the read-back of what was done.
    Tool(ToolCriterion),
    /// A model judges by a rubric.
    Judge(JudgeCriterion),
    /// A command in a fresh box ends as it must.
    Command(CommandCriterion),
    /// The plan is as far as it must be.
    Plan(PlanCriterion),
    /// A person accepts.
    Person(PersonCriterion),
}

/// `file = "index.html"`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileCriterion {
    /// The path beneath the workspace.
    pub file: String,
    /// Its least size in bytes.
    #[serde(default = "one")]
    pub min_bytes: u32,
    /// Its greatest size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u32>,
    /// Its type by content, as a media type: `text/html`, `image/*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
}

fn one() -> u32 {
    1
}

/// `evidence = "index.html"`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EvidenceCriterion {
    /// The artifact's path beneath the workspace.
    pub evidence: String,
    /// Whether statements without a citation are let through.
    #[serde(default)]
    pub uncited: Permit,
    /// Whether numbers that do not stand in the cited passage, with their units, are let through.
    #[serde(default = "forbid", skip_serializing_if = "Permit::is_forbid")]
    pub numbers: Permit,
    /// The least number of citations. With 0, a page that states nothing is let through: what a
    /// library does not answer may be said.
    #[serde(default)]
    pub min_citations: u32,
}

fn forbid() -> Permit {
    Permit::Forbid
}

/// What to do with what can't be traced to a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Permit {
    /// It is listed.
    #[default]
    Allow,
    /// It makes the criterion fail.
    Forbid,
}

impl Permit {
    /// Whether it makes the criterion fail.
    pub fn is_forbid(&self) -> bool {
        *self == Self::Forbid
    }
}

/// `schema = "data.json"`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SchemaCriterion {
    /// The JSON file's path beneath the workspace.
    pub schema: String,
    /// The JSON Schema (draft 2020-12) that it has to satisfy.
    pub against: Value,
}

/// `text = "report.md"`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TextCriterion {
    /// The file's path beneath the workspace.
    pub text: String,
    /// Regular expressions that each have to match somewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub must: Vec<String>,
    /// Regular expressions of which none may match anywhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub must_not: Vec<String>,
}

/// `links = "index.html"`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinksCriterion {
    /// The page's path beneath the workspace.
    pub links: String,
    /// The least number of links.
    #[serde(default)]
    pub min: u32,
}

/// `tool = "tracker.read"`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolCriterion {
    /// A granted tool that only reads.
    pub tool: String,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub args: BTreeMap<String, Value>,
    /// The JSON pointer into its answer; empty for the whole.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub pointer: String,
    /// What has to stand there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equals: Option<Value>,
    /// A regular expression that has to match what stands there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matches: Option<String>,
}

/// `judge = "Every claim is fair to its source."`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgeCriterion {
    /// The rubric.
    pub judge: String,
    /// The file that is judged, beneath the workspace.
    pub of: String,
    /// `provider/model`; without it the run's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// `command = "python3 -m pytest -q"`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandCriterion {
    /// A line for the shell. It runs in a box of its own, on a copy of the workspace that it can
    /// only read, without a network.
    pub command: String,
    /// The exit status that it has to end with.
    #[serde(default)]
    pub status: u32,
    /// A regular expression that has to match in its output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matches: Option<String>,
}

/// `plan = "made"`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanCriterion {
    /// How far it has to be.
    pub plan: PlanGoal,
    /// The least number of items.
    #[serde(default = "one")]
    pub min: u32,
}

/// How far a plan has to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanGoal {
    /// It has items that are open.
    Made,
    /// Every item is done or dropped.
    Closed,
}

/// `person = "Read the page and accept it."`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PersonCriterion {
    /// What the person is asked.
    pub person: String,
}

impl Criterion {
    /// The criterion in words.
    pub fn in_words(&self) -> String {
        match self {
            Self::File(file) => file.in_words(),
            Self::Evidence(evidence) => evidence.in_words(),
            Self::Schema(schema) => format!("{} satisfies its schema", schema.schema),
            Self::Text(text) => format!("{} has the words that it must have", text.text),
            Self::Links(links) => format!("every link in {} was fetched", links.links),
            Self::Tool(tool) => format!("{} gives the answer that it must give", tool.tool),
            Self::Judge(judge) => format!("a judge finds of {}: {}", judge.of, judge.judge),
            Self::Command(command) => match command.status {
                0 => format!("the command {} succeeds", command.command),
                status => format!("the command {} ends with status {status}", command.command),
            },
            Self::Plan(plan) => match plan.plan {
                PlanGoal::Made => format!("the plan has at least {} open items", plan.min),
                PlanGoal::Closed => "every item of the plan is done or dropped".to_owned(),
            },
            Self::Person(person) => format!("a person accepts: {}", person.person),
        }
    }
}

impl FileCriterion {
    fn in_words(&self) -> String {
        let mut words = format!("{} exists, at least {} bytes", self.file, self.min_bytes);
        if let Some(most) = self.max_bytes {
            words.push_str(&format!(", at most {most}"));
        }
        if let Some(media) = &self.media_type {
            words.push_str(&format!(", {media}"));
        }
        words
    }
}

impl EvidenceCriterion {
    fn in_words(&self) -> String {
        let mut words = format!("every quote in {} is in its source", self.evidence);
        if self.uncited.is_forbid() {
            words.push_str(", and nothing is uncited");
        }
        words
    }
}
