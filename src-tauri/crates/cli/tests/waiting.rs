//! A run that waits for a person: for as long as it takes, through crashes, holding nothing.

use longrein_protocol::gate::Surface;
use longrein_protocol::wish::Wish;
use longrein_store::Store;
use longrein_testkit::provider::Setup;
use longrein_testkit::{Scripted, call, say};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::counting::{Counting, MARK};
use crate::support::{Home, Outcome, Provider, of_type, until};

fn marking() -> Vec<Scripted> {
    vec![call(MARK, json!({"label": "one"})), say("Marked.")]
}

/// The only thing that waits, as soon as something does.
pub fn waiting(home: &Home) -> Value {
    until("something that waits", || {
        home.run(&["approvals", "--json"]).json().into_iter().next()
    })
}

fn action_of(waiting: &Value) -> String {
    waiting["action"].as_str().unwrap().to_owned()
}

/// Checks that an answer came too late: by whom, when and what, with the status for it.
fn assert_too_late(outcome: &Outcome, words: &[&str]) {
    assert_eq!(outcome.status, 1, "{outcome}");
    for words in words.iter().chain(&["was answered before", " UTC)"]) {
        assert!(outcome.err.contains(words), "{words}: {outcome}");
    }
}

#[test]
fn an_approval_outlives_its_process_and_starts_the_edited_action_once() {
    let counting = Counting::new(false, Setup::scripted(marking()));
    let home = &counting.home;
    let driving = home.spawn(&["run", &counting.agent("ask"), "Mark it.", "--wait"]);
    let run = driving.run_id();
    let asked = waiting(home);
    assert_eq!(asked["waits_for"], "approval", "{asked}");
    assert_eq!(asked["driven_by"]["pid"], driving.pid(), "{asked}");
    let action = action_of(&asked);
    driving.kill();

    // It still waits, says so, and holds nothing.
    assert_eq!(home.runs()[0]["state"], "waiting");
    let listed = home.run(&["approvals"]);
    for words in [
        "counter.mark",
        "nobody drives the run",
        "asked because",
        "\"label\": \"one\"",
    ] {
        assert!(listed.out.contains(words), "{words}: {listed}");
    }
    until("the end of the server", || {
        (!counting.server_lives()).then_some(())
    });
    assert_eq!(waiting(home)["driven_by"], Value::Null);
    let shown = home.run(&["show", &run]);
    assert!(shown.out.contains("Waiting for you"), "{shown}");

    let edit = "{\"label\": \"other\"}";
    let approved = home.run(&["approve", &action, "--edit", edit]);
    assert_eq!(approved.status, 0, "{approved}");
    assert_eq!(counting.labels(), ["other"], "the edited arguments, once");
    let events = home.events(&run);
    let resolved = of_type(&events, "approval.resolved");
    assert_eq!(resolved.len(), 1);
    assert_eq!(resolved[0]["arguments"], edit);
    assert_eq!(
        of_type(&events, "action.proposed")[0]["arguments"],
        "{\"label\":\"one\"}"
    );

    let again = home.run(&["approve", &action]);
    assert_too_late(
        &again,
        &[
            &action,
            "from the command line",
            "approved with other arguments",
        ],
    );
    let denied = home.run(&["deny", &action, "--reason", "no"]);
    assert_too_late(&denied, &["approved with other arguments"]);
    assert_eq!(home.events(&run), events, "nothing was done to the run");
    assert_eq!(counting.labels(), ["other"]);
    home.assert_whole();
}

