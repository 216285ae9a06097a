//! Images in a run: shown, priced, refused, made smaller, noted, and read back from the log.

use std::sync::Arc;

use longrein_core::compact;
use longrein_core::run::{Phase, Run};
use longrein_protocol::agent::AgentSpec;
use longrein_protocol::block::{ModelErrorClass, Usage};
use longrein_protocol::event::{ModelSwitched, Outcome, Payload};
use longrein_protocol::media::Takes;
use longrein_protocol::tool::{Effect, Repeat};
use longrein_runtime::history;
use longrein_runtime::ports::{NewMedia, Part, ToolOutput};
use longrein_testkit::{FakeTool, Scripted, ScriptedModel, TestWorld, call, fail, say, then};
use serde_json::{Value, json};

use crate::stage::{Stage, count};

/// A grey image of 1,200 × 900 pixels: more than a smaller copy has.
const PNG: &[u8] = include_bytes!("media/grey.png");

fn look() -> Arc<FakeTool> {
    let answer = |_: &longrein_runtime::ports::ToolCall| {
        let image = NewMedia::of(PNG, "grey.png").expect("it is a PNG");
        Ok(ToolOutput {
            parts: vec![
                Part::Text("grey.png: an image".to_owned()),
                Part::Media(Box::new(image)),
            ],
            outcome: "an image".to_owned(),
            ..ToolOutput::default()
        })
    };
    Arc::new(FakeTool::new("look", Effect::Read, Repeat::Repeatable).answering(answer))
}

struct Shown {
    stage: Stage,
    model: Arc<ScriptedModel>,
    run: Run,
}

async fn drive(script: impl IntoIterator<Item = Scripted>) -> Shown {
    let model = Arc::new(ScriptedModel::new(script));
    let mut stage = Stage::new(TestWorld::new(model.clone(), [look()]));
    let agent: AgentSpec = stage.world.agent();
    let run = stage.drive(agent, "Look.").await.unwrap();
    Shown { stage, model, run }
}

/// What the last message of a request holds beside text.
fn images(request: &longrein_testkit::SeenRequest) -> Vec<String> {
    let messages = request.messages();
    let parts = messages
        .iter()
        .flat_map(|message| message["content"].as_array().cloned().unwrap_or_default());
    let url = |part: Value| part["image_url"]["url"].as_str().map(str::to_owned);
    parts.filter_map(url).collect()
}

