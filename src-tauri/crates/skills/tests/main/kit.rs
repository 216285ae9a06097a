//! Skills and places to test with.

use std::fs;
use std::path::{Path, PathBuf};

use longrein_skills::{
    Approval, ContentHash, IfThere, Listed, Places, Record, Review, Shelf, SkillError, Skills, Use,
};
use tempfile::TempDir;

/// A manifest of this name.
pub fn manifest(name: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: Sorts beans by colour. Use when there are beans to sort.\nlicense: MIT\n---\n\n# Beans\n\nSort them.\n"
    )
}

/// Writes a file with the folders above it.
pub fn write(path: &Path, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// The folder that checked skills are kept in, for `scripts/test-skills`, which has the reference
/// validator judge them too.
const KEEP_VARIABLE: &str = "LONGREIN_SKILL_SETS";

/// Keeps a copy of a skill's folder where the environment asks for it, with what is not text or
/// regular left out: a validator that opens a pipe waits for ever.
pub fn keep(folder: &Path) {
    let Some(all) = std::env::var_os(KEEP_VARIABLE) else {
        return;
    };
    let case = tempfile::Builder::new()
        .prefix("case-")
        .tempdir_in(all)
        .unwrap()
        .keep();
    let copy = case.join(folder.file_name().unwrap());
    fs::create_dir(&copy).unwrap();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
        }
    }
}

/// Makes a skill's folder in `parent`, with a script and a reference.
pub fn skill(parent: &Path, name: &str) -> PathBuf {
    let folder = parent.join(name);
    write(&folder.join("SKILL.md"), manifest(name));
    write(&folder.join("scripts/sort.py"), "print('sorted')\n");
    write(&folder.join("references/colours.md"), "Black, white.\n");
    folder
}

#[cfg(unix)]
pub fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A home, a project and a folder of installed skills, all empty.
pub struct World {
    pub all: TempDir,
    pub skills: Skills,
}

impl World {
    pub fn new() -> Self {
        Self::with(false)
    }

    pub fn with(claude: bool) -> Self {
        let all = tempfile::tempdir().unwrap();
        let root = all.path().canonicalize().unwrap();
        for folder in ["home", "project", "data/skills", "outside"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let skills = Skills::new(Places {
            shelf: root.join("data/skills"),
            home: Some(root.join("home")),
            project: Some(root.join("project")),
            with_claude: claude,
        });
        Self { all, skills }
    }

    /// A path in the world.
    pub fn at(&self, path: &str) -> PathBuf {
        self.all.path().canonicalize().unwrap().join(path)
    }

    pub fn shelf(&self) -> Shelf {
        Shelf::open(&self.at("data/skills")).unwrap()
    }

    /// Reviews and installs what lies at `source`.
    pub fn install(&self, source: &Path) -> Result<Record, SkillError> {
        self.put(source, IfThere::Refuse)
    }

    pub fn update(&self, source: &Path) -> Result<Record, SkillError> {
        self.put(source, IfThere::Replace)
    }

    fn put(&self, source: &Path, if_there: IfThere) -> Result<Record, SkillError> {
        let shelf = self.shelf();
        let offer = shelf.prepare(source)?;
        let approval = yes(&offer.review().hash);
        shelf.install(offer, &approval, if_there)
    }

    pub fn review(&self, source: &Path) -> Review {
        self.shelf().prepare(source).unwrap().review().clone()
    }

    pub fn approve(&self, name: &str) -> Record {
        let review = self.skills.review(name).unwrap();
        self.skills.approve(name, &yes(&review.hash)).unwrap()
    }

    /// The skills of this name with what became of each, in the order of the places.
    pub fn listed(&self, name: &str) -> Vec<Listed> {
        let skills = self.skills.catalogue().skills;
        skills
            .into_iter()
            .filter(|skill| skill.name == name)
            .collect()
    }

    pub fn used(&self, name: &str) -> Listed {
        let mut listed = self.listed(name);
        listed.retain(|skill| skill.use_ == Use::Used);
        assert_eq!(listed.len(), 1, "one skill is meant by {name}");
        listed.remove(0)
    }

    /// Everything in the folder of installed skills that has to do with skills.
    pub fn shelved(&self) -> Vec<String> {
        let entries = fs::read_dir(self.at("data/skills")).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| ![".lock", ".approved"].contains(&name.as_str()))
            .collect();
        names.sort();
        names
    }
}

/// A yes to exactly this.
pub fn yes(seen: &ContentHash) -> Approval {
    Approval {
        seen: seen.clone(),
        by: "Ada".to_owned(),
        at: 1_700_000_000_000,
    }
}
