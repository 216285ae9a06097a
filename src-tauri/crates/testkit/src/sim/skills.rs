//! Skills that lie on the simulated disk: which content each has, and which one the person approved.

use std::collections::BTreeMap;

use longrein_core::policy::SKILL_ARGUMENT;
use longrein_protocol::ToolErrorClass;
use longrein_runtime::ports::{GivenSkill, Part, ToolCall, ToolError, ToolOutput};
use longrein_runtime::world::SkillSeen;
use serde_json::Value;

use super::scenario::SkillOnDisk;

/// The skills of a world.
#[derive(Default)]
pub(super) struct Skills(BTreeMap<String, Content>);

/// One of them. Its content is as good as its version.
struct Content {
    version: u32,
    approved: Option<u32>,
}

impl Content {
    fn hash(&self, name: &str) -> String {
        format!("{name} {}", self.version)
    }

    fn is_approved(&self) -> bool {
        self.approved == Some(self.version)
    }
}

/// What a tool gives of a skill.
pub(super) struct Given {
    pub output: ToolOutput,
    /// The file that is laid into the workspace, and its version.
    pub file: (String, u32),
    /// Whether the person has approved just this.
    pub approved: bool,
}

impl Skills {
    /// Those that lie there at the beginning.
    pub fn of(skills: &[SkillOnDisk]) -> Self {
        let content = |skill: &SkillOnDisk| Content {
            version: 1,
            approved: (!skill.unseen).then_some(1),
        };
        let named = skills
            .iter()
            .map(|skill| (skill.name.clone(), content(skill)));
        Self(named.collect())
    }

    /// Somebody writes to a skill.
    pub fn change(&mut self, name: &str) {
        if let Some(content) = self.0.get_mut(name) {
            content.version += 1;
        }
    }

    /// The skill that an action would load, as it is now.
    pub fn seen(&self, arguments: &Value) -> Option<SkillSeen> {
        let name = arguments.get(SKILL_ARGUMENT)?.as_str()?;
        let content = self.0.get(name)?;
        let why = || format!("nobody has approved {}", content.hash(name));
        let ask = (!content.is_approved()).then(|| (why(), format!("All of {name}.")));
        Some(SkillSeen {
            skill: name.to_owned(),
            hash: content.hash(name),
            ask,
        })
    }

    /// Gives what a call loads. What the person has approved with the action is taken down before.
    pub fn give(&mut self, call: &ToolCall) -> Result<Given, ToolError> {
        let name = call.arguments.get(SKILL_ARGUMENT).and_then(Value::as_str);
        let found = name.and_then(|name| Some((name, self.0.get_mut(name)?)));
        let Some((name, content)) = found else {
            let message = "There is no such skill.";
            return Err(ToolError::new(ToolErrorClass::NotFound, message));
        };
        let hash = content.hash(name);
        let fact = call.facts.skill.as_ref();
        if fact.is_some_and(|fact| fact.hash != hash) {
            let message = "It changed at this very moment. Load it again.";
            return Err(ToolError::new(ToolErrorClass::Conflict, message));
        }
        if fact.is_some_and(|fact| fact.ask.is_some()) {
            content.approved = Some(content.version);
        }
        let output = ToolOutput {
            parts: vec![Part::Text(format!("[skill {name}] Do as {hash} says."))],
            outcome: "instructions and 1 file".to_owned(),
            skill: Some(GivenSkill {
                skill: name.to_owned(),
                hash,
                place: "installed here".to_owned(),
                instructions: true,
            }),
            ..ToolOutput::default()
        };
        Ok(Given {
            output,
            file: (format!("skills/{name}"), content.version),
            approved: content.is_approved(),
        })
    }
}
