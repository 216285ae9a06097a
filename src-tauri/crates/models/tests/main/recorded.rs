//! The recorded conversation of five steps as each format sends it: every body byte for byte as the
//! provider's documentation has it, with the provider's own blocks as they came.

use expect_test::{ExpectFile, expect_file};
use longrein_core::dialect::{
    Dialect, End, Head, Message, Parameters, Place, Said, Speaker, Thinking,
};
use longrein_models::{Format, Limits, ModelConfig, ToolMode, build};
use longrein_testkit::recorded::{self, Step};
use serde_json::Value;

/// A provider of each format as it is set up without anything special; the chat format as
/// llama.cpp's server speaks it, which sends reasoning and takes it back.
fn base_url(format: Format) -> &'static str {
    match format {
        Format::OpenAiChat => "http://127.0.0.1:8080/v1",
        other => other.base_url(),
    }
}

/// The messages up to and with what precedes the reply of step `number`, counted from 0.
fn messages(dialect: &dyn Dialect, steps: &[Step], number: usize) -> Vec<Message> {
    let mut messages = Vec::new();
    for (index, step) in steps.iter().enumerate().take(number + 1) {
        messages.extend(step.person.map(Message::user));
        if index == number {
            break;
        }
        let blocks: Vec<Said> = step.reply.blocks.clone();
        messages.push(Message::Assistant { blocks });
        let mut below = Vec::new();
        for result in &step.results {
            let (here, after): (Vec<_>, Vec<_>) =
                result.media.iter().cloned().partition(|media| {
                    dialect.carries(Speaker::Tool, media.kind, &media.media_type)
                });
            below.extend(after);
            messages.push(Message::Result {
                call: result.call.clone(),
                name: result.name.to_owned(),
                text: result.text.to_owned(),
                media: here,
                failed: result.failed,
            });
        }
        if !below.is_empty() {
            messages.push(Message::User {
                text: "[harness] What the results above show.".to_owned(),
                media: below,
            });
        }
    }
    messages
}

fn body(dialect: &dyn Dialect, format: Format, steps: &[Step], number: usize) -> String {
    let tools = recorded::tools();
    let head = dialect.head(Head {
        model: recorded::model(format),
        system: "Be brief.",
        tools: &tools,
        index: "",
    });
    let mut bytes: String = head.into_iter().map(|(_, piece)| piece).collect();
    let mut after = None;
    let messages = messages(dialect, steps, number);
    for (index, message) in (0..).zip(&messages) {
        let place = Place {
            index,
            after,
            is_tail: false,
        };
        bytes += &dialect.placed(place, message);
        after = Some(message.speaker());
    }
    let schema = recorded::form_schema();
    let end = End {
        messages: messages.len() as u32,
        has_tail: false,
    };
    bytes += &dialect.closing_after(
        end,
        Parameters {
            max_output_tokens: 8_192,
            temperature: None,
            thinking: Some(Thinking::Low),
            answer: steps[number].in_form.then(|| recorded::form(&schema)),
        },
    );
    bytes
}

fn check(format: Format, expected: ExpectFile) {
    let model = build(
        format,
        ToolMode::Native,
        &ModelConfig {
            provider: "recorded".to_owned(),
            model: recorded::model(format).to_owned(),
            base_url: base_url(format).to_owned(),
            key: None,
            limits: Limits::default(),
        },
    )
    .unwrap();
    let steps = recorded::conversation(format);
    let bodies: Vec<String> = (0..steps.len())
        .map(|number| body(model.dialect(), format, &steps, number))
        .collect();
    for (bytes, step) in bodies.iter().zip(&steps) {
        let parsed: Result<Value, _> = serde_json::from_str(bytes);
        assert!(parsed.is_ok(), "{bytes}");
        // What the provider said goes back as it came, in the last request at the latest.
        for block in &step.reply.blocks[..] {
            let (Said::Text { raw, .. } | Said::Thinking { raw, .. } | Said::ToolUse { raw, .. }) =
                block;
            let raw = raw.as_deref().filter(|raw| raw.starts_with('{'));
            let is_last = step.in_form;
            if let Some(raw) = raw.filter(|_| !is_last) {
                assert!(bodies[bodies.len() - 1].contains(raw), "{raw}");
            }
        }
    }
    expected.assert_eq(&(bodies.join("\n") + "\n"));
}

#[test]
fn five_steps_are_sent_as_the_chat_format_has_them() {
    check(
        Format::OpenAiChat,
        expect_file!["recorded/openai-chat.jsonl"],
    );
}

#[test]
fn five_steps_are_sent_as_the_responses_format_has_them() {
    let file = expect_file!["recorded/openai-responses.jsonl"];
    check(Format::OpenAiResponses, file);
}

#[test]
fn five_steps_are_sent_as_anthropic_has_them() {
    check(Format::Anthropic, expect_file!["recorded/anthropic.jsonl"]);
}

#[test]
fn five_steps_are_sent_as_gemini_has_them() {
    check(Format::Gemini, expect_file!["recorded/gemini.jsonl"]);
}
