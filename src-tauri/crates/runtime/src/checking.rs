//! The check of the criteria. It runs beside the driver, so that a person can cancel meanwhile;
//! what it asks of a model goes through the driver, which records it first.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use longrein_core::dialect::AnswerForm;
use longrein_core::run::{Reserve, Run};
use longrein_core::{compile, policy};
use longrein_protocol::block::Usage;
use longrein_protocol::event::{
    Purpose, SideFailed, SideRequested, SideResponded, VerificationFinished, VerificationStarted,
};
use longrein_protocol::gate::ActionFacts;
use longrein_protocol::source::CriterionResult;
use longrein_protocol::{ActionId, Body, Effect, ToolErrorClass};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::driver::{DriveError, Driver, Message};
use crate::effects::{Limit, ModelEnd, since, within};
use crate::mask;
use crate::outcome;
use crate::ports::{
    Asks, Beside, CancellationToken, Clock, CommandEnd, ModelCall, NoLiveText, NobodyThere, Part,
    ReplyBlock, RunContext, ToolCall, ToolError,
};
use crate::wire;
use crate::world::{ToolBox, World};

/// The name of the check among what is in flight.
pub(crate) const CHECK: &str = "check";
/// The name of the check's question to a model among what is in flight.
pub(crate) const JUDGE: &str = "judge";
/// The longest that one check of all criteria may take.
const CHECK_LIMIT: Duration = Duration::from_secs(600);
/// The most tokens of a judge's answer.
const JUDGE_TOKENS: u32 = 1_024;

type Answer = oneshot::Sender<Result<String, ToolError>>;

/// A question of the check to a model.
#[derive(Debug)]
pub(crate) struct JudgeAsk {
    model: Option<String>,
    system: String,
    question: String,
    /// The name and the schema of the form that the answer is to have.
    form: Option<(String, Value)>,
    answer: Answer,
}

/// How that question ended.
#[derive(Debug)]
pub(crate) struct JudgeEnd {
    end: ModelEnd,
    answer: Answer,
}

impl Driver {
    /// Begins to check the criteria.
    pub(crate) async fn verify(&mut self, attempt: u32) -> Result<(), DriveError> {
        self.record(VerificationStarted { attempt })?;
        self.commit().await?;
        let context = self.run_context();
        let cancel = CancellationToken::new();
        self.in_flight.insert(CHECK.to_owned(), cancel.clone());
        let asks = DriverAsks {
            run: self.run.clone(),
            tools: self.tools.clone().unwrap_or_default(),
            world: self.ports.world.clone(),
            context: context.clone(),
            clock: self.ports.clock.clone(),
            cancel: cancel.clone(),
            sender: self.sender(),
        };
        let verifier = self.ports.world.verifier();
        let criteria = self.run.criteria().to_vec();
        let (clock, sender) = (self.ports.clock.clone(), self.sender());
        tokio::spawn(async move {
            let results = tokio::select! {
                biased;
                results = verifier.verify(&criteria, &context, &asks) => results,
                () = clock.sleep(CHECK_LIMIT) => criteria.iter().map(|criterion| {
                    unchecked(criterion.in_words(), "it took too long")
                }).collect(),
                () = cancel.cancelled() => criteria.iter().map(|criterion| {
                    unchecked(criterion.in_words(), "the check was stopped")
                }).collect(),
            };
            // A driver that is gone makes the check again.
            let _ = sender.send(Message::Checked(results)).await;
        });
        Ok(())
    }

    pub(crate) fn checked(&mut self, results: Vec<CriterionResult>) -> Result<(), DriveError> {
        self.in_flight.remove(CHECK);
        if !self.run.checking {
            return Ok(());
        }
        let mut results = results;
        for result in &mut results {
            self.ports.world.masker().text(&mut result.evidence);
            for line in &mut result.difference {
                self.ports.world.masker().text(line);
            }
        }
        self.record(VerificationFinished { results })
    }

