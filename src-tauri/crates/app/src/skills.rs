//! The skills of this machine: where they are looked for, what a run is given of them, and what a
//! person does with them.

mod list;
mod mind;
mod project;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longrein_core::policy::SKILL_ARGUMENT;
use longrein_core::run::Run;
use longrein_protocol::agent::{AgentSpec, SkillChoice};
use longrein_protocol::tool::IndexLine;
use longrein_runtime::ports::Tool;
use longrein_runtime::world::{SkillSeen, Unavailable};
use longrein_skills::{Approval, IfThere, LoadSkill, Offer, Places, Record, Shelf, Skills};

use crate::config::{Config, Current};
use crate::error::{AppError, AppErrorCode};
use crate::paths::{Paths, home};
use crate::{Longrein, system};

pub use list::{SkillLine, SkillList, SkillState, state};
pub use longrein_skills::{
    Catalogue, Checked, ContentHash, Listed, MANIFEST_FILE, Offer as SkillOffer, Origin,
    PlaceFault, PlaceKind, Problem, Review, Severity, SkillError, Standing, ToldReview, Use, check,
    scaffold, told, told_briefly,
};
pub use project::project_at;

/// Who approves what is approved on this machine.
const BY: &str = "you";

/// Where the skills of a project, or of none, are looked for.
pub(crate) fn skills_at(paths: &Paths, config: &Config, project: Option<&Path>) -> Skills {
    Skills::new(Places {
        shelf: paths.skills(),
        home: home(),
        project: project.map(Path::to_path_buf),
        with_claude: config.skills.claude,
    })
}

/// The skills that a run finds.
pub(crate) fn skills_of(paths: &Paths, config: &Current, run: &Run) -> Skills {
    let created = run.created.as_ref();
    let project = created.and_then(|created| created.project.as_deref());
    skills_at(paths, &config.get(), project.map(Path::new))
}

/// What a run is given of skills: a line for each, and the tool that loads them. `None` where its
/// agent has none.
///
/// # Errors
/// When one that the agent names is not there.
pub(crate) async fn offered(
    skills: Skills,
    choice: SkillChoice,
) -> Result<Option<(Vec<IndexLine>, Arc<dyn Tool>)>, Unavailable> {
    if choice.use_.is_empty() {
        return Ok(None);
    }
    let looking = move || {
        let catalogue = skills.catalogue();
        check_named(&catalogue, &choice)?;
        let lines = longrein_skills::index(&catalogue, &choice);
        Ok(Some((lines, LoadSkill::tool(skills, system::now))))
    };
    let looked = tokio::task::spawn_blocking(looking).await;
    looked.unwrap_or_else(|error| {
        Err(Unavailable {
            message: format!("The skills could not be looked at: {error}."),
            remedy: "Resume the run.".to_owned(),
        })
    })
}

/// The skill that an action would load, when there is one to be loaded.
pub(crate) async fn look(skills: Skills, arguments: &serde_json::Value) -> Option<SkillSeen> {
    let name = arguments.get(SKILL_ARGUMENT)?.as_str()?.to_owned();
    let looked = move || longrein_skills::seen(&skills, &name).ok();
    // What can't be looked at is no skill that could be loaded: the tool says why.
    tokio::task::spawn_blocking(looked).await.ok()?
}

/// Whether every skill that an agent names is there.
///
/// # Errors
/// [`Unavailable`], which names the one that is not.
fn check_named(catalogue: &Catalogue, choice: &SkillChoice) -> Result<(), Unavailable> {
    match longrein_skills::missing(catalogue, choice) {
        None => Ok(()),
        Some(name) => Err(Unavailable {
            message: format!("The agent uses the skill {name}, which is not there or can't be used."),
            remedy: "See what there is with: longrein skills list. Add it with longrein skills add, or take it out of [skills] in the agent file.".to_owned(),
        }),
    }
}

impl Longrein {
    /// The skills that count in a project, or outside of any.
    pub fn skills(&self, project: Option<&Path>) -> Skills {
        skills_at(self.paths(), &self.config(), project)
    }

