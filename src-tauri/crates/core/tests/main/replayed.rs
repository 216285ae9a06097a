//! Programs whose box is gone: what is answered from the record, what is done again, what waits.

use longrein_core::run::{ActionStage, Run};
use longrein_protocol::event::{
    ActionLost, ActionProgressed, ActionProposed, NetworkRequest, Payload, Progress, ReplayedCall,
    Within,
};
use longrein_protocol::gate::Actor;
use longrein_protocol::tool::{Effect, Repeat};
use longrein_protocol::{ActionId, Body, Event, RunId};

use crate::cast::traits;
use crate::next::owed;
use crate::play::{event, play};

fn id(name: &str) -> ActionId {
    ActionId(name.to_owned())
}

fn add(run: &mut Run, payload: impl Into<Payload>) {
    let event = Event {
        run: RunId::from_parts(1, 1),
        seq: run.seq + 1,
        at: run.last_at + 1,
        payload: payload.into(),
    };
    run.check(&event)
        .unwrap_or_else(|illegal| panic!("{illegal}"));
    run.apply(&event);
}

fn lines(run: &mut Run, lines: &str) {
    for line in lines.lines().map(str::trim) {
        let event = event(run, line);
        run.check(&event)
            .unwrap_or_else(|illegal| panic!("{line}: {illegal}"));
        run.apply(&event);
    }
}

/// A run whose program `p` was started in a box.
fn program() -> Run {
    let (mut run, _) =
        play("created\nturn Go.\nreveal look mark write\ncompiled\nrequested\nasks p=run_code");
    add(
        &mut run,
        ActionProposed {
            action: id("p"),
            call: "p".to_owned(),
            tool: "run_code".to_owned(),
            arguments: Body::Text("{}".to_owned()),
            effect: Effect::Workspace,
            repeat: Repeat::Replay,
            by: Actor::Model,
            undoes: None,
            within: None,
        },
    );
    lines(&mut run, "decide p allow\nstart p");
    boxed(&mut run, "first");
    run
}

fn boxed(run: &mut Run, life: &str) {
    let life = life.to_owned();
    add(
        run,
        ActionProgressed {
            action: id("p"),
            what: Progress::Boxed { life },
        },
    );
}

/// The program calls a tool.
fn calls(run: &mut Run, action: &str, tool: &str, number: u32) {
    let (effect, repeat) = traits(tool);
    let life = run.action(&id("p")).unwrap().lives;
    add(
        run,
        ActionProposed {
            action: id(action),
            call: number.to_string(),
            tool: tool.to_owned(),
            arguments: Body::Text(format!("{{\"n\":{number}}}")),
            effect,
            repeat,
            by: Actor::Program,
            undoes: None,
            within: Some(Box::new(Within {
                action: id("p"),
                number,
                life,
            })),
        },
    );
    lines(run, &format!("decide {action} allow"));
}

/// The box is gone, and the program is begun anew.
fn anew(run: &mut Run) {
    add(
        run,
        ActionLost {
            action: id("p"),
            why: "The box is gone.".to_owned(),
            gone: true,
        },
    );
}

fn on_record(run: &Run, tool: &str, number: u32) -> Option<ActionId> {
    let called = Body::Text(format!("{{\"n\":{number}}}")).hash();
    let found = run.on_record(&id("p"), tool, called);
    found.map(|found| found.id.clone())
}

fn takes_over(run: &mut Run, call: &str, number: u32) {
    add(
        run,
        ActionProgressed {
            action: id("p"),
            what: Progress::Replayed(ReplayedCall {
                call: id(call),
                number,
            }),
        },
    );
}

#[test]
fn a_program_that_is_gone_is_begun_anew_and_its_calls_stand_on_record_once() {
    let mut run = program();
    calls(&mut run, "a", "mark", 1);
    lines(&mut run, "start a\nfinish a ok");
    anew(&mut run);
    assert_eq!(owed(&run, run.last_at), "start p");
    lines(&mut run, "start p 2");
    boxed(&mut run, "second");
    assert_eq!(on_record(&run, "mark", 1), Some(id("a")));
    assert_eq!(on_record(&run, "mark", 2), None, "other arguments");
    assert_eq!(on_record(&run, "look", 1), None, "another tool");
    assert_eq!(run.left_of_before(&id("p")).len(), 1);
    takes_over(&mut run, "a", 1);
    assert_eq!(on_record(&run, "mark", 1), None, "it was asked for again");
    assert!(run.left_of_before(&id("p")).is_empty());
    let again = Within {
        action: id("p"),
        number: 1,
        life: 1,
    };
    assert_eq!(run.call_within(&again).map(|call| &call.id), Some(&id("a")));
}

