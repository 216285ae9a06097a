//! A scenario of the simulated world. It is data, so that it can be kept, replayed and made
//! smaller; what a field leaves out is the plain case.

use longrein_protocol::ToolErrorClass;
use longrein_protocol::agent::{AgentSpec, Criterion, PolicyRule, Stage};
use longrein_protocol::block::{ModelErrorClass, StopReason};
use longrein_protocol::event::{Limits, Price};
use longrein_protocol::gate::Scope;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::catalogue;

/// What happens in one play: the agent, what model, tools and person do, and what goes wrong.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scenario {
    /// What it is about.
    #[serde(skip_serializing_if = "plain")]
    pub name: String,
    /// The seed of every id and every jitter.
    #[serde(skip_serializing_if = "plain")]
    pub seed: u64,
    /// The agent.
    #[serde(skip_serializing_if = "plain")]
    pub agent: Agent,
    /// What the model answers, in order; beyond the last one it says that it is done.
    #[serde(skip_serializing_if = "plain")]
    pub replies: Vec<Reply>,
    /// What the model of a run that was delegated to answers, in order; beyond the last one it
    /// says that it is done.
    #[serde(skip_serializing_if = "plain")]
    pub child_replies: Vec<Reply>,
    /// What goes wrong with requests.
    #[serde(skip_serializing_if = "plain")]
    pub mishaps: Vec<Mishap>,
    /// Input tokens that the provider counts, in percent of a quarter of the bytes; 0 is 100.
    #[serde(skip_serializing_if = "plain")]
    pub ratio_percent: u32,
    /// How calls of tools go; a call that is not named goes well.
    #[serde(skip_serializing_if = "plain")]
    pub manners: Vec<Manner>,
    /// Skills that lie on disk.
    #[serde(skip_serializing_if = "plain")]
    pub skills: Vec<SkillOnDisk>,
    /// How often the status tool can't say what became of a call, before it can.
    #[serde(skip_serializing_if = "plain")]
    pub status_unknown: u32,
    /// Whether the criteria hold, check by check; after the last one they hold.
    #[serde(skip_serializing_if = "plain")]
    pub verdicts: Vec<bool>,
    /// How the person answers.
    #[serde(skip_serializing_if = "plain")]
    pub person: Person,
    /// What the person and others do by themselves.
    #[serde(skip_serializing_if = "plain")]
    pub acts: Vec<Act>,
    /// Faults of appends.
    #[serde(skip_serializing_if = "plain")]
    pub faults: Vec<DiskFault>,
    /// Times at which the process is killed, milliseconds from the beginning.
    #[serde(skip_serializing_if = "plain")]
    pub kills: Vec<u32>,
    /// Times at which the process lets the run go and takes it up again, while what it began
    /// may still be on its way.
    #[serde(skip_serializing_if = "plain")]
    pub lets_go: Vec<u32>,
    /// Jumps of the wall clock.
    #[serde(skip_serializing_if = "plain")]
    pub jumps: Vec<Jump>,
    /// Whether the model answers by the number of its step, and not by the replies that a request
    /// still holds: for runs of which older parts are taken out.
    #[serde(skip_serializing_if = "plain")]
    pub by_steps: bool,
    /// What a model says that is asked for a summary; a good one where it is not said.
    #[serde(skip_serializing_if = "plain")]
    pub summary: Option<String>,
    /// Whether tools of a server are there that don't stand in requests.
    #[serde(skip_serializing_if = "plain")]
    pub hides: bool,
    /// Whether the box that commands work in is lost whenever the process is.
    #[serde(skip_serializing_if = "plain")]
    pub loses_box: bool,
    /// Whether the driver ends while a person is waited for, and a new one is made after it.
    #[serde(skip_serializing_if = "plain")]
    pub leaves: bool,
}

fn plain<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The agent of a scenario.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Agent {
    /// Tools that it is not granted.
    #[serde(skip_serializing_if = "plain")]
    pub withheld: Vec<String>,
    /// Its rules.
    #[serde(skip_serializing_if = "plain")]
    pub rules: Vec<PolicyRule>,
    /// Its hard limits, where they are not the usual ones.
    #[serde(skip_serializing_if = "plain")]
    pub limits: Limits,
    /// Its criteria.
    #[serde(skip_serializing_if = "plain")]
    pub criteria: Vec<Criterion>,
    /// The parts of its work, where it has a fixed path.
    #[serde(skip_serializing_if = "plain")]
    pub stages: Vec<Stage>,
    /// What its model's tokens cost.
    #[serde(skip_serializing_if = "plain")]
    pub price: Option<Price>,
    /// The model's window; 0 is a large one.
    #[serde(skip_serializing_if = "plain")]
    pub window_tokens: u32,
    /// The most tokens of one response; 0 is the usual limit.
    #[serde(skip_serializing_if = "plain")]
    pub output_tokens: u32,
    /// The skills that it may load, where those are not all.
    #[serde(skip_serializing_if = "plain")]
    pub skills: Option<Vec<String>>,
}

