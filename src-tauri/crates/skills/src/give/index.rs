//! One line for each skill that an agent may load.

use longrein_protocol::agent::SkillChoice;
use longrein_protocol::tool::{IndexKind, IndexLine};

use crate::catalogue::{Catalogue, Listed, Standing};
use crate::show;

/// How many characters of a description: one line holds no more in any case.
const DESCRIPTION_LIMIT: usize = 400;

/// The skills that an agent may load, those that its file names first, then by name. Of one that
/// nobody approved as it is, no word of its own is told: only that a person will be asked, and only
/// where they approved it before or named it in the agent's file.
pub fn index(catalogue: &Catalogue, choice: &SkillChoice) -> Vec<IndexLine> {
    let covered = catalogue.used().filter(|skill| choice.covers(&skill.name));
    let mut told: Vec<(bool, IndexLine)> = covered
        .filter_map(|skill| {
            let named = choice.names(&skill.name);
            let line = IndexLine {
                kind: IndexKind::Skill,
                name: skill.name.clone(),
                text: about(skill, named)?,
            };
            Some((!named, line))
        })
        .collect();
    told.sort_by(|(first, one), (second, other)| (first, &one.name).cmp(&(second, &other.name)));
    told.into_iter().map(|(_, line)| line).collect()
}

/// The skills that an agent's file names and that are nowhere, or can't be used.
pub fn missing<'c>(catalogue: &Catalogue, choice: &'c SkillChoice) -> Option<&'c str> {
    let mut named = choice.use_.iter().filter(|name| *name != SkillChoice::ALL);
    let missing = named.find(|name| catalogue.find(name).is_err());
    missing.map(String::as_str)
}

fn about(skill: &Listed, named: bool) -> Option<String> {
    match &skill.standing {
        Standing::Bundled | Standing::Approved { .. } => {
            let manifest = skill.manifest.as_ref()?;
            Some(show::brief(&manifest.description, DESCRIPTION_LIMIT))
        }
        Standing::Changed { .. } => Some(
            "it has changed since the person approved it; loading it asks them first".to_owned(),
        ),
        Standing::Unreviewed if named => {
            Some("the person has not looked at it yet; loading it asks them first".to_owned())
        }
        Standing::Unreviewed | Standing::Unknown => None,
    }
}
