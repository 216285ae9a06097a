//! A real server, driven for real: the counting server of `tests/fixtures/counter`.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::support::{self, World, is_alive, is_gone, run, text_of};
use longrein_mcp::{McpError, McpServer};
use longrein_protocol::agent::ToolSettings;
use longrein_protocol::{Effect, Repeat, ToolErrorClass};
use longrein_runtime::ports::{CancellationToken, Part, ToolOutput};
use longrein_store::groups::MARK;
use serde_json::json;

#[tokio::test]
async fn tools_are_listed_over_all_pages_and_named_after_their_server() {
    for handshake in [&["--page-size", "2"][..], &["--page-size", "2", "--legacy"]] {
        let world = World::new(handshake);
        let server = world.start().await;
        let names: Vec<String> = server
            .tools(&BTreeMap::new())
            .iter()
            .map(|tool| tool.spec().name.clone())
            .collect();
        assert_eq!(
            names,
            [
                "counter.mark",
                "counter.count",
                "counter.echo",
                "counter.die",
                "counter.stderr"
            ]
        );
        assert!(server.problems().is_empty());
        server.close().await;
    }
}

#[tokio::test]
async fn a_call_has_its_effect_once_and_carries_the_key() {
    let world = World::new(&[]);
    let server = world.start().await;
    let output = run(&server, "counter.mark", json!({"label": "a"}))
        .await
        .unwrap();
    assert_eq!(text_of(&output), "marked a");
    assert_eq!(world.marks(), ["a key-1"]);
    let output = run(&server, "counter.count", json!({})).await.unwrap();
    assert_eq!(text_of(&output), "1\n{\"marks\":1}");
    server.close().await;
}

#[tokio::test]
async fn calls_run_beside_each_other() {
    let world = World::new(&["--slow-gate", "GATE"]);
    let server = world.start().await;
    let held = run(&server, "counter.mark", json!({"label": "held"}));
    let echo = async {
        world.wait_for_held_call().await;
        let output = run(&server, "counter.echo", json!({"text": "meanwhile"})).await;
        assert_eq!(text_of(&output.unwrap()), "meanwhile");
        assert!(world.marks().is_empty());
        world.open_gate();
    };
    let (held, ()) = tokio::join!(held, echo);
    held.unwrap();
    assert_eq!(world.marks().len(), 1);
}

#[tokio::test]
async fn one_malformed_schema_loses_that_tool_only() {
    let world = World::new(&["--broken-schema"]);
    let server = world.start().await;
    assert_eq!(server.tools(&BTreeMap::new()).len(), 5);
    let problems = server.problems();
    let lost: Vec<&str> = problems.iter().map(|lost| lost.tool.as_str()).collect();
    assert_eq!(lost, ["broken_type", "broken_keyword"]);
    run(&server, "counter.mark", json!({"label": "a"}))
        .await
        .unwrap();
}

#[tokio::test]
async fn annotations_count_only_when_the_person_trusts_the_server_and_settings_always() {
    let specs = |server: &McpServer, settings: &BTreeMap<String, ToolSettings>| {
        server
            .tools(settings)
            .iter()
            .take(2)
            .map(|tool| (tool.spec().effect, tool.spec().repeat))
            .collect::<Vec<_>>()
    };
    let mut world = World::new(&["--read-only"]);
    let untrusted = world.start().await;
    let nothing_believed = [(Effect::Irreversible, Repeat::Once); 2];
    assert_eq!(specs(&untrusted, &BTreeMap::new()), nothing_believed);
    world.config.trusted = true;
    let trusted = world.start().await;
    assert_eq!(
        specs(&trusted, &BTreeMap::new()),
        [
            (Effect::Reversible, Repeat::Once),
            (Effect::Read, Repeat::Repeatable)
        ]
    );
    let settings = BTreeMap::from([(
        "counter.mark".to_owned(),
        ToolSettings {
            effect: Some(Effect::Workspace),
            repeat: Some(Repeat::Repeatable),
            timeout_seconds: Some(7),
            result_tokens: Some(99),
            ..ToolSettings::default()
        },
    )]);
    assert_eq!(
        specs(&untrusted, &settings)[0],
        (Effect::Workspace, Repeat::Repeatable)
    );
    let tools = trusted.tools(&settings);
    assert_eq!(
        (tools[0].spec().timeout_ms, tools[0].spec().result_tokens),
        (7_000, 99)
    );
    assert!(tools.iter().all(|tool| tool.spec().untrusted));
}

