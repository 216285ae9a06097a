//! A tool that keeps count of what it did to the world.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use longrein_protocol::ToolSpec;
use longrein_protocol::source::{PlanItem, PlanState};
use longrein_protocol::tool::{Effect, Reach, Recovery, Repeat};
use longrein_runtime::ports::{Answer, Fact, Question, Tool, ToolCall, ToolError, ToolOutput};
use serde_json::{Value, json};

/// What a tool gives that makes the plan of a call's `items`, all of them open.
pub fn planned(call: &ToolCall) -> ToolOutput {
    let items = call.arguments["items"].as_array().cloned();
    let items = items.unwrap_or_default().into_iter().map(|item| PlanItem {
        text: item.as_str().unwrap_or_default().to_owned(),
        state: PlanState::Open,
        evidence: None,
    });
    let mut output = ToolOutput::text("planned", "planned");
    output.facts.push(Fact::Plan(items.collect()));
    output
}

type Act = dyn Fn(&ToolCall) -> Result<ToolOutput, ToolError> + Send + Sync;

/// A tool that keeps count of what it did to the world.
pub struct FakeTool {
    pub(crate) spec: ToolSpec,
    act: Box<Act>,
    done: Mutex<Vec<Value>>,
    time: Duration,
    /// Held calls wait here, before their effect or after it.
    hold: Option<(crate::Gate, bool)>,
    /// What its server asks the person, one after the other.
    questions: Vec<Question>,
    /// What came of them.
    answers: Mutex<Vec<Answer>>,
}

impl FakeTool {
    /// A tool that takes any object and answers `done`.
    pub fn new(name: &str, effect: Effect, repeat: Repeat) -> Self {
        let spec = ToolSpec {
            name: name.to_owned(),
            description: format!("Does {name}."),
            schema: json!({"type": "object"}),
            effect,
            repeat,
            timeout_ms: 60_000,
            result_tokens: 4_000,
            path_arguments: Vec::new(),
            reach: Reach::default(),
            recovery: Recovery::default(),
            untrusted: false,
        };
        let act = Box::new(|_: &ToolCall| Ok(ToolOutput::text("done", "done")));
        Self {
            spec,
            act,
            done: Mutex::default(),
            time: Duration::ZERO,
            hold: None,
            questions: Vec::new(),
            answers: Mutex::default(),
        }
    }

    /// Whose server asks the person this first, and then does it.
    #[must_use]
    pub fn asking(mut self, questions: impl IntoIterator<Item = Question>) -> Self {
        self.questions = questions.into_iter().collect();
        self
    }

    /// What came of its server's questions.
    pub fn answers(&self) -> Vec<Answer> {
        self.answers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// With another answer.
    #[must_use]
    pub fn answering(
        mut self,
        act: impl Fn(&ToolCall) -> Result<ToolOutput, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.act = Box::new(act);
        self
    }

    /// With another schema of its arguments.
    #[must_use]
    pub fn with_schema(mut self, schema: Value) -> Self {
        self.spec.schema = schema;
        self
    }

    /// Whose results are untrusted text.
    #[must_use]
    pub fn untrusted(mut self) -> Self {
        self.spec.untrusted = true;
        self
    }

    /// Keyed: this argument takes the key, which is valid for so many seconds.
    #[must_use]
    pub fn keyed(mut self, argument: &str, valid_seconds: u32) -> Self {
        self.spec.repeat = Repeat::Keyed;
        self.spec.recovery.key_argument = Some(argument.to_owned());
        self.spec.recovery.key_valid_seconds = Some(valid_seconds);
        self
    }

    /// Queryable: this tool says what became of it.
    #[must_use]
    pub fn queried_by(mut self, status_tool: &str) -> Self {
        self.spec.repeat = Repeat::Queryable;
        self.spec.recovery.status_tool = Some(status_tool.to_owned());
        self
    }

    /// Taken back by this tool, which is given the receipt as this argument.
    #[must_use]
    pub fn undone_by(mut self, undo_tool: &str, argument: &str) -> Self {
        self.spec.recovery.undo_tool = Some(undo_tool.to_owned());
        self.spec.recovery.undo_argument = Some(argument.to_owned());
        self
    }

    /// Whose arguments of these names are paths.
    #[must_use]
    pub fn with_paths(mut self, names: &[&str]) -> Self {
        self.spec.path_arguments = names.iter().map(|name| (*name).to_owned()).collect();
        self
    }

    /// Whose arguments of these names are addresses.
    #[must_use]
    pub fn with_urls(mut self, names: &[&str]) -> Self {
        self.spec.reach.urls = names.iter().map(|name| (*name).to_owned()).collect();
        self
    }

    /// Whose results are the person's own.
    #[must_use]
    pub fn private(mut self) -> Self {
        self.spec.reach.private = true;
        self
    }

    /// Whose answer comes so long after its effect.
    #[must_use]
    pub fn taking(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// Held at a gate, before its effect.
    #[must_use]
    pub fn held_before(mut self, gate: &crate::Gate) -> Self {
        self.hold = Some((gate.clone(), true));
        self
    }

    /// Held at a gate, after its effect.
    #[must_use]
    pub fn held_after(mut self, gate: &crate::Gate) -> Self {
        self.hold = Some((gate.clone(), false));
        self
    }

    /// The arguments of every call whose effect happened.
    pub fn done(&self) -> Vec<Value> {
        self.done
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    async fn held(&self, before: bool) {
        if let Some((gate, _)) = self.hold.as_ref().filter(|(_, at)| *at == before) {
            gate.pass().await;
        }
    }
}

#[async_trait]
impl Tool for FakeTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, call: ToolCall) -> Result<ToolOutput, ToolError> {
        self.held(true).await;
        for question in &self.questions {
            let answer = tokio::select! {
                biased;
                () = call.cancel.cancelled() => {
                    return Err(ToolError::uncertain("It was stopped while its server asked."));
                }
                answer = call.person.ask(question.clone()) => answer,
            };
            self.answers
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(answer);
        }
        self.done
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(call.arguments.clone());
        self.held(false).await;
        if !self.time.is_zero() {
            tokio::time::sleep(self.time).await;
        }
        (self.act)(&call)
    }
}
