//! What servers ask the person during a run: from the question to what the server is told.

use longrein_testkit::provider::Setup;
use longrein_testkit::{Scripted, call, say};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::hostile::Hostile;
use crate::support::{Running, of_type, until};

fn asking(tool: &str) -> (Hostile, Running, String) {
    let script: Vec<Scripted> = vec![call(tool, json!({})), say("Done.")];
    let hostile = Hostile::new(&[], Setup::scripted(script));
    let running = hostile.home.spawn(&["run", &hostile.agent(""), "Book it."]);
    let run = running.run_id();
    (hostile, running, run)
}

/// What waits, once it does.
fn waiting(hostile: &Hostile) -> Value {
    until("the question", || {
        let listed = hostile.home.run(&["approvals", "--json"]).json();
        listed.into_iter().next()
    })
}

fn action(waiting: &Value) -> String {
    waiting["action"].as_str().unwrap().to_owned()
}

#[test]
fn a_form_is_answered_from_another_process_and_the_server_gets_the_values() {
    let (hostile, running, run) = asking("h__ask");
    let waits = waiting(&hostile);
    assert_eq!(waits["waits_for"], "answer");
    assert_eq!(waits["question"], "For the booking");
    assert_eq!(waits["by_server"]["server"], "h");
    let listed = hostile.home.run(&["approvals"]).out;
    for words in [
        "the server h asks you",
        "city: a text, at least 2 characters long",
        "days: a whole number, from 1 to 5; may be left out; if left out, 2",
        "These are the server's words",
    ] {
        assert!(listed.contains(words), "{words}: {listed}");
    }
    let action = action(&waits);
    let bad = hostile
        .home
        .run(&["answer", &action, r#"{"city": "B", "days": 9}"#]);
    assert_eq!(bad.status, 2, "{bad}");
    for words in [
        "“city” has to be a text, at least 2",
        "“days” has to be a whole number, from 1 to 5",
    ] {
        assert!(bad.err.contains(words), "{bad}");
    }
    let nobody = hostile.home.run(&["answer", &action]);
    assert_eq!(nobody.status, 2, "nobody sits here: {nobody}");
    let answered = hostile
        .home
        .run(&["answer", &action, r#"{"city": "Bern"}"#]);
    assert_eq!(answered.status, 0, "{answered}");
    let ended = running.outcome();
    assert_eq!(ended.status, 0, "{ended}");
    assert!(ended.err.contains("the server h asks you"), "{ended}");
    let told = hostile.provider.mock.seen()[1].last_result().unwrap();
    assert!(
        told.contains("accept") && told.contains("Bern") && told.contains("2"),
        "{told}"
    );
    let events = hostile.home.events(&run);
    assert_eq!(of_type(&events, "question.answered")[0]["replied"], "given");
    let again = hostile.home.run(&["answer", &action, "decline"]);
    assert_eq!(again.status, 1, "the first answer counts: {again}");
}

#[test]
fn a_page_is_shown_whole_and_opened_only_by_the_person() {
    let (hostile, running, _) = asking("h__ask_page");
    let waits = waiting(&hostile);
    let listed = hostile.home.run(&["approvals"]).out;
    for words in [
        "a page of pay.example",
        "https://pay.example/booking?number=7",
        "--open",
    ] {
        assert!(listed.contains(words), "{words}: {listed}");
    }
    let action = action(&waits);
    // There is no display here: nothing is said to the server, and the person has the address.
    let opened = hostile.home.run(&["answer", &action, "--open"]);
    assert_eq!(opened.status, 1, "{opened}");
    assert!(
        opened.err.contains("Open it yourself: https://pay.example"),
        "{opened}"
    );
    let refused = hostile.home.run(&["answer", &action, "yes"]);
    assert_eq!(
        refused.status, 2,
        "only one word says that it was: {refused}"
    );
    assert_eq!(hostile.home.run(&["answer", &action, "visited"]).status, 0);
    assert_eq!(running.outcome().status, 0);
    let told = hostile.provider.mock.seen()[1].last_result().unwrap();
    assert!(told.contains("accept"), "{told}");
}

#[test]
fn a_declined_question_ends_the_call_as_the_server_has_it() {
    let (hostile, running, _) = asking("h__ask");
    let action = action(&waiting(&hostile));
    assert_eq!(hostile.home.run(&["answer", &action, "decline"]).status, 0);
    assert_eq!(running.outcome().status, 0);
    let told = hostile.provider.mock.seen()[1].last_result().unwrap();
    assert!(told.contains("decline"), "{told}");
}

#[test]
fn a_killed_process_leaves_no_question_and_the_action_gets_its_true_class() {
    let (hostile, running, run) = asking("h__ask");
    let action = action(&waiting(&hostile));
    running.kill();
    let gone = hostile.home.run(&["answer", &action, "decline"]);
    assert_eq!(
        gone.status, 3,
        "the call is gone, and what it did is for a person: {gone}"
    );
    let events = hostile.home.events(&run);
    assert_eq!(of_type(&events, "question.withdrawn").len(), 1);
    assert_eq!(of_type(&events, "action.uncertain").len(), 1);
    assert!(of_type(&events, "question.answered").is_empty());
    let listed = hostile.home.run(&["approvals", "--json"]).json();
    assert_eq!(listed[0]["waits_for"], "verdict");
}

#[test]
fn cancelling_a_run_whose_server_asks_ends_both() {
    let (hostile, running, run) = asking("h__ask");
    waiting(&hostile);
    assert_eq!(hostile.home.run(&["cancel", &run]).status, 0);
    assert_eq!(running.outcome().status, 130);
    let events = hostile.home.events(&run);
    assert_eq!(of_type(&events, "question.withdrawn").len(), 1);
    assert!(
        hostile
            .home
            .run(&["approvals"])
            .out
            .contains("Nothing waits")
    );
}

#[test]
fn an_interrupted_command_does_not_stay_for_a_server_that_asks() {
    let (hostile, running, run) = asking("h__ask");
    waiting(&hostile);
    running.signal(Signal::INT);
    // Two signals at once are one.
    until("the word to the first", || {
        running.err().contains("again stops at once").then_some(())
    });
    running.signal(Signal::INT);
    let ended = running.outcome();
    assert!(matches!(ended.status, 3 | 130), "{ended}");
    let resumed = hostile.home.run(&["resume", &run]);
    assert_eq!(resumed.status, 3, "{resumed}");
    assert_eq!(
        of_type(&hostile.home.events(&run), "question.withdrawn").len(),
        1
    );
}
