use longrein_testkit::catalogue;
use serde_json::{Value, json};

use super::*;
use crate::testing::{call, context, run, told};

fn finding_all() -> [Arc<dyn Tool>; 2] {
    finding(catalogue::tools(), catalogue::about())
}

async fn ask(arguments: Value) -> String {
    let [find, _] = finding_all();
    let folder = tempfile::tempdir().unwrap();
    told(run(&find, call(context(folder.path()), arguments)).await)
}

/// How many queries have their tool among the first three.
fn among_three(queries: Vec<(&'static str, Vec<&'static str>)>) -> usize {
    let hidden = Hidden {
        tools: catalogue::tools(),
        about: catalogue::about(),
        index: OnceLock::new(),
    };
    assert_eq!((hidden.tools.len(), queries.len()), (600, 60));
    let mut good = 0;
    for (query, right) in queries {
        let found = hidden.ranked(query, None).unwrap();
        let first: Vec<&str> = found
            .iter()
            .take(3)
            .map(|tool| tool.name.as_str())
            .collect();
        match first.iter().any(|name| right.contains(name)) {
            true => good += 1,
            false => println!("{query}: {first:?} and not {right:?}"),
        }
    }
    println!("{good} of 60 among the first three");
    good
}

#[test]
fn plain_words_find_the_right_one_of_600_tools_among_the_first_three() {
    let good = among_three(catalogue::queries());
    assert!(good >= 55, "{good} of 60");
}

#[test]
fn plain_words_that_were_written_later_find_it_too() {
    let good = among_three(catalogue::later_queries());
    assert!(good >= 47, "{good} of 60");
}

#[tokio::test]
async fn the_best_matches_are_given_with_their_definitions_and_more_by_name() {
    let answer = ask(json!({"query": "open a pull request", "limit": 1})).await;
    let mut lines = answer.lines();
    assert!(
        lines
            .next()
            .unwrap()
            .ends_with("of 600 tools match, best first:"),
        "{answer}"
    );
    assert!(
        answer.contains("\n\nforgeline__create_pull_request (changes something outside, which can be taken back)\n"),
        "{answer}"
    );
    assert!(
        answer.contains("\narguments: {\"properties\":{\"base\":"),
        "{answer}"
    );
    assert!(answer.contains("\n\nAlso: "), "{answer}");
    assert_eq!(answer.matches("arguments: ").count(), 1, "{answer}");
}

#[tokio::test]
async fn a_search_can_be_kept_to_one_server() {
    let answer = ask(json!({"query": "search", "server": "paperhound", "limit": 10})).await;
    for line in answer.lines().filter(|line| line.contains("__")) {
        assert!(
            line.starts_with("paperhound__") || line.starts_with("Also: paperhound__"),
            "{line}"
        );
    }
    let unknown = ask(json!({"query": "search", "server": "nowhere"})).await;
    assert!(
        unknown.starts_with("not_found: No server called `nowhere`"),
        "{unknown}"
    );
    assert!(unknown.contains("forgeline, tickboard"), "{unknown}");
}

#[tokio::test]
async fn what_matches_nothing_is_said_with_the_servers_that_there_are() {
    let answer = ask(json!({"query": "zzyzx"})).await;
    assert!(answer.starts_with("No tool matches “zzyzx”."), "{answer}");
    assert!(answer.contains("hearthhub"), "{answer}");
}

#[tokio::test]
async fn a_huge_definition_is_cut_and_the_answer_stays_bounded() {
    let mut tools = catalogue::tools();
    tools.truncate(15);
    for tool in &mut tools {
        tool.description = "branch ".repeat(10_000);
        tool.schema = json!({"type": "object", "title": "x".repeat(100_000)});
    }
    let [find, _] = finding(tools, BTreeMap::new());
    let folder = tempfile::tempdir().unwrap();
    let asked = call(
        context(folder.path()),
        json!({"query": "branch", "limit": 10}),
    );
    let answer = told(run(&find, asked).await);
    assert!(answer.len() < ANSWER_BYTES + 2_000, "{}", answer.len());
    assert!(answer.contains("(cut: the schema has 100"), "{answer}");
    assert!(answer.contains("Also: "), "{answer}");
}

#[test]
fn the_definitions_of_both_are_the_same_whatever_there_is_to_be_found() {
    let specs = |hidden| finding(hidden, BTreeMap::new()).map(|tool| tool.spec().clone());
    assert_eq!(specs(Vec::new()), specs(catalogue::tools()));
}
