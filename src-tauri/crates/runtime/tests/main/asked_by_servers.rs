//! What servers ask the person while an action uses them.

use std::sync::Arc;
use std::time::Duration;

use expect_test::expect;
use longrein_core::run::{ActionStage, Phase, Run};
use longrein_protocol::event::{HandoffReason, Outcome, Payload};
use longrein_protocol::gate::Surface;
use longrein_protocol::question::{Field, FieldKind, QUESTIONS_PER_ACTION, Replied, Reply, Wants};
use longrein_protocol::tool::{Effect, Repeat};
use longrein_protocol::view::RunState;
use longrein_protocol::wish::Wish;
use longrein_runtime::Driver;
use longrein_runtime::ports::{Answer, Question};
use longrein_testkit::{FakeTool, ScriptedModel, TestWorld, call, say};
use serde_json::{Map, Value, json};

use crate::stage::{Stage, count, handed_off};

/// How long the person takes: longer than the tool may.
const LONG: Duration = Duration::from_secs(600);

fn form() -> Question {
    Question {
        server: "s".to_owned(),
        message: "Which city?".to_owned(),
        wants: Wants::Form {
            fields: vec![Field {
                name: "city".to_owned(),
                title: "City".to_owned(),
                description: String::new(),
                required: true,
                default: None,
                kind: FieldKind::Text {
                    min_letters: Some(2),
                    max_letters: None,
                    format: None,
                },
            }],
        },
    }
}

fn asking(repeat: Repeat, questions: usize) -> (Stage, Arc<FakeTool>) {
    let effect = match repeat {
        Repeat::Repeatable => Effect::Read,
        _ => Effect::Workspace,
    };
    let tool = FakeTool::new("book", effect, repeat).asking(vec![form(); questions]);
    let tool = Arc::new(tool);
    let script = [call("book", json!({})), say("Done.")];
    let model = Arc::new(ScriptedModel::by_progress(script));
    let stage = Stage::new(TestWorld::new(model, [tool.clone()]));
    (stage, tool)
}

fn reply(run: &Run, number: u32, answer: Reply) -> Wish {
    Wish::Reply {
        action: run.actions[0].id.clone(),
        number,
        answer,
        from: Surface::Window,
    }
}

fn given(values: Value) -> Reply {
    Reply::Given {
        values: serde_json::from_value(values).unwrap(),
    }
}

/// Drives a new run until its server has asked, and further for as long as `LONG` takes.
async fn until_asked(stage: &mut Stage) -> Driver {
    let agent = stage.world.agent();
    let mut driver = stage.begin(agent, "Book it.").await.unwrap();
    let asked = tokio::time::timeout(LONG, driver.drive(false)).await;
    assert!(asked.is_err(), "it waits for the person");
    assert_eq!(driver.run().line().state, RunState::Waiting);
    assert_eq!(
        count(&stage.events(), "question.asked"),
        1,
        "before anybody sees it"
    );
    driver
}

