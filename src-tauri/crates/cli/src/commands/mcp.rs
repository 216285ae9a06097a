//! `mcp`: the servers whose tools agents may use.

mod told;

use std::collections::BTreeMap;

use async_trait::async_trait;
use longrein_app::Longrein;
use longrein_app::config::{EnvValue, HeaderText, McpConfig, SecretReference, SignInConfig};
use longrein_app::mcp::{Browser, BrowserError, PRESETS, Preset, Standing, conformance};
use longrein_keys::SecretName;
use serde_json::json;

use crate::arguments::{self, McpAction, McpAdd, McpApprove};
use crate::ask;
use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::screen::Screen;
use crate::text;

/// The suite's variable that carries what a scenario gives besides the address.
const CONTEXT_VARIABLE: &str = "MCP_CONFORMANCE_CONTEXT";

/// What may stand before a secret in a header.
const BEARER: &str = "Bearer ";

/// `mcp …`.
pub async fn mcp(context: &Context, mcp: arguments::Mcp) -> Result<Status, Failure> {
    let action = mcp.action.unwrap_or(McpAction::List);
    if let McpAction::Conformance(scenario) = action {
        return play(scenario.url).await;
    }
    let app = context.open()?;
    if let Some(problem) = app.config_problem() {
        return Err(Failure::usage(problem.message, problem.remedy));
    }
    let mut screen = context.screen();
    match action {
        McpAction::List => list(&app, &mut screen).await,
        McpAction::Add(add) => added(context, &app, &add, &mut screen).await,
        McpAction::Remove(server) => {
            app.remove_server(&server.name).await?;
            said(&mut screen, &server.name, "removed", "Removed")
        }
        McpAction::Test(server) => {
            let looked = app.look_at_server(&server.name).await?;
            told::looked(context, &server.name, &looked, &mut screen)
        }
        McpAction::Approve(approve) => approved(&app, &approve, &mut screen).await,
        McpAction::Login(server) => {
            app.sign_in_to_server(&server.name, &PersonsBrowser).await?;
            said(&mut screen, &server.name, "signed_in", "Signed in to")
        }
        McpAction::Logout(server) => {
            let was_there = app.sign_out_of_server(&server.name).await?;
            if !was_there {
                screen.say("There was no sign-in to forget.");
            }
            said(&mut screen, &server.name, "signed_out", "Signed out of")
        }
        McpAction::Conformance(_) => Ok(Status::Done),
    }
}

/// What was done to one server.
fn said(screen: &mut Screen, name: &str, key: &str, words: &str) -> Result<Status, Failure> {
    if screen.is_json() {
        screen.json(&json!({"server": name, key: true}))?;
    } else {
        screen.result(&format!("{words} {}", text::plain(name)))?;
    }
    Ok(Status::Done)
}

/// Shows what has changed, asks, and approves exactly what was shown.
async fn approved(
    app: &Longrein,
    approve: &McpApprove,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    let name = approve.name.as_str();
    let (looked, definitions) = app.look_to_approve(name).await?;
    if !matches!(looked.standing, Standing::Changed(_)) {
        screen.say("It says of its tools what you approved.");
        return said(screen, name, "approved", "Nothing was to be approved of");
    }
    if !approve.yes {
        if !ask::somebody_is_there(screen) {
            return Err(Failure::usage(
                "Nobody is there to say yes to what has changed.",
                "Read it with mcp test, then add --yes.",
            ));
        }
        told::changed(&looked, screen)?;
        if !ask::confirmed("Approve this? y/N:", screen).await? {
            screen.say("Nothing was approved.");
            return Ok(Status::Parked);
        }
    }
    app.approve_looked(name, &definitions)?;
    said(screen, name, "approved", "Approved")
}

async fn list(app: &Longrein, screen: &mut Screen) -> Result<Status, Failure> {
    let config = app.config();
    for (name, server) in &config.mcp {
        let signed_in = app.is_signed_in_to_server(name).await.unwrap_or(None);
        told::server(name, server, signed_in, screen)?;
    }
    let others = PRESETS
        .iter()
        .filter(|preset| !config.mcp.contains_key(preset.name));
    told::presets(others, config.mcp.is_empty(), screen)?;
    Ok(Status::Done)
}

