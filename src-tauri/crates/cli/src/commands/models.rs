//! `models`: what can be asked, what is known of it, and how to find out more.

mod table;

use longrein_app::config::{Format, ToolMode};
use longrein_app::models::{Answer, Cost, Found, Place, ProviderModels, Tested};
use longrein_app::{AppError, DEMO_MODEL, Longrein};
use longrein_runtime::ports::CancellationToken;
use serde_json::json;

use crate::arguments::{Models, ModelsAction, ModelsAdd, ModelsRefresh, ModelsTest};
use crate::ask;
use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::screen::{Screen, Tone};
use crate::text;

/// Columns of what was asked of a model.
const QUESTION_COLUMNS: usize = 16;
/// Columns of its answer in a word.
const ANSWER_COLUMNS: usize = 9;
/// How many models of a kind are named after a refresh; the rest is counted.
const NAMED_MODELS: usize = 12;

/// `models …`.
pub async fn models(context: &Context, models: Models) -> Result<Status, Failure> {
    match models.action {
        None => list(context, models.provider).await,
        Some(ModelsAction::Test(what)) => test(context, what).await,
        Some(ModelsAction::Add(what)) => add(context, what).await,
        Some(ModelsAction::Refresh(what)) => refresh(context, what).await,
    }
}

async fn list(context: &Context, provider: Option<String>) -> Result<Status, Failure> {
    let app = context.open()?;
    let mut screen = context.screen();
    let demo = DEMO_MODEL.split_once('/').map(|(name, _)| name);
    if let Some(provider) = provider {
        if demo == Some(provider.as_str()) {
            tell_demo(&mut screen)?;
        } else {
            let found = app.models_of(&provider).await?;
            tell_models(&found, &mut screen)?;
        }
        return Ok(Status::Done);
    }
    tell_demo(&mut screen)?;
    if let Some(problem) = app.config_problem() {
        return Err(Failure::usage(problem.message, problem.remedy));
    }
    let providers: Vec<String> = app.config().providers.keys().cloned().collect();
    for provider in &providers {
        let found = app.models_of(provider).await?;
        tell_models(&found, &mut screen)?;
    }
    if providers.is_empty() {
        tell_places(context, &app, &mut screen).await?;
    }
    Ok(Status::Done)
}

fn tell_demo(screen: &mut Screen) -> Result<(), Failure> {
    if screen.is_json() {
        return screen.json(&json!({"model": DEMO_MODEL, "provider": "demo"}));
    }
    let note = screen.result_painted(Tone::Quiet, "the demonstration model: rules, no AI");
    screen.result(&format!("{DEMO_MODEL}  {note}"))
}

fn tell_models(found: &ProviderModels, screen: &mut Screen) -> Result<(), Failure> {
    if screen.is_json() {
        for line in &found.models {
            screen.json(line)?;
        }
    } else {
        table::tell(&found.models, screen)?;
    }
    if let Some(why) = &found.offline {
        let (provider, message) = (&found.provider, text::plain(&why.message));
        screen.say(&format!(
            "{provider}: {message} {}",
            text::plain(&why.remedy)
        ));
        if !found.models.is_empty() {
            screen.say("Shown is what is known without it.");
        }
    }
    Ok(())
}

/// What a person without a provider can do.
async fn tell_places(
    context: &Context,
    app: &Longrein,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let found = app.find_servers().await;
    if screen.is_json() {
        for server in &found {
            screen.json(server)?;
        }
        return Ok(());
    }
    screen.say("No provider is configured.");
    for server in &found {
        screen.say(&told(context, server));
    }
    let well_known = context.command("models add NAME");
    screen.say(&format!(
        "Add one with: {well_known}, for example anthropic, openai, google, openrouter or ollama."
    ));
    screen
        .say("Another server needs its format and base_url: in config.toml of the data folder, or");
    screen.say("with --format and --base-url.");
    Ok(())
}

fn told(context: &Context, server: &Found) -> String {
    let models = text::counted(
        u32::try_from(server.models.len()).unwrap_or(u32::MAX),
        "model",
    );
    let add = context.command(&format!("models add {}", server.name));
    let Found {
        server, base_url, ..
    } = server;
    format!("{server} answers on this machine ({base_url}, {models}). Add it with: {add}")
}

async fn test(context: &Context, what: ModelsTest) -> Result<Status, Failure> {
    let app = context.open()?;
    let mut screen = context.screen();
    screen.status(&format!("asking {}…", what.model));
    let tested = app
        .test_model(&what.model, what.cache, CancellationToken::new())
        .await;
    screen.clear_status();
    let tested = tested?;
    let saved = match tested.better.filter(|_| what.save) {
        Some(mode) => {
            app.save_tool_mode(&what.model, mode)?;
            true
        }
        None => false,
    };
    if screen.is_json() {
        screen.json(&as_json(&what.model, &tested, saved))?;
        return Ok(Status::Done);
    }
    for (question, finding) in tested.report.findings() {
        let (tone, word) = match finding.answer {
            Answer::Yes => (Tone::Good, "yes"),
            Answer::No => (Tone::Bad, "no"),
            Answer::Unknown => (Tone::Accent, "unclear"),
            Answer::Skipped => (Tone::Quiet, "not asked"),
        };
        let question = text::cell(question, QUESTION_COLUMNS);
        let word = screen.result_painted(tone, &text::cell(word, ANSWER_COLUMNS));
        screen.result(&format!(
            "{question} {word}  {}",
            text::plain(&finding.note)
        ))?;
    }
    let used = &tested.report.used;
    screen.say(&format!(
        "The questions used {} tokens in and {} out; {}.",
        text::count(used.input.into()),
        text::count(used.output.into()),
        cost_words(&tested.cost)
    ));
    advise(context, &what.model, &tested, saved, &mut screen);
    Ok(Status::Done)
}