    /// Asks a model for the check: recorded, within the budget, and no step.
    pub(crate) async fn judge(&mut self, ask: JudgeAsk) -> Result<(), DriveError> {
        let own = self
            .run
            .created
            .as_ref()
            .map(|created| created.model.clone());
        let name = ask.model.clone().or(own).unwrap_or_default();
        let model = match self.ports.world.model(&name) {
            Ok(model) => model,
            Err(error) => return refuse(ask.answer, error.message),
        };
        if !self.run.checking || self.run.side.is_some() {
            return refuse(ask.answer, "The check was stopped.".to_owned());
        }
        let tokens_out = JUDGE_TOKENS.min(self.run.output_limit());
        let (system, question) = (&ask.system, &ask.question);
        let dialect = model.dialect();
        let takes_forms = self.ports.world.model_facts(&name).answers_by_schema == Some(true);
        let form = ask.form.as_ref().filter(|_| takes_forms);
        let form = form.map(|(name, schema)| AnswerForm { name, schema });
        let bytes = compile::side_request(dialect, &name, system, question, tokens_out, form);
        let price = self.side_price(&name);
        let reserve: Reserve = self.run.reserve_at(bytes.len(), tokens_out.max(1), price);
        if self.run.passed_by(reserve, false).is_some() {
            return refuse(ask.answer, "The budget does not cover a judge.".to_owned());
        }
        let body_sha256 = wire::sha256(bytes.as_bytes());
        let sent: Arc<[u8]> = Arc::from(bytes.as_bytes());
        let (body, blob) = Body::of(bytes);
        self.keep(blob);
        self.record(SideRequested {
            purpose: Purpose::Judge,
            model: name,
            body,
            body_sha256,
            reserved_in: reserve.tokens_in,
            reserved_out: reserve.tokens_out,
            reserved_micro: reserve.money_micro,
            price,
            before: 0,
        })?;
        self.commit().await?;
        let cancel = CancellationToken::new();
        self.in_flight.insert(JUDGE.to_owned(), cancel.clone());
        let (clock, sender, answer) = (self.ports.clock.clone(), self.sender(), ask.answer);
        tokio::spawn(async move {
            let began = clock.monotonic_ms();
            let call = ModelCall {
                body: sent,
                cancel,
                live: Arc::new(NoLiveText),
            };
            let result = model.send(call).await;
            let latency_ms = since(began, clock.monotonic_ms());
            let end = ModelEnd { result, latency_ms };
            let judged = Message::Judged(Box::new(JudgeEnd { end, answer }));
            // A driver that is gone makes the check again.
            let _ = sender.send(judged).await;
        });
        Ok(())
    }

    pub(crate) async fn judged(&mut self, judged: JudgeEnd) -> Result<(), DriveError> {
        self.in_flight.remove(JUDGE);
        let JudgeEnd { end, answer } = judged;
        if self.run.side.is_none() {
            return refuse(answer, "The check was stopped.".to_owned());
        }
        let latency_ms = end.latency_ms;
        let said = match end.result {
            Ok(mut reply) => {
                mask::reply(&self.ports.world.masker(), &mut reply);
                let text: String = reply.blocks.iter().filter_map(words).collect();
                let usage = reply.usage.unwrap_or_else(|| Usage {
                    input: self.run.side.unwrap_or_default().tokens_in,
                    output: text.len().div_ceil(4) as u32,
                    estimated: true,
                    ..Usage::default()
                });
                let (body, blob) = Body::of(text.clone());
                self.keep(blob);
                self.record(SideResponded {
                    text: body,
                    usage,
                    unusable: String::new(),
                    latency_ms,
                })?;
                Ok(text)
            }
            Err(mut error) => {
                mask::model_error(&self.ports.world.masker(), &mut error);
                let message = error.message.clone();
                self.record(SideFailed {
                    cost_unknown: outcome::may_have_cost(&error),
                    class: error.class,
                    message: error.message,
                    retry_at: None,
                    latency_ms,
                })?;
                Err(ToolError::new(ToolErrorClass::Temporary, message))
            }
        };
        self.commit().await?;
        // A check that is gone has no use for the answer.
        let _ = answer.send(said);
        Ok(())
    }
}

