//! Asking a model to sum up what is about to leave the request. It is an effect like any other:
//! recorded first, within the budget, ended when the run is, made again after a crash.

use std::sync::Arc;
use std::time::Duration;

use longrein_core::dialect::AnswerForm;
use longrein_core::run::{Patience, Phase, Reserve, SUMMARY_ATTEMPTS};
use longrein_core::{compact, compile, summary};
use longrein_protocol::Body;
use longrein_protocol::block::{ModelErrorClass, Usage};
use longrein_protocol::event::{
    ContextCompacted, Price, Purpose, SideFailed, SideRequested, SideResponded,
};

use crate::checking::words;
use crate::driver::{DriveError, Driver, Message};
use crate::effects::{ModelEnd, since};
use crate::mask;
use crate::outcome;
use crate::patience;
use crate::ports::{CancellationToken, Model, ModelCall, ModelError, ModelReply, NoLiveText};
use crate::wire;

/// The name of that request among what is in flight.
pub(crate) const SUMMARY: &str = "summary";
/// The longest that it may take, however the answer trickles in.
const SUMMARY_LIMIT: Duration = Duration::from_secs(600);
/// The most tokens of an answer for each that the summary may have: a model thinks first, and the
/// form has marks of its own.
const ANSWER_PER_SUMMARY: u32 = 4;
/// The part of the window that the answer may take.
const ANSWER_OF_WINDOW: u32 = 4;
/// How often the question is cut to a smaller size until the request fits.
const FITTINGS: u32 = 8;
/// The fewest bytes of a question that is worth asking.
const LEAST_QUESTION_BYTES: usize = 1_024;

/// A request for a summary, put together.
struct Asked {
    bytes: String,
    tokens_out: u32,
    reserve: Reserve,
    price: Option<Price>,
}

impl Driver {
    /// Asks for a summary of the items before `before`. Where nobody can be asked, they go without
    /// one.
    pub(crate) async fn summarise(&mut self, before: u32) -> Result<(), DriveError> {
        let Some((name, model)) = self.summarising_model() else {
            return self.go_without("No model that could sum it up can be reached.");
        };
        let Some(asked) = self.put_together(before, &name, &*model).await? else {
            return self.go_without(
                "What is left out is too large for the window of the model that would sum it up.",
            );
        };
        if self.run.passed_by(asked.reserve, false).is_some() {
            return self.go_without("The budget does not cover a summary.");
        }
        let body_sha256 = wire::sha256(asked.bytes.as_bytes());
        let sent: Arc<[u8]> = Arc::from(asked.bytes.as_bytes());
        let (body, blob) = Body::of(asked.bytes);
        self.keep(blob);
        self.record(SideRequested {
            purpose: Purpose::Summary,
            model: name,
            body,
            body_sha256,
            reserved_in: asked.reserve.tokens_in,
            reserved_out: asked.tokens_out,
            reserved_micro: asked.reserve.money_micro,
            price: asked.price,
            before,
        })?;
        self.commit().await?;
        self.send_for_summary(model, sent);
        Ok(())
    }

    /// The model that the agent names for it, or else its own.
    fn summarising_model(&self) -> Option<(String, Arc<dyn Model>)> {
        let own = self.run.created.as_ref().map(|created| &created.model);
        let agent = self.run.agent();
        let named = agent.and_then(|agent| agent.context.summary_model.as_ref());
        let mut names = named.into_iter().chain(own);
        names.find_map(|name| Some((name.clone(), self.ports.world.model(name).ok()?)))
    }

    /// The request, cut until it fits the window of the model; `None` where it can't be made to.
    async fn put_together(
        &self,
        before: u32,
        name: &str,
        model: &dyn Model,
    ) -> Result<Option<Asked>, DriveError> {
        let own = self.run.created.as_ref().map(|created| &created.model);
        let is_own = own.is_some_and(|own| own == name);
        let facts = self.ports.world.model_facts(name);
        let known = facts.window_tokens.filter(|_| !is_own);
        let window = known.unwrap_or_else(|| self.run.window_tokens());
        let summary_tokens = self.run.estimate_at_most(summary::limit_bytes(&self.run));
        let tokens_out = (summary_tokens * ANSWER_PER_SUMMARY)
            .min(window / ANSWER_OF_WINDOW)
            .min(self.run.output_limit());
        let texts = self.texts(summary::bodies(&self.run, before)).await?;
        let text = |body: &Body| match body {
            Body::Text(text) => text.clone(),
            Body::Blob { blob, .. } => texts.get(blob).cloned().unwrap_or_default(),
        };
        let form = summary::form();
        let form = AnswerForm {
            name: summary::FORM,
            schema: &form,
        };
        let form = (facts.answers_by_schema == Some(true)).then_some(form);
        let price = self.side_price(name);
        let mut limit = window as usize * 4;
        for _ in 0..FITTINGS {
            let said = summary::question(&self.run, before, &text, limit);
            let (dialect, system) = (model.dialect(), summary::SYSTEM);
            let bytes = compile::side_request(dialect, name, system, &said, tokens_out, form);
            let reserve = self.run.reserve_at(bytes.len(), tokens_out.max(1), price);
            let fits = reserve.tokens_in.saturating_add(tokens_out) <= window;
            if fits && tokens_out > 0 {
                return Ok(Some(Asked {
                    bytes,
                    tokens_out,
                    reserve,
                    price,
                }));
            }
            // As much smaller as it is over, and a little more, since not all of it is the question.
            let room = f64::from(window.saturating_sub(tokens_out));
            let over = room / f64::from(reserve.tokens_in.max(1));
            limit = (limit.min(said.len()) as f64 * over.min(1.0) * 0.9) as usize;
            if limit < LEAST_QUESTION_BYTES {
                break;
            }
        }
        Ok(None)
    }

