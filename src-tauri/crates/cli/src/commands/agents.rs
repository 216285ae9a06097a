//! `agents` and `agent check`.

use std::path::{Path, PathBuf};

use longrein_app::Paths;
use longrein_app::agents::{self, AgentFile, AgentOrigin};
use longrein_core::agent_file::{self, Problem, Severity};
use serde_json::json;

use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::screen::{Screen, Tone};
use crate::text;

/// Columns of an agent's name.
const NAME_COLUMNS: usize = 18;

/// `agents`.
pub fn list(context: &Context) -> Result<Status, Failure> {
    let mut screen = context.screen();
    for (name, agent) in agents::list_agents(&data_dir(context)?) {
        if screen.is_json() {
            screen.json(&json!({
                "name": name,
                "description": agent.spec.as_ref().map(|spec| &spec.description),
                "origin": agent.origin,
                "usable": agent.spec.is_some(),
                "problems": agent.problems,
            }))?;
        } else {
            tell(&name, &agent, &mut screen)?;
        }
    }
    Ok(Status::Done)
}

fn data_dir(context: &Context) -> Result<PathBuf, Failure> {
    Ok(Paths::find(context.data_dir().map(PathBuf::as_path))?.data)
}

fn tell(name: &str, agent: &AgentFile, screen: &mut Screen) -> Result<(), Failure> {
    let place = match &agent.origin {
        AgentOrigin::File(path) | AgentOrigin::DataFolder(path) => path.display().to_string(),
        AgentOrigin::Shipped => "ships with Longrein".to_owned(),
    };
    let words = match &agent.spec {
        Some(spec) => text::brief(&spec.description, 200),
        None => screen.result_painted(Tone::Bad, "has mistakes and can't be used"),
    };
    let place = screen.result_painted(Tone::Quiet, &text::plain(&place));
    screen.result(&format!(
        "{} {words}",
        text::cell(&text::plain(name), NAME_COLUMNS)
    ))?;
    screen.result(&format!("{} {place}", " ".repeat(NAME_COLUMNS)))?;
    for problem in &agent.problems {
        let problem = text::plain(&problem.to_string());
        screen.result(&format!("{} {problem}", " ".repeat(NAME_COLUMNS)))?;
    }
    Ok(())
}

/// `agent check`.
pub fn check(context: &Context, file: &Path) -> Result<Status, Failure> {
    let mut screen = context.screen();
    let data_dir = data_dir(context)?;
    let mut agent = agents::find(&data_dir, &file.to_string_lossy())?;
    let of_named = agents::problems_of_named(&data_dir, &agent);
    agent.problems.extend(of_named);
    if screen.is_json() {
        screen.json(&json!({
            "file": file,
            "usable": agent.spec.is_some(),
            "problems": agent.problems,
            "agent": agent.spec,
        }))?;
    } else {
        for problem in &agent.problems {
            screen.say(&problem_line(file, problem));
        }
        if let Some(spec) = &agent.spec {
            screen.bytes(agent_file::to_toml(spec).as_bytes())?;
        }
    }
    if agent.spec.is_some() {
        return Ok(Status::Done);
    }
    let is_error = |problem: &&Problem| problem.severity == Severity::Error;
    let count = agent.problems.iter().filter(is_error).count();
    let mistakes = text::counted(u32::try_from(count).unwrap_or(u32::MAX), "mistake");
    let them = if count == 1 { "it" } else { "them" };
    Err(Failure::usage(
        format!("{} has {mistakes}.", file.display()),
        format!("Correct {them}, then check again."),
    ))
}

/// As compilers write it, so that editors find the place.
fn problem_line(file: &Path, problem: &Problem) -> String {
    let kind = if problem.severity == Severity::Warning {
        "warning: "
    } else {
        ""
    };
    let place = match problem.line {
        0 => file.display().to_string(),
        line => format!("{}:{line}:{}", file.display(), problem.column),
    };
    let remedy = if problem.remedy.is_empty() { "" } else { " " };
    text::plain(&format!(
        "{place}: {kind}{}{remedy}{}",
        problem.message, problem.remedy
    ))
}