#[tokio::test(start_paused = true)]
async fn an_image_of_a_result_follows_in_a_message_behind_all_results() {
    let asks = call("look", json!({})).and_call("look", json!({}));
    let shown = drive([asks, say("Grey.")]).await;
    assert_eq!(shown.run.phase, Phase::Finished(Outcome::Unverified));
    let request = shown.model.seen()[1].clone();
    let roles: Vec<String> = request
        .messages()
        .iter()
        .map(|message| message["role"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(
        roles,
        ["system", "user", "assistant", "tool", "tool", "user"]
    );
    assert_eq!(images(&request).len(), 2);
    let result = request.last_result().unwrap();
    assert!(
        result.contains("grey.png, 1200 × 900 pixels: shown"),
        "{result}"
    );
    let past = history::request(&*shown.stage.log, shown.stage.run, 2);
    let past = past.await.unwrap().unwrap();
    assert_eq!(past.sealed.sha256, past.requested.body_sha256);
    assert_eq!(*past.sealed.bytes, *request.body);
}

#[tokio::test(start_paused = true)]
async fn an_image_is_reserved_by_its_pixels_and_not_by_its_base64() {
    let usage = Usage {
        input: 500,
        output: 10,
        ..Usage::default()
    };
    let shown = drive([
        call("look", json!({})).using(Some(usage)),
        say("Grey.").using(Some(usage)),
    ])
    .await;
    let reserved: Vec<(u32, u32)> = shown
        .stage
        .events()
        .iter()
        .filter_map(|event| match &event.payload {
            Payload::ModelRequested(requested) => {
                Some((requested.reserved_in, requested.body_bytes))
            }
            _ => None,
        })
        .collect();
    let [(first, before), (second, after)] = reserved[..] else {
        panic!("two requests: {reserved:?}");
    };
    let base64 = u32::try_from(PNG.len() * 4 / 3).unwrap();
    assert!(after - before > base64, "the image was sent");
    // 1,200 × 900 pixels are 1,440 tokens, times what the first request's usage taught.
    let ratio = shown.run.ratio_worst.max(1.25);
    let more = f64::from(second - first);
    assert!(more > 1_440.0 * ratio, "{reserved:?}");
    assert!(more < 1_440.0 * ratio + 600.0 * ratio, "{reserved:?}");
}

#[tokio::test(start_paused = true)]
async fn a_refused_image_is_sent_smaller_then_noted_and_the_run_goes_on() {
    let refuse = || fail(ModelErrorClass::MediaRefused, None);
    let shown = drive([call("look", json!({})), refuse(), refuse(), say("Grey.")]).await;
    assert_eq!(shown.run.phase, Phase::Finished(Outcome::Unverified));
    assert_eq!(count(&shown.stage.events(), "media.reduced"), 2);
    let seen = shown.model.seen();
    let [whole, smaller, noted] = [1, 2, 3].map(|number| images(&seen[number]));
    assert!(whole[0].starts_with("data:image/png;base64,"), "{whole:?}");
    assert!(
        smaller[0].starts_with("data:image/jpeg;base64,"),
        "{smaller:?}"
    );
    assert_eq!(noted, Vec::<String>::new());
    let last = seen[3].text();
    assert!(
        last.contains("not shown, since this model refused it"),
        "{last}"
    );
    // It is one step, however often the request was made smaller.
    assert_eq!(shown.run.used.steps, 2);
    // The original is still what the action returned.
    let hash = longrein_protocol::BlobHash::of(PNG);
    let kept = longrein_store::log::Log::blob(&*shown.stage.log, hash).await;
    assert_eq!(*kept.unwrap(), *PNG);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_refuses_everything_hands_the_run_off_and_does_not_go_round() {
    let refuse = then(|request| match request.number {
        1 => call("look", json!({})),
        _ => fail(ModelErrorClass::MediaRefused, None),
    });
    let shown = drive(std::iter::repeat_n(refuse, 20)).await;
    assert!(
        matches!(shown.run.phase, Phase::HandedOff { .. }),
        "{:?}",
        shown.run.phase
    );
    assert_eq!(shown.model.count(), 4);
}

#[tokio::test(start_paused = true)]
async fn media_leaves_the_request_before_any_text_does() {
    let looks = |number: usize| call("look", json!({"number": number}));
    let script = (0..14).map(looks).chain([say("Grey.")]);
    let model = Arc::new(ScriptedModel::new(script));
    let mut stage = Stage::new(TestWorld::new(model, [look()]));
    let mut agent: AgentSpec = stage.world.agent();
    agent.model.window_tokens = 200_000;
    let run = stage.drive(agent, "Look.").await.unwrap();
    let compacted =
        compact::down_to(&run, run.estimate_at_most(run.conversation.bytes) / 2).unwrap();
    assert!(
        compacted.media_before > compacted.pruned_before,
        "{compacted:?}"
    );
    assert_eq!((compacted.pruned_before, compacted.dropped_before), (0, 0));
    assert!(compacted.tokens_after < compacted.tokens_before);
}

#[tokio::test(start_paused = true)]
async fn what_a_person_gives_is_shown_with_their_words_and_taints() {
    let model = Arc::new(ScriptedModel::new([say("Grey.")]));
    let mut stage = Stage::new(TestWorld::new(model.clone(), [look()]));
    let agent = stage.world.agent();
    let mut driver = stage.begin(agent, "Look.").await.unwrap();
    let mut blobs = Vec::new();
    let image = NewMedia::of(PNG, "mine.png").unwrap().record(&mut blobs);
    for blob in blobs {
        driver.keep(Some(blob));
    }
    driver.give("At this.".to_owned(), vec![image]).unwrap();
    driver.drive(false).await.unwrap();
    let run = driver.run();
    assert_eq!(run.phase, Phase::Finished(Outcome::Unverified));
    assert!(run.tainted && run.private_read);
    let request = model.seen()[0].clone();
    assert_eq!(images(&request).len(), 1);
    let last = request.messages().pop().unwrap();
    assert_eq!(last["content"][0]["text"], "At this.");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_takes_no_images_is_told_what_was_there() {
    let model = Arc::new(ScriptedModel::new([call("look", json!({})), say("So.")]));
    let mut stage = Stage::new(TestWorld::new(model.clone(), [look()]));
    let agent = stage.world.agent();
    let mut driver = stage.begin(agent, "Look.").await.unwrap();
    driver
        .record(ModelSwitched {
            from: "test/scripted".to_owned(),
            to: "test/scripted".to_owned(),
            why: "A model for texts.".to_owned(),
            window_tokens: 32_768,
            price: None,
            takes: Takes {
                images: Some(false),
                ..Takes::default()
            },
        })
        .unwrap();
    driver.drive(false).await.unwrap();
    let request = model.seen()[1].clone();
    assert_eq!(images(&request), Vec::<String>::new());
    let result = request.last_result().unwrap();
    let note = "[image grey.png, 1200 × 900 pixels: not shown, since this model takes none]";
    assert!(result.contains(note), "{result}");
}
