//! A provider that refuses, fails and cuts its streams, seen from outside.

use std::time::Duration;

use longrein_runtime::ports::ReplyBlock;
use longrein_testkit::SeenRequest;
use longrein_testkit::provider::{
    Answer, Content, Fault, Manner, Refusal, Setup, Trouble, WaitSaid,
};
use longrein_testkit::reply::reply_of;
use serde_json::json;

use crate::support::{Home, Provider, of_type};

/// A home whose provider speaks Anthropic's format.
fn home(setup: Setup) -> (Home, Provider) {
    let provider = Provider::start(setup);
    let home = Home::new();
    home.configure(&format!(
        "[providers.local]\nformat = \"anthropic\"\nbase_url = \"{}\"\n",
        provider.mock.origin()
    ));
    (home, provider)
}

fn refusal(kind: Trouble, wait: Duration, says: WaitSaid) -> Answer {
    Content::Refusal(Refusal::of(kind).asking(wait, says)).into()
}

fn written(request: &SeenRequest, step: u32) -> Content {
    let block = match step {
        0..3 => ReplyBlock::ToolUse {
            id: format!("toolu_{step}"),
            name: "write_file".to_owned(),
            arguments: json!({"path": format!("{step}.md"), "content": "x"}).to_string(),
            raw: None,
        },
        _ => ReplyBlock::Text {
            text: "All is written.".to_owned(),
            raw: None,
        },
    };
    Content::Reply(reply_of(vec![block], request))
}

/// Everything at once: a limit, three overloads, a cut stream and a malformed chunk.
fn faulty() -> Setup {
    Setup::of(|request| {
        let step = request.replies();
        let with = |fault| Answer {
            content: written(request, step),
            manner: Some(Manner::default().with(fault)),
        };
        let second = Duration::from_secs(1);
        match request.number {
            1 => refusal(Trouble::RateLimited, second, WaitSaid::RetryAfter),
            3..=5 => Content::Refusal(Refusal::of(Trouble::Overloaded)).into(),
            7 => with(Fault::DropAtByte(150)),
            9 => with(Fault::GarbageAfter(2)),
            _ => written(request, step).into(),
        }
    })
}

#[test]
fn a_run_lives_through_everything_and_its_timeline_says_what_happened() {
    let (home, _provider) = home(faulty());
    let agent = home.agent("[tools]\nallow = [\"files\"]\n");
    let run = home.run(&["run", &agent, "Write."]);
    assert_eq!(run.status, 0, "{run}");
    let id = run.run_id();
    let events = home.events(&id);
    let failed = of_type(&events, "model.failed");
    let classes: Vec<&str> = failed
        .iter()
        .map(|event| event["class"].as_str().unwrap())
        .collect();
    assert_eq!(
        classes,
        [
            "rate_limited",
            "overloaded",
            "overloaded",
            "overloaded",
            "network",
            "malformed"
        ]
    );
    assert_eq!(failed[0]["asked"], true);
    let told = format!("{}{}", run.out, run.err);
    for words in [
        "answered 429: Rate limit reached for requests. · trying again",
        "answered 529: Overloaded. · trying again",
        "broke the connection. · trying again",
        "sent a piece that is not JSON. · trying again",
        "All is written.",
    ] {
        assert!(told.contains(words), "{words}: {run}");
    }
    home.assert_whole();
}

#[test]
fn a_quota_of_a_week_hands_off_at_once_with_the_date_and_goes_on_when_resumed() {
    let week = Duration::from_secs(7 * 24 * 3_600);
    let (home, provider) = home(Setup::of(move |request| match request.number {
        1 => refusal(Trouble::RateLimited, week, WaitSaid::RetryAfter),
        _ => written(request, 3).into(),
    }));
    let run = home.run(&["run", &home.agent(""), "Go."]);
    assert_eq!(run.status, 3, "{run}");
    assert!(run.out.contains("It takes requests again on "), "{run}");
    assert!(run.out.contains(" UTC, in 7 days."), "{run}");
    assert_eq!(provider.mock.count(), 1);
    let id = run.run_id();
    let events = home.events(&id);
    let back_at = of_type(&events, "model.failed")[0]["back_at"].as_i64();
    assert!(back_at.is_some_and(|at| at > 0));
    let resumed = home.run(&["resume", &id]);
    assert_eq!(resumed.status, 0, "{resumed}");
}
