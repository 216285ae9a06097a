//! What Longrein depends on, with state and remedy.

mod sandbox;

use std::fs;
use std::path::Path;
use std::time::Duration;

use longrein_keys::{Backend, Standing};
use longrein_mcp::Confinement;
use longrein_store::CheckReport;
use longrein_store::file_system::{is_network_file_system, make_private_folder};
use serde::Serialize;

use crate::keys::KeyList;
use crate::skills::{SkillList, SkillState};
use crate::{AppError, AppErrorCode, Longrein, Paths};

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

/// `1 run`, `2 runs`.
fn counted(count: u64, one: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {one}{plural}")
}

/// Looks at what there is where the installation can't be opened, and at why it can't.
pub fn look_from_outside(paths: &Paths, why: &AppError) -> Vec<Finding> {
    let what = if why.code == AppErrorCode::Unreadable {
        "log"
    } else {
        "installation"
    };
    vec![
        data_folder(&paths.data),
        work_folder(&paths.work),
        finding(what, FindingState::Bad, &why.message, &why.remedy),
    ]
}

fn data_folder(folder: &Path) -> Finding {
    let (state, seen, remedy) = if is_network_file_system(folder) == Some(true) {
        let remedy = "Locks don't hold there. Name a folder on a local disk with --data-dir.";
        let seen = format!("{} is on a network", folder.display());
        (FindingState::Bad, seen, remedy)
    } else {
        (FindingState::Good, folder.display().to_string(), "")
    };
    finding("data folder", state, seen, remedy)
}

fn work_folder(work: &Path) -> Finding {
    match make_private_folder(work).and_then(|()| tempfile_in(work)) {
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

/// Where keys are kept, and how that place is.
fn keys_finding(list: &KeyList) -> Finding {
    let place = &list.place;
    if let Some(problem) = &place.problem {
        // Who keeps none there can do without.
        let state = match place.chosen {
            true => FindingState::Bad,
            false => FindingState::Limited,
        };
        return finding("keys", state, &problem.message, &problem.remedy);
    }
    let kept = list.kept.map(|kept| counted(kept.into(), "secret"));
    let kept = kept.unwrap_or_default();
    let limited = FindingState::Limited;
    let (state, seen, remedy) = match (place.backend, place.standing) {
        (Backend::Memory, _) => (
            limited,
            "in memory only".to_owned(),
            "They are gone when Longrein quits. Choose another place with: longrein keys store",
        ),
        (Backend::Keychain, Some(Standing::Locked)) => (
            limited,
            "the keychain is locked".to_owned(),
            "It asks to be unlocked when a key is needed.",
        ),
        (Backend::File, Some(Standing::Locked)) => (
            limited,
            format!("{} is closed", place.file),
            "Its passphrase is asked for when a key is needed.",
        ),
        (Backend::File, Some(Standing::New)) => (
            limited,
            format!("{} is not there yet", place.file),
            "Setting a key makes it.",
        ),
        (Backend::Keychain, _) => (FindingState::Good, format!("keychain, {kept}"), ""),
        (Backend::File, _) => (FindingState::Good, format!("{}, {kept}", place.file), ""),
    };
    finding("keys", state, seen, remedy)
}

/// What a check of the log found.
fn log_finding(report: &CheckReport) -> Finding {
    let checked = format!(
        "{}, {}",
        counted(report.runs.into(), "run"),
        counted(report.events, "event")
    );
    if report.is_whole() {
        let seen = format!("{checked}, every chain is whole");
        return finding("log", FindingState::Good, seen, "");
    }
    let kinds = [
        (report.file.len(), "damage", " of the database itself"),
        (report.damages.len(), "damaged row", ""),
        (
            report.stale.len(),
            "line",
            " of the list that is not current",
        ),
    ];
    let seen: Vec<String> = kinds
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, rest)| format!("{}{rest}", counted(count as u64, one)))
        .collect();
    finding(
        "log",
        FindingState::Bad,
        seen.join(", "),
        "See which with: longrein log check",
    )
}

