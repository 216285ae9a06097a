//! `load_skill`: the instructions of a skill, and its files one by one.

use std::fmt::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use longrein_protocol::tool::{Reach, Recovery};
use longrein_protocol::{Effect, Repeat, ToolErrorClass, ToolSpec};
use longrein_runtime::ports::{GivenSkill, Part, Tool, ToolCall, ToolError, ToolOutput};
use serde::Deserialize;
use serde_json::json;

use super::files::{self, FOLDER};
use crate::error::SkillError;
use crate::hash::ContentHash;
use crate::install::Approval;
use crate::load::{Loaded, Skills};
use crate::told::size;

/// How long one call may take.
const TIMEOUT_MS: u32 = 30_000;
/// How much of the instructions, or of a file, the model is shown at once: more than any skill
/// should have, and still a part of a small window.
const RESULT_TOKENS: u32 = 10_000;
/// The same in bytes, as far as a part of a file is cut by us.
const SHOWN_LIMIT_BYTES: usize = RESULT_TOKENS as usize * 4 - 1_000;
/// The most files that are listed; of more, the others are counted.
const FILES_LIMIT: usize = 100;
/// Who approves what is approved in a run.
const BY: &str = "you";

/// The tool.
pub struct LoadSkill {
    skills: Skills,
    spec: ToolSpec,
    now: fn() -> i64,
}

#[derive(Deserialize)]
struct Arguments {
    name: String,
    file: Option<String>,
    from_line: Option<usize>,
}

impl LoadSkill {
    /// The tool for a run that finds these skills. `now` is the time in milliseconds since the
    /// epoch, for the record of what is approved.
    pub fn tool(skills: Skills, now: fn() -> i64) -> Arc<dyn Tool> {
        Arc::new(Self {
            skills,
            spec: spec(),
            now,
        })
    }
}

/// What the tool says of itself.
fn spec() -> ToolSpec {
    let description = "Loads a skill: instructions for a kind of task, written by people who do it \
        often. When a skill of the index fits what you are about to do, load it before you begin, \
        then follow it. Its files are laid beneath skills/NAME of the workspace. With `file`, shows \
        one of its files. A skill that the person has not approved as it is asks them first.";
    ToolSpec {
        name: longrein_protocol::tool::LOAD_SKILL.to_owned(),
        description: description.to_owned(),
        schema: json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "name": {
                    "type": "string", "minLength": 1, "maxLength": 64,
                    "description": "The skill's name, as the index has it: research-page.",
                },
                "file": {
                    "type": "string", "minLength": 1, "maxLength": 512,
                    "description": "A file of the skill, as its list of files has it: references/evidence.md. Without it, the instructions.",
                },
                "from_line": {
                    "type": "integer", "minimum": 1,
                    "description": "The line of the file to begin with, from 1, to read on in a long one.",
                },
            },
            "required": ["name"],
            "additionalProperties": false,
        }),
        effect: Effect::Workspace,
        repeat: Repeat::Repeatable,
        timeout_ms: TIMEOUT_MS,
        result_tokens: RESULT_TOKENS,
        path_arguments: Vec::new(),
        reach: Reach::default(),
        recovery: Recovery::default(),
        untrusted: false,
    }
}

#[async_trait]
impl Tool for LoadSkill {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, call: ToolCall) -> Result<ToolOutput, ToolError> {
        let (skills, now) = (self.skills.clone(), self.now);
        let work = tokio::task::spawn_blocking(move || give(&skills, now, &call));
        let given = work.await;
        given.unwrap_or_else(|error| {
            let message = format!("the tool broke: {error}");
            Err(ToolError::new(ToolErrorClass::Failed, message))
        })
    }
}

fn give(skills: &Skills, now: fn() -> i64, call: &ToolCall) -> Result<ToolOutput, ToolError> {
    let arguments: Arguments = serde_json::from_value(call.arguments.clone()).map_err(|error| {
        let message = format!("the arguments do not fit: {error}");
        ToolError::new(ToolErrorClass::InvalidArguments, message)
    })?;
    let name = arguments.name.as_str();
    if let Some(fact) = &call.facts.skill
        && fact.ask.is_some()
    {
        // It starts only where a person has approved exactly this.
        let approval = Approval {
            seen: ContentHash::told(fact.hash.clone()),
            by: BY.to_owned(),
            at: now(),
        };
        let taken = skills.approve(name, &approval);
        taken.map_err(|error| of_skill(&error))?;
    }
    let given = match &arguments.file {
        Some(file) => give_file(skills, name, file, arguments.from_line.unwrap_or(1)),
        None => give_instructions(skills, name, call),
    };
    let output = given?;
    let is_other = |given: &GivenSkill| {
        let fact = call.facts.skill.as_ref();
        fact.is_some_and(|fact| fact.hash != given.hash)
    };
    if output.skill.as_ref().is_some_and(is_other) {
        let message = format!("The skill {name} changed at this very moment. Load it again.");
        return Err(ToolError::new(ToolErrorClass::Conflict, message));
    }
    Ok(output)
}

