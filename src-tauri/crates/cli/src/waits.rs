//! What of a run waits for a person: approvals, questions, acceptances, actions in doubt.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use longrein_app::Longrein;
use longrein_core::policy;
use longrein_core::question::DECLINE;
use longrein_core::run::{Acceptance, Action, ActionStage, Phase, Run};
use longrein_protocol::agent::PolicyRule;
use longrein_protocol::event::{Event, Payload};
use longrein_protocol::gate::{Check, Surface};
use longrein_protocol::question::{Field, Reply, ServerQuestion, Wants};
use longrein_protocol::view::{RunLine, RunState};
use longrein_protocol::wish::Wish;
use longrein_protocol::{ActionId, Body, Millis, RunId};
use longrein_runtime::history;
use longrein_store::Log as _;
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::Failure;
use crate::hold;

/// What of a run waits for a person.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    /// The run as its log says.
    pub run: Run,
    /// What waits, in the order of the actions; an acceptance comes last.
    pub asks: Vec<Ask>,
}

/// One thing that waits for a person.
#[derive(Clone, PartialEq, Debug)]
pub struct Ask {
    /// Since when.
    pub since: Millis,
    /// What it is.
    pub what: What,
}

/// What waits for a person.
#[derive(Clone, PartialEq, Debug)]
pub enum What {
    /// Whether an action may start.
    Approval {
        /// The action.
        action: Box<Action>,
        /// What each check of the gate said.
        checks: Vec<Check>,
        /// The rules that "always" would make, all of them together.
        offers: Vec<PolicyRule>,
    },
    /// A question of the model.
    Question {
        /// The action by which it asks.
        action: Box<Action>,
        /// The question.
        question: Body,
        /// Answers that it offers.
        options: Vec<String>,
    },
    /// A question of a server, whose call waits in the process that drives the run.
    ServerQuestion {
        /// The action during which it asks.
        action: Box<Action>,
        /// Who asks, and for what.
        question: Box<ServerQuestion>,
        /// Its words.
        message: Body,
    },
    /// Whether the result is accepted.
    Acceptance {
        /// What the person is asked.
        text: String,
    },
    /// What became of an action that may or may not have happened.
    Verdict {
        /// The action.
        action: Box<Action>,
    },
}

impl What {
    /// The action that it is about, if it is about one.
    pub fn action(&self) -> Option<&Action> {
        match self {
            Self::Approval { action, .. }
            | Self::Question { action, .. }
            | Self::ServerQuestion { action, .. }
            | Self::Verdict { action } => Some(action),
            Self::Acceptance { .. } => None,
        }
    }

    /// What it waits for, as scripts read it.
    pub fn waits_for(&self) -> &'static str {
        match self {
            Self::Approval { .. } => "approval",
            Self::Question { .. } | Self::ServerQuestion { .. } => "answer",
            Self::Acceptance { .. } => "acceptance",
            Self::Verdict { .. } => "verdict",
        }
    }

    /// The commands by which a person answers, without the name of the program.
    pub fn commands(&self, run: RunId) -> Vec<String> {
        match self {
            Self::Approval { action, .. } => vec![
                format!("approve {}", action.id),
                format!("deny {} --reason \"…\"", action.id),
            ],
            Self::Question { action, .. } => vec![format!("answer {} \"…\"", action.id)],
            Self::ServerQuestion {
                action, question, ..
            } => vec![
                match &question.wants {
                    Wants::Form { fields } => format!("answer {} '{}'", action.id, sketch(fields)),
                    Wants::Visit { .. } => format!("answer {} --open", action.id),
                },
                format!("answer {} {DECLINE}", action.id),
            ],
            Self::Acceptance { .. } => vec![
                format!("accept {run}"),
                format!("accept {run} --send-back \"…\""),
            ],
            Self::Verdict { action } => vec![format!(
                "settle {} happened|not-happened|retry|stop",
                action.id
            )],
        }
    }
}

/// The answer to a form, to be filled in. A name that means something to a shell is not repeated
/// in a command: a server chose it.
fn sketch(fields: &[Field]) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    if fields.iter().all(|field| field.name.chars().all(is_plain)) {
        let fields = fields.iter().map(|field| format!("\"{}\": …", field.name));
        return format!("{{{}}}", fields.collect::<Vec<_>>().join(", "));
    }
    "{…}".to_owned()
}

/// The most runs of a tree that are looked at.
const TREE_RUNS: usize = 512;

/// A run with the children that it waits for.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// The run first, then its children that have not ended, after their parents.
    pub runs: Vec<(RunId, Waits)>,
}

