//! Where agents are found: a file, the data folder, what ships.

pub mod changes;
mod saved;

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use longrein_core::agent_file::reader::{FILE_BYTES_MAX, known_are, nearest};
use longrein_core::agent_file::{self, Problem, Severity};
use longrein_protocol::AgentSpec;
use serde::Serialize;

use crate::error::{AppError, AppErrorCode};
use crate::paths::home;

pub use saved::problems_of_named;

/// How the names of agent files end.
pub const SUFFIX: &str = ".agent.toml";

/// The agents that ship.
const SHIPPED: &[(&str, &str)] = &[("research", include_str!("../agents/research.agent.toml"))];

/// The most agents of the data folder that are listed.
const LISTED_MAX: usize = 500;

/// The most mistakes that one failure tells.
const TOLD_MAX: usize = 20;

/// Where an agent comes from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentOrigin {
    /// A file that was named.
    File(PathBuf),
    /// A file of the data folder.
    DataFolder(PathBuf),
    /// The program itself.
    Shipped,
}

/// An agent's file, read or not.
#[derive(Clone, PartialEq, Debug)]
pub struct AgentFile {
    /// The name by which it was found, or the file's own.
    pub name: String,
    /// Where it comes from.
    pub origin: AgentOrigin,
    /// What it says; `None` when it has errors.
    pub spec: Option<AgentSpec>,
    /// Every mistake, in the order of the file.
    pub problems: Vec<Problem>,
}

impl AgentFile {
    fn read(name: &str, origin: AgentOrigin, text: &str) -> Self {
        let checked = agent_file::check(text, name);
        let called = checked.spec.as_ref().map_or(name, |spec| &spec.name);
        Self {
            name: called.to_owned(),
            origin,
            problems: checked.problems,
            spec: checked.spec,
        }
    }

    /// What it says.
    ///
    /// # Errors
    /// The file's mistakes, each with its line and remedy.
    pub fn usable(self) -> Result<AgentSpec, AppError> {
        let place = match &self.origin {
            AgentOrigin::File(path) | AgentOrigin::DataFolder(path) => path.display().to_string(),
            AgentOrigin::Shipped => self.name.clone(),
        };
        self.spec.ok_or_else(|| refused(&place, &self.problems))
    }
}

fn refused(place: &str, problems: &[Problem]) -> AppError {
    let errors: Vec<&Problem> = problems
        .iter()
        .filter(|problem| problem.severity == Severity::Error)
        .collect();
    if let [only] = errors.as_slice() {
        return AppError::usage(
            format!("{place}, line {}: {}", only.line, only.message),
            only.remedy.clone(),
        );
    }
    let lines: Vec<String> = errors
        .iter()
        .take(TOLD_MAX)
        .map(|problem| format!("\n  {problem}"))
        .collect();
    AppError::usage(
        format!("{place} has {} mistakes:{}", errors.len(), lines.concat()),
        "Correct them, and see what is left with: longrein agent check FILE",
    )
}

/// The agent that a name or a path stands for, ready to run.
///
/// # Errors
/// When there is none, or its file has mistakes.
pub fn resolve(data_dir: &Path, name: &str) -> Result<AgentSpec, AppError> {
    find(data_dir, name)?.usable()
}

/// Looks a name up: as a path, in the data folder, among those that ship. The file may have
/// mistakes.
///
/// # Errors
/// When there is none of this name, or its file can't be read.
pub fn find(data_dir: &Path, name: &str) -> Result<AgentFile, AppError> {
    let path = expand_home(name);
    if path.is_file() {
        return read_file(&path, AgentOrigin::File(path.clone()));
    }
    if name.contains('/') || name.ends_with(".toml") {
        return Err(AppError::new(
            AppErrorCode::NotFound,
            format!("There is no agent file {name}."),
            "Check the path. The agents that can be named are listed by: longrein agents",
        ));
    }
    find_saved(data_dir, name)
}

