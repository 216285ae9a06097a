//! A run that begins with another run's events.

use longrein_core::run::{ActionResult, Item, Phase, Run, copied};
use longrein_protocol::block::{Origin, Trust};
use longrein_protocol::event::{ChangedResult, RunForked};
use longrein_protocol::{ActionId, Body, Event, RunId};

use crate::next::owed;
use crate::play::play;

/// The fork of a play at its last event.
fn forked(lines: &str) -> Run {
    let (original, events) = play(lines);
    let run = RunId::from_parts(2, 2);
    let mut fork = Run::fold(&copied(events, original.seq, run));
    let event = Event {
        run,
        seq: original.seq + 1,
        at: 1,
        payload: RunForked {
            from_run: RunId::from_parts(1, 1),
            from_seq: original.seq,
            workspace: "fork".to_owned(),
            agent: None,
            model: None,
            price: None,
            takes: Default::default(),
            results: Vec::new(),
        }
        .into(),
    };
    fork.check(&event).expect("a fork follows any event");
    fork.apply(&event);
    fork
}

#[test]
fn what_was_open_stays_with_the_original() {
    let open = "created\nturn Go.\nreveal look mark\ncompiled\nrequested\nasks a=mark b=look\npropose a=mark\npropose b=look\ndecide a ask\ndecide b allow\nask a\nstart b";
    let fork = forked(open);
    assert!(fork.actions.is_empty());
    assert_eq!(fork.phase, Phase::Paused);
    assert_eq!(owed(&fork, 0), "stopped");
    assert_eq!(
        fork.created
            .as_ref()
            .map(|created| created.workspace.as_str()),
        Some("fork")
    );
}

#[test]
fn a_person_may_say_what_an_action_returned_and_taint_stays() {
    let read = "created\nturn Go.\nreveal look\ncompiled\nrequested\nasks a=look\npropose a=look\ndecide a allow\nstart a\nfinish a untrusted";
    let (original, events) = play(read);
    let run = RunId::from_parts(2, 2);
    let changed = |action: &str| {
        let mut fork = Run::fold(&copied(events.clone(), original.seq, run));
        let event = Event {
            run,
            seq: original.seq + 1,
            at: 1,
            payload: RunForked {
                from_run: RunId::from_parts(1, 1),
                from_seq: original.seq,
                workspace: "fork".to_owned(),
                agent: None,
                model: None,
                price: None,
                takes: Default::default(),
                results: vec![ChangedResult {
                    action: ActionId(action.to_owned()),
                    result: Body::Text("It is seven.".to_owned()),
                }],
            }
            .into(),
        };
        let checked = fork.check(&event);
        fork.apply(&event);
        (checked.is_ok(), fork)
    };
    let (allowed, fork) = changed("a");
    assert!(allowed && fork.tainted);
    let results: Vec<&ActionResult> = fork
        .conversation
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Result { result, .. } => Some(result),
            _ => None,
        })
        .collect();
    assert_eq!(results.len(), 1);
    assert_eq!(results[0].body, Body::Text("It is seven.".to_owned()));
    assert_eq!(
        (&results[0].origin, results[0].trust),
        (&Origin::Person, Trust::Trusted)
    );
    let bytes: usize = fork.conversation.items.iter().map(Item::bytes).sum();
    assert_eq!(fork.conversation.bytes, bytes);
    assert!(!changed("b").0, "an action that has no result");
}

#[test]
fn a_request_in_flight_is_not_the_forks_and_neither_is_what_it_holds_in_reserve() {
    let fork = forked("created\nturn Go.\nreveal look\ncompiled\nrequested");
    assert_eq!((fork.used.tokens_in, fork.used.tokens_out), (0, 0));
}

#[test]
fn a_fork_carries_along_that_untrusted_text_was_read() {
    let read = "created\nturn Go.\nreveal look\ncompiled\nrequested\nasks a=look\npropose a=look\ndecide a allow\nstart a\nfinish a untrusted";
    assert!(forked(read).tainted);
    let before = read.trim_end_matches("\nfinish a untrusted");
    assert!(!forked(before).tainted);
}
