//! `models` and `doctor`: what this machine offers.

use std::path::PathBuf;

use longrein_app::doctor::{self, FindingState};
use longrein_app::{DEMO_MODEL, Longrein, Paths};
use serde_json::json;

use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::screen::{Screen, Tone};
use crate::text;

/// Columns of what was looked at.
const WHAT_COLUMNS: usize = 22;

/// `models`.
pub async fn models(context: &Context, provider: Option<String>) -> Result<Status, Failure> {
    let app = context.open()?;
    let mut screen = context.screen();
    if let Some(provider) = provider {
        if DEMO_MODEL
            .split_once('/')
            .is_some_and(|(name, _)| name == provider)
        {
            tell_demo(&mut screen)?;
        } else {
            tell_models(&app, &provider, &mut screen).await?;
        }
        return Ok(Status::Done);
    }
    tell_demo(&mut screen)?;
    if let Some(problem) = app.config_problem() {
        return Err(Failure::usage(problem.message, problem.remedy));
    }
    let providers: Vec<String> = app.config().providers.keys().cloned().collect();
    for provider in &providers {
        match tell_models(&app, provider, &mut screen).await {
            Ok(()) => {}
            // One provider that does not answer hides none of the others.
            Err(Failure::Said {
                message, remedy, ..
            }) => {
                screen.say(&format!(
                    "{provider}: {} {}",
                    text::plain(&message),
                    text::plain(&remedy)
                ));
            }
            Err(unread) => return Err(unread),
        }
    }
    if providers.is_empty() {
        screen.say("No provider is configured: add [providers.local] with format and base_url to");
        screen.say(&app.data_dir().join("config.toml").display().to_string());
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

async fn tell_models(app: &Longrein, provider: &str, screen: &mut Screen) -> Result<(), Failure> {
    let models = app.provider_models(provider).await?;
    for model in models {
        let name = format!("{provider}/{}", text::plain(&model));
        if screen.is_json() {
            screen.json(&json!({"model": name, "provider": provider}))?;
        } else {
            screen.result(&name)?;
        }
    }
    Ok(())
}

/// `doctor`.
pub async fn doctor(context: &Context) -> Result<Status, Failure> {
    let mut screen = context.screen();
    let findings = match context.try_open() {
        Ok(app) => app.doctor().await,
        Err(error) => {
            let paths = Paths::find(context.data_dir().map(PathBuf::as_path))?;
            doctor::look_from_outside(&paths, &error)
        }
    };
    for finding in &findings {
        if screen.is_json() {
            screen.json(finding)?;
            continue;
        }
        let (tone, word) = match finding.state {
            FindingState::Good => (Tone::Good, "good   "),
            FindingState::Limited => (Tone::Accent, "limited"),
            FindingState::Bad => (Tone::Bad, "bad    "),
        };
        let word = screen.result_painted(tone, word);
        let what = text::cell(&finding.what, WHAT_COLUMNS);
        screen.result(&format!("{word}  {what} {}", text::plain(&finding.seen)))?;
        if !finding.remedy.is_empty() {
            let remedy = text::plain(&finding.remedy);
            screen.result(&format!("         {} {remedy}", " ".repeat(WHAT_COLUMNS)))?;
        }
    }
    let is_bad = findings
        .iter()
        .any(|finding| finding.state == FindingState::Bad);
    Ok(if is_bad { Status::Failed } else { Status::Done })
}
