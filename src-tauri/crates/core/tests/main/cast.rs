//! The agent and the tools of a play.

use longrein_protocol::agent::AgentSpec;
use longrein_protocol::event::RunCreated;
use longrein_protocol::tool::{Effect, Recovery, Repeat};
use longrein_protocol::{BlobHash, Payload, ToolSpec};
use serde_json::json;

/// What a tool of a play may do is in its name.
pub fn traits(name: &str) -> (Effect, Repeat) {
    match name {
        "look" | "finish" => (Effect::Read, Repeat::Repeatable),
        "mark" => (Effect::Workspace, Repeat::Once),
        "ask_person" => (Effect::Read, Repeat::Repeatable),
        "post" => (Effect::Irreversible, Repeat::Once),
        "pay" => (Effect::Workspace, Repeat::Keyed),
        "order" => (Effect::Workspace, Repeat::Queryable),
        _ => (Effect::Workspace, Repeat::Repeatable),
    }
}

pub fn tool(name: &str) -> ToolSpec {
    let (effect, repeat) = traits(name);
    ToolSpec {
        name: name.to_owned(),
        description: String::new(),
        schema: json!({"type": "object"}),
        effect,
        repeat,
        timeout_ms: 1_000,
        result_tokens: 1_000,
        path_arguments: Vec::new(),
        reach: longrein_protocol::tool::Reach::default(),
        recovery: recovery(name),
        untrusted: name == "look",
    }
}

/// A key of `pay` is valid for ten seconds; `look` says what became of an `order`.
fn recovery(name: &str) -> Recovery {
    let is = |tool: &str, value: &str| (name == tool).then(|| value.to_owned());
    Recovery {
        key_argument: is("pay", "key"),
        key_valid_seconds: (name == "pay").then_some(10),
        status_tool: is("order", "look"),
        ..Recovery::default()
    }
}

pub fn created(rest: &str) -> Payload {
    let allow = ["look", "mark", "post", "pay", "order", "write", "finish"];
    let mut agent: AgentSpec =
        serde_json::from_value(json!({"name": "test", "tools": {"allow": allow}}))
            .expect("an agent");
    for setting in rest.split(' ').filter(|setting| !setting.is_empty()) {
        match setting.split_once('=').expect("name=value") {
            ("steps", value) => agent.budget.steps = value.parse().expect("a number"),
            ("window", value) => agent.model.window_tokens = value.parse().expect("a number"),
            ("actions", value) => agent.budget.actions = value.parse().ok(),
            ("idle", value) => agent.budget.idle_steps = value.parse().ok(),
            ("person", value) => {
                agent.done_when =
                    serde_json::from_value(json!([{"person": value}])).expect("a criterion")
            }
            ("file", value) => {
                agent.done_when =
                    serde_json::from_value(json!([{"file": value}])).expect("a criterion")
            }
            (tool, decision) => {
                agent.policy.extend(
                    serde_json::from_value::<longrein_protocol::agent::PolicyRule>(
                        json!({"tool": tool, "decision": decision}),
                    ),
                );
            }
        }
    }
    RunCreated {
        window_tokens: agent.model.window_tokens,
        agent,
        agent_hash: BlobHash([0; 32]),
        model: "test/model".to_owned(),
        harness: "0".to_owned(),
        workspace: String::new(),
        project: None,
        price: None,
        takes: Default::default(),
        tainted: false,
        private: false,
        depth: 0,
        parent: None,
        root: None,
        copies: None,
    }
    .into()
}
