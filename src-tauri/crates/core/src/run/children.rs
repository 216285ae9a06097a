//! Children: what a delegation asks for, what each is granted, and what comes back.

use longrein_protocol::agent::{AgentSpec, Decision, SavedAgent};
use longrein_protocol::event::{ChildFinished, ChildSpawned, Limits, Price};
use longrein_protocol::gate::{Scope, StandingRule};
use longrein_protocol::media::Takes;
use longrein_protocol::{ActionId, Block, Body, RunId};
use serde::Deserialize;
use serde_json::Value;

use super::next::{DELEGATE, FINISH};
use super::{Item, Reserve, Run, saved};
use crate::policy;

/// The most tasks of one delegation.
pub const TASKS: usize = 8;
/// The argument of `finish` in which a helper reports what was asked for in a form.
pub const FINDING: &str = "finding";
/// The longest schema of a finding, in bytes of JSON.
const FINDING_SCHEMA_BYTES: usize = 8_000;
/// The part of what is left that tasks get together, when they name no share.
const DEFAULT_SHARE: f64 = 0.5;
/// The part of what is left that tasks may get together: the parent has to end its work too.
const MOST_SHARE: f64 = 0.9;

/// What a child is told before its task.
const INSTRUCTIONS: &str = "\
You are a helper in a larger piece of work. Do the task in the first message and nothing else. \
You see nothing of the rest, and the one who gave you the task sees only what you report. \
When you are done, call finish: its summary is your report. Say what you found, with the source \
id of each statement, and what you could not find.";

/// What is added for one that begins with a copy of the parent's files.
const WITH_COPY: &str = "\n\n\
Your files begin as a copy of those of the one who gives you the work; the long results that it \
keeps are in results/above/. What you change stays yours: publish what is to be used.";

/// A child of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Child {
    /// Its run.
    pub run: RunId,
    /// The action by which it was delegated to.
    pub action: ActionId,
    /// What it is to do, in a few words.
    pub title: String,
    /// What it may use.
    pub grant: Limits,
    /// How it ended.
    pub ended: Option<Box<ChildFinished>>,
}

/// A child that is to be begun.
#[derive(Clone, PartialEq, Debug)]
pub struct NewChild {
    /// What it is to do, in a few words.
    pub title: String,
    /// Its task.
    pub brief: String,
    /// Its agent: the parent's, or a saved one, with a part of the parent's grants and budget.
    pub agent: AgentSpec,
    /// What is another than the parent's where the agent is a saved one.
    pub model: Option<OfSaved>,
    /// Whether it begins with a copy of the parent's files.
    pub copies: bool,
    /// What it may use.
    pub grant: Limits,
}

/// The model of a saved agent.
#[derive(Clone, PartialEq, Debug)]
pub struct OfSaved {
    /// `provider/model`.
    pub name: String,
    /// What its tokens cost; `None` when it is not known.
    pub price: Option<Price>,
    /// What it takes beside text.
    pub takes: Takes,
}

impl OfSaved {
    fn of(saved: &SavedAgent) -> Self {
        Self {
            name: saved.model.clone(),
            price: saved.price,
            takes: saved.takes,
        }
    }
}