#[test]
fn what_changed_since_it_was_shown_is_asked_anew_before_it_starts() {
    let write = json!({"path": "a.txt", "content": "new"});
    let provider = Provider::start(Setup::scripted(vec![
        call("write_file", write),
        say("Done."),
    ]));
    let home = Home::with(&provider);
    let ask =
        "[tools]\nallow = [\"files\"]\n\n[[policy]]\ntool = \"write_file\"\ndecision = \"ask\"\n";
    let run = home.run(&["run", &home.agent(ask), "Write it."]).run_id();
    let action = action_of(&waiting(&home));
    // Somebody puts a file there, which the approval would overwrite.
    let file = home.path().join("data.work").join(&run).join("a.txt");
    std::fs::write(&file, "mine").unwrap();
    let approved = home.run(&["approve", &action]);
    assert_eq!(approved.status, 3, "{approved}");
    assert!(approved.out.contains("since you approved it"), "{approved}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    assert!(of_type(&home.events(&run), "action.started").is_empty());
    let again = home.run(&["approve", &action]);
    assert_eq!(again.status, 0, "{again}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "new");
}

#[test]
fn an_answer_from_the_window_that_came_first_is_told_with_where_it_came_from() {
    let counting = Counting::new(false, Setup::scripted(marking()));
    let home = &counting.home;
    let run = home
        .run(&["run", &counting.agent("ask"), "Mark it."])
        .run_id();
    let asked = waiting(home);
    let events = home.events(&run);
    let seen = of_type(&events, "approval.requested")[0]["shown"].clone();
    // What the window does: it puts its answer into the inbox of the run.
    let wish = Wish::Approve {
        action: serde_json::from_value(asked["action"].clone()).unwrap(),
        seen: serde_json::from_value(seen).unwrap(),
        edit: None,
        always: None,
        from: Surface::Window,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let store = Store::open(home.data()).unwrap();
        store
            .post_wish(run.parse().unwrap(), wish, 1)
            .await
            .unwrap();
    });
    let denied = home.run(&["deny", &action_of(&asked), "--reason", "too late"]);
    assert_too_late(&denied, &["from the window", "approved"]);
    assert_eq!(counting.labels(), ["one"], "the first answer counts");
}

#[test]
fn edited_arguments_that_do_not_fit_are_refused_before_anything_is_said_to_the_run() {
    let counting = Counting::new(false, Setup::scripted(marking()));
    let home = &counting.home;
    let run = home
        .run(&["run", &counting.agent("ask"), "Mark it."])
        .run_id();
    let action = action_of(&waiting(home));
    let before = home.events(&run);
    for (edit, words) in [
        ("{\"label\": 7}", "/label"),
        ("{\"labels\": \"x\"}", "label (string, required)"),
        ("{\"label\": ", "not valid JSON"),
        ("[]", "JSON object"),
        ("@no-such-file", "no-such-file"),
    ] {
        let refused = home.run(&["approve", &action, "--edit", edit]);
        assert_eq!(refused.status, 2, "{refused}");
        assert!(refused.err.contains(words), "{words}: {refused}");
    }
    assert_eq!(home.events(&run), before);
    assert_eq!(counting.marks(), 0);
    let file = home.write("edit.json", "{\"label\": \"from a file\"}");
    let approved = home.run(&["approve", &action, "--edit", &format!("@{file}")]);
    assert_eq!(approved.status, 0, "{approved}");
    assert_eq!(
        counting.lines()[0].rsplit_once(' ').unwrap().0,
        "from a file"
    );
}

#[test]
fn an_answer_for_a_stopped_driver_waits_and_a_second_one_is_not_recorded() {
    let counting = Counting::new(false, Setup::scripted(marking()));
    let home = &counting.home;
    let driving = home.spawn(&["run", &counting.agent("ask"), "Mark it.", "--wait"]);
    let action = action_of(&waiting(home));
    driving.signal(Signal::STOP);
    let first = home.run(&["approve", &action]);
    assert_eq!(first.status, 3, "{first}");
    assert!(first.out.contains("which is stopped"), "{first}");
    let second = home.run(&["deny", &action, "--reason", "no"]);
    assert_eq!(second.status, 1, "{second}");
    assert!(second.err.contains("counts first"), "{second}");
    driving.signal(Signal::CONT);
    let done = driving.outcome();
    assert_eq!(done.status, 0, "{done}");
    assert_eq!(counting.labels(), ["one"]);
}

#[test]
fn a_question_of_the_model_waits_and_its_answer_reaches_it() {
    let ask = json!({"question": "Which channel?", "options": ["#lab", "#ann"]});
    let script = vec![call("ask_person", ask), say("Done.")];
    let provider = Provider::start(Setup::scripted(script));
    let home = Home::with(&provider);
    let run = home.run(&["run", &home.agent(""), "Post it."]);
    assert_eq!(run.status, 3, "{run}");
    for words in ["Which channel?", "#ann", "longrein answer "] {
        assert!(run.out.contains(words), "{words}: {run}");
    }
    let asked = waiting(&home);
    assert_eq!(asked["waits_for"], "answer", "{asked}");
    assert_eq!(asked["options"], json!(["#lab", "#ann"]));
    let listed = home.run(&["approvals"]);
    assert!(listed.out.contains("Which channel?"), "{listed}");
    let action = action_of(&asked);
    let wrong = home.run(&["approve", &action]);
    assert_eq!(wrong.status, 2, "{wrong}");
    assert!(
        wrong.err.contains(&format!("longrein answer {action}")),
        "{wrong}"
    );
    let answered = home.run(&["answer", &action, "#ann, please"]);
    assert_eq!(answered.status, 0, "{answered}");
    assert_eq!(
        provider.mock.seen()[1].last_result().unwrap(),
        "#ann, please"
    );
    let again = home.run(&["answer", &action, "#lab"]);
    assert_too_late(&again, &["from the command line"]);
}

/// A run whose result waits to be accepted.
fn to_accept(words: usize) -> (Home, Provider, String) {
    let script = (0..words).map(|_| say("The kettle takes 212 seconds."));
    let provider = Provider::start(Setup::scripted(script));
    let home = Home::with(&provider);
    let agent = home.agent("[[done_when]]\nperson = \"Is it what you wanted?\"\n");
    let run = home.run(&["run", &agent, "How long does the kettle take?"]);
    assert_eq!(run.status, 3, "{run}");
    let id = run.run_id();
    for words in ["Is it what you wanted?", &format!("longrein accept {id}")] {
        assert!(run.out.contains(words), "{words}: {run}");
    }
    assert_eq!(waiting(&home)["waits_for"], "acceptance");
    (home, provider, id)
}

#[test]
fn a_result_is_accepted_by_a_person_and_only_once() {
    let (home, _provider, run) = to_accept(1);
    let accepted = home.run(&["accept", &run, "--note", "Good."]);
    assert_eq!(accepted.status, 0, "{accepted}");
    assert_eq!(home.runs()[0]["state"], "accepted");
    let events = home.events(&run);
    assert_eq!(of_type(&events, "acceptance.resolved")[0]["note"], "Good.");
    assert_too_late(&home.run(&["accept", &run]), &["accepted", "Good."]);
}

#[test]
fn a_result_that_is_sent_back_is_worked_on_with_the_person_s_words() {
    let (home, provider, run) = to_accept(2);
    let empty = home.run(&["accept", &run, "--send-back", " "]);
    assert_eq!(empty.status, 2, "{empty}");
    let back = home.run(&["accept", &run, "--send-back", "In minutes, please."]);
    assert_eq!(back.status, 3, "it waits again: {back}");
    assert!(provider.mock.seen()[1].contains("In minutes, please."));
    assert_eq!(home.runs()[0]["state"], "waiting");
    let accepted = home.run(&["accept", &run]);
    assert_eq!(accepted.status, 0, "{accepted}");
}
