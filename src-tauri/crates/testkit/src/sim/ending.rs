//! How a run ended, without what differs between two plays of one scenario: ids, times, attempts.

use std::collections::BTreeMap;

use longrein_core::run::{Item, Phase, Run};
use longrein_protocol::Body;
use longrein_protocol::block::Block;
use longrein_protocol::tool::Repeat;

use super::outside::Landing;

/// The end of a run, comparable.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ending {
    /// Where the run stands.
    pub phase: String,
    /// Turns, steps, actions.
    pub counts: [u32; 3],
    /// The conversation, line by line.
    pub conversation: Vec<String>,
    /// The last results of the criteria.
    pub results: Vec<String>,
    /// The rules and limits that are in force.
    pub bounds: String,
    /// What was read, as far as it changes what may be done.
    pub read: [bool; 2],
    /// The skills that it was given, and what each was made of.
    pub skills: Vec<String>,
    /// How often each tool that may not be repeated had its effect.
    pub effects: BTreeMap<String, u32>,
}

impl Ending {
    pub(super) fn of(run: &Run, landings: &[Landing]) -> Self {
        let phase = match &run.phase {
            Phase::HandedOff { reason, .. } => format!("handed off: {reason:?}"),
            other => format!("{other:?}"),
        };
        let rules: Vec<_> = run.rules.iter().map(|standing| &standing.rule).collect();
        let mut effects = BTreeMap::new();
        for landing in landings {
            if !matches!(landing.repeat, Repeat::Repeatable | Repeat::Replay) {
                *effects.entry(landing.tool.clone()).or_default() += 1;
            }
        }
        Self {
            phase,
            counts: [run.turns, run.used.steps, run.used.actions],
            conversation: run.conversation.items.iter().map(line).collect(),
            results: run
                .results
                .iter()
                .map(|result| format!("{} {} {}", result.criterion, result.holds, result.waits))
                .collect(),
            bounds: format!("{:?} {rules:?}", run.limits),
            read: [run.tainted, run.private_read],
            skills: run.skills.iter().map(|skill| skill.hash.clone()).collect(),
            effects,
        }
    }
}

fn line(item: &Item) -> String {
    let text = |body: &Body| match body {
        Body::Text(text) => text.clone(),
        Body::Blob { blob, .. } => blob.to_string(),
    };
    match item {
        Item::Person(words) => format!("person: {}", text(&words.body)),
        Item::Notice(body) => format!("harness: {}", text(body)),
        Item::Result { tool, result, .. } => {
            // What is shown of a long one names its action, which is another in every run.
            let whole = result.whole.as_ref().unwrap_or(&result.body);
            format!("{tool}: {:?} {}", result.error, text(whole))
        }
        Item::Assistant(blocks) => {
            let blocks = blocks.iter().map(|block| match block {
                Block::Text { text: body, .. } | Block::Thinking { text: body, .. } => text(body),
                Block::ToolUse {
                    name, arguments, ..
                } => format!("{name}({})", text(arguments)),
            });
            format!("model: {}", blocks.collect::<Vec<_>>().join(" "))
        }
    }
}
