//! A run with tools of every kind, to hold actions against.

use longrein_core::policy::{Looked, decide, facts};
use longrein_core::run::{Action, Run};
use longrein_protocol::agent::PolicyRule;
use longrein_protocol::event::ActionDecided;
use longrein_protocol::gate::{ActionFacts, Scope, StandingRule};
use longrein_protocol::tool::{Effect, Reach, Recovery, Repeat};
use longrein_protocol::{ActionId, Body, ToolSpec};
use serde_json::{Value, json};

const GRANTED: &[&str] = &[
    "look",
    "write",
    "gone",
    "ch.post",
    "mail.draft",
    "sh",
    "run",
    "net",
    "fetch",
    "hook.send",
    "up.load",
    "vault.read",
];

fn tools() -> Vec<ToolSpec> {
    let named = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let commands = Reach {
        commands: named(&["command"]),
        ..Reach::default()
    };
    let urls = Reach {
        urls: named(&["url"]),
        ..Reach::default()
    };
    let tool = |name: &str, effect, reach: &Reach, paths: &[&str]| ToolSpec {
        name: name.to_owned(),
        description: "A tool.".to_owned(),
        schema: json!({"type": "object"}),
        effect,
        repeat: Repeat::Once,
        timeout_ms: 1_000,
        result_tokens: 1_000,
        path_arguments: named(paths),
        untrusted: false,
        reach: reach.clone(),
        recovery: Recovery::default(),
    };
    let none = Reach::default();
    vec![
        tool("look", Effect::Read, &none, &[]),
        tool("write", Effect::Workspace, &none, &["path"]),
        tool("ch.post", Effect::Irreversible, &none, &[]),
        tool("mail.draft", Effect::Reversible, &none, &[]),
        tool("sh", Effect::Irreversible, &commands, &[]),
        tool("run", Effect::Workspace, &commands, &[]),
        tool(
            "net",
            Effect::Workspace,
            &Reach {
                egress: true,
                ..commands.clone()
            },
            &[],
        ),
        tool("fetch", Effect::Read, &urls, &[]),
        tool("hook.send", Effect::Irreversible, &urls, &[]),
        tool("up.load", Effect::Irreversible, &urls, &["file", "more"]),
        tool(
            "vault.read",
            Effect::Read,
            &Reach {
                secrets: named(&["exa"]),
                ..Reach::default()
            },
            &[],
        ),
    ]
}

/// A run whose agent has these rules.
pub fn run_with(rules: &[PolicyRule]) -> Run {
    let agent = json!({"name": "test", "tools": {"allow": GRANTED}, "policy": rules});
    let created = json!({
        "agent": agent,
        "agent_hash": "0".repeat(64),
        "model": "test/model",
        "window_tokens": 32_768,
        "harness": "0",
        "workspace": "",
    });
    let created = serde_json::from_value(created).expect("the first event of a run");
    Run {
        created: Some(Box::new(created)),
        tools: tools(),
        ..Run::default()
    }
}

/// A rule as `allow: tool = "x", host = "y"`.
pub fn rule(text: &str) -> PolicyRule {
    let (decision, conditions) = text.split_once(':').expect("a decision and a colon");
    let conditions = conditions.trim();
    let comma = if conditions.is_empty() { "" } else { ", " };
    let table = format!("rule = {{ {conditions}{comma}decision = \"{decision}\" }}");
    let mut table: toml::Table = table
        .parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"));
    let rule = table.remove("rule").expect("the rule");
    rule.try_into()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A rule that stands beside those of the agent.
pub fn standing(scope: Scope, tainted: bool, text: &str) -> StandingRule {
    StandingRule {
        id: text.to_owned(),
        scope,
        rule: rule(text),
        tainted,
    }
}

/// An action as it was proposed.
pub fn action(run: &Run, tool: &str, arguments: &Value) -> Action {
    let effect = run
        .tool(tool)
        .map_or(Effect::Irreversible, |spec| spec.effect);
    let arguments = Body::Text(arguments.to_string());
    Action {
        effect,
        repeat: Repeat::Once,
        ..Action::new(&ActionId("a1".to_owned()), "call", tool, &arguments)
    }
}

/// The facts of an action.
pub fn facts_of(run: &Run, tool: &str, arguments: &Value, looked: Looked) -> ActionFacts {
    run.tool(tool).map_or(ActionFacts::default(), |spec| {
        facts(spec, arguments, looked)
    })
}

/// What the gate says of an action of which nothing was looked up.
pub fn decided(run: &Run, tool: &str, arguments: Value) -> ActionDecided {
    decided_with(run, tool, arguments, Looked::default())
}

/// What the gate says of an action.
pub fn decided_with(run: &Run, tool: &str, arguments: Value, looked: Looked) -> ActionDecided {
    let facts = facts_of(run, tool, &arguments, looked);
    decide(run, &action(run, tool, &arguments), &arguments, facts)
}

/// What the gate says of this very action.
pub fn decide_action(run: &Run, action: &Action, arguments: &Value) -> ActionDecided {
    let facts = facts_of(run, &action.tool, arguments, Looked::default());
    decide(run, action, arguments, facts)
}
