//! Known secrets are masked before an event exists: whatever says them, they reach no log.
//!
//! A secret is replaced by as many asterisks as it has bytes, so that ranges into a text stay true.

use std::sync::Arc;

use crate::ports::{Fact, ModelError, ModelReply, Part, ReplyBlock, ToolError, ToolOutput};

/// Masks `secrets` in a text.
pub fn text(secrets: &[String], text: &mut String) {
    if secrets.iter().any(|secret| text.contains(secret.as_str())) {
        for secret in secrets {
            *text = text.replace(secret.as_str(), &"*".repeat(secret.len()));
        }
    }
}

fn bytes(secrets: &[String], bytes: &mut [u8]) {
    for secret in secrets.iter().map(String::as_bytes) {
        let mut from = 0;
        while let Some(at) = find(&bytes[from..], secret) {
            bytes[from + at..from + at + secret.len()].fill(b'*');
            from += at + secret.len();
        }
    }
}

fn find(bytes: &[u8], secret: &[u8]) -> Option<usize> {
    bytes
        .windows(secret.len())
        .position(|window| window == secret)
}

pub(crate) fn reply(secrets: &[String], reply: &mut ModelReply) {
    for block in &mut reply.blocks {
        let (words, raw) = match block {
            ReplyBlock::Text { text, raw } | ReplyBlock::Thinking { text, raw } => (text, raw),
            ReplyBlock::ToolUse { arguments, raw, .. } => (arguments, raw),
        };
        text(secrets, words);
        if let Some(raw) = raw {
            text(secrets, raw);
        }
    }
}

pub(crate) fn model_error(secrets: &[String], error: &mut ModelError) {
    text(secrets, &mut error.message);
    text(secrets, &mut error.remedy);
}

pub(crate) fn tool_error(secrets: &[String], error: &mut ToolError) {
    text(secrets, &mut error.message);
}

pub(crate) fn output(secrets: &[String], output: &mut ToolOutput) {
    if secrets.is_empty() {
        return;
    }
    text(secrets, &mut output.outcome);
    for words in [&mut output.receipt, &mut output.place]
        .into_iter()
        .flatten()
    {
        text(secrets, words);
    }
    for part in &mut output.parts {
        match part {
            Part::Text(words) => text(secrets, words),
            Part::Passage(captured) => {
                text(secrets, &mut captured.meta.title);
                if secrets
                    .iter()
                    .any(|secret| captured.text.contains(secret.as_str()))
                {
                    let mut words = captured.text.to_string();
                    text(secrets, &mut words);
                    captured.text = words.into();
                }
                if secrets
                    .iter()
                    .any(|secret| find(&captured.bytes, secret.as_bytes()).is_some())
                {
                    let mut masked = captured.bytes.to_vec();
                    bytes(secrets, &mut masked);
                    captured.bytes = Arc::from(masked);
                }
            }
        }
    }
    for fact in &mut output.facts {
        match fact {
            Fact::Plan(items) => items
                .iter_mut()
                .for_each(|item| text(secrets, &mut item.text)),
            Fact::Artifact(artifact) => {
                bytes(secrets, &mut artifact.original);
                bytes(secrets, &mut artifact.rendered);
            }
        }
    }
}