    /// Whether every skill that an agent names is there.
    ///
    /// # Errors
    /// When one is not.
    pub(crate) fn check_skills(
        &self,
        agent: &AgentSpec,
        project: Option<&Path>,
    ) -> Result<(), AppError> {
        if agent
            .skills
            .use_
            .iter()
            .all(|name| name == SkillChoice::ALL)
        {
            return Ok(());
        }
        let catalogue = self.skills(project).catalogue();
        Ok(check_named(&catalogue, &agent.skills)?)
    }

    /// Copies or unpacks what lies at `source`, a folder or a zip, and says what it is. Nothing is
    /// installed yet. It waits for the disk.
    ///
    /// # Errors
    /// When it is no skill, or none that can be installed.
    pub fn prepare_skill(&self, source: &Path) -> Result<Offer, AppError> {
        Ok(self.shelf()?.prepare(source)?)
    }

    /// Installs what was prepared, if it is still what the person saw. It takes the place of one of
    /// its name. It waits for the disk.
    ///
    /// # Errors
    /// When it is something else by now, or the disk refuses; nothing was changed then.
    pub fn install_skill(&self, offer: Offer, seen: &ContentHash) -> Result<Record, AppError> {
        Ok(self
            .shelf()?
            .install(offer, &approval(seen), IfThere::Replace)?)
    }

    /// What a person is shown of the skill in a folder of the catalogue. It waits for the disk.
    ///
    /// # Errors
    /// When no place has it, or it can't be read.
    pub fn review_skill(
        &self,
        project: Option<&Path>,
        folder: &Path,
    ) -> Result<ToldReview, AppError> {
        let review = self.skills(project).review_at(folder)?;
        Ok(ToldReview::of(&review))
    }

    /// Approves the skill in a folder of the catalogue as the person saw it. It waits for the disk.
    ///
    /// # Errors
    /// When it is something else by now, or the record can't be written.
    pub fn approve_skill(
        &self,
        project: Option<&Path>,
        folder: &Path,
        seen: &ContentHash,
    ) -> Result<Record, AppError> {
        Ok(self.skills(project).approve_at(folder, &approval(seen))?)
    }

    /// Removes an installed skill with its approval, and gives the folder that it lay in. It waits
    /// for the disk.
    ///
    /// # Errors
    /// When there is none, or it was not installed here.
    pub fn remove_skill(&self, name: &str) -> Result<PathBuf, AppError> {
        Ok(self.skills(None).remove(name)?)
    }

    fn shelf(&self) -> Result<Shelf, AppError> {
        Ok(Shelf::open(&self.paths().skills())?)
    }
}

fn approval(seen: &ContentHash) -> Approval {
    Approval {
        seen: seen.clone(),
        by: BY.to_owned(),
        at: system::now(),
    }
}

impl From<SkillError> for AppError {
    fn from(error: SkillError) -> Self {
        use AppErrorCode::{Busy, Io, NotFound, Refused, Usage};
        let (code, remedy) = match &error {
            SkillError::Io { .. } => (
                Io,
                "Check that it is there and that you may read and write it.",
            ),
            SkillError::Unknown { .. } | SkillError::NoFile { .. } => {
                (NotFound, "See what there is with: longrein skills list")
            }
            SkillError::NotASkill { .. } => (
                Usage,
                "A skill is a folder with a SKILL.md. Make one with: longrein skills new NAME",
            ),
            SkillError::Unreviewed { .. } | SkillError::Changed { .. } => (
                Refused,
                "Look at it, and approve it, with: longrein skills add",
            ),
            SkillError::NotWhatWasSeen { .. } => (Refused, "Look at it again."),
            SkillError::Records { .. } => {
                (Io, "Move the file away; each skill is then approved anew.")
            }
            SkillError::Busy { .. } => (Busy, ""),
            SkillError::Zip { .. } => (Refused, "Unpack it yourself and look at what is in it."),
            _ => (Usage, ""),
        };
        Self::new(code, error.to_string(), remedy)
    }
}