/// Why a delegation can't be. The model is told.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum BadDelegation {
    /// The arguments are not those of a delegation.
    #[error("The tasks can't be read: {0}")]
    Unreadable(String),
    /// Too many tasks, or none.
    #[error("A delegation has from 1 to {TASKS} tasks.")]
    Count,
    /// The run has as many children as it may have.
    #[error("This run may have {limit} children in all and has had {had}.")]
    Children {
        /// The limit.
        limit: u32,
        /// How many there were.
        had: u32,
    },
    /// Children would be too deep.
    #[error("Children may not have children any more at this depth ({0}). Do it yourself.")]
    Depth(u32),
    /// The shares are too large together.
    #[error("The tasks ask for {0:.0} % of what is left; together they may have 90 %.")]
    Shares(f64),
    /// A tool that the parent does not have.
    #[error("{0} is not granted to you, so you can't grant it.")]
    Tool(String),
    /// An agent that the parent's file does not name.
    #[error("There is no agent “{named}” to give work to: {known}.")]
    Agent {
        /// The one that was asked for.
        named: String,
        /// Those that there are, in words.
        known: String,
    },
    /// A saved agent has the tools of its own file.
    #[error(
        "“{0}” has an agent and tools: an agent has those of its own file. Leave one of the two out."
    )]
    AgentAndTools(String),
    /// The form of a finding is no JSON Schema, or none for an object.
    #[error(
        "The finding of “{title}” is no JSON Schema of an object: {why}. Leave it out, or write one like {{\"type\": \"object\", \"properties\": {{…}}}}."
    )]
    Finding {
        /// The task.
        title: String,
        /// What is wrong with it.
        why: String,
    },
    /// Nothing is left to grant.
    #[error("The budget leaves nothing to grant: {0}.")]
    Spent(&'static str),
}

#[derive(Deserialize)]
struct Delegation {
    tasks: Vec<Task>,
}

#[derive(Deserialize)]
struct Task {
    title: String,
    brief: String,
    agent: Option<String>,
    tools: Option<Vec<String>>,
    budget_share: Option<f64>,
    #[serde(default)]
    copy_files: bool,
    finding: Option<Value>,
}

/// Why a schema can't be the form of a finding.
fn unfit(schema: &Value) -> Option<String> {
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Some("its type is not object".to_owned());
    }
    let bytes = schema.to_string().len();
    if bytes > FINDING_SCHEMA_BYTES {
        return Some(format!(
            "it has {bytes} bytes, more than {FINDING_SCHEMA_BYTES}"
        ));
    }
    let compiled = jsonschema::draft202012::new(schema);
    compiled.err().map(|error| error.to_string())
}

/// The lower of two limits; `None` where there is none.
fn least<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

impl Run {
    /// The children that a delegation asks for.
    ///
    /// # Errors
    /// [`BadDelegation`], which says what the model can do.
    pub fn delegation(&self, arguments: &Value) -> Result<Vec<NewChild>, BadDelegation> {
        let Delegation { tasks } = serde_json::from_value(arguments.clone())
            .map_err(|error| BadDelegation::Unreadable(error.to_string()))?;
        let parent = self.agent().ok_or(BadDelegation::Count)?;
        if tasks.is_empty() || tasks.len() > TASKS {
            return Err(BadDelegation::Count);
        }
        let (limit, had) = (parent.budget.children, self.children.len() as u32);
        if had + tasks.len() as u32 > limit {
            return Err(BadDelegation::Children { limit, had });
        }
        let depth = self.created.as_ref().map_or(0, |created| created.depth);
        if depth + 1 > parent.budget.depth {
            return Err(BadDelegation::Depth(depth));
        }
        let default = DEFAULT_SHARE / tasks.len() as f64;
        let shares: Vec<f64> = tasks
            .iter()
            .map(|task| task.budget_share.unwrap_or(default))
            .collect();
        let sum: f64 = shares.iter().sum();
        let positive = shares.iter().all(|share| *share > 0.0);
        if !positive || sum > MOST_SHARE + f64::EPSILON * TASKS as f64 {
            return Err(BadDelegation::Shares(sum * 100.0));
        }
        let children = tasks.into_iter().zip(shares);
        children
            .map(|(task, share)| self.new_child(parent, task, share))
            .collect()
    }

