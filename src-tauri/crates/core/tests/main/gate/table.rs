//! `table.txt`, read and held against the gate.

use longrein_core::policy::Looked;
use longrein_protocol::agent::{Decision, PolicyRule};
use longrein_protocol::gate::PathFact;
use serde_json::{Value, json};

use super::world::{decided_with, rule, run_with};

/// At least so many cases, and so many of them tricks, are in the table.
const CASES_LEAST: usize = 100;
const TRICKS_LEAST: usize = 40;

#[derive(Default)]
struct Case {
    name: String,
    is_trick: bool,
    rules: Vec<PolicyRule>,
    looked: Looked,
    tool: String,
    arguments: Value,
    expected: Option<(Decision, String)>,
}

fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in include_str!("table.txt").lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if matches!(word, "case" | "trick") {
            cases.push(Case {
                name: rest.to_owned(),
                is_trick: word == "trick",
                ..Case::default()
            });
            continue;
        }
        if word.is_empty() || word == "#" {
            continue;
        }
        let case = cases.last_mut().expect("a case begins with its name");
        let rest = &rest.replace('⏎', "\n");
        match word {
            "rule" => case.rules.push(rule(rest)),
            "leads" => case.looked.paths.push(leads(rest)),
            "sh" | "run" => {
                case.tool = word.to_owned();
                case.arguments = json!({"command": rest});
            }
            "call" => {
                let (tool, arguments) = rest.split_once(' ').expect("a tool and arguments");
                case.tool = tool.to_owned();
                case.arguments = serde_json::from_str(arguments).expect("arguments in JSON");
            }
            "allow" => case.expected = Some((Decision::Allow, rest.clone())),
            "ask" => case.expected = Some((Decision::Ask, rest.clone())),
            "deny" => case.expected = Some((Decision::Deny, rest.clone())),
            word => panic!("{}: what is “{word}”?", case.name),
        }
    }
    cases
}

/// `argument real/path`, or `argument outside`.
fn leads(text: &str) -> PathFact {
    let (argument, real) = text.split_once(' ').expect("an argument and a path");
    PathFact {
        argument: argument.to_owned(),
        real: (real != "outside").then(|| real.to_owned()),
        content: None,
    }
}

#[test]
fn every_case_of_the_table_is_decided_as_it_says() {
    let cases = cases();
    let tricks = cases.iter().filter(|case| case.is_trick).count();
    assert!(cases.len() >= CASES_LEAST, "only {} cases", cases.len());
    assert!(tricks >= TRICKS_LEAST, "only {tricks} tricks");
    let mut wrong = Vec::new();
    for case in &cases {
        let run = run_with(&case.rules);
        let (decision, words) = case.expected.as_ref().expect("what the gate says");
        let decided = decided_with(
            &run,
            &case.tool,
            case.arguments.clone(),
            case.looked.clone(),
        );
        if decided.decision != *decision || !decided.why.contains(words.as_str()) {
            wrong.push(format!(
                "{}\n  expected {decision:?}: {words}\n  but {:?}: {}\n  {:?}",
                case.name, decided.decision, decided.why, decided.facts
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}
