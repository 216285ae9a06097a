//! What is said of skills.

use std::path::Path;

use longrein_app::skills::{Catalogue, Listed, Problem, Review, Severity, SkillState, state, told};
use serde_json::json;

use super::severity;
use crate::failure::{Failure, Status};
use crate::screen::{Screen, Tone};
use crate::text;

/// Columns of a skill's name.
const NAME_COLUMNS: usize = 22;
/// How many letters of a description are shown where no terminal says how wide it is.
const DESCRIPTION_LETTERS: usize = 200;

/// One skill: its name and what it does, then where it lies and what becomes of it.
pub(super) fn skill(skill: &Listed, screen: &mut Screen) -> Result<(), Failure> {
    let indent = " ".repeat(NAME_COLUMNS + 1);
    let description = skill.manifest.as_ref().map(|of| of.description.as_str());
    let letters = screen.columns_left(indent.len(), DESCRIPTION_LETTERS);
    let about = text::brief(description.unwrap_or_default(), letters);
    let name = text::cell(&text::plain(&skill.name), NAME_COLUMNS);
    screen.result(format!("{name} {about}").trim_end())?;
    let (state, words) = state(skill);
    let state = screen.result_painted(tone(state), &text::plain(&words));
    let place = screen.result_painted(Tone::Quiet, skill.place.in_words());
    screen.result(&format!("{indent}{place}, {state}"))?;
    let wrong = skill.problems.iter();
    for problem in wrong.filter(|problem| problem.severity != Severity::Advice) {
        let line = problem_line(&skill.folder, problem);
        screen.result(&format!("{indent}{line}"))?;
    }
    Ok(())
}

fn tone(state: SkillState) -> Tone {
    match state {
        SkillState::Bundled | SkillState::Approved => Tone::Good,
        SkillState::Unreviewed | SkillState::Changed => Tone::Accent,
        SkillState::Shadowed => Tone::Quiet,
        SkillState::Broken => Tone::Bad,
    }
}

/// What is wrong with whole places. They hide no skill, and the command did what it could.
pub(super) fn faults(catalogue: &Catalogue, screen: &mut Screen) -> Status {
    for fault in &catalogue.faults {
        let path = fault.path.display();
        screen.say(&text::plain(&format!("{path}: {}", fault.what)));
    }
    Status::Done
}

/// The review of a skill.
pub(super) fn review(review: &Review, screen: &mut Screen) -> Result<(), Failure> {
    if screen.is_json() {
        return screen.json(&json!({"review": review}));
    }
    for line in told(review).lines() {
        screen.result(&text::plain(line))?;
    }
    screen.result("")
}

/// As compilers write it, so that editors find the place.
pub(super) fn problem_line(folder: &Path, problem: &Problem) -> String {
    let mut place = match problem.file.as_str() {
        "" => folder.display().to_string(),
        file => folder.join(file).display().to_string(),
    };
    if let Some(line) = problem.line {
        place = format!("{place}:{line}");
    }
    text::plain(&format!(
        "{place}: {}: {} {}",
        severity(problem.severity),
        problem.what,
        problem.remedy
    ))
}