#[test]
fn what_was_asked_for_before_waits_until_it_is_asked_for_again() {
    let mut run = program();
    calls(&mut run, "a", "mark", 1);
    anew(&mut run);
    assert_eq!(owed(&run, run.last_at), "start p");
    lines(&mut run, "start p 2");
    assert_eq!(owed(&run, run.last_at), "wait for Actions");
    takes_over(&mut run, "a", 1);
    assert_eq!(owed(&run, run.last_at), "start a");
}

#[test]
fn a_program_is_not_begun_anew_while_a_call_of_it_is_on_its_way() {
    let mut run = program();
    calls(&mut run, "a", "write", 1);
    lines(&mut run, "start a");
    anew(&mut run);
    assert_eq!(owed(&run, run.last_at), "wait for Actions");
    lines(&mut run, "finish a ok");
    assert_eq!(owed(&run, run.last_at), "start p");
}

#[test]
fn what_can_be_repeated_is_done_again_and_not_answered_from_the_record() {
    let mut run = program();
    calls(&mut run, "a", "write", 1);
    lines(&mut run, "start a\nresumed interrupted");
    lines(&mut run, "start p 2");
    anew(&mut run);
    let next = owed(&run, run.last_at);
    assert_eq!(next, "append action.finished", "what was cut short is over");
    let Payload::ActionFinished(ended) = over(&run) else {
        panic!("{next}");
    };
    add(&mut run, ended);
    assert_eq!(owed(&run, run.last_at), "start p");
    assert_eq!(on_record(&run, "write", 1), None);
    assert!(run.left_of_before(&id("p")).is_empty());
}

fn over(run: &Run) -> Payload {
    match run.next(run.last_at) {
        longrein_core::run::Next::Append(mut payloads) => payloads.remove(0),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_doubtful_call_does_not_hand_the_run_off_before_the_program_asks_for_it_again() {
    let mut run = program();
    calls(&mut run, "a", "mark", 1);
    lines(&mut run, "start a\nuncertain a");
    anew(&mut run);
    lines(&mut run, "start p 2");
    assert_eq!(owed(&run, run.last_at), "wait for Actions");
    takes_over(&mut run, "a", 1);
    assert_eq!(owed(&run, run.last_at), "append run.handed_off");
}

#[test]
fn a_program_that_reached_the_network_is_not_begun_anew_by_itself() {
    let mut run = program();
    add(
        &mut run,
        ActionProgressed {
            action: id("p"),
            what: Progress::Requested(NetworkRequest {
                request: 1,
                method: "GET".to_owned(),
                host: "example.org".to_owned(),
                port: 80,
                path: None,
                refused: None,
            }),
        },
    );
    anew(&mut run);
    assert_eq!(owed(&run, run.last_at), "append action.uncertain");
    lines(&mut run, "uncertain p\nsettle p retry");
    assert_eq!(owed(&run, run.last_at), "start p", "the person said so");
    assert!(run.action(&id("p")).unwrap().begins_anew());
}

#[test]
fn a_program_whose_box_is_gone_again_and_again_is_put_to_a_person() {
    let mut run = program();
    let mut attempt = 1;
    for _ in 0..longrein_core::run::REPLAYS {
        anew(&mut run);
        assert_eq!(owed(&run, run.last_at), "start p");
        attempt += 1;
        lines(&mut run, &format!("start p {attempt}"));
        boxed(&mut run, "another");
    }
    anew(&mut run);
    assert_eq!(owed(&run, run.last_at), "append action.uncertain");
}

#[test]
fn a_call_of_an_earlier_life_is_refused() {
    let mut run = program();
    anew(&mut run);
    lines(&mut run, "start p 2");
    let late = ActionProposed {
        action: id("a"),
        call: "1".to_owned(),
        tool: "look".to_owned(),
        arguments: Body::Text("{}".to_owned()),
        effect: Effect::Read,
        repeat: Repeat::Repeatable,
        by: Actor::Program,
        undoes: None,
        within: Some(Box::new(Within {
            action: id("p"),
            number: 1,
            life: 0,
        })),
    };
    let event = Event {
        run: RunId::from_parts(1, 1),
        seq: run.seq + 1,
        at: run.last_at + 1,
        payload: late.into(),
    };
    assert!(run.check(&event).is_err());
    assert_eq!(run.action(&id("p")).unwrap().stage, ActionStage::Started);
}
