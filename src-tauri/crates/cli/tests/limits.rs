//! What stops a run by itself: circles, limits, and a claim that does not hold.

use longrein_runtime::ports::ReplyBlock;
use longrein_testkit::provider::{Content, Setup};
use longrein_testkit::reply::reply_of;
use longrein_testkit::say;
use serde_json::{Value, json};

use crate::support::{Home, Outcome, Provider, of_type};

const FILES: &str = "[tools]\nallow = [\"files\"]\n";

/// A model that never comes to an end: it asks for what `arguments` makes of the count of replies.
fn endless(tool: &'static str, arguments: fn(u32) -> Value) -> Setup {
    Setup::of(move |request| {
        let block = ReplyBlock::ToolUse {
            id: format!("call_{}", request.replies()),
            name: tool.to_owned(),
            arguments: arguments(request.replies()).to_string(),
            raw: None,
        };
        Content::Reply(reply_of(vec![block], request)).into()
    })
}

/// A model that writes one file after the other.
fn writing() -> Setup {
    endless("write_file", |count| {
        let content = format!("Note {count}: {}", "words ".repeat(40));
        json!({"path": format!("notes/{count}.md"), "content": content})
    })
}

/// Checks that a run was handed off with these words, and says how to go on.
fn assert_handed_off(outcome: &Outcome, words: &[&str]) {
    assert_eq!(outcome.status, 3, "{outcome}");
    for words in words.iter().chain(&["Handed off"]) {
        assert!(outcome.out.contains(words), "{words}: {outcome}");
    }
}

#[test]
fn a_model_that_does_the_same_for_ever_is_told_and_then_stopped() {
    let provider = Provider::start(endless("list_files", |_| json!({"path": "."})));
    let home = Home::with(&provider);
    let run = home.run(&["run", &home.agent(FILES), "Look around."]);
    let id = run.run_id();
    let say = format!("longrein resume {id} \"…\"");
    assert_handed_off(&run, &["list_files gave the same result 5 times", &say]);
    assert_eq!(provider.mock.count(), 5);
    let told = &provider.mock.seen()[3];
    assert!(told.contains("has now given the same result 3 times"));
    assert_eq!(of_type(&home.events(&id), "loop.detected").len(), 3);
    assert!(
        run.out.contains("A step took"),
        "what it costs to go on: {run}"
    );
}

#[test]
fn a_run_stops_before_its_limit_of_tokens_by_the_provider_s_own_count() {
    let provider = Provider::start(writing());
    let home = Home::with(&provider);
    let run = home.run(&[
        "run",
        &home.agent(FILES),
        "Write.",
        "--max-tokens-in",
        "60000",
        "--max-tokens-out",
        "5000",
    ]);
    let id = run.run_id();
    assert_handed_off(
        &run,
        &["The limit of input tokens is reached", "--max-tokens-in"],
    );
    let (tokens_in, tokens_out) = provider.mock.tokens();
    assert!(
        tokens_in <= 60_000 && tokens_out <= 5_000,
        "{tokens_in} {tokens_out}"
    );
    assert!(
        tokens_in > 30_000,
        "it stops no earlier than it has to: {tokens_in}"
    );
    assert!(run.err.contains("budget · "), "it was warned: {run}");
    let events = home.events(&id);
    assert_eq!(events[0]["agent"]["budget"]["tokens_in"], 60_000);

    let before = home.events(&id);
    for (limit, words) in [
        ("100", "leaves nothing"),
        ("60000", "would stop the run at once"),
    ] {
        let refused = home.run(&["resume", &id, "--max-tokens-in", limit]);
        assert_eq!(refused.status, 2, "{refused}");
        assert!(refused.err.contains(words), "{words}: {refused}");
    }
    assert_eq!(home.events(&id), before);
    let raised = home.run(&["resume", &id, "--max-tokens-in", "120000"]);
    assert_handed_off(&raised, &["The limit of input tokens is reached"]);
    assert!(
        raised
            .err
            .contains("budget · New limits, set from the command line"),
        "{raised}"
    );
    let (all, _) = provider.mock.tokens();
    assert!((tokens_in + 1..=120_000).contains(&all), "{all}");
    home.assert_whole();
}