pub(crate) fn words(block: &ReplyBlock) -> Option<&str> {
    match block {
        ReplyBlock::Text { text, .. } => Some(text),
        ReplyBlock::Thinking { .. } | ReplyBlock::ToolUse { .. } => None,
    }
}

fn refuse(answer: Answer, message: String) -> Result<(), DriveError> {
    // A check that is gone has no use for the answer.
    let _ = answer.send(Err(ToolError::new(ToolErrorClass::NotPermitted, message)));
    Ok(())
}

fn unchecked(criterion: String, why: &str) -> CriterionResult {
    CriterionResult {
        criterion,
        holds: false,
        waits: false,
        evidence: "it could not be checked".to_owned(),
        difference: vec![format!("It could not be checked: {why}.")],
    }
}

/// What a check may ask, by way of the driver that runs it.
struct DriverAsks {
    run: Run,
    tools: Arc<ToolBox>,
    world: Arc<dyn World>,
    context: Arc<RunContext>,
    clock: Arc<dyn Clock>,
    cancel: CancellationToken,
    sender: mpsc::Sender<Message>,
}

#[async_trait]
impl Asks for DriverAsks {
    async fn tool(&self, name: &str, arguments: Value) -> Result<String, ToolError> {
        let refused = |message: String| ToolError::new(ToolErrorClass::NotPermitted, message);
        let spec = self.run.tool(name);
        let (Some(spec), Some(tool)) = (spec, self.tools.tool(name)) else {
            let message = format!("There is no tool {name}.");
            return Err(ToolError::new(ToolErrorClass::NotFound, message));
        };
        if spec.effect != Effect::Read {
            return Err(refused(format!("{name} does more than read.")));
        }
        let agent = self.run.agent();
        if !agent.is_some_and(|agent| policy::grants(&agent.tools, name, Some(spec.effect))) {
            return Err(refused(format!("{name} is not granted to this agent.")));
        }
        self.tools
            .check(name, &arguments)
            .map_err(|bad| ToolError::new(ToolErrorClass::InvalidArguments, bad.to_string()))?;
        let call = ToolCall {
            run: self
                .run
                .id
                .unwrap_or(longrein_protocol::RunId::from_parts(0, 0)),
            action: ActionId(CHECK.to_owned()),
            key: String::new(),
            attempt: 1,
            onward: Arc::new(policy::Onward::of(&self.run, name, spec.effect, &arguments)),
            arguments,
            facts: ActionFacts::default(),
            context: self.context.clone(),
            person: Arc::new(NobodyThere),
            cancel: self.cancel.child_token(),
            beside: Beside::default(),
        };
        let output = within(
            &*self.clock,
            name,
            Limit::of(spec.timeout_ms),
            &**tool,
            call,
        )
        .await?;
        Ok(output.parts.into_iter().map(Part::into_text).collect())
    }

    async fn command(&self, command: &str) -> Result<CommandEnd, ToolError> {
        let cancel = self.cancel.child_token();
        self.world.check_command(&self.run, command, cancel).await
    }

    async fn judge(
        &self,
        model: Option<&str>,
        system: &str,
        question: &str,
    ) -> Result<String, ToolError> {
        self.ask(model, system, question, None).await
    }

    async fn judge_in_form(
        &self,
        model: Option<&str>,
        system: &str,
        question: &str,
        form: AnswerForm<'_>,
    ) -> Result<String, ToolError> {
        self.ask(model, system, question, Some(form)).await
    }
}

impl DriverAsks {
    async fn ask(
        &self,
        model: Option<&str>,
        system: &str,
        question: &str,
        form: Option<AnswerForm<'_>>,
    ) -> Result<String, ToolError> {
        let (answer, answered) = oneshot::channel();
        let ask = JudgeAsk {
            model: model.map(str::to_owned),
            system: system.to_owned(),
            question: question.to_owned(),
            form: form.map(|form| (form.name.to_owned(), form.schema.clone())),
            answer,
        };
        let gone = || ToolError::new(ToolErrorClass::Cancelled, "The check was stopped.");
        let sent = self.sender.send(Message::Judge(Box::new(ask))).await;
        sent.map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }
}