impl Tree {
    /// Whether nothing of it goes on by itself, and something of it waits for a person.
    pub fn rests(&self) -> bool {
        let works = |(_, waits): &(RunId, Waits)| works(&waits.run);
        let waits = |(_, waits): &(RunId, Waits)| waits.run.standing().0 == RunState::Waiting;
        !self.runs.iter().any(works) && self.runs.iter().any(waits)
    }
}

/// Whether a run goes on by itself. One that ended as a child sets its parent going.
fn works(run: &Run) -> bool {
    match run.standing().0 {
        RunState::Waiting | RunState::Paused => false,
        RunState::Running => {
            let mut started = run
                .actions
                .iter()
                .filter(|action| action.stage == ActionStage::Started)
                .peekable();
            let delegates = |action: &Action| {
                let mut children = run.open_children();
                children.any(|child| child.action == action.id)
            };
            started.peek().is_none() || !started.all(delegates)
        }
        _ => true,
    }
}

/// Whether nothing of a run and its children goes on by itself, something of it waits for a
/// person, and no answer is on its way.
///
/// # Errors
/// What reading gives.
pub async fn rests(app: &Longrein, root: RunId) -> Result<bool, Failure> {
    let tree = of_tree(app, root).await?;
    if !tree.rests() {
        return Ok(false);
    }
    for (run, _) in &tree.runs {
        if !app.store().wishes(*run).await?.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// How long a server's question is kept open by a process at which nobody sits: then it is said to
/// give no answer, so that the call ends with what the server makes of that.
pub const HELD_ANSWER_WAIT: Duration = Duration::from_secs(15 * 60);

/// The questions of servers that wait in a run and its children. Those that waited too long get no
/// answer, where this process is the one that would keep them open.
///
/// # Errors
/// What reading and recording give.
pub async fn held(app: &Longrein, root: RunId) -> Result<Vec<Ask>, Failure> {
    let now = longrein_app::now();
    let limit = Millis::try_from(HELD_ANSWER_WAIT.as_millis()).unwrap_or(Millis::MAX);
    let mut held = Vec::new();
    for (run, waits) in of_tree(app, root).await?.runs {
        for ask in waits.asks {
            let What::ServerQuestion {
                action, question, ..
            } = &ask.what
            else {
                continue;
            };
            if now.saturating_sub(ask.since) > limit {
                let wish = Wish::Reply {
                    action: action.id.clone(),
                    number: question.number,
                    answer: Reply::Dismissed,
                    from: Surface::Command,
                };
                app.wish(run, wish).await?;
            }
            held.push(ask);
        }
    }
    Ok(held)
}

/// A run with the children that it waits for.
///
/// # Errors
/// What reading gives.
pub async fn of_tree(app: &Longrein, root: RunId) -> Result<Tree, Failure> {
    let mut tree = Tree::default();
    let mut open = VecDeque::from([root]);
    while let Some(run) = open.pop_front() {
        let waits = of(app, run).await?;
        open.extend(waits.run.open_children().map(|child| child.run));
        tree.runs.push((run, waits));
        if tree.runs.len() == TREE_RUNS {
            break;
        }
    }
    Ok(tree)
}

/// What the log says of an action that is, or was, asked about.
#[derive(Default)]
struct Asked {
    at: Millis,
    checks: Vec<Check>,
    offers: Vec<PolicyRule>,
    question: Body,
    options: Vec<String>,
    /// The words of servers, by the numbers of their questions.
    by_servers: HashMap<u32, Body>,
}

#[derive(Default)]
struct Fold {
    run: Run,
    asked: HashMap<ActionId, Asked>,
    acceptance_at: Millis,
}

/// What of a run waits for a person now. Of one whose log is damaged nothing does, since no
/// answer would be taken.
///
/// # Errors
/// What reading gives.
pub async fn of(app: &Longrein, run: RunId) -> Result<Waits, Failure> {
    let mut fold = Fold::default();
    let mut take = |event: &Event| fold.take(event);
    let damage = history::each_event(app.store(), run, &mut take).await?;
    let mut waits = fold.finish();
    if damage.is_some() {
        waits.asks.clear();
    }
    Ok(waits)
}

impl Fold {
    fn take(&mut self, event: &Event) {
        self.run.apply(event);
        match &event.payload {
            Payload::ActionDecided(decided) => {
                self.of(&decided.action).checks.clone_from(&decided.checks);
            }
            Payload::ApprovalRequested(asked) => {
                let of = self.of(&asked.action);
                of.at = event.at;
                of.offers.clone_from(&asked.offers);
            }
            Payload::QuestionAsked(asked) => {
                let of = self.of(&asked.action);
                match &asked.by {
                    Some(by) => {
                        of.by_servers.insert(by.number, asked.question.clone());
                    }
                    None => {
                        of.at = event.at;
                        of.question = asked.question.clone();
                        of.options.clone_from(&asked.options);
                    }
                }
            }
            Payload::ActionUncertain(uncertain) => self.of(&uncertain.action).at = event.at,
            Payload::AcceptanceRequested(_) => self.acceptance_at = event.at,
            _ => {}
        }
        // Actions that left the step are never asked about again.
        if self.run.actions.is_empty() {
            self.asked.clear();
        }
    }

    fn of(&mut self, action: &ActionId) -> &mut Asked {
        self.asked.entry(action.clone()).or_default()
    }

    fn finish(mut self) -> Waits {
        if self.run.phase == Phase::Cancelled {
            return Waits {
                run: self.run,
                asks: Vec::new(),
            };
        }
        let mut asks = Vec::new();
        for action in &self.run.actions {
            let mut asked = self.asked.remove(&action.id).unwrap_or_default();
            let boxed = || Box::new(action.clone());
            if action.stage == ActionStage::Started {
                asks.extend(action.questions.iter().map(|open| {
                    let number = open.question.number;
                    Ask {
                        since: open.since,
                        what: What::ServerQuestion {
                            action: boxed(),
                            question: Box::new(open.question.clone()),
                            message: asked.by_servers.remove(&number).unwrap_or_default(),
                        },
                    }
                }));
            }
            let what = match action.stage {
                ActionStage::Asked => What::Approval {
                    action: boxed(),
                    checks: asked.checks,
                    offers: asked.offers,
                },
                ActionStage::Questioned => What::Question {
                    action: boxed(),
                    question: asked.question,
                    options: asked.options,
                },
                ActionStage::Uncertain => What::Verdict { action: boxed() },
                _ => continue,
            };
            asks.push(Ask {
                since: asked.at,
                what,
            });
        }
        if let Acceptance::Asked(text) = &self.run.acceptance {
            asks.push(Ask {
                since: self.acceptance_at,
                what: What::Acceptance { text: text.clone() },
            });
        }
        Waits {
            run: self.run,
            asks,
        }
    }
}

/// Something that waits, as a line of JSON.
///
/// # Errors
/// What reading gives.
pub async fn json(
    context: &Context,
    app: &Longrein,
    (run, line): (RunId, &RunLine),
    ask: &Ask,
) -> Result<Value, Failure> {
    let holder = hold::holder(app, run).await?;
    let driven_by = holder.map(|holder| json!({"pid": holder.pid, "command": holder.command}));
    let commands = ask.what.commands(run);
    let answer: Vec<String> = commands
        .iter()
        .map(|words| context.command(words))
        .collect();
    let mut value = json!({
        "run": line.run,
        "title": line.title,
        "agent": line.agent,
        "parent": line.parent,
        "waits_for": ask.what.waits_for(),
        "since": ask.since,
        "driven_by": driven_by,
        "answer": answer,
    });
    if let Some(action) = ask.what.action() {
        let arguments = app.content(&action.arguments).await?;
        value["action"] = json!(action.id);
        value["tool"] = json!(action.tool);
        value["effect"] = json!(action.effect);
        value["arguments"] = serde_json::from_slice(&arguments).unwrap_or_default();
        value["why"] = json!(action.why);
        let skill = action.facts.skill.as_ref();
        if let Some(review) = skill.and_then(|skill| skill.review.as_ref()) {
            let review = app.content(review).await?;
            value["review"] = json!(String::from_utf8_lossy(&review));
        }
    }
    match &ask.what {
        What::Approval { checks, offers, .. } => {
            value["checks"] = json!(checks);
            let rules = offers
                .iter()
                .map(|rule| json!({"matches": policy::in_words(rule), "rule": rule}));
            value["always"] = rules.collect();
        }
        What::Question {
            question, options, ..
        } => {
            let question = app.content(question).await?;
            value["question"] = json!(String::from_utf8_lossy(&question));
            value["options"] = json!(options);
        }
        What::ServerQuestion {
            question, message, ..
        } => {
            let message = app.content(message).await?;
            value["question"] = json!(String::from_utf8_lossy(&message));
            value["by_server"] = json!(question);
        }
        What::Acceptance { text } => value["question"] = json!(text),
        What::Verdict { .. } => {}
    }
    Ok(value)
}