    /// What the tokens of another model than the run's cost, where that is known.
    pub(crate) fn side_price(&self, name: &str) -> Option<Price> {
        let own = self.run.created.as_ref().map(|created| &created.model);
        match own.is_some_and(|own| own == name) {
            true => None,
            false => self.ports.world.model_facts(name).price,
        }
    }

    /// Takes out what has to go, without a summary of it.
    fn go_without(&mut self, why: &str) -> Result<(), DriveError> {
        match compact::without_summary(&self.run, why) {
            Some(compacted) => self.record(compacted),
            None => {
                let handoff = self.run.no_room();
                self.record(handoff)
            }
        }
    }

    fn send_for_summary(&mut self, model: Arc<dyn Model>, body: Arc<[u8]>) {
        let cancel = CancellationToken::new();
        self.in_flight.insert(SUMMARY.to_owned(), cancel.clone());
        let (clock, sender) = (self.ports.clock.clone(), self.sender());
        tokio::spawn(async move {
            let began = clock.monotonic_ms();
            let call = ModelCall {
                body,
                cancel: cancel.clone(),
                live: Arc::new(NoLiveText),
            };
            let result = tokio::select! {
                biased;
                result = model.send(call) => result,
                () = clock.sleep(SUMMARY_LIMIT) => {
                    cancel.cancel();
                    Err(too_late())
                }
            };
            let latency_ms = since(began, clock.monotonic_ms());
            let end = ModelEnd { result, latency_ms };
            // A driver that is gone asks again.
            let _ = sender.send(Message::SummedUp(Box::new(end))).await;
        });
    }

    /// Takes the answer, and with it the compaction that it was asked for.
    pub(crate) fn summed_up(&mut self, end: ModelEnd) -> Result<(), DriveError> {
        self.in_flight.remove(SUMMARY);
        let Some(before) = self.run.summaries.before else {
            return Ok(());
        };
        match end.result {
            Ok(mut reply) => {
                mask::reply(&self.ports.world.masker(), &mut reply);
                self.summary_came(before, reply, end.latency_ms)
            }
            Err(mut error) => {
                mask::model_error(&self.ports.world.masker(), &mut error);
                self.no_summary_came(error, end.latency_ms)
            }
        }
    }

    fn summary_came(
        &mut self,
        before: u32,
        reply: ModelReply,
        latency_ms: u32,
    ) -> Result<(), DriveError> {
        let said: String = reply.blocks.iter().filter_map(words).collect();
        let compacted = self.compaction_with(before, &said, &reply);
        let usage = reply.usage.unwrap_or_else(|| Usage {
            input: self.run.side.unwrap_or_default().tokens_in,
            output: said.len().div_ceil(4) as u32,
            estimated: true,
            ..Usage::default()
        });
        let (text, blob) = Body::of(said);
        self.keep(blob);
        let unusable = compacted.as_ref().err();
        self.record(SideResponded {
            text,
            usage,
            unusable: unusable.map(ToString::to_string).unwrap_or_default(),
            latency_ms,
        })?;
        match compacted {
            // Both become durable together: a summary is taken, or asked for again.
            Ok(compacted) if self.run.phase == Phase::Going => self.record(compacted),
            _ => Ok(()),
        }
    }

    fn compaction_with(
        &self,
        before: u32,
        said: &str,
        reply: &ModelReply,
    ) -> Result<ContextCompacted, summary::Unusable> {
        let run = &self.run;
        let model = run.summaries.model.as_str();
        let of_bytes = summary::weight(run, before);
        let summary = summary::read(run, model, said, reply.stop, of_bytes)?;
        compact::with_summary(run, before, summary)
    }

    fn no_summary_came(&mut self, error: ModelError, latency_ms: u32) -> Result<(), DriveError> {
        let tried = Patience {
            failures: self.run.summaries.asked,
            ..Patience::default()
        };
        let now = self.ports.clock.now();
        let random = self.ports.chance.random();
        // Like a run with another model at hand: without a summary it goes on as well.
        let retry = patience::retry(&error, tried, true, now, random);
        let again = self.run.summaries.asked < SUMMARY_ATTEMPTS;
        self.record(SideFailed {
            cost_unknown: outcome::may_have_cost(&error),
            class: error.class,
            message: error.message,
            retry_at: retry.at.filter(|_| again),
            latency_ms,
        })
    }
}

fn too_late() -> ModelError {
    ModelError {
        class: ModelErrorClass::Network,
        message: format!(
            "The model did not end its summary within {} seconds.",
            SUMMARY_LIMIT.as_secs()
        ),
        remedy: "Name a faster model: [context] summary_model.".to_owned(),
        retry_after: None,
        unreachable: false,
        unsent: false,
    }
}
