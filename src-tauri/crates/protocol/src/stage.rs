//! Stages: a fixed path of an agent's work.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::criterion::Criterion;

/// One part of a fixed path. The harness begins the next one when this one's criteria hold.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// Lower-case letters, digits and hyphens.
    pub name: String,
    /// What the model is told when it begins; with `each`, what every helper is told.
    pub instructions: String,
    /// Which of the agent's tools it may use here; without this, all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The list of which each item is given to a helper of its own, side by side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<Each>,
    /// When it is done. The last stage is done when the agent is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub done_when: Vec<Criterion>,
}

/// A list that the stages before have left.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Each {
    /// The open items of the plan.
    Plan,
}