#[tokio::test]
async fn a_server_that_dies_during_a_call_leaves_it_uncertain_and_is_started_again_for_the_next() {
    let world = World::new(&[]);
    let server = world.start().await;
    let error = run(&server, "counter.die", json!({})).await.unwrap_err();
    assert_eq!(
        (error.class, error.uncertain),
        (ToolErrorClass::Failed, true)
    );
    assert_eq!(
        error.message,
        "The server of counter.die ended during the call: exit status: 3."
    );
    assert_eq!(server.ended().unwrap(), "exit status: 3");
    run(&server, "counter.mark", json!({"label": "late"}))
        .await
        .unwrap();
    assert_eq!(world.marks(), ["late key-1"]);
    assert_eq!(server.ended(), None);
}

#[tokio::test]
async fn a_server_that_dies_again_and_again_is_started_with_growing_pauses() {
    let world = World::new(&[]);
    let server = world.start().await;
    let mut told = String::new();
    for _ in 0..4 {
        let error = run(&server, "counter.die", json!({})).await.unwrap_err();
        if error.uncertain {
            continue;
        }
        assert_eq!(error.class, ToolErrorClass::Temporary);
        told = error.message;
    }
    assert!(
        told.starts_with("counter.die was not called: its server has ended (exit status: 3) and is reached again in "),
        "{told}"
    );
}

#[tokio::test]
async fn a_server_killed_during_a_call_leaves_it_uncertain_unless_the_tool_only_reads() {
    for (effect, uncertain) in [(Effect::Irreversible, true), (Effect::Read, false)] {
        let world = World::new(&["--slow-gate-after", "GATE"]);
        let server = world.start().await;
        let settings = BTreeMap::from([(
            "counter.mark".to_owned(),
            ToolSettings {
                effect: Some(effect),
                ..ToolSettings::default()
            },
        )]);
        let call = support::run_with(
            &server,
            &settings,
            "counter.mark",
            support::call(json!({"label": "a"}), CancellationToken::new()),
        );
        let kill = async {
            world.wait_for_held_call().await;
            support::kill(world.leader());
        };
        let (result, ()) = tokio::join!(call, kill);
        let error = result.unwrap_err();
        assert_eq!(
            (error.class, error.uncertain),
            (ToolErrorClass::Failed, uncertain)
        );
        assert!(error.message.contains("signal: 9"), "{}", error.message);
        assert_eq!(world.marks().len(), 1);
    }
}

#[tokio::test]
async fn a_call_that_is_cancelled_or_too_slow_is_uncertain_and_the_server_goes_on() {
    let world = World::new(&["--slow-gate", "GATE"]);
    let server = world.start().await;
    let cancel = CancellationToken::new();
    let unchanged = BTreeMap::new();
    let call = support::run_with(
        &server,
        &unchanged,
        "counter.mark",
        support::call(json!({"label": "a"}), cancel.clone()),
    );
    let stop = async {
        world.wait_for_held_call().await;
        cancel.cancel();
    };
    let (result, ()) = tokio::join!(call, stop);
    let error = result.unwrap_err();
    assert_eq!(
        (error.class, error.uncertain),
        (ToolErrorClass::Cancelled, true)
    );

    let hasty = BTreeMap::from([(
        "counter.mark".to_owned(),
        ToolSettings {
            timeout_seconds: Some(1),
            ..ToolSettings::default()
        },
    )]);
    let call = support::call(json!({"label": "b"}), CancellationToken::new());
    let error = support::run_with(&server, &hasty, "counter.mark", call)
        .await
        .unwrap_err();
    assert_eq!(
        (error.class, error.uncertain),
        (ToolErrorClass::Temporary, true)
    );
    assert_eq!(error.message, "counter.mark did not answer within 1 s.");
    run(&server, "counter.echo", json!({"text": "alive"}))
        .await
        .unwrap();
}

