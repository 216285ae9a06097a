//! What Longrein depends on, with state and remedy.

use std::fs;
use std::time::Duration;

use longrein_store::file_system::is_network_file_system;
use serde::Serialize;

use crate::Longrein;

/// One thing that was looked at.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// What: `data folder`, `provider local`.
    pub what: String,
    /// How it is.
    pub state: FindingState,
    /// What was seen.
    pub seen: String,
    /// What can be done; empty when nothing is needed.
    pub remedy: String,
}

/// How a thing is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingState {
    /// As it should be.
    Good,
    /// It works, with a limit.
    Limited,
    /// It does not work.
    Bad,
}

/// How long a provider has to list its models.
const PROVIDER_LIMIT: Duration = Duration::from_secs(5);

fn finding(what: &str, state: FindingState, seen: impl Into<String>, remedy: &str) -> Finding {
    Finding {
        what: what.to_owned(),
        state,
        seen: seen.into(),
        remedy: remedy.to_owned(),
    }
}

impl Longrein {
    /// Looks at everything.
    pub async fn doctor(&self) -> Vec<Finding> {
        let mut findings = vec![self.data_folder(), self.work_folder(), self.log().await];
        findings.extend(self.servers());
        for name in self.config().providers.keys() {
            findings.push(self.provider(name).await);
        }
        if self.config().providers.is_empty() {
            let remedy = "Add [providers.local] with format and base_url to config.toml; the demo works without.";
            findings.push(finding(
                "providers",
                FindingState::Limited,
                "none is configured",
                remedy,
            ));
        }
        findings
    }

    fn data_folder(&self) -> Finding {
        let folder = self.data_dir();
        if is_network_file_system(folder) == Some(true) {
            let remedy = "Locks don't hold there. Name a folder on a local disk with --data-dir.";
            return finding(
                "data folder",
                FindingState::Bad,
                format!("{} is on a network", folder.display()),
                remedy,
            );
        }
        finding(
            "data folder",
            FindingState::Good,
            folder.display().to_string(),
            "",
        )
    }

    fn work_folder(&self) -> Finding {
        let work = &self.paths().work;
        match fs::create_dir_all(work).and_then(|()| tempfile_in(work)) {
            Ok(()) => finding(
                "workspaces",
                FindingState::Good,
                work.display().to_string(),
                "",
            ),
            Err(error) => finding(
                "workspaces",
                FindingState::Bad,
                format!("{} can't be written: {error}", work.display()),
                "Make the folder writable, or name another data folder with --data-dir.",
            ),
        }
    }

    async fn log(&self) -> Finding {
        if let Some(newer) = self.store().newer_schema() {
            let seen = format!("written by a newer version (schema {newer})");
            return finding(
                "log",
                FindingState::Limited,
                seen,
                "It can be read. Use the newer version to go on.",
            );
        }
        match self.store().check(None).await {
            Ok(report) if report.is_whole() => {
                let seen = format!(
                    "{} runs, {} events, every chain is whole",
                    report.runs, report.events
                );
                finding("log", FindingState::Good, seen, "")
            }
            Ok(report) => {
                let seen = format!("{} damaged rows", report.damages.len());
                finding(
                    "log",
                    FindingState::Bad,
                    seen,
                    "See which with: longrein log check",
                )
            }
            Err(error) => finding(
                "log",
                FindingState::Bad,
                error.to_string(),
                "Check the disk.",
            ),
        }
    }

    fn servers(&self) -> Vec<Finding> {
        let found = |program: &str| {
            let direct = program.contains('/') && std::path::Path::new(program).exists();
            let paths = std::env::var_os("PATH").unwrap_or_default();
            direct || std::env::split_paths(&paths).any(|folder| folder.join(program).exists())
        };
        let config = self.config();
        let servers = config.mcp.iter().map(|(name, server)| {
            let program = server
                .command
                .first()
                .map(String::as_str)
                .unwrap_or_default();
            let what = format!("server {name}");
            if found(program) {
                finding(&what, FindingState::Good, program, "")
            } else {
                finding(
                    &what,
                    FindingState::Bad,
                    format!("{program} is not installed"),
                    "Correct its command in config.toml.",
                )
            }
        });
        servers.collect()
    }

    async fn provider(&self, name: &str) -> Finding {
        let what = format!("provider {name}");
        match tokio::time::timeout(PROVIDER_LIMIT, self.provider_models(name)).await {
            Ok(Ok(models)) => finding(
                &what,
                FindingState::Good,
                format!("{} models", models.len()),
                "",
            ),
            Ok(Err(error)) => finding(&what, FindingState::Bad, error.message, &error.remedy),
            Err(_) => finding(
                &what,
                FindingState::Bad,
                "no answer within 5 s",
                "Start it, or correct its base_url.",
            ),
        }
    }

    /// The models that a provider lists.
    ///
    /// # Errors
    /// When the provider is unknown or does not answer.
    pub async fn provider_models(&self, name: &str) -> Result<Vec<String>, crate::AppError> {
        use crate::{AppError, AppErrorCode};
        let known = self.config();
        let Some(config) = known.providers.get(name) else {
            return Err(AppError::usage(
                format!("There is no provider {name}."),
                "See: longrein models",
            ));
        };
        let key = config
            .resolve_key(name)
            .map_err(|error| AppError::usage(error.message, error.remedy))?;
        let config = longrein_models::OpenAiChatConfig {
            provider: name.to_owned(),
            model: String::new(),
            base_url: config.base_url.clone(),
            key,
            limits: longrein_models::Limits::default(),
        };
        let listed = longrein_models::list_models(config).await;
        listed.map_err(|error| AppError::new(AppErrorCode::Refused, error.message, error.remedy))
    }
}

fn tempfile_in(folder: &std::path::Path) -> std::io::Result<()> {
    let probe = folder.join(format!(".longrein-{}", std::process::id()));
    fs::write(&probe, b"")?;
    fs::remove_file(probe)
}
