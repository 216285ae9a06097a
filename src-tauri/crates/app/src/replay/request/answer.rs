//! What came back for a request.

use longrein_protocol::block::{Block, ModelErrorClass, Usage};
use longrein_protocol::{Body, Event, Payload, RunId};
use serde::{Deserialize, Serialize};

use super::block::cut;
use crate::Longrein;
use crate::error::AppError;
use crate::replay::past::Then;

/// The most bytes of one block of a response.
const ANSWER_BYTES: usize = 64 << 10;
/// The most events behind a request among which its response is looked for: none but those of
/// children and of what a person says stand between.
const ANSWER_WITHIN: u32 = 4_096;

/// What came back for a request.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct AnswerRecord {
    /// The event that says so.
    pub seq: u32,
    /// When that was (milliseconds since the epoch).
    #[cfg_attr(feature = "bindings", specta(type = i32))]
    pub at: i64,
    /// What the model said, in order; nothing where it failed.
    pub blocks: Vec<AnswerBlock>,
    /// Why it stopped: `end`, `tool_use`, `length`, `refused`, `other`; empty where it failed.
    pub stop: String,
    /// What it used; `None` where nobody knows.
    pub usage: Option<Usage>,
    /// What it cost, in millionths of a dollar; `None` where that is not known.
    #[cfg_attr(feature = "bindings", specta(type = Option<u32>))]
    pub cost_micro: Option<u64>,
    /// The provider's id of the response; may be empty.
    pub response_id: String,
    /// From sending to the last byte, or to the fault.
    pub latency_ms: u32,
    /// What went wrong, in a sentence, or why the answer can't be used; empty where nothing did.
    pub problem: String,
    /// What kind of fault that is.
    pub class: Option<ModelErrorClass>,
    /// What the person can do about it; may be empty.
    pub remedy: String,
}

/// One block of a response.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AnswerBlock {
    /// Words.
    Text {
        /// Markdown; cut after 64 KB.
        text: String,
    },
    /// Reasoning that the provider shows.
    Thinking {
        /// Plain text; cut after 64 KB.
        text: String,
    },
    /// An action that it asks for.
    Call {
        /// The tool's name on the wire.
        tool: String,
        /// A JSON text as the model wrote it; cut after 64 KB.
        arguments: String,
    },
}

impl Longrein {
    /// What came back for the request that an event announced.
    pub(super) async fn answer(
        &self,
        run: RunId,
        seq: u32,
    ) -> Result<Option<AnswerRecord>, AppError> {
        let mut answered = None;
        let mut left = ANSWER_WITHIN;
        self.events_from(run, seq + 1, |event| {
            left -= 1;
            let is_answer = matches!(
                event.payload,
                Payload::ModelResponded(_)
                    | Payload::ModelFailed(_)
                    | Payload::ModelAbandoned(_)
                    | Payload::SideResponded(_)
                    | Payload::SideFailed(_)
            );
            let is_next = matches!(
                event.payload,
                Payload::ModelRequested(_) | Payload::SideRequested(_)
            );
            if is_answer {
                answered = Some(event);
            }
            !is_answer && !is_next && left > 0
        })
        .await?;
        let Some(event) = answered else {
            return Ok(None);
        };
        let money = |then: &Then| then.view.run().used.money_micro;
        let then = self.past(run, Some(event.seq - 1)).await?;
        let (before, is_known) = (money(&then), then.view.run().money_known().is_some());
        drop(then);
        let after = self.past(run, Some(event.seq)).await?;
        let cost = money(&after).checked_sub(before).filter(|_| is_known);
        self.record_answer(event, cost).await.map(Some)
    }

    async fn record_answer(
        &self,
        event: Event,
        cost: Option<u64>,
    ) -> Result<AnswerRecord, AppError> {
        let blank = AnswerRecord {
            seq: event.seq,
            at: event.at,
            blocks: Vec::new(),
            stop: String::new(),
            usage: None,
            cost_micro: None,
            response_id: String::new(),
            latency_ms: 0,
            problem: String::new(),
            class: None,
            remedy: String::new(),
        };
        Ok(match event.payload {
            Payload::ModelResponded(responded) => {
                let mut blocks = Vec::with_capacity(responded.blocks.len());
                for block in &responded.blocks {
                    blocks.push(self.answer_block(block).await);
                }
                let stop = serde_json::to_value(responded.stop).unwrap_or_default();
                AnswerRecord {
                    blocks,
                    stop: stop.as_str().unwrap_or_default().to_owned(),
                    usage: Some(responded.usage),
                    cost_micro: cost.or(responded.usage.cost_micro),
                    response_id: responded.response_id,
                    latency_ms: responded.latency_ms,
                    ..blank
                }
            }
            Payload::ModelFailed(failed) => AnswerRecord {
                latency_ms: failed.latency_ms,
                problem: failed.message,
                class: Some(failed.class),
                remedy: failed.remedy,
                ..blank
            },
            Payload::SideResponded(responded) => AnswerRecord {
                blocks: vec![AnswerBlock::Text {
                    text: self.answer_text(&responded.text).await,
                }],
                usage: Some(responded.usage),
                cost_micro: cost.or(responded.usage.cost_micro),
                latency_ms: responded.latency_ms,
                problem: responded.unusable,
                ..blank
            },
            Payload::SideFailed(failed) => AnswerRecord {
                latency_ms: failed.latency_ms,
                problem: failed.message,
                class: Some(failed.class),
                ..blank
            },
            _ => AnswerRecord {
                problem: "It was on its way when its process ended; what it cost is not known."
                    .to_owned(),
                ..blank
            },
        })
    }

    async fn answer_block(&self, block: &Block) -> AnswerBlock {
        match block {
            Block::Text { text, .. } => AnswerBlock::Text {
                text: self.answer_text(text).await,
            },
            Block::Thinking { text, .. } => AnswerBlock::Thinking {
                text: self.answer_text(text).await,
            },
            Block::ToolUse {
                name, arguments, ..
            } => AnswerBlock::Call {
                tool: name.clone(),
                arguments: self.answer_text(arguments).await,
            },
        }
    }

    async fn answer_text(&self, body: &Body) -> String {
        match self.content(body).await {
            Ok(bytes) => cut(&String::from_utf8_lossy(&bytes), ANSWER_BYTES).0,
            Err(error) => format!("[{error}]"),
        }
    }
}
