//! A server as a person asks for it in a form.

use std::collections::BTreeMap;

use longrein_keys::SecretName;
use serde::Deserialize;

use super::list::GrantSource;
use super::presets::Preset;
use crate::Longrein;
use crate::agents::expand_home;
use crate::config::{EnvValue, HeaderText, McpConfig, SignInConfig};
use crate::error::{AppError, AppErrorCode};

/// What a header may begin with before its value.
const BEARER: &str = "Bearer ";

/// A server to add or to change.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct ServerRequest {
    /// Its name: letters, digits, `-` and `_`.
    pub name: String,
    /// Whether it is meant to change the server of this name.
    pub replaces: bool,
    /// How it is reached.
    pub reach: ReachRequest,
    /// Whether what it says of its tools is to be believed.
    pub trusted: bool,
}

/// How a server is reached.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ReachRequest {
    /// As one that is known by name.
    Preset {
        /// Which.
        preset: String,
        /// Whether it is asked with the key that is kept under the server's name.
        with_key: bool,
    },
    /// At an address.
    Address {
        /// The address.
        url: String,
        /// What every request says besides.
        headers: Vec<GrantRequest>,
    },
    /// As a program.
    Program {
        /// The command as a shell takes it. It is run without one.
        command: String,
        /// What its environment gets besides.
        env: Vec<GrantRequest>,
    },
}

/// A value that a server is to be given.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct GrantRequest {
    /// The header's or the variable's name.
    pub name: String,
    /// Where the value comes from.
    pub from: GrantSource,
    /// The text, the variable, or the name that the secret is kept under. In a header `Bearer `
    /// may stand before it.
    pub value: String,
}

impl Longrein {
    /// Adds a server, or changes one.
    ///
    /// # Errors
    /// What is off in the request, when a server of that name is there already, or when the
    /// configuration can't be written.
    pub fn save_server(&self, request: &ServerRequest) -> Result<(), AppError> {
        let name = request.name.trim();
        let config = self.config();
        let before = config.mcp.get(name);
        if before.is_some() && !request.replaces {
            return Err(AppError::usage(
                format!("There is a server {name} already."),
                "Take another name, or change the one that is there.",
            ));
        }
        if before.is_none() && request.replaces {
            return Err(AppError::new(
                AppErrorCode::NotFound,
                format!("There is no server {name} any more."),
                "Add it anew.",
            ));
        }
        let mut wanted = wanted(name, request)?;
        if let Some(before) = before {
            // What the form does not show stays as it is.
            wanted.sign_in = before.sign_in.clone();
            wanted.start_seconds = wanted.start_seconds.or(before.start_seconds);
        }
        self.add_server(name, &wanted)
    }
}

fn wanted(name: &str, request: &ServerRequest) -> Result<McpConfig, AppError> {
    let mut config = McpConfig {
        command: Vec::new(),
        env: BTreeMap::new(),
        url: None,
        headers: BTreeMap::new(),
        sign_in: SignInConfig::default(),
        start_seconds: None,
        trusted: request.trusted,
    };
    match &request.reach {
        ReachRequest::Preset { preset, with_key } => {
            let Some(known) = Preset::named(preset) else {
                return Err(AppError::usage(
                    format!("No server is known by the name {preset}."),
                    "Give its address or its command.",
                ));
            };
            let key = match with_key {
                true => Some(secret(name)?),
                false => None,
            };
            config = McpConfig {
                trusted: request.trusted,
                ..known.config(key.as_ref())
            };
        }
        ReachRequest::Address { url, headers } => {
            config.url = Some(url.trim().to_owned());
            for header in headers {
                let (before, text) = match header.value.strip_prefix(BEARER) {
                    Some(rest) => (BEARER, rest),
                    None => ("", header.value.as_str()),
                };
                let value = HeaderText {
                    before: before.to_owned(),
                    value: value(header, text)?,
                };
                add(&mut config.headers, &header.name, value)?;
            }
        }
        ReachRequest::Program { command, env } => {
            let words = shlex::split(command).filter(|words| !words.is_empty());
            let words = words.ok_or_else(|| {
                AppError::usage(
                    "The command can't be read: it is empty, or a quotation mark is not closed.",
                    "Write it as you would in a terminal: npx -y some-server \"my notes\"",
                )
            })?;
            // No shell sees it, so that the home folder is filled in here.
            let filled = words
                .iter()
                .map(|word| expand_home(word).display().to_string());
            config.command = filled.collect();
            for variable in env {
                let value = value(variable, &variable.value)?;
                add(&mut config.env, &variable.name, value)?;
            }
        }
    }
    Ok(config)
}