fn give_instructions(
    skills: &Skills,
    name: &str,
    call: &ToolCall,
) -> Result<ToolOutput, ToolError> {
    let (loaded, files) = skills.load_whole(name).map_err(|error| of_skill(&error))?;
    files::lay(&call.context.workspace, &loaded.name, &files).map_err(|error| {
        let message = format!(
            "The files of the skill can't be laid beneath {FOLDER}/{}: {error}.",
            loaded.name
        );
        ToolError::new(ToolErrorClass::Failed, message)
    })?;
    let outcome = match files.len() {
        0 => "instructions".to_owned(),
        1 => "instructions and 1 file".to_owned(),
        more => format!("instructions and {more} files"),
    };
    Ok(ToolOutput {
        parts: vec![Part::Text(instructions(&loaded))],
        outcome,
        skill: Some(GivenSkill {
            skill: loaded.name,
            hash: loaded.hash.to_string(),
            place: loaded.place.in_words().to_owned(),
            instructions: true,
        }),
        ..ToolOutput::default()
    })
}

fn instructions(loaded: &Loaded) -> String {
    let name = &loaded.name;
    let mut text = format!("[skill {name}] {}\n\n", loaded.description.trim());
    text.push_str(loaded.body.trim());
    if loaded.files.is_empty() {
        return text;
    }
    let _ = write!(
        text,
        "\n\n[files of the skill {name}, which lie in {FOLDER}/{name} of the workspace]"
    );
    for file in loaded.files.iter().take(FILES_LIMIT) {
        let _ = write!(text, "\n- {} ({})", file.path, size(file.bytes));
    }
    if loaded.files.len() > FILES_LIMIT {
        let _ = write!(text, "\n- … and {} more", loaded.files.len() - FILES_LIMIT);
    }
    text
}

fn give_file(
    skills: &Skills,
    name: &str,
    path: &str,
    from_line: usize,
) -> Result<ToolOutput, ToolError> {
    let file = skills.read(name, path).map_err(|error| of_skill(&error))?;
    let text = file.text(name).map_err(|error| of_skill(&error))?;
    let lines = text.lines().count();
    let from_line = from_line.max(1);
    if from_line > lines.max(1) {
        let message = format!("“{path}” has {lines} lines; from_line is beyond its end.");
        return Err(ToolError::new(ToolErrorClass::InvalidArguments, message));
    }
    let mut shown = String::new();
    let mut last = from_line - 1;
    for line in text.lines().skip(from_line - 1) {
        if !shown.is_empty() && shown.len() + line.len() > SHOWN_LIMIT_BYTES {
            break;
        }
        shown.push_str(line);
        shown.push('\n');
        last += 1;
    }
    if from_line > 1 || last < lines {
        let _ = write!(shown, "[lines {from_line} to {last} of {lines}");
        if last < lines {
            let _ = write!(shown, "; read on with from_line {}", last + 1);
        }
        shown.push(']');
    }
    Ok(ToolOutput {
        parts: vec![Part::Text(shown)],
        outcome: format!("{path}, {lines} lines"),
        skill: Some(GivenSkill {
            skill: name.to_owned(),
            hash: file.skill.to_string(),
            place: String::new(),
            instructions: false,
        }),
        ..ToolOutput::default()
    })
}

/// A failure in the classes that a model can act on.
fn of_skill(error: &SkillError) -> ToolError {
    let class = match error {
        SkillError::Unknown { .. } | SkillError::NoFile { .. } => ToolErrorClass::NotFound,
        SkillError::Changed { .. }
        | SkillError::Unreviewed { .. }
        | SkillError::NotWhatWasSeen { .. } => ToolErrorClass::Conflict,
        _ => ToolErrorClass::Failed,
    };
    ToolError::new(class, error.to_string())
}
