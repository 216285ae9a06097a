//! How models are reached, and what is known of them.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::thread;
use std::time::Duration;

use longrein_keys::SecretText;
use longrein_models::catalogue::{Sourced, UsdPrice};
use longrein_protocol::block::{ModelErrorClass, Usage};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::config;
use crate::{Longrein, Options};

const CONFIG: &str = r#"
[providers.openai]
[providers.anthropic]
[providers.local]
format = "openai-chat"
base_url = "http://127.0.0.1:9/v1"
tool_mode = "schema"
[models."anthropic/claude-opus-5-5"]
window_tokens = 200_000
[models."local/native"]
tool_mode = "native"
"#;

fn models(config: &str) -> (TempDir, Models) {
    let folder = tempfile::tempdir().unwrap();
    let config = Current::new(config::check(config).config.unwrap());
    let keys = Keys::new(folder.path(), config.clone());
    let models = Models::new(folder.path(), config, keys, Duration::ZERO);
    (folder, models)
}

#[test]
fn what_the_person_says_goes_first_then_the_table_then_the_price_list_then_the_server() {
    let (_folder, models) = models(CONFIG);
    let known = models.known("anthropic/claude-opus-5-5");
    let window = known.window_tokens.unwrap();
    assert_eq!((window.value, window.source), (200_000, Source::Person));
    assert_eq!(known.max_output_tokens.unwrap().source, Source::Table);
    // Not in our own table.
    let known = models.known("openai/gpt-4o");
    assert_eq!(known.price.unwrap().source, Source::PriceList);
    let served = Facts {
        window_tokens: Some(8_192),
        ..Facts::default()
    };
    models.learn("openai/gpt-4o", served);
    models.learn("local/any", served);
    let window = models.known("openai/gpt-4o").window_tokens.unwrap();
    assert_eq!(window.source, Source::PriceList);
    let window = models.known("local/any").window_tokens.unwrap();
    assert_eq!((window.value, window.source), (8_192, Source::Server));
    assert_eq!(models.known("local/other"), Known::default());
}

#[test]
fn a_run_is_told_what_a_model_takes_and_costs() {
    let (_folder, models) = models(CONFIG);
    let facts = models.facts("anthropic/claude-opus-5-5");
    assert_eq!(facts.window_tokens, Some(200_000));
    // What is read anew is written to the cache.
    assert_eq!(facts.price.map(|price| price.input), Some(5_000_000));
    assert_eq!(facts.takes.images, Some(true));
    assert_eq!(facts.answers_by_schema, Some(true));
    assert_eq!(models.facts("local/any").answers_by_schema, Some(true));
    assert_eq!(models.facts("local/native").answers_by_schema, None);
    assert_eq!(models.facts("local/native").price, None);
    assert_eq!(models.facts(DEMO_MODEL).price, Some(Price::default()));
}

#[test]
fn a_name_that_means_nothing_says_what_to_do() {
    let (_folder, models) = models(CONFIG);
    let refused = |name: &str| models.model(name).err().unwrap();
    for (name, remedy) in [
        ("local", "provider/model"),
        ("demo/other", "demo/researcher"),
        ("mistral/any", "longrein models add mistral"),
        ("nobody/any", "[providers.nobody]"),
    ] {
        let error = refused(name);
        assert_eq!(error.class, ModelErrorClass::UnknownModel);
        assert!(error.remedy.contains(remedy), "{error:?}");
    }
    assert!(models.model("anthropic/anything-new").is_ok());
}

#[test]
fn one_key_has_one_pace_and_another_key_another() {
    let (_folder, models) = models(CONFIG);
    let [one, other] = ["sk-one", "sk-other"].map(SecretText::new);
    let reach = models.reach("openai/a").unwrap();
    let count = || models.0.paces.lock().unwrap().len();
    models.pace(&reach, Some(&one));
    models.pace(&models.reach("openai/b").unwrap(), Some(&one));
    assert_eq!(count(), 1);
    models.pace(&reach, Some(&other));
    assert_eq!(count(), 2);
    models.pace(&models.reach("local/a").unwrap(), None);
    models.pace(&models.reach("local/b").unwrap(), None);
    assert_eq!(count(), 3);
}

