//! Where skills are looked for, and which place comes before which.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A place that skills are looked for in. The first that has a skill of a name counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum PlaceKind {
    /// `.longrein/skills` of the project.
    Project,
    /// `.agents/skills` of the project.
    ProjectAgents,
    /// `.claude/skills` of the project.
    ProjectClaude,
    /// What was installed here: the data folder's `skills`.
    Installed,
    /// `~/.agents/skills`.
    UserAgents,
    /// `~/.claude/skills`.
    UserClaude,
    /// What ships with the program.
    Bundled,
}

impl PlaceKind {
    /// Where that is, in the words that people read.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Project => ".longrein/skills of the project",
            Self::ProjectAgents => ".agents/skills of the project",
            Self::ProjectClaude => ".claude/skills of the project",
            Self::Installed => "installed here",
            Self::UserAgents => "~/.agents/skills",
            Self::UserClaude => "~/.claude/skills",
            Self::Bundled => "ships with Longrein",
        }
    }

    /// Whether it belongs to a project: what others put there may not lead out of it.
    pub(crate) fn is_of_project(self) -> bool {
        matches!(
            self,
            Self::Project | Self::ProjectAgents | Self::ProjectClaude
        )
    }
}

/// What the places are made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Places {
    /// The folder of installed skills, which also keeps the record of approvals.
    pub shelf: PathBuf,
    /// The person's home folder, where `.agents/skills` is looked for.
    pub home: Option<PathBuf>,
    /// The folder of the project that is worked on.
    pub project: Option<PathBuf>,
    /// Whether `.claude/skills` is looked for as well.
    pub with_claude: bool,
}

/// One place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Place {
    /// Which one it is.
    pub kind: PlaceKind,
    /// Its folder. It need not exist.
    pub folder: PathBuf,
}

impl Places {
    /// The places in the order in which they count; what is bundled comes after all of them.
    pub fn list(&self) -> Vec<Place> {
        let below = |root: &Option<PathBuf>, inner: &[&str]| {
            let root = root.as_ref()?;
            Some(
                inner
                    .iter()
                    .fold(root.clone(), |path, part| path.join(part)),
            )
        };
        let claude = |root: &Option<PathBuf>| {
            below(root, &[".claude", "skills"]).filter(|_| self.with_claude)
        };
        let all = [
            (
                PlaceKind::Project,
                below(&self.project, &[".longrein", "skills"]),
            ),
            (
                PlaceKind::ProjectAgents,
                below(&self.project, &[".agents", "skills"]),
            ),
            (PlaceKind::ProjectClaude, claude(&self.project)),
            (PlaceKind::Installed, Some(self.shelf.clone())),
            (
                PlaceKind::UserAgents,
                below(&self.home, &[".agents", "skills"]),
            ),
            (PlaceKind::UserClaude, claude(&self.home)),
        ];
        let mut places: Vec<Place> = Vec::new();
        for (kind, folder) in all {
            let Some(folder) = folder else { continue };
            // A project that is the home folder has one place, not two.
            if !places.iter().any(|place| place.folder == folder) {
                places.push(Place { kind, folder });
            }
        }
        places
    }

    /// The folder that a skill of this place may not lead out of.
    pub(crate) fn wall(&self, kind: PlaceKind) -> Option<&Path> {
        self.project.as_deref().filter(|_| kind.is_of_project())
    }
}
