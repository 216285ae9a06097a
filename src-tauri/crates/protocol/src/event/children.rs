//! Children: runs that a run delegates to.

use serde::{Deserialize, Serialize};

use super::Limits;
use crate::body::Body;
use crate::ids::{ActionId, RunId, SourceId};

/// See [`super::Payload::ChildSpawned`]. The child's own first events are in the same commit.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ChildSpawned {
    /// The action by which the model delegates.
    pub action: ActionId,
    /// The child.
    pub child: RunId,
    /// What it is to do, in a few words.
    pub title: String,
    /// What it may use of the parent's budget. It is held in reserve until the child ends.
    pub grant: Limits,
}

/// See [`super::Payload::ChildFinished`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ChildFinished {
    /// The action by which the model delegated.
    pub action: ActionId,
    /// The child.
    pub child: RunId,
    /// How it ended.
    pub end: ChildEnd,
    /// Why, where it did not end well; empty else.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// What it found, with the parent's source ids; cut to a limit.
    pub finding: Body,
    /// The sources that it captured, by the parent's ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceId>,
    /// The files that it delivered, by their paths beneath the parent's workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<String>,
    /// What it used.
    pub used: ChildUsed,
    /// Whether it read untrusted text.
    #[serde(default)]
    pub tainted: bool,
    /// Whether it read something of the person's own.
    #[serde(default)]
    pub private: bool,
}

/// How a child ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChildEnd {
    /// Every criterion held.
    Accepted,
    /// It finished without criteria.
    Unverified,
    /// It could not go on.
    Failed,
    /// It was cancelled.
    Cancelled,
    /// It stopped by rule.
    HandedOff,
}

/// What a child used, its own children included.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ChildUsed {
    /// Steps.
    pub steps: u32,
    /// Input tokens, with what was reserved and never settled.
    pub tokens_in: u32,
    /// Output tokens, likewise.
    pub tokens_out: u32,
    /// Millionths of a dollar, likewise.
    pub money_micro: u64,
    /// Actions started.
    pub actions: u32,
    /// Working time.
    pub working_ms: u32,
}
