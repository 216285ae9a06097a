//! Whose words a piece of a request is, and whether they may be believed.

use longrein_protocol::Body;
use longrein_protocol::block::{Origin, Trust};
use longrein_protocol::event::Section;

use crate::pinned;
use crate::run::{ActionResult, LoadedSkill, Run};

/// Whose words a piece is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// Where they come from.
    pub origin: Origin,
    /// Whether they may be believed.
    pub trust: Trust,
}

impl Label {
    fn trusted(origin: Origin) -> Self {
        Self {
            origin,
            trust: Trust::Trusted,
        }
    }

    /// The person's.
    pub(super) fn person() -> Self {
        Self::trusted(Origin::Person)
    }

    /// The harness's.
    pub(super) fn harness() -> Self {
        Self::trusted(Origin::Harness)
    }

    /// The model's, as far as what it was made of may be believed.
    pub(super) fn model(trust: Trust) -> Self {
        Self {
            origin: Origin::Model,
            trust,
        }
    }

    /// The model's, said by now: once it has read words of strangers, they may stand in its own.
    pub(super) fn said(run: &Run) -> Self {
        Self::model(match run.tainted {
            true => Trust::Untrusted,
            false => Trust::Trusted,
        })
    }

    /// What an action returned.
    pub(super) fn result(result: &ActionResult) -> Self {
        Self {
            origin: result.origin.clone(),
            trust: result.trust,
        }
    }

    /// Instructions of skills.
    pub(super) fn skills<'r>(skills: impl Iterator<Item = (&'r LoadedSkill, &'r Body)>) -> Self {
        let names: Vec<&str> = skills.map(|(skill, _)| skill.skill.as_str()).collect();
        Self::trusted(Origin::Skill {
            skill: names.join(", "),
        })
    }

    /// What the harness keeps, in which words of strangers may stand.
    pub(super) fn pinned(run: &Run) -> Self {
        let groups = pinned::groups(run);
        let untrusted = groups.iter().any(|group| group.trust == Trust::Untrusted);
        Self {
            origin: Origin::Harness,
            trust: match untrusted {
                true => Trust::Untrusted,
                false => Trust::Trusted,
            },
        }
    }

    /// What stands before the conversation.
    pub(super) fn of_head(run: &Run, part: Section) -> Option<Self> {
        match part {
            Section::System => Some(Self::trusted(Origin::AgentFile)),
            // What a server says of its tools is a stranger's.
            Section::Tools => Some(Self {
                origin: Origin::Harness,
                trust: match run.tools.iter().any(|tool| tool.server().is_some()) {
                    true => Trust::Untrusted,
                    false => Trust::Trusted,
                },
            }),
            Section::Index => Some(Self::harness()),
            _ => None,
        }
    }
}