#[tokio::test]
async fn an_error_of_the_tool_is_certain_and_a_huge_answer_is_taken_or_refused_whole() {
    let world = World::new(&[]);
    let server = world.start().await;
    let failed = run(&server, "counter.echo", json!({"text": "no", "fail": true})).await;
    let error = failed.unwrap_err();
    assert_eq!(
        (error.class, error.uncertain),
        (ToolErrorClass::Failed, false)
    );
    assert_eq!(error.message, "no");
    let large = json!({"text": "", "bytes": 1_000_000});
    let output = run(&server, "counter.echo", large).await.unwrap();
    assert_eq!(text_of(&output).len(), 1_000_000);
    let endless = json!({"text": "", "bytes": 17_000_000});
    let error = run(&server, "counter.echo", endless).await.unwrap_err();
    assert!(error.uncertain);
    assert!(
        error
            .message
            .contains("it sent a line longer than 16777215 bytes"),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn what_a_server_prints_is_safe_to_show() {
    let mut world = World::new(&[]);
    world
        .process()
        .env
        .insert("TOKEN".to_owned(), "sesame-open".to_owned());
    let server = world.start().await;
    let said = json!({"text": "\u{1b}[31mred\u{1b}[0m\u{0} sesame-open"});
    let ToolOutput { parts, outcome, .. } =
        run(&server, "counter.echo", said.clone()).await.unwrap();
    assert!(matches!(parts.as_slice(), [Part::Text(text)] if text == "red •••"));
    assert_eq!(outcome, "red •••");
    run(&server, "counter.stderr", said).await.unwrap();
    let error = run(&server, "counter.die", json!({})).await.unwrap_err();
    assert!(
        error.message.ends_with("exit status: 3; it said: red •••."),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn a_server_that_can_not_start_says_what_would_mend_it() {
    let said = async |change: &dyn Fn(&mut World)| {
        let mut world = World::new(&["--exit-at-start"]);
        change(&mut world);
        McpServer::start(world.config.clone()).await.err().unwrap()
    };
    let error = said(&|world| world.process().command = vec!["no-such-program".to_owned()]).await;
    assert_eq!(
        error.to_string(),
        "MCP server “counter” can't be started: there is no program “no-such-program”. Install \
         it, or give its full path as the first part of command in [mcp.counter]."
    );
    let error = said(&|world| world.process().command.clear()).await;
    assert!(matches!(error, McpError::NoCommand { .. }));
    let error = said(&|world| world.config.name = "a.b".to_owned()).await;
    assert!(matches!(error, McpError::Name { .. }));
    let error = said(&|world| world.config.workspace.push("missing")).await;
    assert!(matches!(error, McpError::Folder { .. }));
    let error = said(&|world| world.process().groups_file.push("missing")).await;
    assert!(matches!(error, McpError::GroupsFile { .. }));
    let error = said(&|world| world.process().command = vec!["/".to_owned()]).await;
    assert!(matches!(error, McpError::NoProgram { .. }));
    let error = said(&|_| ()).await.to_string();
    assert!(
        error.starts_with(
            "MCP server “counter” ended while it was starting (exit status: 3; it said: counter: \
             asked to end at the start)."
        ),
        "{error}"
    );
    let error =
        said(&|world| world.process().command = vec!["echo".to_owned(), "hello".to_owned()]);
    assert!(matches!(error.await, McpError::Ended { .. }));
}

#[tokio::test]
async fn the_environment_holds_what_was_granted_and_little_else() {
    let mut world = World::new(&[]);
    let dump = world.folder.path().join("env");
    let script = "env > \"$1\"; exit 0";
    world.process().command = ["sh", "-c", script, "sh", dump.to_str().unwrap()]
        .map(str::to_owned)
        .into();
    world
        .process()
        .env
        .insert("GRANTED".to_owned(), "yes".to_owned());
    let _ = McpServer::start(world.config.clone()).await;
    let dumped = std::fs::read_to_string(dump).unwrap();
    let names: Vec<&str> = dumped
        .lines()
        .filter_map(|line| Some(line.split_once('=')?.0))
        .collect();
    assert!(names.contains(&"GRANTED") && names.contains(&"PATH"));
    for name in names {
        // The shell adds the last four by itself.
        assert!(
            [
                "GRANTED", "PATH", "HOME", "LANG", MARK, "PWD", "SHLVL", "_", "OLDPWD"
            ]
            .contains(&name),
            "{name}"
        );
    }
}

#[tokio::test]
async fn the_group_is_noted_and_ends_with_its_children_when_the_server_is_closed_or_dropped() {
    for dropped in [false, true] {
        let world = World::new(&["--spawn-child"]);
        let server = world.start().await;
        let (leader, child) = (world.leader(), world.child());
        assert!(is_alive(leader) && is_alive(child));
        let tools = server.tools(&BTreeMap::new());
        if dropped {
            drop(server);
        } else {
            server.close().await;
        }
        is_gone(leader).await;
        is_gone(child).await;
        let call = support::call(json!({"text": "a"}), CancellationToken::new());
        let error = tools[2].run(call).await.unwrap_err();
        assert_eq!(
            (error.class, error.uncertain),
            (ToolErrorClass::Temporary, false)
        );
    }
}

#[tokio::test]
async fn children_end_with_a_server_that_ends_by_itself_though_they_hold_its_pipes() {
    let world = World::new(&["--spawn-child"]);
    let server = world.start().await;
    let child = world.child();
    let call = run(&server, "counter.die", json!({}));
    let error = tokio::time::timeout(Duration::from_secs(30), call)
        .await
        .unwrap()
        .unwrap_err();
    assert!(error.uncertain);
    is_gone(child).await;
}

#[tokio::test]
async fn the_group_ends_with_its_children_when_our_process_is_killed() {
    let world = World::new(&["--spawn-child"]);
    let mut holder = world.start_in_another_process();
    let (leader, child) = (world.leader(), world.child());
    assert!(is_alive(leader) && is_alive(child));
    holder.kill().unwrap();
    holder.wait().unwrap();
    is_gone(leader).await;
    is_gone(child).await;
}