    fn new_child(
        &self,
        parent: &AgentSpec,
        task: Task,
        share: f64,
    ) -> Result<NewChild, BadDelegation> {
        let grant = self.grant(share)?;
        if let Some(why) = task.finding.as_ref().and_then(unfit) {
            let title = task.title;
            return Err(BadDelegation::Finding { title, why });
        }
        let (mut agent, model) = match &task.agent {
            Some(_) if task.tools.is_some() => {
                return Err(BadDelegation::AgentAndTools(task.title));
            }
            Some(name) => self.saved_agent(parent, name)?,
            None => (self.plain_helper(parent, task.tools)?, None),
        };
        // What a stage does not have, its helpers have not either.
        let stage = self.stage().map(|stage| &stage.tools);
        agent
            .tools
            .within
            .extend(stage.filter(|tools| !tools.is_empty()).cloned());
        agent.finding = task.finding.map(Box::new);
        if task.copy_files {
            agent.instructions.push_str(WITH_COPY);
        }
        let budget = &mut agent.budget;
        budget.steps = grant.steps.unwrap_or(budget.steps).min(budget.steps);
        budget.tokens_in = least(grant.tokens_in, budget.tokens_in);
        budget.tokens_out = least(grant.tokens_out, budget.tokens_out);
        budget.actions = least(grant.actions, budget.actions);
        budget.working_minutes = least(grant.working_minutes, budget.working_minutes);
        let money_micro = least(grant.money_micro, budget.money_micro());
        budget.money_usd = money_micro.map(|micro| micro as f64 / 1e6);
        Ok(NewChild {
            title: task.title,
            brief: task.brief,
            agent,
            model,
            copies: task.copy_files,
            grant,
        })
    }

    /// A helper that is the parent over again, with all of its tools or some.
    fn plain_helper(
        &self,
        parent: &AgentSpec,
        tools: Option<Vec<String>>,
    ) -> Result<AgentSpec, BadDelegation> {
        let allow = match tools {
            None => {
                let own = parent.tools.allow.iter();
                own.filter(|tool| *tool != DELEGATE).cloned().collect()
            }
            Some(tools) => {
                let mine = tools.into_iter().map(|tool| self.grantable(parent, tool));
                mine.collect::<Result<_, _>>()?
            }
        };
        let mut agent = parent.clone();
        agent.instructions = INSTRUCTIONS.to_owned();
        agent.tools.allow = allow;
        agent.done_when = Vec::new();
        agent.stages = Vec::new();
        Ok(agent)
    }

    /// A helper that is a saved agent.
    fn saved_agent(
        &self,
        parent: &AgentSpec,
        name: &str,
    ) -> Result<(AgentSpec, Option<OfSaved>), BadDelegation> {
        let Some(named) = parent.agents.named(name) else {
            let names: Vec<&str> = parent.agents.saved.iter().map(|of| &*of.name).collect();
            return Err(BadDelegation::Agent {
                named: name.to_owned(),
                known: match names.as_slice() {
                    [] => "you have none; leave it out".to_owned(),
                    names => format!("there is {}", names.join(", ")),
                },
            });
        };
        let agent = saved::as_helper(parent, named);
        Ok((agent, Some(OfSaved::of(named))))
    }

    /// A share of what is left of every limit.
    fn grant(&self, share: f64) -> Result<Limits, BadDelegation> {
        let limits = self.limits;
        let part = |limit: Option<u32>, used: u32, what| {
            let Some(limit) = limit else { return Ok(None) };
            let left = f64::from(limit.saturating_sub(used));
            match (left * share).floor() as u32 {
                0 => Err(BadDelegation::Spent(what)),
                part => Ok(Some(part)),
            }
        };
        let (steps, actions) = (
            self.used.steps + self.granted.0,
            self.used.actions + self.granted.1,
        );
        let minutes = self.used.working_ms / 60_000;
        let money = match limits.money_micro {
            None => None,
            Some(limit) => {
                let left = limit.saturating_sub(self.used.money_micro);
                match (left as f64 * share).floor() as u64 {
                    0 => return Err(BadDelegation::Spent("money")),
                    part => Some(part),
                }
            }
        };
        Ok(Limits {
            steps: part(limits.steps, steps, "steps")?,
            tokens_in: part(limits.tokens_in, self.used.tokens_in, "input tokens")?,
            tokens_out: part(limits.tokens_out, self.used.tokens_out, "output tokens")?,
            actions: part(limits.actions, actions, "actions")?,
            // Children work side by side, so time is not shared out among them.
            working_minutes: limits
                .working_minutes
                .map(|of| of.saturating_sub(minutes).max(1)),
            money_micro: money,
        })
    }

