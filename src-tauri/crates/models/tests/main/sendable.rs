//! Whatever a log holds, the history that is made of it can be sent, in every format: random runs
//! are folded, cut off, switched to other models, compacted and forked, and after every event the
//! request that the core would send is held against the laws of its format.

use longrein_core::compile::{Compiled, Known, compile};
use longrein_core::dialect::Dialect;
use longrein_core::run::{Phase, Run};
use longrein_models::{Format, Limits, ModelConfig, ToolMode, build};
use longrein_protocol::Body;
use longrein_runtime::ports::Model;
use serde_json::Value;

use crate::laws;
use crate::made_up::Play;

/// How many runs are made up.
const SEEDS: u64 = 60;
/// How many things happen in each.
const DEEDS: u32 = 90;

/// Every dialect there is, with the laws that its requests obey.
fn dialects() -> Vec<(&'static str, std::sync::Arc<dyn Model>, laws::Law)> {
    let of = |format: Format, mode: ToolMode, model: &str, base_url: &str| {
        let config = ModelConfig {
            provider: "any".to_owned(),
            model: model.to_owned(),
            base_url: base_url.to_owned(),
            key: None,
            limits: Limits::default(),
        };
        build(format, mode, &config).unwrap()
    };
    let local = "http://127.0.0.1:8080/v1";
    let native =
        |format: Format, model: &str| of(format, ToolMode::Native, model, format.base_url());
    vec![
        (
            "openai",
            native(Format::OpenAiChat, "gpt-5.2"),
            laws::chat as laws::Law,
        ),
        (
            "llama.cpp",
            of(Format::OpenAiChat, ToolMode::Native, "qwen3", local),
            laws::chat,
        ),
        (
            "mistral",
            of(
                Format::OpenAiChat,
                ToolMode::Native,
                "mistral-large",
                "https://api.mistral.ai/v1",
            ),
            laws::strict_chat,
        ),
        (
            "schema",
            of(Format::OpenAiChat, ToolMode::Schema, "qwen3", local),
            laws::turns,
        ),
        (
            "responses",
            native(Format::OpenAiResponses, "gpt-5.2"),
            laws::responses,
        ),
        (
            "anthropic",
            native(Format::Anthropic, "claude-sonnet-4-5"),
            laws::anthropic,
        ),
        (
            "gemini",
            native(Format::Gemini, "gemini-3.8-flash"),
            laws::gemini,
        ),
    ]
}

fn compiled(run: &Run, dialect: &dyn Dialect) -> Compiled {
    let content = |body: &Body| match body {
        Body::Text(text) => text.clone(),
        Body::Blob { .. } => panic!("texts are in place"),
    };
    let known = Known {
        text: &content,
        base64: &|_| Some("QUJD".into()),
    };
    compile(run, dialect, &known)
}

fn body(run: &Run, compiled: &Compiled) -> String {
    let kept = run.fragments[..compiled.keep as usize].iter();
    let kept = kept.map(|fragment| match &fragment.body {
        Body::Text(text) => text.as_str(),
        Body::Blob { .. } => "",
    });
    let new = compiled.add.iter().map(|piece| piece.text.as_str());
    kept.chain(new).collect()
}

#[test]
fn whatever_happened_the_history_can_be_sent_in_every_format() {
    let dialects = dialects();
    let mut requests = 0;
    for seed in 1..=SEEDS {
        let mut play = Play::new(seed);
        // One format for the whole run, so that its requests grow; the others see each state anew.
        let own = &dialects[seed as usize % dialects.len()];
        for deed in 0..DEEDS {
            if play.run.step_is_open() || play.run.phase != Phase::Going {
                play.deed();
                continue;
            }
            for (name, model, law) in &dialects {
                let mut anew = play.run.clone();
                anew.fragments.clear();
                let whole = compiled(&anew, model.dialect());
                let bytes = body(&anew, &whole);
                let place = format!("{name}, seed {seed}, deed {deed}");
                let parsed = serde_json::from_str::<Value>(&bytes);
                let parsed = parsed.unwrap_or_else(|error| panic!("{place}: {error}: {bytes}"));
                if let Err(broken) = law(&parsed) {
                    panic!("{place}: {broken}\n{bytes}");
                }
                for other in (0..play.model + 2).filter(|other| *other != play.model) {
                    let foreign = format!("SIGNED-BY-{other}\"");
                    assert!(!bytes.contains(&foreign), "{place}: {foreign}\n{bytes}");
                }
                requests += 1;
            }
            let dialect = own.1.dialect();
            let next = compiled(&play.run, dialect);
            let grown = body(&play.run, &next);
            let mut anew = play.run.clone();
            anew.fragments.clear();
            let whole = compiled(&anew, dialect);
            assert_eq!(
                grown,
                body(&anew, &whole),
                "{}, seed {seed}, deed {deed}: what grew is not what is made anew",
                own.0
            );
            play.ask(&next);
            if !play.run.step_is_open() {
                play.deed();
            }
        }
    }
    assert!(requests > 5_000, "the runs got stuck: {requests}");
}
