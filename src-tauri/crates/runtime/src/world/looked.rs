//! What the world is asked about, and what it says.

use std::path::PathBuf;

use longrein_core::run::Files;
use longrein_protocol::agent::PolicyRule;
use longrein_protocol::body::NewBlob;
use longrein_protocol::event::{Price, SnapshotTaken};
use longrein_protocol::gate::{Always, Scope, StandingRule};
use longrein_protocol::media::Takes;
use longrein_protocol::{BlobHash, RunId};

/// What a snapshot is taken of.
#[derive(Clone, PartialEq, Debug)]
pub struct SnapshotOf {
    /// The run.
    pub run: RunId,
    /// The first run of its tree.
    pub tree: RunId,
    /// The folder that it works in.
    pub workspace: PathBuf,
    /// What the log says that it held last.
    pub before: Option<Files>,
}

/// What a workspace is found to hold.
#[derive(Clone, PartialEq, Debug)]
pub struct NewSnapshot {
    /// What is recorded.
    pub taken: SnapshotTaken,
    /// What it refers to.
    pub blobs: Vec<NewBlob>,
}

/// What is known of a model besides how it is reached.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ModelFacts {
    /// Its window in tokens.
    pub window_tokens: Option<u32>,
    /// What its tokens cost.
    pub price: Option<Price>,
    /// What it takes beside text.
    pub takes: Takes,
    /// Whether it keeps to a JSON Schema that is given for its answer; `None` where that is not
    /// known.
    pub answers_by_schema: Option<bool>,
}

/// A skill as it is at one moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SkillSeen {
    /// Its name.
    pub skill: String,
    /// What it is made of.
    pub hash: String,
    /// Where a person has to look at it first: why, and what they are shown.
    pub ask: Option<(String, String)>,
}

/// The rules that stand on disk for a run.
#[derive(Clone, PartialEq, Debug)]
pub struct OnDisk {
    /// The hash of what stands there.
    pub hash: BlobHash,
    /// The rules for this run.
    pub rules: Vec<StandingRule>,
}

/// The rules that an approval makes, each with a name that is made of what it says.
pub fn standing(always: &Always) -> Vec<StandingRule> {
    let name = |rule: &PolicyRule| {
        let says = format!("{:?} {rule:?}", always.scope);
        BlobHash::of(says.as_bytes()).to_string()[..RULE_ID_DIGITS].to_owned()
    };
    let rules = always.rules.iter().map(|rule| StandingRule {
        id: name(rule),
        scope: always.scope,
        rule: rule.clone(),
        tainted: always.tainted && always.scope == Scope::Run,
    });
    rules.collect()
}

/// Hexadecimal digits of a rule's name.
const RULE_ID_DIGITS: usize = 10;
