//! A model in the process that answers by a script.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use longrein_core::dialect::Dialect;
use longrein_models::openai_chat::ChatDialect;
use longrein_protocol::block::ModelErrorClass;
use longrein_runtime::ports::{Model, ModelCall, ModelError, ModelReply, ReplyBlock};

use crate::gate::Gate;
use crate::reply::{Scripted, then};
use crate::request::SeenRequest;

/// How many requests are kept unless the test says otherwise.
pub const RECORD_LIMIT: usize = 1_000;

/// Answers by a script and keeps what it was asked. Its requests are written in the chat format.
pub struct ScriptedModel {
    order: Order,
    script: Vec<Scripted>,
    keep: usize,
    state: Mutex<State>,
    dialect: ChatDialect,
}

/// Which answer belongs to a request.
#[derive(Clone, Copy)]
enum Order {
    /// The next one, whatever is asked.
    InTurn,
    /// The one after the replies that the request already holds.
    ByProgress,
    /// Always the first.
    Always,
}

#[derive(Default)]
struct State {
    count: u32,
    seen: VecDeque<SeenRequest>,
}

impl ScriptedModel {
    /// Gives the answers one after the other, whatever is asked. A request beyond the last one
    /// fails as `bad_request`.
    pub fn new(script: impl IntoIterator<Item = Scripted>) -> Self {
        Self::of(Order::InTurn, script.into_iter().collect())
    }

    /// Gives the answer that follows on the replies which the request already holds, so that a
    /// request that is sent again, even by another process, is answered the same.
    pub fn by_progress(script: impl IntoIterator<Item = Scripted>) -> Self {
        Self::of(Order::ByProgress, script.into_iter().collect())
    }

    /// Answers every request by the same rule.
    pub fn answering(choose: impl Fn(&SeenRequest) -> Scripted + Send + Sync + 'static) -> Self {
        Self::of(Order::Always, vec![then(choose)])
    }

    fn of(order: Order, script: Vec<Scripted>) -> Self {
        Self {
            order,
            script,
            keep: RECORD_LIMIT,
            state: Mutex::default(),
            dialect: ChatDialect::default(),
        }
    }

    /// Keeps only the last `count` requests.
    #[must_use]
    pub fn keeping(mut self, count: usize) -> Self {
        self.keep = count;
        self
    }

    /// The requests that are kept, oldest first.
    pub fn seen(&self) -> Vec<SeenRequest> {
        self.state().seen.iter().cloned().collect()
    }

    /// How many requests came.
    pub fn count(&self) -> u32 {
        self.state().count
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere leaves nothing half done in here.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, call: &ModelCall) -> SeenRequest {
        let mut state = self.state();
        state.count += 1;
        let request = SeenRequest {
            number: state.count,
            body: call.body.clone(),
        };
        if self.keep > 0 {
            if state.seen.len() == self.keep {
                state.seen.pop_front();
            }
            state.seen.push_back(request.clone());
        }
        request
    }

    fn scripted(&self, request: &SeenRequest) -> Result<&Scripted, ModelError> {
        let position = match self.order {
            Order::InTurn => request.number - 1,
            Order::ByProgress => request.replies(),
            Order::Always => 0,
        };
        self.script
            .get(position as usize)
            .ok_or_else(|| ModelError {
                class: ModelErrorClass::BadRequest,
                message: format!("The script has no answer number {}.", position + 1),
                remedy: "Make the script longer.".to_owned(),
                retry_after: None,
                unreachable: false,
                unsent: false,
            })
    }
}

#[async_trait]
impl Model for ScriptedModel {
    fn dialect(&self) -> &dyn Dialect {
        &self.dialect
    }

    async fn send(&self, call: ModelCall) -> Result<ModelReply, ModelError> {
        let request = self.record(&call);
        let scripted = self.scripted(&request)?;
        if let Some(gate) = &scripted.gate {
            pass(gate, &call).await?;
        }
        let reply = (scripted.answer)(&request)?;
        for block in &reply.blocks {
            match block {
                ReplyBlock::Text { text, .. } => call.live.text(text),
                ReplyBlock::Thinking { text, .. } => call.live.thinking(text),
                ReplyBlock::ToolUse { .. } => {}
            }
        }
        Ok(reply)
    }
}

async fn pass(gate: &Gate, call: &ModelCall) -> Result<(), ModelError> {
    tokio::select! {
        biased;
        () = call.cancel.cancelled() => Err(ModelError {
            class: ModelErrorClass::Network,
            message: "The request was ended.".to_owned(),
            remedy: "Send it again.".to_owned(),
            retry_after: None,
            unreachable: false,
            unsent: false,
        }),
        () = gate.pass() => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use longrein_runtime::ports::{CancellationToken, NoLiveText};
    use serde_json::json;

    use super::*;
    use crate::reply::{call, say};

    fn asking(body: &str) -> ModelCall {
        ModelCall {
            body: body.as_bytes().into(),
            cancel: CancellationToken::new(),
            live: Arc::new(NoLiveText),
        }
    }

    #[tokio::test]
    async fn answers_come_in_turn_and_requests_are_kept() {
        let model =
            ScriptedModel::new([say("a").and_call("x", json!({"n": 1})), say("b")]).keeping(1);
        let first = model.send(asking("{}")).await.unwrap();
        assert_eq!(first.blocks.len(), 2);
        assert_eq!(first.stop, longrein_protocol::block::StopReason::ToolUse);
        assert_eq!(model.send(asking("{ }")).await.unwrap().blocks.len(), 1);
        assert_eq!(
            model.send(asking("{}")).await.unwrap_err().class,
            ModelErrorClass::BadRequest
        );
        assert_eq!((model.count(), model.seen().len()), (3, 1));
    }

    #[tokio::test]
    async fn by_progress_a_repeated_request_is_answered_the_same() {
        let model = ScriptedModel::by_progress([call("x", json!({})), say("b")]);
        let later = r#"{"messages":[{"role":"assistant","content":"{\"role\":\"assistant\""}]}"#;
        for _ in 0..2 {
            let reply = model.send(asking(later)).await.unwrap();
            assert_eq!(
                reply.blocks,
                [ReplyBlock::Text {
                    text: "b".into(),
                    raw: None
                }]
            );
        }
    }

    #[tokio::test]
    async fn a_gate_holds_an_answer_until_it_is_opened_or_the_request_is_ended() {
        let gate = Gate::new();
        let model = Arc::new(ScriptedModel::new([
            say("a").behind(&gate),
            say("b").behind(&gate),
        ]));
        let ended = asking("{}");
        let cancel = ended.cancel.clone();
        let sending = tokio::spawn({
            let model = model.clone();
            async move { model.send(ended).await }
        });
        gate.reached(1).await;
        cancel.cancel();
        assert!(sending.await.unwrap().is_err());
        gate.open();
        assert!(model.send(asking("{}")).await.is_ok());
    }
}
