//! The skills of this machine as a list that a person reads.

use longrein_skills::{Catalogue, Listed, PlaceKind, Severity, Standing, Use};
use serde::{Deserialize, Serialize};

/// Every skill, with what becomes of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct SkillList {
    /// In the order in which places count, then by name.
    pub skills: Vec<SkillLine>,
    /// What is wrong with whole places, in sentences.
    pub faults: Vec<String>,
}

/// One skill.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct SkillLine {
    /// Its name.
    pub name: String,
    /// What it does and when to use it; empty where it can't be read.
    pub description: String,
    /// Where it is found, in words: `installed here`.
    pub place: String,
    /// Its folder. Questions about it name it by this.
    pub folder: String,
    /// What becomes of it.
    pub state: SkillState,
    /// The same in words.
    pub state_words: String,
    /// What is wrong with it, each with its file and line; advice left out.
    pub problems: Vec<String>,
    /// Whether it is installed here, so that it can be removed here.
    pub can_remove: bool,
    /// Whether a person can look through it and approve it.
    pub can_approve: bool,
}

/// What becomes of a skill.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum SkillState {
    /// It ships with the program, and is used.
    Bundled,
    /// It is what was approved, and is used.
    Approved,
    /// Nobody has looked at it.
    Unreviewed,
    /// It is not what was approved any more.
    Changed,
    /// Its name means another one.
    Shadowed,
    /// It can't be used.
    Broken,
}

impl SkillList {
    /// A catalogue as a list.
    pub fn of(catalogue: &Catalogue) -> Self {
        let faults = catalogue.faults.iter();
        Self {
            skills: catalogue.skills.iter().map(SkillLine::of).collect(),
            faults: faults
                .map(|fault| format!("{}: {}", fault.path.display(), fault.what))
                .collect(),
        }
    }
}

impl SkillLine {
    fn of(skill: &Listed) -> Self {
        let (state, state_words) = state(skill);
        let manifest = skill.manifest.as_ref();
        let problems = skill.problems.iter();
        let told = problems.filter(|problem| problem.severity != Severity::Advice);
        Self {
            name: skill.name.clone(),
            description: manifest.map_or_else(String::new, |of| of.description.clone()),
            place: skill.place.in_words().to_owned(),
            folder: skill.folder.display().to_string(),
            state,
            state_words,
            problems: told.map(ToString::to_string).collect(),
            can_remove: skill.place == PlaceKind::Installed,
            can_approve: matches!(state, SkillState::Unreviewed | SkillState::Changed),
        }
    }
}

/// What becomes of a skill, also in words.
pub fn state(skill: &Listed) -> (SkillState, String) {
    match (&skill.use_, &skill.standing) {
        (Use::LeftOut, _) | (Use::Used, Standing::Unknown) => {
            (SkillState::Broken, "can't be used".to_owned())
        }
        (
            Use::Shadowed {
                same_folder: true, ..
            },
            _,
        ) => (
            SkillState::Shadowed,
            "found before, in another place that leads to the same folder".to_owned(),
        ),
        (Use::Shadowed { by, .. }, _) => (
            SkillState::Shadowed,
            format!("not used: its name means the one that {}", lies(*by)),
        ),
        (Use::Used, Standing::Bundled) => (SkillState::Bundled, "used".to_owned()),
        (Use::Used, Standing::Approved { .. }) => (SkillState::Approved, "approved".to_owned()),
        (Use::Used, Standing::Unreviewed) => (
            SkillState::Unreviewed,
            "not looked at yet: a run asks you first".to_owned(),
        ),
        (Use::Used, Standing::Changed { difference }) => (
            SkillState::Changed,
            format!("changed since you approved it, so a run asks you first ({difference})"),
        ),
    }
}

fn lies(place: PlaceKind) -> String {
    match place {
        PlaceKind::Bundled => "ships with Longrein".to_owned(),
        PlaceKind::Installed => "is installed here".to_owned(),
        other => format!("lies in {}", other.in_words()),
    }
}
