//! `policy.toml` in the data folder: the rules that a person made for every run, or for every run
//! of one agent. Approvals that say "always" add to it, and a person may write in it.
//!
//! What is absent: a file that can't be read is never taken for an empty one and never replaced;
//! until it can be read, nothing is decided.

mod edit;
mod read;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use longrein_core::agent_file::Problem;
use longrein_protocol::BlobHash;
use longrein_protocol::agent::PolicyRule;
use longrein_protocol::gate::{Scope, StandingRule};
use serde::Serialize;

use crate::error::AppError;
use crate::own_file;

pub use edit::{add, revoke};
pub use read::{Checked, check};

/// The file's name in the data folder.
pub const FILE_NAME: &str = "policy.toml";

/// Letters of a rule's name.
const ID_LETTERS: usize = 10;

/// A rule of the file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct KeptRule {
    /// Its name, by which it is revoked. It is made of what the rule says, so that a rule that was
    /// edited is another one.
    pub id: String,
    /// The agent whose runs it is for; absent: every run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What it says.
    pub rule: PolicyRule,
}

impl KeptRule {
    /// A rule for the runs of an agent, or for every run.
    pub fn new(agent: Option<String>, rule: PolicyRule) -> Self {
        let says = serde_json::to_vec(&(&agent, &rule)).unwrap_or_else(|error| {
            // Texts and words only: nothing in it can fail to be JSON.
            unreachable!("a rule is always JSON: {error}")
        });
        let mut id = BlobHash::of(&says).to_string();
        id.truncate(ID_LETTERS);
        Self { id, agent, rule }
    }

    /// How far it reaches.
    pub fn scope(&self) -> Scope {
        match self.agent {
            Some(_) => Scope::Agent,
            None => Scope::Everywhere,
        }
    }

    /// Whether it is for the runs of an agent.
    pub fn is_for(&self, agent: &str) -> bool {
        self.agent.as_deref().is_none_or(|name| name == agent)
    }

    /// The rule as a run knows it.
    pub fn standing(&self) -> StandingRule {
        StandingRule {
            id: self.id.clone(),
            scope: self.scope(),
            rule: self.rule.clone(),
            // What holds after untrusted text was read holds for one run and is in no file.
            tainted: false,
        }
    }
}

/// Where the file lies.
pub fn path(data_dir: &Path) -> PathBuf {
    data_dir.join(FILE_NAME)
}

/// Reads the file; a missing one has no rules.
///
/// # Errors
/// Every mistake in it; the file stays as it is.
pub fn load(data_dir: &Path) -> Result<Vec<KeptRule>, Vec<Problem>> {
    rules_in(&text(data_dir)?)
}

/// The file's text; empty when there is none.
pub(crate) fn text(data_dir: &Path) -> Result<String, Vec<Problem>> {
    own_file::read(&path(data_dir))
}

/// The rules that such a text has.
pub(crate) fn rules_in(text: &str) -> Result<Vec<KeptRule>, Vec<Problem>> {
    let checked = check(text);
    checked.rules.ok_or(checked.problems)
}

/// What is wrong with the file, as one failure.
pub fn as_error(problems: &[Problem]) -> AppError {
    own_file::as_error(FILE_NAME, problems)
}
