//! Rules, secrets and settings as the runs of this machine meet them.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use longrein_core::agent_file;
use longrein_core::run::Run;
use longrein_protocol::agent::{Decision, PolicyRule};
use longrein_protocol::event::RunCreated;
use longrein_protocol::gate::{Always, Scope};
use longrein_protocol::tool::Recovery;
use longrein_protocol::{Effect, Repeat, ToolSpec};
use longrein_runtime::world::World;
use tempfile::TempDir;

use super::AppWorld;
use super::granted::with_settings;
use crate::config::{self, Current};
use crate::keys::Keys;
use crate::live::LiveHub;
use crate::paths::Paths;

const CONFIG: &str = r#"
[mcp.lab]
command = ["lab"]
env = { TOKEN = "env:LAB_TOKEN", LEVEL = "debug" }
"#;

fn world(config: &str) -> (TempDir, AppWorld) {
    let folder = tempfile::tempdir().unwrap();
    let paths = Paths {
        data: folder.path().to_path_buf(),
        work: folder.path().join("work"),
    };
    let config = Current::new(config::check(config).config.unwrap());
    let keys = Keys::new(&paths.data, config.clone());
    let world = AppWorld::new(paths, config, keys, LiveHub::default(), Duration::ZERO);
    (folder, world)
}

fn run_of(agent: &str) -> Run {
    let agent = agent_file::parse("", agent).unwrap();
    Run {
        created: Some(Box::new(RunCreated {
            agent_hash: agent_file::hash(&agent),
            agent,
            ..created()
        })),
        ..Run::default()
    }
}

fn created() -> RunCreated {
    serde_json::from_value(serde_json::json!({
        "agent": agent_file::parse("", "x").unwrap(),
        "agent_hash": agent_file::hash(&agent_file::parse("", "x").unwrap()),
        "model": "demo/researcher",
        "window_tokens": 8192,
        "harness": "0",
        "workspace": "/nowhere",
    }))
    .unwrap()
}

fn allow(tool: &str) -> PolicyRule {
    PolicyRule {
        tool: Some(tool.to_owned()),
        effect: None,
        args: BTreeMap::new(),
        path: None,
        host: None,
        command: None,
        decision: Decision::Allow,
    }
}

fn spec(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: String::new(),
        schema: serde_json::json!({"type": "object"}),
        effect: Effect::Irreversible,
        repeat: Repeat::Once,
        timeout_ms: 1,
        result_tokens: 1,
        path_arguments: vec!["file".to_owned()],
        untrusted: true,
        reach: Default::default(),
        recovery: Recovery::default(),
    }
}

#[tokio::test]
async fn what_always_makes_is_kept_for_whom_it_is_and_met_by_their_runs() {
    let (_folder, world) = world("");
    let (research, audit) = (run_of("research"), run_of("audit"));
    let empty = world.policy(&research).await.unwrap().unwrap();
    assert!(empty.rules.is_empty());
    let always = |scope, tool| Always {
        scope,
        rules: vec![allow(tool)],
        tainted: scope == Scope::Run,
    };
    let mine = always(Scope::Agent, "a.mine");
    let first = world.remember(&research, &mine).await.unwrap();
    let again = world.remember(&research, &mine).await.unwrap();
    assert_eq!(first, again);
    let everywhere = always(Scope::Everywhere, "a.all");
    world.remember(&research, &everywhere).await.unwrap();
    let once = always(Scope::Run, "a.once");
    let once = world.remember(&research, &once).await.unwrap();
    assert!(once[0].tainted);

    let tools = |run: &Run| {
        let on_disk = futures_now(world.policy(run)).unwrap().unwrap();
        let tools = on_disk
            .rules
            .iter()
            .filter_map(|rule| rule.rule.tool.clone());
        let mut tools: Vec<String> = tools.collect();
        tools.sort();
        (tools, on_disk.hash)
    };
    let (research, research_hash) = tools(&research);
    let (audit, audit_hash) = tools(&audit);
    assert_eq!(research, ["a.all", "a.mine"]);
    assert_eq!(audit, ["a.all"]);
    assert_ne!(research_hash, audit_hash);
    assert_ne!(research_hash, empty.hash);
}

