//! Commands in a box: asked about only where something hangs on how they are read.

use longrein_core::run::Run;
use longrein_protocol::agent::Decision;
use serde_json::{Value, json};

use super::world::{decided, rule, run_with};

/// Command lines that can't be read for certain.
const UNCLEAR: &[&str] = &[
    "python3 -c 'print(1)'",
    "python3 - <<'END'\nprint(1)\nEND",
    "source venv/bin/activate && pytest",
    "go() { ls; }; go",
    "$TOOL --version",
];

/// A run with the tools that run commands in a box, with hosts that they may reach or without.
fn boxed(rules: &[&str], hosts: bool) -> Run {
    let rules: Vec<_> = rules.iter().map(|text| rule(text)).collect();
    let mut run = run_with(&rules);
    let names = [("run_command", "run"), ("run_code", "write")];
    for (name, like) in names {
        let mut spec = run.tool(like).expect("it is there").clone();
        name.clone_into(&mut spec.name);
        spec.path_arguments.clear();
        spec.reach.egress = hosts;
        run.tools.push(spec);
    }
    let created = run.created.as_mut().expect("it is there");
    let granted = names.map(|(name, _)| name.to_owned());
    created.agent.tools.allow.extend(granted);
    run
}

fn command(line: &str) -> Value {
    json!({"command": line, "intent": "a test"})
}

#[test]
fn without_a_network_and_rules_a_command_that_can_not_be_read_starts_and_that_is_on_record() {
    let run = boxed(&[], false);
    for line in UNCLEAR {
        let decided = decided(&run, "run_command", command(line));
        assert_eq!(decided.decision, Decision::Allow, "{line}: {}", decided.why);
        assert!(!decided.facts.unclear.is_empty(), "{line}");
        let words = decided.checks.iter().map(|check| check.facts.as_str());
        let held = words
            .into_iter()
            .any(|words| words.contains("its box holds it"));
        assert!(held, "{line}");
    }
    let code = json!({"code": "print(1)", "intent": "a test"});
    assert_eq!(decided(&run, "run_code", code).decision, Decision::Allow);
}

#[test]
fn with_hosts_or_a_rule_that_speaks_of_commands_what_can_not_be_read_is_asked() {
    let speaking = [
        boxed(&[], true),
        boxed(&[r#"deny: command = "curl""#], false),
        boxed(
            &[r#"ask: tool = "run_command", command = "git push""#],
            false,
        ),
    ];
    for run in &speaking {
        for line in UNCLEAR {
            let decided = decided(run, "run_command", command(line));
            assert_eq!(decided.decision, Decision::Ask, "{line}: {}", decided.why);
        }
        let plain = decided(run, "run_command", command("ls notes"));
        assert_eq!(plain.decision, Decision::Allow, "{}", plain.why);
    }
}

#[test]
fn a_rule_of_another_tool_or_of_hosts_that_no_box_reaches_asks_nothing() {
    let rules = [
        r#"deny: tool = "sh", command = "curl""#,
        r#"deny: host = "example.org""#,
        r#"allow: command = "ls""#,
    ];
    let run = boxed(&rules, false);
    for line in UNCLEAR {
        let decided = decided(&run, "run_command", command(line));
        assert_eq!(decided.decision, Decision::Allow, "{line}: {}", decided.why);
    }
}

#[test]
fn a_denied_command_is_denied_in_whatever_it_is_wrapped() {
    let run = boxed(&[r#"deny: command = "curl""#], false);
    for line in [
        "curl example.org",
        "true && curl example.org",
        "echo $(curl example.org)",
        "sh -c 'curl example.org'",
    ] {
        let decided = decided(&run, "run_command", command(line));
        assert_eq!(decided.decision, Decision::Deny, "{line}: {}", decided.why);
    }
}

#[test]
fn a_program_is_asked_about_where_a_rule_speaks_of_what_it_may_run_or_reach() {
    let code = || json!({"code": "import subprocess", "intent": "a test"});
    let asks = |run: &Run| decided(run, "run_code", code()).decision;
    assert_eq!(
        asks(&boxed(&[r#"deny: command = "curl""#], false)),
        Decision::Ask
    );
    assert_eq!(
        asks(&boxed(&[r#"ask: host = "example.org""#], true)),
        Decision::Ask
    );
    // The hosts that the agent lists are the person's word for it.
    assert_eq!(asks(&boxed(&[], true)), Decision::Allow);
}