#[test]
fn a_run_stops_before_it_costs_more_than_it_may() {
    let provider = Provider::start(writing());
    let home = Home::new();
    // A million tokens in cost one dollar and out two: a token in is a millionth of a dollar.
    let price = "[models.\"local/any\"]\ninput_usd = 1.0\noutput_usd = 2.0\n";
    home.configure(&format!("{}\n{price}", provider.config()));
    let run = home.run(&["run", &home.agent(FILES), "Write.", "--max-cost", "0.06"]);
    let id = run.run_id();
    assert_handed_off(&run, &["The limit of money is reached", "--max-cost"]);
    let (tokens_in, tokens_out) = provider.mock.tokens();
    let micro = tokens_in + 2 * tokens_out;
    assert!(micro <= 60_000, "it cost {micro} millionths of a dollar");
    assert!(
        micro > 25_000,
        "it stops no earlier than it has to: {micro}"
    );
    let line = &home.runs()[0];
    assert_eq!(line["cost_micro"], micro, "{line}");
    assert!(run.fact("cost").contains(" of $0.06"), "{run}");
    let listed = home.run(&["runs"]);
    assert!(listed.out.contains("$0.0"), "{listed}");
    let raised = home.run(&["resume", &id, "--max-cost", "0.1"]);
    assert_handed_off(&raised, &["The limit of money is reached"]);
    let (tokens_in, tokens_out) = provider.mock.tokens();
    assert!(tokens_in + 2 * tokens_out <= 100_000);
}

#[test]
fn a_limit_of_money_needs_a_price_and_nothing_is_begun_without_one() {
    let provider = Provider::start(writing());
    let home = Home::with(&provider);
    let run = home.run(&["run", &home.agent(FILES), "Write.", "--max-cost", "2"]);
    assert_eq!(run.status, 2, "{run}");
    assert!(run.err.contains("[models.\"local/any\"]"), "{run}");
    assert!(home.runs().is_empty());
    for cost in ["0", "2,50", "-1"] {
        let run = home.run(&["run", &home.agent(FILES), "Write.", "--max-cost", cost]);
        assert_eq!(run.status, 2, "{run}");
    }
}

#[test]
fn a_limit_of_steps_or_actions_given_at_the_start_is_the_run_s_own() {
    let provider = Provider::start(writing());
    let home = Home::with(&provider);
    let run = home.run(&["run", &home.agent(FILES), "Write.", "--max-steps", "2"]);
    let id = run.run_id();
    assert_handed_off(&run, &["The limit of steps is reached", "--max-steps "]);
    assert_eq!(provider.mock.count(), 2);
    let less = home.run(&["resume", &id, "--max-steps", "2"]);
    assert_eq!(less.status, 2, "{less}");
    assert!(less.err.contains("Used already: 2 steps."), "{less}");
    let more = home.run(&["resume", &id, "--max-steps", "9", "--max-actions", "4"]);
    assert_handed_off(&more, &["The limit of actions is reached"]);
    let started = home.events(&id);
    assert_eq!(of_type(&started, "action.started").len(), 4);
}

#[test]
fn done_without_the_file_goes_back_with_the_difference_and_is_handed_off_after_its_attempts() {
    let provider = Provider::start(Setup::scripted((0..4).map(|_| say("I am done."))));
    let home = Home::with(&provider);
    let agent = home.agent("[tools]\nallow = [\"files\"]\n\n[[done_when]]\nfile = \"page.md\"\n");
    let run = home.run(&["run", &agent, "Write the page."]);
    let id = run.run_id();
    let accept = format!("longrein accept {id}");
    assert_handed_off(
        &run,
        &["checked 3 times and does not hold", "page.md", &accept],
    );
    assert_eq!(provider.mock.count(), 3);
    for seen in &provider.mock.seen()[1..] {
        assert!(seen.contains("the work is not done") && seen.contains("page.md"));
    }
    let taken = home.run(&["accept", &id]);
    assert_eq!(taken.status, 0, "{taken}");
    assert_eq!(
        home.runs()[0]["state"],
        "unverified",
        "taken as it is, not accepted"
    );
}