#[test]
fn a_cost_is_as_the_provider_says_else_by_the_price_else_unknown() {
    let price = Sourced {
        value: UsdPrice {
            input_usd: 1.0,
            output_usd: 2.0,
            ..UsdPrice::default()
        },
        source: Source::Table,
    };
    let usage = Usage {
        input: 1_000,
        output: 100,
        ..Usage::default()
    };
    let reported = Usage {
        cost_micro: Some(7),
        ..usage
    };
    assert_eq!(
        Cost::of(&reported, Some(&price)),
        Cost::Reported { micro_usd: 7 }
    );
    assert_eq!(
        Cost::of(&usage, Some(&price)),
        Cost::Estimated {
            micro_usd: 1_200,
            price_from: Source::Table
        }
    );
    assert_eq!(Cost::of(&usage, None), Cost::Unknown);
}

fn open(folder: &Path, config: &str) -> Longrein {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("config.toml"), config).unwrap();
    Longrein::open(Options {
        data_dir: Some(folder.to_path_buf()),
        pace: Duration::ZERO,
        surface: "test",
    })
    .unwrap()
}

/// A price list with so many models of OpenAI.
fn price_list(count: u32, usd: f64) -> String {
    let models: Vec<Value> = (0..count)
        .map(|number| {
            json!({
                "id": format!("m{number}"),
                "match": {"equals": format!("m{number}")},
                "context_window": 9_000,
                "prices": {"input_mtok": usd, "output_mtok": 2.0},
            })
        })
        .collect();
    let provider = json!({
        "id": "openai",
        "name": "OpenAI",
        "api_pattern": "https://api\\.openai\\.com",
        "models": models,
    });
    json!([provider]).to_string()
}

#[tokio::test]
async fn a_price_list_is_checked_whole_before_it_takes_the_place_of_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let app = open(&data, CONFIG);
    let list = folder.path().join("list.json");
    let from = list.to_string_lossy().into_owned();
    fs::write(&list, price_list(150, 1.0)).unwrap();
    let taken = app.refresh_prices(Some(&from)).await.unwrap();
    assert_eq!((taken.models, taken.added.len()), (150, 150));
    assert!(taken.removed.len() > 500, "what ships is far longer");
    let price = app.known_of("openai/m7").price.unwrap();
    assert_eq!(
        (price.value.input_usd, price.source),
        (1.0, Source::PriceList)
    );
    // Whatever is wrong with the next one, this one stays.
    for broken in ["<html>", "[]", &price_list(3, 5.0)] {
        fs::write(&list, broken).unwrap();
        let error = app.refresh_prices(Some(&from)).await.unwrap_err();
        assert_eq!(error.code, AppErrorCode::Refused, "{error:?}");
        assert!(error.remedy.contains("still in use"), "{error:?}");
    }
    for unfit in ["/nowhere/list.json", "/dev/zero"] {
        let error = app.refresh_prices(Some(unfit)).await.unwrap_err();
        assert_eq!(error.code, AppErrorCode::Usage, "{error:?}");
    }
    assert_eq!(
        app.known_of("openai/m7").price.unwrap().value.input_usd,
        1.0
    );
    // It is there for the next process too.
    drop(app);
    let app = open(&data, CONFIG);
    assert_eq!(
        app.known_of("openai/m7").price.unwrap().value.input_usd,
        1.0
    );
    fs::write(&list, price_list(151, 3.0)).unwrap();
    let taken = app.refresh_prices(Some(&from)).await.unwrap();
    assert_eq!((taken.added.len(), taken.changed.len()), (1, 150));
}

/// A server that answers each path with a text, until the test ends. Gives its address.
fn server(answers: &'static [(&'static str, &'static str)]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut head = [0; 8_192];
            let read = stream.read(&mut head).unwrap_or(0);
            let head = String::from_utf8_lossy(&head[..read]).into_owned();
            let path = head.split_whitespace().nth(1).unwrap_or_default();
            let known = answers.iter().find(|(known, _)| path == *known);
            let (status, body) = match known {
                Some((_, body)) => ("200 OK", *body),
                None => ("404 Not Found", "{}"),
            };
            let length = body.len();
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            );
        }
    });
    format!("http://{address}/v1")
}