#[tokio::test(start_paused = true)]
async fn a_servers_question_waits_for_the_person_and_its_answer_is_on_disk_before_it_is_sent() {
    let (mut stage, tool) = asking(Repeat::Once, 1);
    let mut driver = until_asked(&mut stage).await;
    stage
        .wish(reply(driver.run(), 1, given(json!({"city": "Bern"}))))
        .await;
    driver.waker().wake();
    driver.drive(false).await.unwrap();
    assert_eq!(driver.run().phase, Phase::Finished(Outcome::Unverified));
    let Reply::Given { values } = given(json!({"city": "Bern"})) else {
        panic!("values expected");
    };
    assert_eq!(tool.answers(), [Answer::Reply(Reply::Given { values })]);
    expect![[r#"
        action.started
        question.asked
        question.answered
        action.finished"#]]
    .assert_eq(&of_the_action(&stage));
    // The limit of the tool is a minute, and neither it nor the working time went on meanwhile.
    assert!(driver.run().used.working_ms < 1_000);
    let finished = stage
        .events()
        .into_iter()
        .find_map(|event| match event.payload {
            Payload::ActionFinished(finished) => Some(finished),
            _ => None,
        });
    assert_eq!(finished.unwrap().error, None);
}

fn of_the_action(stage: &Stage) -> String {
    let story = stage.story();
    let lines = story.lines().filter(|line| {
        line.starts_with("question.") || *line == "action.started" || *line == "action.finished"
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_fit_the_form_reaches_no_server() {
    let (mut stage, tool) = asking(Repeat::Once, 1);
    let mut driver = until_asked(&mut stage).await;
    for bad in [
        given(json!({"city": "B"})),
        given(json!({"town": "Bern"})),
        given(json!({})),
    ] {
        stage.wish(reply(driver.run(), 1, bad)).await;
    }
    stage.wish(reply(driver.run(), 2, Reply::Declined)).await;
    driver.waker().wake();
    let waits = tokio::time::timeout(LONG, driver.drive(false)).await;
    assert!(waits.is_err() && tool.answers().is_empty());
    // Words are an answer too, where they fit.
    let action = driver.run().actions[0].id.clone();
    let answer = |text: &str| Wish::Answer {
        action: action.clone(),
        text: text.to_owned(),
        from: Surface::Command,
    };
    stage.wish(answer("B")).await;
    stage.wish(answer("Bern")).await;
    driver.waker().wake();
    driver.drive(false).await.unwrap();
    assert_eq!(tool.answers().len(), 1);
    assert_eq!(count(&stage.events(), "question.answered"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_person_declines_or_gives_no_answer_and_the_call_goes_on() {
    for (answer, replied) in [
        (Reply::Declined, Replied::Declined),
        (Reply::Dismissed, Replied::Dismissed),
    ] {
        let (mut stage, tool) = asking(Repeat::Once, 1);
        let mut driver = until_asked(&mut stage).await;
        stage.wish(reply(driver.run(), 1, answer.clone())).await;
        driver.waker().wake();
        driver.drive(false).await.unwrap();
        assert_eq!(tool.answers(), [Answer::Reply(answer)]);
        let said = stage
            .events()
            .into_iter()
            .find_map(|event| match event.payload {
                Payload::QuestionAnswered(said) => said.replied,
                _ => None,
            });
        assert_eq!(said, Some(replied));
    }
}

#[tokio::test(start_paused = true)]
async fn when_the_process_ends_while_a_server_asks_the_question_is_withdrawn_with_a_word() {
    for repeat in [Repeat::Repeatable, Repeat::Once] {
        let (mut stage, tool) = asking(repeat, 1);
        drop(until_asked(&mut stage).await);
        stage.reopen();
        let mut driver = stage.take_up().await.unwrap();
        let driven = tokio::time::timeout(LONG, driver.drive(false)).await;
        assert_eq!(count(&stage.events(), "question.withdrawn"), 1);
        match repeat {
            // The call is made again, and the server asks again.
            Repeat::Repeatable => {
                assert!(driven.is_err());
                assert_eq!(driver.run().actions[0].stage, ActionStage::Started);
                let second = reply(driver.run(), 2, given(json!({"city": "Bern"})));
                stage.wish(second).await;
                driver.waker().wake();
                driver.drive(false).await.unwrap();
                assert_eq!(tool.answers().len(), 1);
            }
            // Nobody knows what the server did before it asked.
            _ => {
                driven.unwrap().unwrap();
                assert_eq!(handed_off(driver.run()), Some(HandoffReason::Uncertain));
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn cancelling_the_run_withdraws_what_a_server_asks() {
    let (mut stage, tool) = asking(Repeat::Once, 1);
    let mut driver = until_asked(&mut stage).await;
    stage.wish(Wish::Cancel).await;
    driver.waker().wake();
    driver.drive(false).await.unwrap();
    assert_eq!(driver.run().phase, Phase::Cancelled);
    assert_eq!(count(&stage.events(), "question.withdrawn"), 1);
    assert_eq!(count(&stage.events(), "action.uncertain"), 1);
    assert!(tool.answers().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_without_end_is_no_longer_heard() {
    let limit = QUESTIONS_PER_ACTION as usize;
    let (mut stage, tool) = asking(Repeat::Once, limit + 3);
    let mut driver = until_asked(&mut stage).await;
    for number in 1..=QUESTIONS_PER_ACTION {
        stage
            .wish(reply(driver.run(), number, Reply::Declined))
            .await;
        driver.waker().wake();
        let _ = tokio::time::timeout(Duration::from_secs(1), driver.drive(false)).await;
    }
    assert_eq!(driver.run().phase, Phase::Finished(Outcome::Unverified));
    assert_eq!(tool.answers().len(), limit + 3);
    let nobody = |answer: &&Answer| matches!(answer, Answer::Nobody(_));
    assert_eq!(tool.answers().iter().filter(nobody).count(), 3);
    assert_eq!(count(&stage.events(), "question.refused"), 1, "said once");
}

#[tokio::test(start_paused = true)]
async fn a_secret_that_is_typed_into_a_form_reaches_neither_the_log_nor_the_server() {
    let (stage, tool) = asking(Repeat::Once, 1);
    let world = Arc::into_inner(stage.world)
        .unwrap()
        .knowing(["sesame-sesame".to_owned()]);
    let mut stage = Stage::new(world);
    let mut driver = until_asked(&mut stage).await;
    let typed = given(json!({"city": "sesame-sesame"}));
    stage.wish(reply(driver.run(), 1, typed)).await;
    driver.waker().wake();
    driver.drive(false).await.unwrap();
    let masked = Map::from_iter([("city".to_owned(), Value::from("*************"))]);
    assert_eq!(
        tool.answers(),
        [Answer::Reply(Reply::Given { values: masked })]
    );
    for event in stage.events() {
        let line = serde_json::to_string(&event).unwrap();
        assert!(!line.contains("sesame-sesame"), "{line}");
    }
}
