//! Events that a state does not allow are refused before they are written.

use crate::play::{event, play};

const STARTED: &str =
    "created\nturn Go.\nreveal look mark\ncompiled\nrequested\nasks a=look\npropose a=look";

/// Each pair: what happened, and what can't follow.
const REFUSED: &[(&str, &str)] = &[
    ("", "turn Go."),
    ("created", "created"),
    ("created", "requested"),
    ("created\nturn Go.", "replies Nobody asked."),
    ("created\nturn Go.\nreveal look\ncompiled", "requested 2"),
    (
        "created\nturn Go.\nreveal look\ncompiled\nrequested",
        "requested",
    ),
    (
        "created\nturn Go.\nreveal look\ncompiled\nrequested",
        "compiled",
    ),
    (
        "created\nturn Go.\nreveal look\ncompiled\nrequested",
        "propose a=look",
    ),
    (STARTED, "propose a=look"),
    (STARTED, "start a"),
    (STARTED, "finish a ok"),
    (STARTED, "approve a"),
    (STARTED, "decide z allow"),
    ("STARTED\ndecide a allow", "start a 2"),
    ("STARTED\ndecide a allow\nstart a", "start a 2"),
    ("STARTED\ndecide a allow\nstart a", "decide a allow"),
    ("STARTED\ndecide a ask", "start a"),
    ("STARTED\ndecide a ask\nask a", "ask a"),
    ("STARTED\ndecide a ask\nask a", "start a"),
    ("STARTED\ndecide a ask\nask a\napprove a", "approve a"),
    ("STARTED\ndecide a ask\nask a\nrefuse a No.", "approve a"),
    (
        "STARTED\ndecide a allow\nstart a\nfinish a ok",
        "finish a ok",
    ),
    ("STARTED\ndecide a allow\nstart a\nuncertain a", "start a 2"),
    (
        "STARTED\ndecide a allow\nstart a\nuncertain a\nsettle a happened",
        "settle a retry",
    ),
    ("created\nturn Go.\ncancelled", "turn More."),
    ("created\nturn Go.\ncancelled", "cancelled"),
    ("created\nturn Go.\ncancelled", "resumed asked"),
    ("created\nturn Go.", "resumed asked"),
    ("created\nturn Go.\npaused", "compiled"),
];

#[test]
fn a_state_refuses_what_can_not_follow() {
    for (before, line) in REFUSED {
        let (run, _) = play(&before.replace("STARTED", STARTED));
        assert!(
            run.check(&event(&run, line)).is_err(),
            "after:\n{before}\nthis was let through: {line}"
        );
    }
}

#[test]
fn a_gap_and_a_foreign_run_are_refused() {
    let (run, _) = play("created");
    let mut late = event(&run, "turn Go.");
    late.seq += 1;
    assert!(run.check(&late).is_err());
    let mut foreign = event(&run, "turn Go.");
    foreign.run = longrein_protocol::RunId::from_parts(2, 2);
    assert!(run.check(&foreign).is_err());
}