    /// A tool as a child may have it: under its own name, which a model may have read as it is on
    /// the wire.
    fn grantable(&self, parent: &AgentSpec, named: String) -> Result<String, BadDelegation> {
        if parent.tools.within.is_empty() && parent.tools.allow.contains(&named) {
            return Ok(named);
        }
        let mut known = self.tools.iter().chain(&self.found);
        let known = known.find(|spec| spec.name == named || spec.wire_name() == named);
        let (name, effect) = match known {
            Some(spec) => (spec.name.clone(), Some(spec.effect)),
            None => (named, None),
        };
        match policy::grants(&parent.tools, &name, effect) {
            true => Ok(name),
            false => Err(BadDelegation::Tool(name)),
        }
    }

    /// The rules that a child begins with: those that stand for its agent, and what narrows this
    /// run alone.
    pub fn rules_for_child(&self) -> Vec<StandingRule> {
        let carried = |rule: &&StandingRule| {
            rule.scope != Scope::Run || rule.rule.decision != Decision::Allow
        };
        self.rules.iter().filter(carried).cloned().collect()
    }

    /// Where a child's report stands: the arguments of its last `finish` (then `true`), or its
    /// last words.
    pub fn report(&self) -> Option<(&Body, bool)> {
        self.conversation.items.iter().rev().find_map(|item| {
            let Item::Assistant(blocks) = item else {
                return None;
            };
            let finish = blocks.iter().find_map(|block| match block {
                Block::ToolUse {
                    name, arguments, ..
                } if name == FINISH => Some((arguments, true)),
                _ => None,
            });
            let words = blocks.iter().rev().find_map(|block| match block {
                Block::Text { text, .. } if !text.is_empty() => Some((text, false)),
                _ => None,
            });
            finish.or(words)
        })
    }

    /// The children that have not ended.
    pub fn open_children(&self) -> impl Iterator<Item = &Child> {
        self.children.iter().filter(|child| child.ended.is_none())
    }

    pub(super) fn spawned(&mut self, spawned: &ChildSpawned) {
        let grant = spawned.grant;
        self.hold(reserve_of(&grant));
        self.granted.0 += grant.steps.unwrap_or(0);
        self.granted.1 += grant.actions.unwrap_or(0);
        self.children.push(Child {
            run: spawned.child,
            action: spawned.action.clone(),
            title: spawned.title.clone(),
            grant,
            ended: None,
        });
    }

    pub(super) fn child_finished(&mut self, finished: &ChildFinished) {
        let Some(child) = self
            .children
            .iter_mut()
            .find(|child| child.run == finished.child && child.ended.is_none())
        else {
            return;
        };
        child.ended = Some(Box::new(finished.clone()));
        let grant = child.grant;
        self.release(reserve_of(&grant));
        self.granted.0 = self.granted.0.saturating_sub(grant.steps.unwrap_or(0));
        self.granted.1 = self.granted.1.saturating_sub(grant.actions.unwrap_or(0));
        let (used, its) = (&mut self.used, finished.used);
        used.steps = used.steps.saturating_add(its.steps);
        used.tokens_in = used.tokens_in.saturating_add(its.tokens_in);
        used.tokens_out = used.tokens_out.saturating_add(its.tokens_out);
        used.money_micro = used.money_micro.saturating_add(its.money_micro);
        used.actions = used.actions.saturating_add(its.actions);
        self.tainted |= finished.tainted;
        self.private_read |= finished.private;
        self.progressed = true;
        // Its folder lies in this run's.
        self.files_touched = Some(self.seq);
    }
}

fn reserve_of(grant: &Limits) -> Reserve {
    Reserve {
        tokens_in: grant.tokens_in.unwrap_or(0),
        tokens_out: grant.tokens_out.unwrap_or(0),
        money_micro: grant.money_micro.unwrap_or(0),
    }
}