/// What follows from the findings.
fn advise(context: &Context, model: &str, tested: &Tested, saved: bool, screen: &mut Screen) {
    let Some(mode) = tested.better else {
        if tested.report.tool_mode().is_none() {
            screen.say("It called no tool in either way: an agent can't work with it.");
        }
        return;
    };
    let name = mode.name();
    if saved {
        screen.say(&format!(
            "Written to config.toml: tool_mode = \"{name}\" under [models.\"{model}\"]."
        ));
        return;
    }
    let how = match mode {
        ToolMode::Native => "It calls tools by itself",
        ToolMode::Schema => "It calls tools only when a schema makes it",
    };
    let save = context.command(&format!("models test {} --save", text::shell_word(model)));
    screen.say(&format!(
        "{how}: write tool_mode = \"{name}\" under [models.\"{model}\"], or let this do it: {save}"
    ));
}

fn cost_words(cost: &Cost) -> String {
    match cost {
        Cost::Reported { micro_usd } => {
            format!(
                "they cost {}, as the provider says",
                text::dollars(*micro_usd)
            )
        }
        Cost::Estimated {
            micro_usd,
            price_from,
        } => format!(
            "they cost about {}, by the price from {}",
            text::dollars(*micro_usd),
            price_from.words()
        ),
        Cost::Unknown => "what they cost is not known".to_owned(),
    }
}

fn as_json(model: &str, tested: &Tested, saved: bool) -> serde_json::Value {
    let findings = tested.report.findings().map(|(question, finding)| {
        let answer = match finding.answer {
            Answer::Yes => "yes",
            Answer::No => "no",
            Answer::Unknown => "unknown",
            Answer::Skipped => "skipped",
        };
        json!({"question": question, "answer": answer, "note": finding.note})
    });
    json!({
        "model": model,
        "findings": findings,
        "used": tested.report.used,
        "cost": tested.cost,
        "tool_mode": tested.tool_mode.name(),
        "better_tool_mode": tested.better.map(ToolMode::name),
        "saved": saved,
    })
}

async fn add(context: &Context, what: ModelsAdd) -> Result<Status, Failure> {
    let app = context.open()?;
    let mut screen = context.screen();
    let format = what.format.as_deref().map(named_format).transpose()?;
    let place = app.place(&what.name, format, what.base_url)?;
    if !what.yes && !agreed(&place, &mut screen).await? {
        screen.say("Nothing was written.");
        return Ok(Status::Done);
    }
    app.add_provider(&place)?;
    if screen.is_json() {
        let Place { name, config } = &place;
        screen.json(&json!({
            "provider": name,
            "format": config.format.name(),
            "base_url": config.base_url,
        }))?;
        return Ok(Status::Done);
    }
    let list = context.command(&format!("models {}", place.name));
    screen.result(&format!("Added. Its models: {list}"))?;
    let keep = context.command(&format!("keys set {}", place.name));
    screen.say(&format!("Where it needs a key, keep it with: {keep}"));
    Ok(Status::Done)
}

/// Shows what would be written and asks.
async fn agreed(place: &Place, screen: &mut Screen) -> Result<bool, Failure> {
    if !ask::somebody_is_there(screen) {
        return Err(Failure::usage(
            format!(
                "Nobody is there to ask whether {} is to be added.",
                place.name
            ),
            "Say --yes to add it without being asked.",
        ));
    }
    for line in place.lines() {
        screen.say(&format!("  {line}"));
    }
    ask::confirmed("Write this to config.toml? [y/N]", screen).await
}

fn named_format(name: &str) -> Result<Format, Failure> {
    Format::named(name).ok_or_else(|| {
        let known = Format::ALL.map(Format::name);
        Failure::usage(
            format!("There is no format “{}”.", text::plain(name)),
            format!(
                "Known are {}.",
                longrein_core::agent_file::reader::list(&known)
            ),
        )
    })
}

async fn refresh(context: &Context, what: ModelsRefresh) -> Result<Status, Failure> {
    let app = context.open()?;
    let mut screen = context.screen();
    screen.status("taking the price list…");
    let taken: Result<_, AppError> = app.refresh_prices(what.from.as_deref()).await;
    screen.clear_status();
    let taken = taken?;
    if screen.is_json() {
        screen.json(&taken)?;
        return Ok(Status::Done);
    }
    screen.result(&format!(
        "The price list has {} now: {} new, {} gone, {} with another window or price.",
        text::counted(taken.models, "model"),
        taken.added.len(),
        taken.removed.len(),
        taken.changed.len()
    ))?;
    for (word, names) in [
        ("new", &taken.added),
        ("gone", &taken.removed),
        ("changed", &taken.changed),
    ] {
        if names.is_empty() {
            continue;
        }
        let shown: Vec<&str> = names
            .iter()
            .take(NAMED_MODELS)
            .map(String::as_str)
            .collect();
        let more = names.len().saturating_sub(NAMED_MODELS);
        let more = match more {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        screen.say(&format!("{word}: {}{more}", text::plain(&shown.join(", "))));
    }
    Ok(Status::Done)
}
