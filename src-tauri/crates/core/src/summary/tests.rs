//! What is asked of a model that sums up, and what is taken of its answer.

use longrein_protocol::block::{Block, Origin, StopReason, Trust};
use longrein_protocol::event::Summary;
use longrein_protocol::source::{SourceMeta, SourceRecord};
use longrein_protocol::{ActionId, Body, SourceId};

use super::*;
use crate::run::{ActionResult, Item, Words};

fn body(text: &str) -> Body {
    Body::Text(text.to_owned())
}

fn with_sources(count: u32) -> Run {
    let record = |id| SourceRecord {
        id: SourceId(id),
        meta: SourceMeta::default(),
        bytes: Body::default(),
        text: Body::default(),
        shown: Vec::new(),
    };
    Run {
        sources: (1..=count).map(record).collect(),
        ..Run::default()
    }
}

fn answered(run: &Run, answer: &str) -> Result<Summary, Unusable> {
    read(run, "test/small", answer, StopReason::End, 100_000)
}

fn result(action: &str, text: &str, trust: Trust) -> Item {
    Item::Result {
        action: ActionId(action.to_owned()),
        call: action.to_owned(),
        tool: "look".to_owned(),
        result: ActionResult {
            body: body(text),
            whole: None,
            file: None,
            media: Vec::new(),
            error: None,
            origin: Origin::Tool {
                tool: "look".to_owned(),
                place: None,
            },
            trust,
            latency_ms: 1,
        },
    }
}

fn asked(run: &Run, before: u32, limit: usize) -> String {
    let text = |body: &Body| match body {
        Body::Text(text) => text.clone(),
        Body::Blob { .. } => String::new(),
    };
    question(run, before, &text, limit)
}

#[test]
fn an_answer_may_have_words_around_its_object_and_texts_for_objects() {
    let run = with_sources(2);
    let answer = "Here it is:\n```json\n{\"decisions\": [\"By hand.\"], \"findings\": [\"Nine\\n herons [S2].\", {\"text\": \"Fed.\", \"sources\": [\"S1\", \"[S1]\"]}], \"notes\": 4}\n```";
    let summary = answered(&run, answer).unwrap();
    assert_eq!(summary.decisions, ["By hand."]);
    assert_eq!(summary.findings[0].text, "Nine herons [S2].");
    assert_eq!(summary.findings[1].sources, [SourceId(1)]);
    assert_eq!((summary.struck, summary.left_out), (0, 0));
    assert_eq!(summary.trust, Trust::Trusted);
}

#[test]
fn sources_that_the_run_does_not_have_are_struck_wherever_they_stand() {
    let run = with_sources(1);
    let answer = r#"{"decisions": ["As [S7] says."], "findings": [{"text": "Nine [S1; S4].", "sources": ["S1", "S4", "https://x.example"]}]}"#;
    let summary = answered(&run, answer).unwrap();
    assert_eq!(summary.decisions, ["As says."]);
    assert_eq!(summary.findings[0].text, "Nine [S1].");
    assert_eq!(summary.findings[0].sources, [SourceId(1)]);
    assert_eq!(summary.struck, 4);
}

#[test]
fn more_than_there_is_room_for_is_left_out_and_counted() {
    let run = with_sources(0);
    let line = "x".repeat(1_000);
    let decisions: Vec<&str> = (0..60).map(|_| line.as_str()).collect();
    let answer = serde_json::json!({"decisions": decisions, "open": ["Who?"]}).to_string();
    let summary = answered(&run, &answer).unwrap();
    assert!(lines(&summary).len() <= limit_bytes(&run));
    assert_eq!(summary.open, ["Who?"]);
    assert_eq!(summary.decisions.len() as u32 + summary.left_out, 60);
}

#[test]
fn what_is_no_summary_is_told_apart() {
    let run = with_sources(0);
    let of = |answer| answered(&run, answer).unwrap_err();
    assert_eq!(of(" \n"), Unusable::Empty);
    assert!(matches!(of("No."), Unusable::Form(_)));
    assert!(matches!(of("{\"decisions\": 4}"), Unusable::Form(_)));
    assert_eq!(of("{\"open\": [\" \"]}"), Unusable::SaysNothing);
    let longer = read(&run, "m", "{\"open\": [\"x\"]}", StopReason::End, 4);
    assert_eq!(longer, Err(Unusable::Longer));
}

#[test]
fn the_largest_results_are_cut_first_and_words_of_the_model_stay() {
    let said = "Because of the drought. ".repeat(40);
    let mut run = Run {
        title: "Count the herons".to_owned(),
        ..Run::default()
    };
    for item in [
        Item::Person(Words {
            body: body("Count them."),
            media: Vec::new(),
        }),
        Item::Assistant(vec![Block::Text {
            text: body(&said),
            raw: None,
        }]),
        result("a1", &"big ".repeat(4_000), Trust::Untrusted),
        result("a2", "small", Trust::Trusted),
        Item::Notice(body("not asked for")),
    ] {
        run.conversation.items.push_back(item);
    }
    let whole = asked(&run, 4, 100_000);
    assert!(whole.contains("Count the herons") && whole.contains("Count them."));
    assert!(
        !whole.contains("not asked for"),
        "it stands behind the part"
    );
    let fence = crate::compile::fence(&ActionId("a1".to_owned()));
    assert!(whole.contains(&format!("<untrusted id=\"{fence}\" from=\"look\">")));
    let cut = asked(&run, 4, 4_000);
    assert!(cut.len() <= 4_200, "{}", cut.len());
    assert!(cut.contains(&said) && cut.contains("small") && cut.contains("bytes left out"));
    // Where results alone are not enough, words are cut as well.
    let less = asked(&run, 4, 1_000);
    assert!(less.len() <= 1_600, "{}", less.len());
    assert!(!less.contains(&said));
}

#[test]
fn the_record_before_is_given_to_be_taken_over() {
    let mut run = with_sources(0);
    run.summary = Some(Box::new(
        answered(&run, r#"{"open": ["Who fed them?"]}"#).unwrap(),
    ));
    run.summaries.why = "the answer was empty".to_owned();
    run.summaries.answered = true;
    let text = asked(&run, 0, 10_000);
    assert!(text.contains("Who fed them?") && text.contains("which yours replaces"));
    assert!(text.contains("could not be used: the answer was empty."));
}