fn agent(window_tokens: u32) -> longrein_protocol::agent::AgentSpec {
    let text = format!(
        "[model]\nuse = [\"ollama/small\"]\nwindow_tokens = {window_tokens}\nmax_output_tokens = 1024\n"
    );
    longrein_core::agent_file::parse(&text, "test").unwrap()
}

#[tokio::test]
async fn no_run_begins_that_ollama_would_cut_without_a_word() {
    let address = server(&[
        ("/api/show", r#"{"model_info":{"x.context_length":40960}}"#),
        (
            "/api/ps",
            r#"{"models":[{"name":"small:latest","context_length":4096}]}"#,
        ),
    ]);
    let (_folder, models) = models(&format!("[providers.ollama]\nbase_url = \"{address}\""));
    let error = models.ready(&agent(32_768), "ollama/small").await;
    let error = error.unwrap_err();
    assert_eq!(error.code, AppErrorCode::Usage);
    assert!(error.message.contains("last 4096 tokens"), "{error:?}");
    assert!(
        error.remedy.contains("OLLAMA_CONTEXT_LENGTH=32768"),
        "{error:?}"
    );
    assert!(models.ready(&agent(4_096), "ollama/small").await.is_ok());
}

#[tokio::test]
async fn a_server_on_this_machine_is_asked_how_much_it_reads() {
    let address = server(&[(
        "/v1/models",
        r#"{"data":[{"id":"small","owned_by":"llamacpp","meta":{"n_ctx":8192}}]}"#,
    )]);
    let (_folder, models) = models(&format!("[providers.llama]\nbase_url = \"{address}\""));
    models.ready(&agent(32_768), "llama/small").await.unwrap();
    let window = models.known("llama/small").window_tokens.unwrap();
    assert_eq!((window.value, window.source), (8_192, Source::Server));
}

#[tokio::test]
async fn a_provider_that_is_down_still_shows_what_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let app = open(
        folder.path(),
        "[providers.local]\nformat = \"openai-chat\"\nbase_url = \"http://127.0.0.1:1/v1\"\n[models.\"local/mine\"]\nwindow_tokens = 4096\n",
    );
    let found = app.models_of("local").await.unwrap();
    assert_eq!(found.offline.unwrap().code, AppErrorCode::Refused);
    let names: Vec<&str> = found
        .models
        .iter()
        .map(|line| line.model.as_str())
        .collect();
    assert_eq!(names, ["local/mine"]);
    let error = app.models_of("nobody").await.unwrap_err();
    assert_eq!(error.code, AppErrorCode::Usage);
}

#[tokio::test]
async fn a_well_known_provider_is_added_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let app = open(folder.path(), "# mine\n[ui]\ntheme = \"dark\"\n");
    let place = app.place("anthropic", None, None).unwrap();
    assert_eq!(place.lines()[1], "format = \"anthropic\"");
    app.add_provider(&place).unwrap();
    assert!(app.config().providers.contains_key("anthropic"));
    let twice = app.place("anthropic", None, None).unwrap_err();
    assert!(twice.message.contains("already"), "{twice:?}");
    let unknown = app.place("mine", None, None).unwrap_err();
    assert!(unknown.remedy.contains("--format"), "{unknown:?}");
    let nowhere = app.place("mine", Some(Format::OpenAiChat), None);
    assert!(nowhere.unwrap_err().remedy.contains("--base-url"));
    app.save_tool_mode("anthropic/x", ToolMode::Native).unwrap();
    let text = fs::read_to_string(folder.path().join("config.toml")).unwrap();
    assert!(text.starts_with("# mine\n"), "{text}");
    assert!(
        text.contains("[models.\"anthropic/x\"]\ntool_mode = \"native\""),
        "{text}"
    );
}
