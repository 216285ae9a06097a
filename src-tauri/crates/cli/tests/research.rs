//! All of the research: stages, helpers side by side, what is too long to be shown, a program in a
//! box, a window that fills, the page and its check; and the same with `kill -9` on the way.

use std::collections::HashMap;
use std::fs;
use std::sync::Mutex;

use longrein_testkit::SeenRequest;
use longrein_testkit::provider::{Answer, Manner, Setup};
use serde_json::Value;

use crate::crash::counts;
use crate::support::{
    Home, NO_ENGINE, Outcome, Provider, assert_gapless, in_repository, of_type, sandbox, types,
};

/// What a helper is told that it is.
const HELPER: &str = "You are a helper in a larger piece of work.";

/// How many actions with a tool came to a good end.
fn done(events: &[Value], tool: &str) -> usize {
    let proposed = of_type(events, "action.proposed");
    let named = proposed.iter().filter(|action| action["tool"] == tool);
    let ids: Vec<&Value> = named.map(|action| &action["action"]).collect();
    let finished = of_type(events, "action.finished");
    let good = finished
        .iter()
        .filter(|end| end["error"].is_null() && ids.contains(&&end["action"]));
    good.count()
}

fn names<'e>(events: &'e [Value], kind: &str, field: &str) -> Vec<&'e str> {
    let values = of_type(events, kind).into_iter();
    values.map(|event| event[field].as_str().unwrap()).collect()
}

/// Checks that a run did all that a research is made of, and that each helper did its part.
fn assert_all_of_it(home: &Home, run: &str) -> Vec<Value> {
    let events = home.events(run);
    let children = home.events_of_children(&events);
    let stages = ["plan", "research", "build", "verify"];
    assert_eq!(names(&events, "stage.entered", "name"), stages);
    assert_eq!(children.len(), 3);
    let kinds = types(&events);
    let place = |kind: &str| kinds.iter().position(|known| *known == kind).unwrap();
    let last_spawned = kinds.iter().rposition(|kind| *kind == "child.spawned");
    assert!(
        last_spawned.unwrap() < place("child.finished"),
        "side by side"
    );
    for child in &children {
        assert_gapless(child);
        assert!(done(child, "search_library") > 0 && done(child, "finish") == 1);
        assert_eq!(child.last().unwrap()["type"], "run.finished");
    }
    let offloaded = of_type(&events, "result.offloaded");
    assert!(!offloaded.is_empty(), "{kinds:?}");
    for long in offloaded {
        let file = long["file"].as_str().unwrap();
        assert!(file.starts_with("results/"), "{long}");
    }
    let compacted = of_type(&events, "context.compacted");
    assert!(
        compacted.iter().any(|one| one["summary"].is_object()),
        "{compacted:?}"
    );
    let verified = of_type(&events, "verification.finished");
    let results = verified.last().unwrap()["results"]
        .as_array()
        .unwrap()
        .clone();
    assert!(results.iter().all(|result| result["holds"] == true));
    let quotes = results.iter().map(|result| result["evidence"].to_string());
    assert!(
        quotes.into_iter().any(|words| words.contains("verbatim")),
        "{results:?}"
    );
    let end = events.last().unwrap();
    assert_eq!(
        (&end["type"], &end["outcome"]),
        (&"run.finished".into(), &"accepted".into())
    );
    events
}

fn page_of(told: &Outcome) -> String {
    fs::read_to_string(told.fact("page")).unwrap()
}

#[test]
fn the_demo_plans_delegates_offloads_computes_compacts_writes_and_is_checked() {
    let home = Home::new();
    home.configure(&sandbox("bubblewrap"));
    let demo = home.run(&["demo"]);
    assert_eq!(demo.status, 0, "{demo}");
    let events = assert_all_of_it(&home, &demo.fact("run"));
    assert_eq!(
        (done(&events, "run_code"), done(&events, "read_result")),
        (1, 0)
    );
    assert!(
        page_of(&demo).contains("A program in the box looked at"),
        "{demo}"
    );
    home.assert_whole();
}

#[test]
fn where_there_is_no_box_the_demo_says_so_and_ends_accepted_all_the_same() {
    let home = Home::new();
    home.configure(&sandbox(NO_ENGINE));
    let demo = home.run(&["demo"]);
    assert_eq!(demo.status, 0, "{demo}");
    let events = assert_all_of_it(&home, &demo.fact("run"));
    assert_eq!(done(&events, "run_code"), 0);
    assert!(done(&events, "read_result") > 0);
    assert!(
        page_of(&demo).contains("No program could run here"),
        "{demo}"
    );
    assert!(demo.err.contains("Off in this run: run_code."), "{demo}");
}

