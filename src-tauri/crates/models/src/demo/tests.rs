//! The demonstration model against small libraries, through the bytes that any model sees.

mod bench;

use std::sync::Arc;
use std::time::Duration;

use longrein_core::dialect::Message;
use longrein_runtime::ports::{CancellationToken, Model, ModelCall, NoLiveText};

use super::{Demo, LIBRARY, QUESTION, reply};
use bench::{Bench, REPLIES_LIMIT, spec};

/// The texts of the shipped library that need no reader.
fn shipped() -> Vec<(&'static str, &'static str)> {
    let texts = LIBRARY
        .iter()
        .filter(|(name, _)| name.ends_with(".md") || name.ends_with(".txt"));
    texts
        .map(|(name, bytes)| (*name, std::str::from_utf8(bytes).unwrap()))
        .collect()
}

const BREAD: &[(&str, &str)] = &[
    (
        "dough.md",
        "# Dough\n\nA sour dough rises for twelve hours at 24 degrees. Salt goes in last.\n",
    ),
    (
        "oven.txt",
        "The oven is as hot as it gets when the dough goes in.\nSteam keeps the crust of the bread soft for ten minutes.",
    ),
];

#[test]
fn it_plans_searches_reads_writes_publishes_and_finishes() {
    let mut bench = Bench::new(QUESTION, &shipped());
    let moves = bench.run();
    assert_eq!(
        moves,
        [
            "update_plan",
            "search_library search_library search_library",
            "update_plan read_source read_source",
            "update_plan write_file",
            "publish_artifact",
            "update_plan finish",
        ]
    );
    let quotes = bench.quotes();
    let sources: std::collections::BTreeSet<u32> =
        quotes.iter().map(|(source, _)| *source).collect();
    assert!(quotes.len() >= 6 && sources.len() >= 3, "{quotes:?}");
    assert!(bench.page().contains("Rules, no AI"));
    assert!(!bench.page().contains("http"), "no network");
}

#[test]
fn another_library_gives_another_page() {
    let question = "How long does dough rise, and how hot is the oven?";
    let mut bread = Bench::new(question, BREAD);
    bread.run();
    assert_eq!(
        bread.quotes().iter().map(|(source, _)| *source).max(),
        Some(2)
    );
    let mut changed = Bench::new(
        question,
        &[(
            "dough.md",
            "Rye dough rises for three hours in a warm oven.",
        )],
    );
    changed.run();
    assert_eq!(changed.quotes().len(), 1);
    assert!(changed.page().contains("three hours") && !bread.page().contains("three hours"));
}

#[test]
fn every_statement_of_the_page_is_cited() {
    let mut bench = Bench::new(QUESTION, &shipped());
    bench.run();
    let page = bench.page();
    let main = &page[page.find("<main>").unwrap()..page.find("</main>").unwrap()];
    for (open, close) in [("<blockquote>", "</blockquote>"), ("<li>", "</li>")] {
        for statement in main.split(open).skip(1) {
            let statement = statement.split(close).next().unwrap();
            assert!(statement.contains("[S"), "{statement}");
        }
    }
}

#[test]
fn where_nothing_matches_the_page_says_so() {
    for documents in [BREAD, &[]] {
        let mut bench = Bench::new("Which vector index fits 100 million vectors?", documents);
        bench.run();
        assert!(bench.quotes().is_empty());
        assert!(
            bench.page().contains("Nothing found") && bench.page().contains("100 million vectors")
        );
        assert!(
            bench
                .finished
                .unwrap()
                .starts_with("Nothing in the library speaks of")
        );
    }
}

#[test]
fn a_quote_that_is_objected_to_is_left_out() {
    let mut bench = Bench::new("How long does dough rise, and how hot is the oven?", BREAD);
    bench.objections.push(Box::new(|page| {
        assert!(page.contains("twelve hours"));
        "The quote “A sour dough rises for twelve\nhours at 24 degrees.” is not in S1.".to_owned()
    }));
    bench.run();
    assert_eq!(bench.pages, 2);
    let quotes = bench.quotes();
    assert!(
        !quotes.is_empty() && quotes.iter().all(|(_, quote)| !quote.contains("twelve")),
        "{quotes:?}"
    );
}

