//! The demonstration: what a fresh machine shows.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{Home, assert_gapless, of_type, types};

/// A text as a reader sees it: without tags, white space and typographic marks folded.
fn words(text: &str) -> String {
    let mut plain = String::new();
    let mut in_tag = false;
    for letter in text.chars() {
        match letter {
            '<' => in_tag = true,
            '>' => in_tag = false,
            '“' | '”' | '„' => plain.push('"'),
            '’' | '‘' => plain.push('\''),
            letter if !in_tag => plain.push(letter),
            _ => {}
        }
    }
    let plain = plain
        .replace("&amp;", "&")
        .replace("&lt;", "<")
        .replace("&gt;", ">");
    plain
        .replace(['*', '`'], "")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// The citations of a page: source and quoted words, read from the page alone.
fn citations(page: &str) -> Vec<(String, String)> {
    page.split("class=\"lr-cite\"")
        .skip(1)
        .map(|rest| {
            let source = between(rest, "href=\"#lr-", "\"").unwrap();
            let quote = between(rest, "title=\"“", "”").unwrap();
            (source.to_owned(), words(quote))
        })
        .collect()
}

fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    let rest = &text[text.find(before)? + before.len()..];
    rest.find(after).map(|end| &rest[..end])
}

/// The words of the document that a source stands for, from the library's own file; for a PDF
/// the words that the run extracted from it.
fn document(events: &[Value], library: &Path, source: &str) -> String {
    let captured = of_type(events, "source.captured");
    let captured = captured
        .iter()
        .find(|event| event["source"] == source)
        .unwrap();
    let file = captured["meta"]["file"].as_str().unwrap();
    assert!(
        library.join(file).is_file(),
        "{file} is no document of the library"
    );
    if file.ends_with(".pdf") {
        return words(captured["text"]["text"].as_str().unwrap());
    }
    words(&fs::read_to_string(library.join(file)).unwrap())
}

fn exported(home: &Home, run: &str) -> Vec<Value> {
    let file = home.path().join("run.jsonl");
    let done = home.run(&["export", run, "--to", &file.to_string_lossy()]);
    assert_eq!(done.status, 0, "{done}");
    let lines = fs::read_to_string(file).unwrap();
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn the_demo_ends_accepted_and_every_quote_of_its_page_is_in_the_cited_document() {
    let home = Home::new();
    let demo = home.run(&["demo"]);
    assert_eq!(demo.status, 0, "{demo}");
    for label in ["run", "page", "steps", "tokens", "time"] {
        assert!(!demo.fact(label).is_empty(), "{demo}");
    }
    let page = fs::read_to_string(demo.fact("page")).unwrap();
    let events = exported(&home, &demo.fact("run"));
    assert_gapless(&events);
    let citations = citations(&page);
    assert!(citations.len() >= 5, "{} citations", citations.len());
    for (source, quote) in citations {
        let document = document(&events, &home.data().join("demo-library"), &source);
        assert!(document.contains(&quote), "{source} does not say “{quote}”");
        assert!(
            page.contains(&format!("id=\"lr-{source}\"")),
            "{source} is not in the references"
        );
    }
    assert!(!page.contains("[S"), "a citation was not rendered");
    home.assert_whole();
}

#[test]
fn another_library_and_another_question_make_another_page() {
    let home = Home::new();
    let words = "The copper kettle boils one litre of water in exactly 212 seconds.";
    home.write("kettles/copper.md", &format!("# Copper\n\n{words}\n"));
    home.write(
        "kettles/iron.md",
        "# Iron\n\nThe iron kettle boils one litre in 305 seconds.\n",
    );
    let question = "How fast does the copper kettle boil a litre?";
    let demo = home.run(&["demo", "--question", question, "--library", "kettles"]);
    assert_eq!(demo.status, 0, "{demo}");
    let page = fs::read_to_string(demo.fact("page")).unwrap();
    assert!(crate::demo::words(&page).contains(words), "{page}");
    assert!(
        !page.contains("Larkspur"),
        "the demonstration library shows through"
    );
}

#[test]
fn json_lines_are_events_without_gap_and_progress_is_elsewhere() {
    let home = Home::new();
    let demo = home.run(&["demo", "--json"]);
    assert_eq!(demo.status, 0, "{demo}");
    let events = demo.json();
    assert_gapless(&events);
    let types = types(&events);
    assert_eq!(
        (types[0], types[types.len() - 1]),
        ("run.created", "run.finished")
    );
    for event in &events {
        assert!(event["at"].is_i64() && event["v"] == 1, "{event}");
    }
    assert_eq!(
        home.events(&demo.run_id()),
        events,
        "show tells the same events"
    );
    assert!(demo.err.contains("Accepted"), "{demo}");
}

#[test]
fn in_a_pipe_there_is_a_plain_line_for_each_thing_that_happens() {
    let home = Home::new();
    let demo = home.run(&["demo"]);
    assert!(!demo.err.contains(['\r', '\u{1b}']), "{:?}", demo.err);
    assert!(!demo.out.contains(['\r', '\u{1b}']), "{:?}", demo.out);
    let read = demo
        .err
        .lines()
        .find(|line| line.contains(" · read_source S"))
        .unwrap();
    assert!(read.starts_with("step ") && read.ends_with(" ms"), "{read}");
    for stage in ["Stage 1 of 4: plan", "Stage 4 of 4: verify"] {
        assert!(demo.err.lines().any(|line| line == stage), "{demo}");
    }
    assert!(demo.err.contains("checked · 2 of 2 hold"), "{demo}");
}
