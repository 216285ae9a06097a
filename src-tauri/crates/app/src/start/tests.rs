//! What an agent needs before a run of it begins.

use std::fs;
use std::time::Duration;

use longrein_protocol::event::{Limits, Payload, Price};
use longrein_store::Log as _;
use tempfile::TempDir;

use super::NewRun;
use crate::{AppError, AppErrorCode, DEMO_MODEL, Longrein, Options};

const CONFIG: &str = r#"
[providers.local]
format = "openai-chat"
base_url = "http://127.0.0.1:9/v1"
[providers.xai]
[models."local/cheap"]
input_usd = 0.5
cached_usd = 0.05
output_usd = 1.5
[models."local/dear"]
input_usd = 0.5
output_usd = 15
"#;

fn open(agent: &str) -> (TempDir, Longrein) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir_all(data.join("agents")).unwrap();
    fs::write(data.join("config.toml"), CONFIG).unwrap();
    fs::write(data.join("agents/thrifty.agent.toml"), agent).unwrap();
    let app = Longrein::open(Options {
        data_dir: Some(data),
        pace: Duration::ZERO,
        surface: "test",
    });
    (folder, app.unwrap())
}

fn thrifty(model: &str, limits: Limits) -> NewRun {
    NewRun {
        agent: "thrifty".to_owned(),
        question: "What does it cost?".to_owned(),
        model: Some(model.to_owned()),
        limits,
        ..NewRun::default()
    }
}

/// The price that the run's first event holds, and its limits of money and steps.
async fn begun(app: &Longrein, new: NewRun) -> Result<(Option<Price>, Option<f64>, u32), AppError> {
    let driving = app.start(new).await?;
    let run = driving.run;
    driving.let_go();
    driving.ended().await;
    let events = app.store().read(run, 1, 1).await.unwrap().events;
    let Payload::RunCreated(created) = &events[0].payload else {
        panic!("a run begins with run.created, not {:?}", events[0]);
    };
    let budget = &created.agent.budget;
    Ok((created.price, budget.money_usd, budget.steps))
}

async fn refused(app: &Longrein, new: NewRun) -> String {
    let error = begun(app, new).await.unwrap_err();
    assert_eq!(error.code, AppErrorCode::Usage);
    assert!(app.runs(9, None).await.unwrap().is_empty());
    format!("{}\n{}", error.message, error.remedy)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_knows_what_its_model_costs_where_somebody_said_so() {
    let (_folder, app) = open("");
    let none = Limits::default();
    let cheap = Price {
        input: 500_000,
        cached: Some(50_000),
        output: 1_500_000,
    };
    let (price, ..) = begun(&app, thrifty("local/cheap", none)).await.unwrap();
    assert_eq!(price, Some(cheap));
    let (price, ..) = begun(&app, thrifty("local/other", none)).await.unwrap();
    assert_eq!(price, None);
    let (price, ..) = begun(&app, thrifty(DEMO_MODEL, none)).await.unwrap();
    assert_eq!(price, Some(Price::default()));
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_of_the_start_go_over_those_of_the_agent() {
    let (_folder, app) = open("[budget]\nmoney_usd = 3.0\nsteps = 7\n");
    let limits = Limits {
        money_micro: Some(1_250_000),
        ..Limits::default()
    };
    let (_, money, steps) = begun(&app, thrifty("local/cheap", limits)).await.unwrap();
    assert_eq!((money, steps), (Some(1.25), 7));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_of_money_needs_a_model_whose_price_is_known() {
    let (_folder, app) = open("[budget]\nmoney_usd = 3.0\n");
    let told = refused(&app, thrifty("local/other", Limits::default())).await;
    expect_test::expect![[r#"
        The agent thrifty has a limit of money, and what local/other costs is not known.
        Add [models."local/other"] with input_usd and output_usd to config.toml (0 where it costs nothing), or take money_usd out of [budget]."#]].assert_eq(&told);
    let (_folder, app) = open("");
    let limits = Limits {
        money_micro: Some(1),
        ..Limits::default()
    };
    refused(&app, thrifty("local/other", limits)).await;
    let list = "[model]\nuse = [\"local/cheap\", \"local/next\"]\n[budget]\nmoney_usd = 3.0\n";
    let (_folder, app) = open(list);
    let told = NewRun {
        model: None,
        ..thrifty("", Limits::default())
    };
    let told = refused(&app, told).await;
    assert!(
        told.contains("what local/next costs is not known"),
        "{told}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_of_money_is_refused_where_longer_requests_would_cost_more() {
    let window =
        |tokens: u32| format!("[model]\nwindow_tokens = {tokens}\n[budget]\nmoney_usd = 3.0\n");
    let (_folder, app) = open(&window(300_000));
    let told = refused(&app, thrifty("xai/grok-4.7", Limits::default())).await;
    assert!(told.contains("from 200000 tokens"), "{told}");
    assert!(told.contains("window_tokens = 200000"), "{told}");
    let (_folder, app) = open(&window(200_000));
    // Not begun: that would ask somebody.
    let agent = crate::agents::resolve(app.data_dir(), "thrifty").unwrap();
    let price = app.price_for(&agent, "xai/grok-4.7").unwrap();
    assert_eq!(price.map(|price| price.input), Some(2_000_000));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_run_begins_where_the_rules_of_this_machine_can_not_be_read() {
    let (_folder, app) = open("");
    fs::write(app.data_dir().join("policy.toml"), "[[rule]]\nscope = 3\n").unwrap();
    let told = refused(&app, thrifty(DEMO_MODEL, Limits::default())).await;
    assert!(told.starts_with("policy.toml has"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_judge_may_not_be_dearer_than_what_the_limit_counts_by() {
    let judged = |model: &str| {
        format!(
            "[budget]\nmoney_usd = 3.0\n[[done_when]]\njudge = \"Fair.\"\nof = \"a.md\"\nmodel = \"{model}\"\n"
        )
    };
    for model in ["local/dear", "local/other"] {
        let (_folder, app) = open(&judged(model));
        let told = refused(&app, thrifty("local/cheap", Limits::default())).await;
        assert!(told.contains(model), "{told}");
    }
    for (judge, model) in [("local/cheap", "local/dear"), ("local/dear", "local/dear")] {
        let (_folder, app) = open(&judged(judge));
        begun(&app, thrifty(model, Limits::default()))
            .await
            .unwrap();
    }
}
