//! What stays in view of a skill when older parts of the conversation are taken out.

use longrein_core::run::Run;
use longrein_protocol::event::{ContextCompacted, RunForked, SkillLoaded};
use longrein_protocol::{ActionId, Event, Payload, RunId};

use crate::play::play;

/// A step in which `a` loads the skill of this name.
fn loads(run: &mut Run, skill: &str) {
    let lines = [
        "compiled",
        "requested 1",
        "asks a=load_skill",
        "propose a=load_skill",
        "decide a allow",
        "start a",
    ];
    for line in lines {
        tell(run, line);
    }
    let loaded = SkillLoaded {
        action: ActionId("a".to_owned()),
        skill: skill.to_owned(),
        hash: "0".to_owned(),
        place: "installed here".to_owned(),
    };
    append(run, loaded.into());
    tell(run, "finish a ok");
}

fn tell(run: &mut Run, line: &str) {
    let event = crate::play::event(run, line);
    append(run, event.payload);
}

fn append(run: &mut Run, payload: Payload) {
    let event = Event {
        run: RunId::from_parts(1, 1),
        seq: run.seq + 1,
        at: i64::from(run.seq) * 1_000,
        payload,
    };
    run.check(&event).unwrap();
    run.apply(&event);
}

fn without(run: &mut Run, dropped_before: u32) {
    let compacted = ContextCompacted {
        dropped_before,
        pruned_before: dropped_before,
        media_before: 0,
        tokens_before: 100,
        tokens_after: 50,
        summary: None,
        unsummarised: String::new(),
    };
    append(run, compacted.into());
}

fn begun(window: u32) -> Run {
    let head = format!("created window={window}\nturn Sort the beans.\nreveal load_skill");
    play(&head).0
}

fn pinned(run: &Run) -> Vec<&str> {
    run.pinned_skills()
        .map(|(skill, _)| skill.skill.as_str())
        .collect()
}

#[test]
fn a_skill_whose_place_is_gone_is_laid_before_the_conversation_and_weighs_there() {
    let mut run = begun(32_768);
    loads(&mut run, "beans");
    assert!(
        pinned(&run).is_empty(),
        "it still stands in the conversation"
    );
    let end = run.conversation.end();
    without(&mut run, end);
    assert_eq!(pinned(&run), ["beans"]);
    let text: usize = run.pinned_skills().map(|(_, text)| text.len()).sum();
    assert!(text > 0 && run.conversation.bytes >= text);
}

#[test]
fn a_skill_that_is_loaded_again_stands_in_the_conversation_and_not_twice() {
    let mut run = begun(32_768);
    loads(&mut run, "beans");
    let end = run.conversation.end();
    without(&mut run, end);
    loads(&mut run, "beans");
    assert!(pinned(&run).is_empty());
    let end = run.conversation.end();
    without(&mut run, end);
    assert_eq!(pinned(&run), ["beans"]);
}

#[test]
fn what_there_is_no_room_for_is_named_so_that_it_can_be_loaded_again() {
    let mut run = begun(32_768);
    loads(&mut run, "beans");
    let end = run.conversation.end();
    without(&mut run, end);
    // The window is too small for the instructions of any skill.
    if let Some(created) = &mut run.created {
        created.window_tokens = 1;
    }
    assert!(pinned(&run).is_empty());
    let forgotten: Vec<&str> = run
        .forgotten_skills()
        .map(|skill| skill.skill.as_str())
        .collect();
    assert_eq!(forgotten, ["beans"]);
}

/// The same run as a fork goes on with it.
fn forked(run: &mut Run) {
    let fork = RunForked {
        from_run: RunId::from_parts(2, 2),
        from_seq: run.seq,
        workspace: "fork".to_owned(),
        agent: None,
        model: None,
        price: None,
        takes: Default::default(),
        results: Vec::new(),
    };
    append(run, fork.into());
}

#[test]
fn a_fork_has_the_skills_that_were_given_before_it_and_keeps_them_in_view() {
    let mut before = begun(32_768);
    loads(&mut before, "beans");
    let end = before.conversation.end();
    let mut after = before.clone();
    // Taken out in the fork, or before it was made: it stays in view all the same.
    forked(&mut after);
    assert_eq!(after.skills, before.skills);
    tell(&mut after, "turn And the others?");
    without(&mut after, end);
    assert_eq!(pinned(&after), ["beans"]);
    without(&mut before, end);
    forked(&mut before);
    assert_eq!(pinned(&before), ["beans"]);
}

#[test]
fn a_fork_from_the_middle_of_a_load_has_no_skill_and_asks_for_it_again() {
    let mut run = begun(32_768);
    for line in [
        "compiled",
        "requested 1",
        "asks a=load_skill",
        "propose a=load_skill",
        "decide a allow",
        "start a",
    ] {
        tell(&mut run, line);
    }
    forked(&mut run);
    assert!(run.skills.is_empty() && run.actions.is_empty());
}
