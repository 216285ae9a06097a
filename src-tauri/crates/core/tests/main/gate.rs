//! The gate: grants, rules, defaults by effect, limits and taint.

use longrein_core::policy::{decide, is_granted};
use longrein_protocol::agent::Decision::{self, Allow, Ask, Deny};

use crate::play::play;

/// Settings of the agent, whether untrusted text was read, the tool, and the decision.
const ROWS: &[(&str, bool, &str, Decision)] = &[
    ("", false, "look", Allow),
    ("", false, "write", Allow),
    ("", false, "mark", Allow),
    ("", false, "post", Ask),
    ("post=allow", false, "post", Allow),
    ("post=allow", true, "post", Ask),
    ("post=deny", true, "post", Deny),
    ("post=allow post=ask", false, "post", Ask),
    ("post=allow post=deny post=ask", false, "post", Deny),
    ("look=ask", false, "look", Ask),
    ("look=deny", false, "look", Deny),
    ("", true, "look", Allow),
    ("", true, "write", Allow),
    ("actions=0", false, "look", Deny),
    ("actions=9", false, "look", Allow),
    ("", false, "unheard", Deny),
];

#[test]
fn the_strictest_check_decides() {
    for (settings, tainted, tool, expected) in ROWS {
        let lines = format!(
            "created {settings}\nturn Go.\nreveal look mark post write\ncompiled\nrequested\nasks a={tool}\npropose a={tool}"
        );
        let (mut run, _) = play(&lines);
        run.tainted = *tainted;
        let decided = decide(
            &run,
            &run.actions[0],
            &serde_json::json!({}),
            longrein_protocol::gate::ActionFacts::default(),
        );
        assert_eq!(
            decided.decision, *expected,
            "{settings:?}, tainted {tainted}, {tool}: {}",
            decided.why
        );
        assert!(
            decided.decision == Allow || !decided.why.is_empty(),
            "{tool}: no reason is given"
        );
    }
}

#[test]
fn untrusted_results_taint_a_run_for_good() {
    let step = "compiled\nrequested\nasks a=look\npropose a=look\ndecide a allow\nstart a";
    let (run, _) = play(&format!(
        "created\nturn Go.\nreveal look\n{step}\nfinish a untrusted"
    ));
    assert!(run.tainted);
    let (run, _) = play(&format!(
        "created\nturn Go.\nreveal look\n{step}\nfinish a untrusted\nturn Go on."
    ));
    assert!(run.tainted);
    let (run, _) = play(&format!(
        "created\nturn Go.\nreveal look\n{step}\nfinish a ok"
    ));
    assert!(!run.tainted);
}

#[test]
fn grants_cover_what_they_name_and_nothing_else() {
    let rows: &[(&[&str], &str, bool)] = &[
        (&["files"], "read_file", true),
        (&["files"], "search_library", false),
        (&["exa.*"], "exa.search", true),
        (&["exa.*"], "exact.search", false),
        (&["exa.*"], "exa", false),
        (&["exa.search"], "exa.search2", false),
        (&["*"], "read_file", false),
        (&[], "finish", true),
        (&[], "update_plan", true),
        (&[], "write_file", false),
    ];
    for (allow, tool, expected) in rows {
        let allow: Vec<String> = allow.iter().map(ToString::to_string).collect();
        assert_eq!(is_granted(&allow, tool), *expected, "{allow:?} {tool}");
    }
}