impl Agent {
    /// The agent as an agent file would say it.
    pub fn spec(&self) -> AgentSpec {
        let granted = catalogue::names()
            .into_iter()
            .chain(catalogue::HIDDEN.iter().copied())
            .filter(|name| !self.withheld.iter().any(|withheld| withheld == name));
        let allow: Vec<&str> = granted.collect();
        let mut spec: AgentSpec =
            serde_json::from_value(json!({"name": "simulated", "tools": {"allow": allow}}))
                .expect("the fields above are those of an agent");
        spec.policy.clone_from(&self.rules);
        spec.done_when.clone_from(&self.criteria);
        spec.stages.clone_from(&self.stages);
        let (budget, limits) = (&mut spec.budget, &self.limits);
        budget.steps = limits.steps.unwrap_or(budget.steps);
        budget.tokens_in = limits.tokens_in.or(budget.tokens_in);
        budget.tokens_out = limits.tokens_out;
        budget.working_minutes = limits.working_minutes.or(budget.working_minutes);
        budget.actions = limits.actions;
        budget.money_usd = limits.money_micro.map(|micro| micro as f64 / 1e6);
        if self.window_tokens > 0 {
            spec.model.window_tokens = self.window_tokens;
        }
        if let Some(skills) = &self.skills {
            spec.skills.use_.clone_from(skills);
        }
        if self.output_tokens > 0 {
            spec.model.max_output_tokens = self.output_tokens;
        }
        spec
    }
}

/// A skill that lies on disk at the beginning.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SkillOnDisk {
    /// Its name.
    pub name: String,
    /// Whether the person has not looked at it yet.
    #[serde(skip_serializing_if = "plain")]
    pub unseen: bool,
}

/// One answer of the model.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reply {
    /// Its words.
    #[serde(skip_serializing_if = "plain")]
    pub text: String,
    /// What it asks for.
    #[serde(skip_serializing_if = "plain")]
    pub calls: Vec<Call>,
    /// Why it stops, where that is not what its content says.
    #[serde(skip_serializing_if = "plain")]
    pub stop: Option<StopReason>,
}

/// A call that the model asks for.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Call {
    /// The tool, as the model names it.
    pub tool: String,
    /// The arguments, as the model writes them; they may not parse.
    pub arguments: String,
    /// The id of the call, where it is not one of its own.
    #[serde(skip_serializing_if = "plain")]
    pub id: Option<String>,
}

/// A reply of words.
pub fn words(text: &str) -> Reply {
    Reply {
        text: text.to_owned(),
        ..Reply::default()
    }
}

/// A reply that asks for one action.
pub fn calls(tool: &str, arguments: Value) -> Reply {
    Reply::default().and(tool, arguments)
}

impl Reply {
    /// Asks for one more action.
    #[must_use]
    pub fn and(mut self, tool: &str, arguments: Value) -> Self {
        self.calls.push(Call {
            tool: tool.to_owned(),
            arguments: arguments.to_string(),
            id: None,
        });
        self
    }
}

/// Something that goes wrong with a request.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mishap {
    /// Which request that reaches the provider, counted from 1.
    pub request: u32,
    /// What.
    pub what: MishapKind,
}

/// What can go wrong with a request.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MishapKind {
    /// The provider refuses it before it does anything, and asks to wait so many milliseconds.
    Refused(ModelErrorClass, Option<u32>),
    /// The answer breaks off, or can't be read: it is paid for all the same.
    Broken(ModelErrorClass),
    /// Nothing comes for so many milliseconds, then the connection ends. It is paid for.
    Silent(u32),
    /// Nobody answers at the provider's address.
    Unreachable,
    /// The answer is empty.
    Empty,
}

/// How one call of a tool goes.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Manner {
    /// The tool.
    pub tool: String,
    /// Which call of it that reaches the world, counted from 1.
    pub call: u32,
    /// When its effect happens.
    #[serde(skip_serializing_if = "plain")]
    pub lands: Lands,
    /// How long it takes, in milliseconds.
    #[serde(skip_serializing_if = "plain")]
    pub takes_ms: u32,
    /// How it ends.
    #[serde(skip_serializing_if = "plain")]
    pub ends: Ends,
    /// Whether it does not hear that it is to end.
    #[serde(skip_serializing_if = "plain")]
    pub deaf: bool,
}

/// When the effect of a call happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lands {
    /// Before anything is waited for.
    #[default]
    AtOnce,
    /// At the end of the call, if it comes to that.
    AtEnd,
    /// So many milliseconds after the beginning, whatever becomes of the caller.
    Late(u32),
    /// It does not.
    Never,
}