/// Looks a name up in the data folder and among those that ship.
fn find_saved(data_dir: &Path, name: &str) -> Result<AgentFile, AppError> {
    let own = folder(data_dir).join(format!("{name}{SUFFIX}"));
    if !name.is_empty() && own.is_file() {
        return read_file(&own, AgentOrigin::DataFolder(own.clone()));
    }
    match SHIPPED.iter().find(|(shipped, _)| *shipped == name) {
        Some((shipped, text)) => Ok(AgentFile::read(shipped, AgentOrigin::Shipped, text)),
        None => Err(unknown(data_dir, name)),
    }
}

fn unknown(data_dir: &Path, name: &str) -> AppError {
    let known: Vec<String> = list_agents(data_dir).into_keys().collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let remedy = match nearest(name, &known) {
        Some(near) => format!("Did you mean “{near}”? All are listed by: longrein agents"),
        None => format!(
            "{} A file is named by its path, as in ./my{SUFFIX}",
            known_are(&known)
        ),
    };
    AppError::new(
        AppErrorCode::NotFound,
        format!("There is no agent “{name}”."),
        remedy,
    )
}

/// Every agent that can be named, by the name that finds it. One that has mistakes, or that can't
/// be read, is there with them.
pub fn list_agents(data_dir: &Path) -> BTreeMap<String, AgentFile> {
    let mut agents: BTreeMap<String, AgentFile> = SHIPPED
        .iter()
        .map(|(name, text)| {
            (
                (*name).to_owned(),
                AgentFile::read(name, AgentOrigin::Shipped, text),
            )
        })
        .collect();
    let entries = std::fs::read_dir(folder(data_dir))
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    for entry in entries.take(LISTED_MAX) {
        let (path, file_name) = (entry.path(), entry.file_name());
        let Some(name) = file_name
            .to_str()
            .and_then(|name| name.strip_suffix(SUFFIX))
        else {
            continue;
        };
        let origin = AgentOrigin::DataFolder(path.clone());
        let read = read_file(&path, origin.clone()).unwrap_or_else(|error| AgentFile {
            name: name.to_owned(),
            origin,
            spec: None,
            problems: vec![Problem {
                severity: Severity::Error,
                line: 0,
                column: 0,
                path: String::new(),
                message: error.message,
                remedy: error.remedy,
            }],
        });
        agents.insert(name.to_owned(), read);
    }
    agents
}

fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join("agents")
}

fn read_file(path: &Path, origin: AgentOrigin) -> Result<AgentFile, AppError> {
    let text = read_text(path).map_err(|error| {
        let remedy = match error.kind() {
            io::ErrorKind::InvalidData => "Save it as UTF-8 text.",
            _ => "Check that you may read it.",
        };
        AppError::new(
            AppErrorCode::Io,
            format!("{} can't be read: {error}.", path.display()),
            remedy,
        )
    })?;
    let file_name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    Ok(AgentFile::read(
        file_name.strip_suffix(SUFFIX).unwrap_or(file_name),
        origin,
        &text,
    ))
}

/// Reads at most one byte more than a file may have, so that the reader can say that it is too
/// long.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    read_text_up_to(path, FILE_BYTES_MAX as u64 + 1)
}

/// Reads at most so many bytes.
pub(crate) fn read_text_up_to(path: &Path, limit: u64) -> io::Result<String> {
    let mut text = String::new();
    crate::given_file::open(path)?
        .take(limit)
        .read_to_string(&mut text)?;
    Ok(text)
}

/// A path as people write it: `~` is their home folder.
pub fn expand_home(path: &str) -> PathBuf {
    expand(path, home().as_deref())
}

fn expand(path: &str, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix('~'), home) {
        (Some(""), Some(home)) => home.to_path_buf(),
        (Some(rest), Some(home)) if rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => PathBuf::from(path),
    }
}

#[cfg(test)]
mod tests;
