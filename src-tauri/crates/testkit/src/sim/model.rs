//! The simulated provider: it answers by the scenario, keeps to the output limit, and counts.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use longrein_core::dialect::Dialect;
use longrein_models::openai_chat::ChatDialect;
use longrein_protocol::block::{ModelErrorClass, StopReason, Usage};
use longrein_runtime::ports::{Clock, Model, ModelCall, ModelError, ModelReply, ReplyBlock};
use longrein_runtime::wire;

use super::clock::SimClock;
use super::outside::Outside;
use super::scenario::{MishapKind, Reply, words};
use crate::request::SeenRequest;

/// What a judge is told; by it the provider knows a judge's request.
pub(super) const JUDGE: &str = "You judge in the simulated world.";

/// What every request for a summary has, and no other.
const SUMS_UP: &str = "You keep the record of long work";
/// A summary as it should be.
const GOOD_SUMMARY: &str =
    r#"{"decisions":["As planned."],"findings":[],"failed":[],"open":["What is left?"]}"#;

/// What every request of the root run has: the person's first words. Others are of children.
const ROOT: &str = r#""content":"Go."}"#;

/// How long an answer takes.
const LATENCY: Duration = Duration::from_millis(100);

pub(super) struct SimModel {
    outside: Arc<Outside>,
    clock: Arc<SimClock>,
    dialect: ChatDialect,
}

impl SimModel {
    pub fn new(outside: &Arc<Outside>, clock: &Arc<SimClock>) -> Self {
        Self {
            outside: outside.clone(),
            clock: clock.clone(),
            dialect: ChatDialect::default(),
        }
    }

    /// Counts the request and says what goes wrong with it.
    fn arrives(&self, body: &[u8]) -> (u32, Option<MishapKind>) {
        let number = self.outside.state().request_arrives(&wire::sha256(body));
        let mishaps = self.outside.scenario.mishaps.iter();
        let mut mishaps = mishaps.filter(|mishap| mishap.request == number);
        (number, mishaps.next().map(|mishap| mishap.what.clone()))
    }

    /// The answer that follows on those which the request already holds.
    fn reply(&self, request: &SeenRequest, side: bool) -> Reply {
        if request.contains(SUMS_UP) {
            let said = self.outside.scenario.summary.as_deref();
            return words(said.unwrap_or(GOOD_SUMMARY));
        }
        if side {
            let state = self.outside.state();
            let checks = state.laws.count("verification.finished") as usize;
            let holds = self.outside.scenario.verdicts.get(checks).copied();
            return words(if holds.unwrap_or(true) { "yes" } else { "no" });
        }
        let scenario = &self.outside.scenario;
        let replies = match request.contains(ROOT) {
            true => &scenario.replies,
            false => &scenario.child_replies,
        };
        let place = match scenario.by_steps {
            true => self.outside.state().laws.run.used.steps.saturating_sub(1),
            false => request.replies(),
        };
        let next = replies.get(place as usize);
        next.cloned().unwrap_or_else(|| words("Done."))
    }

    async fn takes(&self, time: Duration, call: &ModelCall) -> Result<(), ModelError> {
        tokio::select! {
            biased;
            () = call.cancel.cancelled() => Err(error(ModelErrorClass::Network, None)),
            () = self.clock.sleep(time) => Ok(()),
        }
    }
}

#[async_trait]
impl Model for SimModel {
    fn dialect(&self) -> &dyn Dialect {
        &self.dialect
    }

    async fn send(&self, call: ModelCall) -> Result<ModelReply, ModelError> {
        let mut request = SeenRequest {
            number: 0,
            body: call.body.clone(),
        };
        let side = request.contains(JUDGE);
        let (number, mishap) = self.arrives(&call.body);
        request.number = number;
        match mishap {
            Some(MishapKind::Refused(class, after_ms)) => {
                self.takes(LATENCY, &call).await?;
                let after = after_ms.map(|ms| Duration::from_millis(ms.into()));
                return Err(error(class, after));
            }
            Some(MishapKind::Unreachable) => {
                self.takes(LATENCY, &call).await?;
                let mut refused = error(ModelErrorClass::Network, None);
                refused.unreachable = true;
                return Err(refused);
            }
            _ => {}
        }
        let reply = match mishap {
            Some(MishapKind::Empty) => Reply::default(),
            _ => self.reply(&request, side),
        };
        let ratio = match self.outside.scenario.ratio_percent {
            0 => 100,
            percent => percent as usize,
        };
        let input = (request.body.len() * ratio).div_ceil(400) as u32;
        let reply = said(reply, &request, input);
        let usage = reply.usage.unwrap_or_default();
        let price = self.outside.scenario.agent.price;
        self.outside
            .state()
            .charge(usage.input, usage.output, price);
        match mishap {
            Some(MishapKind::Silent(ms)) => {
                self.takes(Duration::from_millis(ms.into()), &call).await?;
                Err(error(ModelErrorClass::Network, None))
            }
            Some(MishapKind::Broken(class)) => {
                self.takes(LATENCY, &call).await?;
                Err(error(class, None))
            }
            _ => {
                self.takes(LATENCY, &call).await?;
                Ok(reply)
            }
        }
    }
}

/// The reply on the wire, cut where the request's limit cuts it.
fn said(reply: Reply, request: &SeenRequest, input: u32) -> ModelReply {
    let limit = output_limit(request) as usize * 4;
    let mut written = 0;
    let mut cut = false;
    let mut take = |mut text: String| {
        let left = limit - written;
        if text.len() > left {
            text.truncate(text.floor_char_boundary(left));
            cut = true;
        }
        written += text.len();
        text
    };
    let mut blocks = Vec::new();
    let text = take(reply.text);
    if !text.is_empty() {
        blocks.push(ReplyBlock::Text { text, raw: None });
    }
    let asks = !reply.calls.is_empty();
    for (place, call) in reply.calls.into_iter().enumerate() {
        let own = format!("call_{}_{}_{place}", request.replies(), request.number);
        blocks.push(ReplyBlock::ToolUse {
            id: call.id.unwrap_or(own),
            name: call.tool,
            arguments: take(call.arguments),
            raw: None,
        });
    }
    let usual = if asks {
        StopReason::ToolUse
    } else {
        StopReason::End
    };
    ModelReply {
        blocks,
        stop: if cut {
            StopReason::Length
        } else {
            reply.stop.unwrap_or(usual)
        },
        usage: Some(Usage {
            input,
            output: written.div_ceil(4) as u32,
            ..Usage::default()
        }),
        response_id: String::new(),
    }
}

/// The output limit that the request carries.
fn output_limit(request: &SeenRequest) -> u32 {
    const NAME: &str = "\"max_tokens\":";
    let text = request.text();
    let Some(at) = text.rfind(NAME) else {
        return u32::MAX / 4;
    };
    let digits = text[at + NAME.len()..].chars();
    let digits: String = digits.take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(u32::MAX / 4)
}

fn error(class: ModelErrorClass, retry_after: Option<Duration>) -> ModelError {
    ModelError {
        class,
        message: format!("The scenario says {class:?}."),
        remedy: "Change the scenario.".to_owned(),
        retry_after,
        unreachable: false,
        unsent: false,
    }
}