/// How a call ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ends {
    /// Well.
    #[default]
    Well,
    /// With an error that says that it did not happen.
    Error(ToolErrorClass),
    /// With an error that says that nobody knows.
    Unknown,
}

/// How the person answers what they are asked. Each list is in the order of the questions; beyond
/// its end they answer in the plain way.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Person {
    /// Approvals; plainly approved.
    #[serde(skip_serializing_if = "plain")]
    pub approvals: Vec<Answer>,
    /// Answers to questions; plainly "Yes."
    #[serde(skip_serializing_if = "plain")]
    pub answers: Vec<String>,
    /// Acceptances of the result; plainly accepted.
    #[serde(skip_serializing_if = "plain")]
    pub acceptances: Vec<bool>,
    /// What they do when the run is handed to them; plainly nothing.
    #[serde(skip_serializing_if = "plain")]
    pub handoffs: Vec<OnHandoff>,
    /// Whether an uncertain action that did not happen is to be tried once more.
    #[serde(skip_serializing_if = "plain")]
    pub retries: bool,
    /// How long they think, in milliseconds.
    #[serde(skip_serializing_if = "plain")]
    pub thinks_ms: u32,
}

/// An answer to the question whether an action may start.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Yes.
    Approve,
    /// Yes, with these arguments.
    Edit(String),
    /// Yes, and always: the rules that were offered.
    Always(Scope, bool),
    /// No, for this reason.
    Deny(String),
    /// Yes and no, from two places at once.
    Both,
    /// None at all.
    Never,
}

/// What the person does when the run is handed to them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnHandoff {
    /// They leave it.
    Leave,
    /// They say that it is to go on.
    Resume,
    /// They say something.
    Say(String),
    /// They raise limits.
    Raise(Limits),
    /// They end it.
    Cancel,
    /// They take the result as it is.
    Take,
}

/// Something that the person, or somebody else, does by themselves.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Act {
    /// When.
    pub when: When,
    /// What.
    pub does: Deed,
}

/// When an act is done.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// So many milliseconds after the beginning.
    At(u32),
    /// As soon as so many events of this type are on disk.
    Event(String, u32),
}

/// What is done.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    /// The run is ended.
    Cancel,
    /// The run is paused; the person resumes it after a while.
    Pause,
    /// The run is to go on.
    Resume,
    /// The person says something.
    Say(String),
    /// The person sets limits.
    Raise(Limits),
    /// The last action of this tool is to be taken back.
    Undo(String),
    /// Something is approved that is not what was shown.
    ApproveStale,
    /// The person says everything at once of what they were last asked: that it is accepted, that
    /// it happened, an answer and a refusal. Most of it fits nothing.
    Muddle,
    /// The box that commands work in is lost, with all that runs in it.
    LoseBox,
    /// Somebody changes this file of the workspace.
    ChangeFile(String),
    /// Somebody changes this skill on disk.
    ChangeSkill(String),
    /// The rules on disk are now these.
    Rules(Vec<PolicyRule>),
    /// The rules on disk can't be read any more.
    BreakRules,
}

/// A fault of one append.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskFault {
    /// Which append of the whole play, counted from 1.
    pub append: u32,
    /// Whether its facts become durable.
    #[serde(default, skip_serializing_if = "plain")]
    pub durable: bool,
    /// What happens.
    pub what: FaultWhat,
}

/// What a fault of an append does. To a driver, a short write and a write that was never synced
/// are [`FaultWhat::Io`] or [`FaultWhat::Crash`] with nothing durable: the database throws the half
/// away. A sync that fails although the facts survive is [`FaultWhat::Io`] with them durable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultWhat {
    /// The process ends.
    Crash,
    /// The disk is full.
    Full,
    /// The file system refuses.
    Io,
    /// Another process keeps the database locked for a while.
    Busy,
}

/// A jump of the wall clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jump {
    /// When, in milliseconds from the beginning.
    pub at_ms: u32,
    /// By how many seconds, forward or back.
    pub by_seconds: i32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_that_is_kept_is_read_back_as_it_was() {
        let scenario = Scenario {
            seed: 7,
            replies: vec![
                calls("put", json!({"n": 1})).and("look", json!({})),
                words("Done."),
            ],
            faults: vec![DiskFault {
                append: 3,
                durable: true,
                what: FaultWhat::Crash,
            }],
            acts: vec![Act {
                when: When::Event("action.started".to_owned(), 1),
                does: Deed::Cancel,
            }],
            ..Scenario::default()
        };
        let text = serde_json::to_string_pretty(&scenario).unwrap();
        assert_eq!(serde_json::from_str::<Scenario>(&text).unwrap(), scenario);
        assert!(!text.contains("jumps"), "what is plain is left out: {text}");
    }
}
