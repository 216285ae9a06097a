//! What a person is told of models, and how a provider is added, from outside.

use std::fs;

use longrein_testkit::provider::{Content, Setup};
use longrein_testkit::reply::say;
use serde_json::json;

use crate::support::{Home, Outcome, Provider};

fn assert_told(outcome: &Outcome, status: i32, words: &[&str]) {
    assert_eq!(outcome.status, status, "{outcome}");
    for word in words {
        assert!(
            outcome.out.contains(word) || outcome.err.contains(word),
            "{word}: {outcome}"
        );
    }
    assert!(!outcome.err.contains("panicked"), "{outcome}");
}

#[test]
fn the_models_of_a_provider_are_listed_with_what_is_known_and_from_where() {
    let provider = Provider::start(Setup::demo());
    let home = Home::new();
    let own = "[models.\"local/any\"]\nwindow_tokens = 32768\ninput_usd = 0.5\noutput_usd = 1.5\n";
    home.configure(&format!("{}{own}", provider.config()));
    let listed = home.run(&["models", "local"]);
    assert_told(
        &listed,
        0,
        &["local/any", "32 k", "0.50", "1.50", "config.toml"],
    );
    let listed = home.run(&["models", "--json"]).json();
    let any = listed.iter().find(|line| line["model"] == "local/any");
    let any = any.unwrap();
    assert_eq!(
        any["window_tokens"],
        json!({"value": 32_768, "source": "person"})
    );
    assert_eq!(
        (&any["listed"], &any["tool_mode"]),
        (&json!(true), &json!("native"))
    );
}

#[test]
fn a_provider_that_is_down_says_so_and_shows_what_is_known() {
    let home = Home::new();
    home.configure(
        "[providers.local]\nformat = \"openai-chat\"\nbase_url = \"http://127.0.0.1:1/v1\"\n[models.\"local/mine\"]\nwindow_tokens = 4096\n",
    );
    let listed = home.run(&["models"]);
    assert_told(
        &listed,
        0,
        &[
            "local/mine",
            "4096",
            "Shown is what is known without it",
            "127.0.0.1:1",
        ],
    );
    let tested = home.run(&["models", "test", "local/mine"]);
    assert_told(&tested, 1, &["127.0.0.1:1"]);
}

#[test]
fn a_wrong_key_a_missing_one_and_a_name_that_is_none_are_told_apart() {
    let provider = Provider::start(Setup {
        key: Some("sk-right-key-0001".to_owned()),
        ..Setup::demo()
    });
    let home = Home::with(&provider);
    let mut wrong = home.command(&["models", "test", "local/any"]);
    wrong.env("LONGREIN_LOCAL_API_KEY", "sk-wrong-key-0002");
    let wrong = crate::support::Running::start(wrong).outcome();
    assert_told(&wrong, 1, &["key", "local"]);
    assert!(!wrong.err.contains("sk-wrong"), "{wrong}");
    home.configure(&format!("{}key = \"env:NOT_THERE\"\n", provider.config()));
    for words in [
        &["models", "test", "local/any"][..],
        &["run", &home.agent(""), "A question"],
    ] {
        assert_told(&home.run(words), 2, &["NOT_THERE"]);
    }
    let nobody = home.run(&["models", "test", "nobody/any"]);
    assert_told(&nobody, 2, &["There is no provider nobody."]);
    let no_name = home.run(&["models", "test", "any"]);
    assert_told(&no_name, 2, &["provider/model"]);
}

#[test]
fn a_model_that_the_provider_does_not_have_is_named() {
    let provider = Provider::start(Setup::of(|_| {
        let body = r#"{"error":{"message":"The model does not exist","code":"model_not_found"}}"#;
        Content::Status {
            status: 404,
            headers: Vec::new(),
            body: body.to_owned(),
        }
        .into()
    }));
    let home = Home::with(&provider);
    let tested = home.run(&["models", "test", "local/gone"]);
    assert_told(&tested, 1, &["gone", "longrein models local"]);
}

#[test]
fn a_model_that_calls_tools_only_by_schema_is_found_out_and_written_down() {
    let by_schema = r#"{"tool":"temperature","arguments":{"city":"Oslo"}}"#;
    let answers = || {
        [
            say("one two"),
            say("It is cold."),
            say("Five cents."),
            say("I see none."),
            say(by_schema),
        ]
    };
    let provider = Provider::start(Setup::scripted(answers().into_iter().chain(answers())));
    let home = Home::with(&provider);
    let tested = home.run(&["models", "test", "local/any"]);
    assert_told(
        &tested,
        0,
        &["schema mode", "--save", "tool_mode = \"schema\""],
    );
    let before = fs::read_to_string(home.data().join("config.toml")).unwrap();
    assert!(!before.contains("tool_mode"), "{before}");
    let saved = home.run(&["models", "test", "local/any", "--save", "--json"]);
    assert_eq!(saved.status, 0, "{saved}");
    let report = &saved.json()[0];
    assert_eq!(report["better_tool_mode"], "schema");
    assert_eq!(
        (&report["saved"], &report["cost"]["cost"]),
        (&json!(true), &json!("unknown"))
    );
    let after = fs::read_to_string(home.data().join("config.toml")).unwrap();
    assert!(
        after.contains("[models.\"local/any\"]\ntool_mode = \"schema\""),
        "{after}"
    );
}

#[test]
fn a_provider_is_added_only_with_a_yes() {
    let home = Home::new();
    let asked = home.run(&["models", "add", "anthropic"]);
    assert_told(&asked, 2, &["--yes"]);
    assert!(!home.data().join("config.toml").exists());
    let added = home.run(&["models", "add", "anthropic", "--yes"]);
    assert_told(
        &added,
        0,
        &["longrein models anthropic", "longrein keys set anthropic"],
    );
    let written = fs::read_to_string(home.data().join("config.toml")).unwrap();
    assert!(written.contains("[providers.anthropic]"), "{written}");
    let again = home.run(&["models", "add", "anthropic", "--yes"]);
    assert_told(&again, 2, &["already"]);
    let unknown = home.run(&["models", "add", "mine", "--format", "openai", "--yes"]);
    assert_told(&unknown, 2, &["openai", "openai-chat"]);
    let nowhere = home.run(&["models", "add", "mine", "--format", "openai-chat", "--yes"]);
    assert_told(&nowhere, 2, &["--base-url"]);
}

#[test]
fn a_price_list_that_is_none_changes_nothing() {
    let home = Home::new();
    let broken = home.write("list.json", "[]");
    let taken = home.run(&["models", "refresh", "--from", &broken]);
    assert_told(&taken, 1, &["only 0 models", "still in use"]);
    let missing = home.run(&["models", "refresh", "--from", "/nowhere/list.json"]);
    assert_told(&missing, 2, &["/nowhere/list.json"]);
    assert!(!home.data().join("model-prices.json").exists());
}

#[test]
fn an_unknown_format_is_told_with_its_line() {
    let home = Home::new();
    home.configure(
        "[providers.local]\nformat = \"openai\"\nbase_url = \"http://127.0.0.1:1/v1\"\n",
    );
    let listed = home.run(&["models"]);
    assert_told(&listed, 2, &["line 2", "openai-chat"]);
}