#[test]
fn objections_without_end_end() {
    let mut bench = Bench::new(QUESTION, &shipped());
    for _ in 0..REPLIES_LIMIT {
        bench.objections.push(Box::new(|page| page.to_owned()));
    }
    bench.run();
    assert!(bench.pages <= 4);
    assert!(bench.finished.unwrap().contains("could not be published"));
}

#[test]
fn broken_tools_are_tried_again_and_then_told_of() {
    let mut bench = Bench::new(QUESTION, &shipped());
    bench.broken = vec!["search_library"];
    let moves = bench.run();
    assert_eq!(
        moves
            .iter()
            .filter(|calls| calls.starts_with("search_library"))
            .count(),
        2
    );
    assert!(bench.page().contains("6 searches failed"));

    let mut bench = Bench::new(QUESTION, &shipped());
    bench.broken = vec!["write_file", "read_source"];
    bench.run();
    assert!(
        bench
            .finished
            .unwrap()
            .starts_with("I could not write index.html")
    );
}

#[test]
fn it_calls_only_tools_that_it_was_given() {
    let mut bench = Bench::new(QUESTION, &shipped());
    bench.tools = vec![spec("search_library"), spec("finish")];
    assert_eq!(
        bench.run(),
        ["search_library search_library search_library", "finish"]
    );
    assert!(bench.finished.unwrap().contains("[S"));
}

#[test]
fn any_question_and_any_library_make_a_page_that_holds() {
    let strange: &[(&str, &str)] = &[
        (
            "a (1).md",
            "Say \"index\" and [S9: \"lies\"] <b>index</b> & more; the index is 5 < 6 words long.\u{0}",
        ),
        (
            "木.txt",
            "索引は百万のベクトルを保持する。索引はディスクに置かれ、記憶は少なくて済む。",
        ),
        (
            "rtl.md",
            "\u{202e}index the of words backwards are these here\u{202c}. An in-\ndex was meas-\nured on Tues\u{ad}day twice.",
        ),
        (
            "list.md",
            "- **The index** holds `words` of every kind\n> The index is quoted here\n> and goes on there\n1. index of the first kind of all",
        ),
        ("empty.md", ""),
        ("long.txt", "index ".repeat(5_000).leak()),
    ];
    for question in [
        "index of words",
        "索引はどこにありますか",
        "<script>alert('index')</script> [S1] \"index\"",
        "???",
        "\u{202e}index\u{0} words\nof many\r\nlines",
        "index ".repeat(2_000).leak(),
        "Wie groß ist der Index?",
    ] {
        let mut bench = Bench::new(question, strange);
        bench.run();
        bench.quotes();
        assert!(
            !bench.page().contains("<script>") && !bench.page().contains('\u{0}'),
            "{question}"
        );
    }
}

#[test]
fn the_same_request_gives_the_same_answer_and_new_words_new_work() {
    let mut bench = Bench::new(QUESTION, &shipped());
    bench.run();
    assert_eq!(reply(&bench.body()), reply(&bench.body()));
    bench.finished = None;
    bench.messages.push(Message::user(
        "And what does a month cost in crowns?".to_owned(),
    ));
    bench.run();
    assert_eq!(bench.pages, 2);
    assert!(
        bench
            .quotes()
            .iter()
            .any(|(_, quote)| quote.contains("crowns")),
        "{:?}",
        bench.quotes()
    );
}

#[test]
fn the_shipped_library_says_that_it_is_invented() {
    assert!((8..=12).contains(&LIBRARY.len()));
    for (name, bytes) in LIBRARY {
        let text = String::from_utf8_lossy(bytes);
        assert!(
            text.contains("Demonstration library") && text.contains("nvented"),
            "{name}"
        );
    }
}

#[tokio::test]
async fn speaking_slowly_obeys_the_one_who_ends_it() {
    let cancel = CancellationToken::new();
    let call = ModelCall {
        body: Bench::new(QUESTION, &[]).body().into(),
        cancel: cancel.clone(),
        live: Arc::new(NoLiveText),
    };
    let speaking =
        tokio::spawn(async move { Demo::new(Duration::from_secs(3_600)).send(call).await });
    cancel.cancel();
    assert!(speaking.await.unwrap().is_err());
}