/// Where a process is killed: what has happened then, and the requests that show it.
type Point = (&'static str, fn(&SeenRequest) -> bool);

/// Where the process is killed, each the first time that a request is like this.
const POINTS: [Point; 4] = [
    ("the plan is made", |request| {
        request.contains("stage 1 of 4, plan") && request.replies() == 1
    }),
    ("a helper has searched", |request| {
        request.contains(HELPER) && request.replies() == 1
    }),
    ("a program has run", |request| {
        request.contains("stage 3 of 4, build") && request.contains("lines looked at: ")
    }),
    ("the page is to be verified", |request| {
        request.contains("Stage 4 of 4: verify.")
    }),
];

/// A provider that thinks like the demonstration and, where `kills`, holds its answer at each of the
/// points.
fn provider(kills: bool) -> Provider {
    let demo = Setup::demo().brain;
    let next = Mutex::new(0);
    Provider::start(Setup::of(move |request| {
        let answer = demo(request);
        let mut next = next.lock().unwrap();
        let is_at = |(_, is_at): &Point| is_at(request);
        if !kills || !POINTS.get(*next).is_some_and(is_at) {
            return answer;
        }
        *next += 1;
        let manner = Manner {
            hold_after: Some(1),
            ..Manner::default()
        };
        Answer {
            manner: Some(manner),
            ..answer
        }
    }))
}

/// A home in which the agent that ships works with the provider's model, in the window that the
/// demonstration has.
fn home(provider: &Provider) -> Home {
    let home = Home::with(provider);
    home.configure(&format!("{}{}", provider.config(), sandbox("bubblewrap")));
    let ships = in_repository("src-tauri/crates/app/agents/research.agent.toml");
    let ships = fs::read_to_string(ships).unwrap();
    let window = longrein_models::demo::WINDOW_TOKENS;
    let agent = ships.replace("[model]\n", &format!("[model]\nwindow_tokens = {window}\n"));
    home.write("small.agent.toml", &agent);
    let library = home.path().join("library");
    fs::create_dir(&library).unwrap();
    for (name, bytes) in longrein_models::demo::LIBRARY {
        fs::write(library.join(name), bytes).unwrap();
    }
    home
}

const RESEARCH: [&str; 5] = [
    "run",
    "./small.agent.toml",
    longrein_models::demo::QUESTION,
    "--library",
    "library",
];

/// What a page says, with its sources named by the order in which it first cites them: which helper
/// met a source first, and so gave it its number, is chance.
fn without_numbers(page: &str) -> String {
    let mut order: HashMap<String, usize> = HashMap::new();
    let mut text = String::new();
    let mut rest = page;
    while let Some(at) = rest.find("[S") {
        let (before, cited) = rest.split_at(at);
        let end = cited.find(':').unwrap();
        let count = order.len();
        let number = *order.entry(cited[..end].to_owned()).or_insert(count);
        text.push_str(&format!("{before}[{number}"));
        rest = &cited[end..];
    }
    text + rest
}

fn written(home: &Home, run: &str) -> String {
    let page = home.path().join("data.work").join(run).join("index.html");
    without_numbers(&fs::read_to_string(page).unwrap())
}

#[test]
fn killed_in_every_stage_a_research_ends_with_the_same_page_and_does_nothing_twice() {
    let undisturbed = provider(false);
    let calm = home(&undisturbed);
    let ran = calm.run(&RESEARCH);
    assert_eq!(ran.status, 0, "{ran}");
    let expected = written(&calm, &ran.run_id());

    let provider = provider(true);
    let home = home(&provider);
    let mut running = home.spawn(&RESEARCH);
    let run = running.run_id();
    for (count, (point, _)) in (1..).zip(POINTS) {
        provider.held(count);
        running.kill();
        assert_eq!(home.runs()[0]["state"], "interrupted", "{point}");
        running = home.spawn(&["resume", &run]);
    }
    let resumed = running.outcome();
    assert_eq!(resumed.status, 0, "{resumed}");
    let events = assert_all_of_it(&home, &run);
    assert_eq!(written(&home, &run), expected);

    let children = home.events_of_children(&events);
    assert_eq!(of_type(&events, "run.resumed").len(), POINTS.len());
    let published = of_type(&events, "artifact.published");
    assert_eq!((published.len(), done(&events, "run_code")), (1, 1));
    // A search that was on its way in a helper may be made again: it only reads.
    let started = names(&events, "action.started", "action");
    let mut once = started.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), started.len(), "an action was started twice");
    // What was not answered when a process ended was asked once more, and nothing else.
    for events in children.iter().chain([&events]) {
        let requested = of_type(events, "model.requested");
        let ended = ["model.responded", "model.abandoned"];
        let ended = ended.map(|kind| of_type(events, kind).len());
        assert_eq!(requested.len(), ended.iter().sum::<usize>());
    }
    let lost = children.iter().chain([&events]);
    let lost = lost
        .map(|events| of_type(events, "model.abandoned").len())
        .sum();
    let again = counts(&provider.mock)
        .values()
        .map(|count| count - 1)
        .sum::<usize>();
    assert!(
        again <= lost,
        "{again} requests were sent again, {lost} were lost"
    );
    home.assert_whole();
}