impl Longrein {
    /// Looks at everything.
    pub async fn doctor(&self) -> Vec<Finding> {
        let mut findings = vec![
            self.data_folder(),
            work_folder(&self.paths().work),
            self.log().await,
        ];
        findings.extend(self.policy());
        findings.push(keys_finding(&self.keys().list().await));
        findings.push(self.skill_finding());
        findings.push(self.sandbox().await);
        findings.extend(self.servers());
        findings.extend(self.model_servers().await);
        for name in self.config().providers.keys() {
            findings.push(self.provider(name).await);
        }
        if let Some(problem) = self.config_problem() {
            let (what, state) = ("configuration", FindingState::Bad);
            findings.push(finding(what, state, problem.message, &problem.remedy));
        } else if self.config().providers.is_empty() {
            let remedy = "Add one with: longrein models add NAME; the demo works without.";
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
        if self.store().is_read_only() {
            return finding(
                "data folder",
                FindingState::Limited,
                format!("{} can be read but not written", folder.display()),
                "Make the folder writable, or name another with --data-dir.",
            );
        }
        data_folder(folder)
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
            Ok(report) => log_finding(&report),
            Err(error) => {
                let error = AppError::from(error);
                finding("log", FindingState::Bad, error.message, &error.remedy)
            }
        }
    }

    /// The rules of this machine, when there are any or they can't be read.
    fn policy(&self) -> Option<Finding> {
        match self.rules() {
            Ok(rules) if rules.is_empty() => None,
            Ok(rules) => {
                let seen = counted(rules.len() as u64, "rule");
                Some(finding("policy", FindingState::Good, seen, ""))
            }
            Err(error) => {
                let state = FindingState::Bad;
                Some(finding("policy", state, error.message, &error.remedy))
            }
        }
    }

    /// The skills outside of any project: those that count, and those that need a look.
    fn skill_finding(&self) -> Finding {
        let list = SkillList::of(&self.skills(None).catalogue());
        let of = |states: &[SkillState]| {
            let lines = list.skills.iter();
            lines.filter(|line| states.contains(&line.state)).count() as u64
        };
        let used = counted(of(&[SkillState::Bundled, SkillState::Approved]), "skill");
        if let Some(fault) = list.faults.first() {
            let remedy = "Until then, skills of that place don't count.";
            return finding("skills", FindingState::Bad, fault, remedy);
        }
        let waiting = of(&[SkillState::Unreviewed, SkillState::Changed]);
        let broken = of(&[SkillState::Broken]);
        if waiting + broken == 0 {
            return finding("skills", FindingState::Good, used, "");
        }
        let seen = format!("{used}, {waiting} to be looked at, {broken} that can't be used");
        let remedy = "See which with: longrein skills list";
        finding("skills", FindingState::Limited, seen, remedy)
    }

    /// Model servers on this machine that no provider of the configuration is.
    async fn model_servers(&self) -> Vec<Finding> {
        let found = self.find_servers().await;
        let unused = found.iter().filter(|found| found.provider.is_none());
        unused
            .map(|found| {
                let models = counted(found.models.len() as u64, "model");
                let seen = format!("answers at {}, {models}, not used", found.base_url);
                let remedy = format!("To use it: longrein models add {}", found.name);
                finding(found.server, FindingState::Good, seen, &remedy)
            })
            .collect()
    }

    fn servers(&self) -> Vec<Finding> {
        let found = |program: &str| {
            let direct = program.contains('/') && Path::new(program).exists();
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
            if let Some(url) = &server.url {
                let host = url::Url::parse(url).ok();
                let host = host.as_ref().and_then(url::Url::host_str);
                let seen = format!("at {}, not asked", host.unwrap_or_default());
                finding(&what, FindingState::Good, seen, "")
            } else if found(program) {
                // Starting it is the run's affair: whether it speaks MCP is not known here.
                let seen = format!("{program} is installed, not started");
                finding(&what, FindingState::Good, seen, "")
            } else {
                finding(
                    &what,
                    FindingState::Bad,
                    format!("{program} is not installed"),
                    "Correct its command in config.toml.",
                )
            }
        });
        let confined = config
            .mcp
            .values()
            .any(|server| server.url.is_none())
            .then(confinement);
        servers.chain(confined).collect()
    }

    async fn provider(&self, name: &str) -> Finding {
        let what = format!("provider {name}");
        match tokio::time::timeout(PROVIDER_LIMIT, self.provider_models(name)).await {
            Ok(Ok(models)) => finding(
                &what,
                FindingState::Good,
                counted(models.len() as u64, "model"),
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
}

fn tempfile_in(folder: &Path) -> std::io::Result<()> {
    let probe = folder.join(format!(".longrein-{}", std::process::id()));
    fs::write(&probe, b"")?;
    fs::remove_file(probe)
}

/// Whether servers that are programs are kept from the data folder.
fn confinement() -> Finding {
    let what = "server confinement";
    match Confinement::offered() {
        Confinement::Bubblewrap(program) => {
            let seen = format!("by {}", program.display());
            finding(what, FindingState::Good, seen, "")
        }
        Confinement::None(why) => finding(
            what,
            FindingState::Limited,
            why,
            "Install bubblewrap, and allow user namespaces.",
        ),
    }
}
