//! The tools of the simulated world: one of every effect and every repeatability.

use longrein_protocol::ToolSpec;
use longrein_protocol::tool::{CALL_TOOL, Effect, FIND_TOOLS, LOAD_SKILL, Reach, Recovery, Repeat};
use serde_json::{Value, json};

/// For how long the keyed tools say that a key is valid, in seconds.
pub const KEY_VALID_SECONDS: u32 = 600;
/// For how many seconds a key is valid beyond that: the clock that the harness reads may jump back.
pub const KEY_SLACK_SECONDS: u32 = 7_200;
/// How long a call may take.
pub const TIMEOUT_MS: u32 = 60_000;

/// Tools of a server, which the model has to look for, where a scenario has them.
pub const HIDDEN: &[&str] = &["far.look", "far.send"];

/// The names of all other tools.
pub fn names() -> Vec<&'static str> {
    vec![
        "look",
        "page",
        "mine",
        "fetch",
        "write",
        "once",
        "boxed",
        "program",
        "keyed",
        "order",
        "order_status",
        "post",
        "put",
        "take_back",
        "delegate",
        "update_plan",
        "ask_person",
        "finish",
    ]
}

/// The tools that stand in every request. That for skills is there only where there are any.
pub fn specs(with_skills: bool) -> Vec<ToolSpec> {
    let skills = with_skills.then_some(LOAD_SKILL);
    names().into_iter().chain(skills).map(spec).collect()
}

/// The tools that the model has to look for.
pub fn hidden() -> Vec<ToolSpec> {
    HIDDEN.iter().copied().map(spec).collect()
}

/// The tools that it looks for them with.
pub fn finding() -> Vec<ToolSpec> {
    [FIND_TOOLS, CALL_TOOL].into_iter().map(spec).collect()
}

fn spec(name: &str) -> ToolSpec {
    let (effect, repeat) = match name {
        "write" | LOAD_SKILL => (Effect::Workspace, Repeat::Repeatable),
        "once" => (Effect::Workspace, Repeat::Once),
        "boxed" => (Effect::Workspace, Repeat::Reattach),
        "program" => (Effect::Workspace, Repeat::Replay),
        "keyed" => (Effect::Workspace, Repeat::Keyed),
        "order" => (Effect::Workspace, Repeat::Queryable),
        "post" | "far.send" => (Effect::Irreversible, Repeat::Once),
        "put" | "take_back" => (Effect::Reversible, Repeat::Keyed),
        _ => (Effect::Read, Repeat::Repeatable),
    };
    ToolSpec {
        name: name.to_owned(),
        description: format!("Does {name}."),
        schema: schema(name),
        effect,
        repeat,
        timeout_ms: TIMEOUT_MS,
        result_tokens: 4_000,
        path_arguments: match name {
            "write" => vec!["path".to_owned()],
            _ => Vec::new(),
        },
        untrusted: matches!(name, "page" | "fetch"),
        reach: reach(name),
        recovery: recovery(name),
    }
}

fn reach(name: &str) -> Reach {
    Reach {
        urls: match name {
            "fetch" => vec!["url".to_owned()],
            _ => Vec::new(),
        },
        private: name == "mine",
        ..Reach::default()
    }
}

fn recovery(name: &str) -> Recovery {
    let keyed = Recovery {
        key_argument: Some("key".to_owned()),
        key_valid_seconds: Some(KEY_VALID_SECONDS),
        ..Recovery::default()
    };
    match name {
        "keyed" | "take_back" => keyed,
        "put" => Recovery {
            undo_tool: Some("take_back".to_owned()),
            undo_argument: Some("receipt".to_owned()),
            ..keyed
        },
        "order" => Recovery {
            status_tool: Some("order_status".to_owned()),
            status_pointer: Some("/state".to_owned()),
            ..Recovery::default()
        },
        _ => Recovery::default(),
    }
}

fn schema(name: &str) -> Value {
    let number = json!({"n": {"type": "integer"}});
    match name {
        "fetch" => {
            json!({"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]})
        }
        "write" => {
            json!({"type": "object", "properties": {"path": {"type": "string"}, "n": {"type": "integer"}}})
        }
        "take_back" => json!({"type": "object", "properties": {"receipt": {"type": "string"}}}),
        "order_status" => json!({"type": "object", "properties": {"key": {"type": "string"}}}),
        "ask_person" => json!({"type": "object", "properties": {"question": {"type": "string"}}}),
        LOAD_SKILL => {
            json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]})
        }
        "finish" | "delegate" | "update_plan" | FIND_TOOLS | CALL_TOOL => json!({"type": "object"}),
        _ => json!({"type": "object", "properties": number}),
    }
}
