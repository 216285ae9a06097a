//! What a run is given of skills: one line each, and then, when the model asks for it, the
//! instructions and the files of one.

mod files;
mod index;
mod tool;

use longrein_runtime::world::SkillSeen;

use crate::catalogue::Standing;
use crate::error::SkillError;
use crate::load::Skills;
use crate::told::{told, told_briefly};

pub use index::{index, missing};
pub use tool::LoadSkill;

/// The skill that a name means, as it is now, with what a person is shown where they have to look
/// at it before a model is given it.
///
/// # Errors
/// When there is none, or it can't be used.
pub fn seen(skills: &Skills, name: &str) -> Result<SkillSeen, SkillError> {
    let catalogue = skills.catalogue();
    let listed = catalogue.find(name)?;
    if let (true, Some(hash)) = (listed.standing.is_trusted(), &listed.hash) {
        return Ok(SkillSeen {
            skill: listed.name.clone(),
            hash: hash.to_string(),
            ask: None,
        });
    }
    let review = skills.review(name)?;
    let place = listed.place.in_words();
    let why = match listed.standing {
        Standing::Changed { .. } => format!(
            "the skill {} has changed since you approved it ({})",
            listed.name,
            told_briefly(&review)
        ),
        _ => format!(
            "you have not looked at the skill {} yet, which is found in {place} ({})",
            listed.name,
            told_briefly(&review)
        ),
    };
    let shown = format!("{place}: {}\n\n{}", listed.folder.display(), told(&review));
    Ok(SkillSeen {
        skill: listed.name.clone(),
        // What is approved is what the review speaks of, whatever the catalogue read before it.
        hash: review.hash.to_string(),
        ask: Some((why, shown)),
    })
}