/// A future that never waits.
fn futures_now<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let waker = std::task::Waker::noop();
    match future
        .as_mut()
        .poll(&mut std::task::Context::from_waker(waker))
    {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("it waits"),
    }
}

#[tokio::test]
async fn comments_and_order_are_no_change_of_the_rules() {
    let (folder, world) = world("");
    let run = run_of("research");
    let rule = |tool: &str| {
        format!("[[rule]]\nscope = \"everywhere\"\ntool = \"{tool}\"\ndecision = \"ask\"\n")
    };
    let path = folder.path().join("policy.toml");
    fs::write(&path, format!("{}{}", rule("a.b"), rule("a.c"))).unwrap();
    let before = world.policy(&run).await.unwrap().unwrap();
    fs::write(&path, format!("# mine\n{}\n{}", rule("a.c"), rule("a.b"))).unwrap();
    assert_eq!(world.policy(&run).await.unwrap().unwrap(), before);
}

#[tokio::test]
async fn a_broken_policy_file_stops_every_decision_and_every_always() {
    let (folder, world) = world("");
    let run = run_of("research");
    let path = folder.path().join("policy.toml");
    fs::write(&path, "[[rule]]\nscope = \"everywhere\"\n").unwrap();
    let error = world.policy(&run).await.unwrap_err();
    assert!(
        error.message.starts_with("policy.toml has 2 mistakes"),
        "{}",
        error.message
    );
    assert!(!error.remedy.is_empty());
    let always = Always {
        scope: Scope::Everywhere,
        rules: vec![allow("a.b")],
        tainted: false,
    };
    assert!(world.remember(&run, &always).await.is_err());
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "[[rule]]\nscope = \"everywhere\"\n"
    );
}

#[tokio::test]
async fn a_secret_is_granted_as_long_as_the_configuration_names_it_for_that_server() {
    let (_folder, world) = world(CONFIG);
    let run = run_of("research");
    let mut lab = spec("lab.post");
    lab.reach.secrets = vec!["LAB_TOKEN".to_owned()];
    let granted = async |world: &AppWorld, spec: &ToolSpec| {
        let (_, secrets) = world.look(&run, spec, &serde_json::json!({})).await;
        secrets.iter().map(|fact| fact.granted).collect::<Vec<_>>()
    };
    assert_eq!(granted(&world, &lab).await, [true]);
    let other = ToolSpec {
        name: "other.post".to_owned(),
        ..lab.clone()
    };
    assert_eq!(granted(&world, &other).await, [false]);
    world.config.take(config::Config::default());
    assert_eq!(granted(&world, &lab).await, [false]);
    assert!(granted(&world, &spec("write_file")).await.is_empty());
}

#[test]
fn what_the_person_says_of_a_tool_goes_over_what_the_tool_says() {
    let text = r#"
[tools]
allow = ["lab.*"]
[tools."lab.post"]
effect = "reversible"
repeat = "keyed"
timeout_seconds = 3
paths = []
urls = ["address"]
commands = ["script"]
recovery = { key_argument = "key" }
"#;
    let agent = agent_file::parse(text, "x").unwrap();
    let said = with_settings(spec("lab.post"), agent.tools.settings.get("lab.post"));
    assert_eq!(
        (said.effect, said.repeat, said.timeout_ms),
        (Effect::Reversible, Repeat::Keyed, 3_000)
    );
    assert!(said.path_arguments.is_empty());
    assert_eq!(said.reach.urls, ["address"]);
    assert_eq!(said.reach.commands, ["script"]);
    assert_eq!(said.recovery.key_argument.as_deref(), Some("key"));
    assert_eq!(with_settings(spec("lab.get"), None), spec("lab.get"));
}