fn add<T>(granted: &mut BTreeMap<String, T>, name: &str, value: T) -> Result<(), AppError> {
    let name = name.trim();
    if granted.insert(name.to_owned(), value).is_some() {
        return Err(AppError::usage(
            format!("{name} is given twice."),
            "Keep the one that is meant.",
        ));
    }
    Ok(())
}

fn value(grant: &GrantRequest, text: &str) -> Result<EnvValue, AppError> {
    Ok(match grant.from {
        GrantSource::Text => EnvValue::Plain(text.to_owned()),
        GrantSource::Variable => EnvValue::Variable(text.trim().to_owned()),
        GrantSource::Secret => EnvValue::Secret(secret(text.trim())?),
    })
}

/// The name of a secret. A key may have been put in its place, so that it is not repeated.
fn secret(name: &str) -> Result<SecretName, AppError> {
    SecretName::new(name).map_err(|_| {
        AppError::usage(
            "A key is named here, not written: what stands there is not the name of one.",
            "Use letters, digits, “-”, “_” and “.”, and give the key itself under Keys.",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, config};

    fn open() -> (tempfile::TempDir, Longrein) {
        let folder = tempfile::tempdir().unwrap();
        let app = Longrein::open(Options {
            data_dir: Some(folder.path().join("data")),
            ..Options::default()
        })
        .unwrap();
        (folder, app)
    }

    fn program(name: &str, command: &str, env: &[(&str, GrantSource, &str)]) -> ServerRequest {
        ServerRequest {
            name: name.to_owned(),
            replaces: false,
            reach: ReachRequest::Program {
                command: command.to_owned(),
                env: env
                    .iter()
                    .map(|(name, from, value)| GrantRequest {
                        name: (*name).to_owned(),
                        from: *from,
                        value: (*value).to_owned(),
                    })
                    .collect(),
            },
            trusted: false,
        }
    }

    #[tokio::test]
    async fn a_command_is_split_as_a_shell_does_and_secrets_stay_names() {
        let (_folder, app) = open();
        let wish = program(
            "notes",
            "npx -y notes-server \"my notes\" ~/Notes",
            &[
                ("TOKEN", GrantSource::Secret, "notes"),
                ("LEVEL", GrantSource::Text, "debug"),
            ],
        );
        app.save_server(&wish).unwrap();
        let text = std::fs::read_to_string(config::path(app.data_dir())).unwrap();
        assert!(text.contains("[\"npx\", \"-y\", \"notes-server\", \"my notes\", "));
        assert!(!text.contains('~'), "{text}");
        assert!(text.contains("TOKEN = \"secret:notes\""), "{text}");
        let list = app.server_list().await.unwrap();
        let shown = list.servers[0].command.as_deref().unwrap();
        assert!(
            shown.starts_with("npx -y notes-server 'my notes' /"),
            "{shown}"
        );
        let again = app.save_server(&wish).unwrap_err();
        assert!(again.message.contains("already"), "{}", again.message);
    }

    #[tokio::test]
    async fn a_key_in_the_place_of_its_name_is_refused_and_not_repeated() {
        let (_folder, app) = open();
        let key = "sk live/0123456789=";
        for from in [GrantSource::Secret, GrantSource::Text] {
            let wish = program("notes", "notes", &[("API_KEY", from, key)]);
            let refused = app.save_server(&wish).unwrap_err();
            assert!(!format!("{} {}", refused.message, refused.remedy).contains(key));
        }
        assert!(app.config().mcp.is_empty());
    }

    #[tokio::test]
    async fn a_preset_is_asked_with_the_key_of_its_name_or_by_signing_in() {
        let (_folder, app) = open();
        for (name, with_key) in [("exa", true), ("exa-mine", false)] {
            app.save_server(&ServerRequest {
                name: name.to_owned(),
                replaces: false,
                reach: ReachRequest::Preset {
                    preset: "exa".to_owned(),
                    with_key,
                },
                trusted: false,
            })
            .unwrap();
        }
        let list = app.server_list().await.unwrap();
        assert_eq!(list.servers[0].headers[0].value, "exa");
        assert!(list.servers[1].headers.is_empty());
        assert_eq!(list.presets[0].name, "exa");
    }

    #[tokio::test]
    async fn an_open_quotation_mark_is_told() {
        let (_folder, app) = open();
        let refused = app.save_server(&program("x", "npx \"oops", &[]));
        assert!(refused.unwrap_err().message.contains("quotation mark"));
    }
}
