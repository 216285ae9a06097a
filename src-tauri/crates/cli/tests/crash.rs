//! `kill -9` in the middle, then `resume`.

use std::collections::HashMap;

use longrein_testkit::provider::{Answer, Manner, MockProvider, Setup};

use crate::support::{Home, Provider, assert_gapless, of_type, until};

/// A provider that thinks like the demonstration and holds its answer to request `held`.
fn holding(held: u32) -> Provider {
    let demo = Setup::demo().brain;
    Provider::start(Setup::of(move |request| {
        let answer = demo(request);
        if request.number != held {
            return answer;
        }
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

/// How often each body came.
pub fn counts(mock: &MockProvider) -> HashMap<Vec<u8>, usize> {
    let mut counts = HashMap::new();
    for request in mock.seen() {
        *counts.entry(request.body.to_vec()).or_default() += 1;
    }
    counts
}

#[test]
fn a_run_that_was_killed_at_any_request_is_resumed_and_no_answered_request_is_sent_again() {
    for held in [1, 3, 5] {
        let provider = holding(held);
        let home = Home::with(&provider);
        home.write(
            "notes/a.md",
            "# Kettles\n\nThe copper kettle boils a litre in 212 seconds.\n",
        );
        let words = [
            "run",
            "research",
            "How fast does the copper kettle boil a litre?",
            "--library",
            "notes",
        ];
        let running = home.spawn(&words);
        let run = running.run_id();
        provider.held(1);
        running.kill();
        assert_eq!(home.runs()[0]["state"], "interrupted");
        provider.mock.gate().open();

        let resumed = home.run(&["resume", &run]);
        assert_eq!(resumed.status, 0, "killed at request {held}: {resumed}");
        let events = home.events(&run);
        assert_gapless(&events);
        assert_eq!(of_type(&events, "run.resumed").len(), 1);
        let mut tree = home.events_of_children(&events);
        tree.push(events);
        let count = |kind| {
            tree.iter()
                .map(|run| of_type(run, kind).len())
                .sum::<usize>()
        };
        let (responded, abandoned) = (count("model.responded"), count("model.abandoned"));
        assert!(abandoned > 0, "killed at request {held}");
        assert_eq!(count("model.requested"), responded + abandoned);
        let again = counts(&provider.mock)
            .values()
            .map(|count| count - 1)
            .sum::<usize>();
        assert!(again <= abandoned, "an answered request was sent again");
        home.assert_whole();
    }
}

#[test]
fn a_run_that_is_killed_again_while_it_is_resumed_goes_on_all_the_same() {
    let provider = holding(2);
    let home = Home::with(&provider);
    home.write(
        "notes/a.md",
        "# Kettles\n\nThe copper kettle boils a litre in 212 seconds.\n",
    );
    let running = home.spawn(&[
        "run",
        "research",
        "How fast does the copper kettle boil a litre?",
        "--library",
        "notes",
    ]);
    let run = running.run_id();
    provider.held(1);
    running.kill();
    for _ in 0..3 {
        let before = home.events(&run).len();
        let resuming = home.spawn(&["resume", &run, "--json"]);
        until("an event of the resumed run", || {
            (!resuming.out().is_empty()).then_some(())
        });
        resuming.kill();
        assert!(home.events(&run).len() >= before, "an event was lost");
    }
    let line = &home.runs()[0];
    let finished = line["state"] == "accepted";
    let resumed = home.run(&["resume", &run]);
    assert_eq!(resumed.status, 0, "finished before: {finished}: {resumed}");
    assert_gapless(&home.events(&run));
    home.assert_whole();
}