async fn added(
    context: &Context,
    app: &Longrein,
    add: &McpAdd,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    let mut config = match (&add.url, add.command.is_empty()) {
        (None, true) => preset(app, add).await?,
        _ => written(add)?,
    };
    config.trusted = add.trusted;
    app.add_server(&add.name, &config)?;
    said(screen, &add.name, "added", "Added")?;
    if !screen.is_json() {
        let words = format!("mcp test {}", text::shell_word(&add.name));
        screen.say(&format!(
            "See what it offers with: {}",
            context.command(&words)
        ));
    }
    Ok(Status::Done)
}

async fn preset(app: &Longrein, add: &McpAdd) -> Result<McpConfig, Failure> {
    let Some(preset) = Preset::named(&add.name) else {
        let known: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        return Err(Failure::usage(
            format!("No server is known by the name {}.", text::plain(&add.name)),
            format!(
                "Give its address with --url, or its command behind --. Known by name are {}.",
                known.join(", ")
            ),
        ));
    };
    let key = match &add.key {
        Some(name) => Some(secret_name(name)?),
        // One that is kept under the server's own name is meant for it.
        None if preset.takes_key() && app.keeps_secret(preset.name).await => {
            Some(secret_name(preset.name)?)
        }
        None => None,
    };
    Ok(preset.config(key.as_ref()))
}

fn secret_name(name: &str) -> Result<SecretName, Failure> {
    SecretName::new(name).map_err(|error| Failure::usage(error.to_string(), ""))
}

fn written(add: &McpAdd) -> Result<McpConfig, Failure> {
    let mut headers = BTreeMap::new();
    for header in &add.headers {
        let (name, value) = pair(header)?;
        let (before, value) = match value.strip_prefix(BEARER) {
            Some(rest) => (BEARER, rest),
            None => ("", value),
        };
        let value = value_of(value)?;
        let before = before.to_owned();
        headers.insert(name.to_owned(), HeaderText { before, value });
    }
    let mut env = BTreeMap::new();
    for variable in &add.env {
        let (name, value) = pair(variable)?;
        env.insert(name.to_owned(), value_of(value)?);
    }
    Ok(McpConfig {
        command: add.command.clone(),
        env,
        url: add.url.clone(),
        headers,
        sign_in: SignInConfig::default(),
        start_seconds: None,
        trusted: add.trusted,
    })
}

fn pair(text: &str) -> Result<(&str, &str), Failure> {
    text.split_once('=').ok_or_else(|| {
        Failure::usage(
            "A name without a value.",
            "Write NAME=VALUE, with the value secret:NAME where it is a secret.",
        )
    })
}

fn value_of(text: &str) -> Result<EnvValue, Failure> {
    Ok(match SecretReference::of(text) {
        None => EnvValue::Plain(text.to_owned()),
        Some(Some(SecretReference::Variable(variable))) => EnvValue::Variable(variable),
        Some(Some(SecretReference::Kept(name))) => EnvValue::Secret(name),
        Some(None) => {
            return Err(Failure::usage(
                "What stands behind “secret:” or “env:” is no name.",
                "Use letters, digits, “-”, “_” and “.”.",
            ));
        }
    })
}

/// Plays one scenario; what the suite sees is what counts.
async fn play(url: String) -> Result<Status, Failure> {
    let folder = tempfile::tempdir()
        .map_err(|error| Failure::said(Status::Failed, format!("{error}."), "Free some space."))?;
    let played = conformance::play(conformance::Scenario {
        url,
        context: std::env::var(CONTEXT_VARIABLE).ok(),
        workspace: folder.path().to_path_buf(),
    });
    match played.await {
        Ok(()) => Ok(Status::Done),
        Err(error) => Err(Failure::said(Status::Failed, error.to_string(), "")),
    }
}

/// The person's own browser; where there is none, the address is theirs to open.
struct PersonsBrowser;

#[async_trait]
impl Browser for PersonsBrowser {
    async fn open(&self, url: &str, host: &str) -> Result<(), BrowserError> {
        crate::screen::Screen::new(false).say(&format!(
            "Sign in at {host}, in your browser. If it does not open, open this address yourself:\n{url}"
        ));
        // Where it can't be opened, the person has the address.
        let _ = crate::browser::open(url);
        Ok(())
    }
}
