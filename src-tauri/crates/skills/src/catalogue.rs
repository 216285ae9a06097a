//! Every skill of every place, with its standing: which of a name counts, which are shadowed,
//! which are left out and why. Nothing is dropped in silence.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::bundled;
use crate::check::Examined;
use crate::error::SkillError;
use crate::folder::Source;
use crate::hash::{ContentHash, Difference, Fingerprint};
use crate::manifest::Manifest;
use crate::place::{Place, PlaceKind, Places};
use crate::problem::{Problem, ProblemCode, Severity, fatal, of_file};
use crate::records::{self, Records};

/// The most skills of one place.
pub const SKILLS_LIMIT: usize = 256;
/// The most names of one place that are looked at.
const NAMES_LIMIT: usize = 4_096;

/// Whether what a skill holds now is what a person approved.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum Standing {
    /// It is part of the program.
    Bundled,
    /// Exactly this was approved.
    Approved {
        /// By whom.
        by: String,
        /// When, in milliseconds since the Unix epoch.
        #[cfg_attr(feature = "bindings", specta(type = i32))]
        at: i64,
    },
    /// Nobody approved it yet.
    Unreviewed,
    /// Something else was approved in its place.
    Changed {
        /// What differs.
        difference: Difference,
    },
    /// It can't be hashed, so it can't be approved.
    Unknown,
}

impl Standing {
    /// Whether a model may be given it.
    pub fn is_trusted(&self) -> bool {
        matches!(self, Self::Bundled | Self::Approved { .. })
    }
}

/// What becomes of a skill.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum Use {
    /// It is the one that its name means.
    Used,
    /// Its name means another one.
    Shadowed {
        /// Where the other one lies.
        by: PlaceKind,
        /// Its folder.
        folder: PathBuf,
        /// Whether both are one folder, reached in two ways.
        same_folder: bool,
    },
    /// It can't be used, for the fatal one among its problems.
    LeftOut,
}

/// One skill of the catalogue.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// What its manifest says; `None` where it can't be used.
    pub manifest: Option<Manifest>,
    /// The place that it was found in.
    pub place: PlaceKind,
    /// Its folder, without links.
    pub folder: PathBuf,
    /// Where it was found, when that is a link to the folder.
    pub linked_from: Option<PathBuf>,
    /// What becomes of it.
    #[serde(rename = "use")]
    pub use_: Use,
    /// Whether it is what was approved.
    pub standing: Standing,
    /// What it is made of; `None` where that can't be known.
    pub hash: Option<ContentHash>,
    /// Everything that is wrong with it.
    pub problems: Vec<Problem>,
}

/// Something about a place as a whole.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct PlaceFault {
    /// The folder or file.
    pub path: PathBuf,
    /// What is wrong with it, as a sentence.
    pub what: String,
}

/// Every skill of every place.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Catalogue {
    /// By place in the order in which they count, then by name.
    pub skills: Vec<Listed>,
    /// What is wrong with places.
    pub faults: Vec<PlaceFault>,
}

impl Catalogue {
    /// Reads every place. A place that is not there has no skills.
    pub fn read(places: &Places) -> Self {
        let mut catalogue = Self::default();
        let records = Records::read(&places.shelf).unwrap_or_else(|error| {
            catalogue.fault(&places.shelf, error.to_string());
            Records::default()
        });
        for place in places.list() {
            catalogue.place(places, &place, &records);
        }
        let bundled = bundled::BUNDLED.iter();
        catalogue.skills.extend(bundled.map(listed_bundled));
        settle(&mut catalogue.skills);
        catalogue
    }

    /// The skill that this name means.
    ///
    /// # Errors
    /// When there is none, or none that can be used.
    pub fn find(&self, name: &str) -> Result<&Listed, SkillError> {
        let of_name = || self.skills.iter().filter(|skill| skill.name == name);
        if let Some(used) = of_name().find(|skill| skill.use_ == Use::Used) {
            return Ok(used);
        }
        if let Some(problem) = of_name().find_map(|skill| fatal(&skill.problems)) {
            return Err(SkillError::Unusable {
                name: name.to_owned(),
                problem: Box::new(problem.clone()),
            });
        }
        Err(SkillError::Unknown {
            name: crate::show::brief(name, 80),
            nearest: self.nearest(name),
        })
    }

    /// The skills that a model may be told of: those that names mean and a person accepted as they
    /// are. What nobody reviewed has no place in a request, not even its description.
    pub fn offered(&self) -> impl Iterator<Item = &Listed> {
        self.used().filter(|skill| skill.standing.is_trusted())
    }

    /// The skills that names mean, whether they may be given to a model or have to be asked about.
    pub fn used(&self) -> impl Iterator<Item = &Listed> {
        self.skills.iter().filter(|skill| skill.use_ == Use::Used)
    }

    fn nearest(&self, name: &str) -> Option<String> {
        /// How near a name must be to be taken for a slip.
        const NEAR: f64 = 0.7;
        let likeness = |skill: &&Listed| strsim::normalized_damerau_levenshtein(name, &skill.name);
        self.used()
            .filter(|skill| likeness(skill) >= NEAR)
            .max_by(|one, other| likeness(one).total_cmp(&likeness(other)))
            .map(|skill| skill.name.clone())
    }

    fn fault(&mut self, path: &Path, what: String) {
        self.faults.push(PlaceFault {
            path: path.to_path_buf(),
            what,
        });
    }

    fn place(&mut self, places: &Places, place: &Place, records: &Records) {
        let (names, is_cut) = match names_in(&place.folder) {
            Ok(found) => found,
            Err(error) => {
                self.fault(&place.folder, format!("It can't be listed: {error}."));
                return;
            }
        };
        if is_cut {
            let what = format!("It holds more than {NAMES_LIMIT} names; the others are not read.");
            self.fault(&place.folder, what);
        }
        if names.len() > SKILLS_LIMIT {
            self.fault(
                &place.folder,
                format!(
                    "It holds {} folders; only the first {SKILLS_LIMIT} by name are read.",
                    names.len()
                ),
            );
        }
        for name in names.into_iter().take(SKILLS_LIMIT) {
            let listed = listed(places, place, &name, records);
            self.skills.push(listed);
        }
    }
}

/// The folders of a place by name, links to folders among them, and whether there are names that
/// were not looked at.
fn names_in(folder: &Path) -> std::io::Result<(Vec<String>, bool)> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok((Vec::new(), false));
        }
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for (at, entry) in entries.enumerate() {
        if at == NAMES_LIMIT {
            return Ok((sorted(names), true));
        }
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // What begins with a dot is being installed or removed, or belongs to another program. A
        // link that leads nowhere is told of.
        let is_folder = match fs::metadata(entry.path()) {
            Ok(metadata) => metadata.is_dir(),
            Err(_) => entry.file_type()?.is_symlink(),
        };
        if is_folder && !name.starts_with('.') {
            names.push(name);
        }
    }
    Ok((sorted(names), false))
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names
}

fn listed(places: &Places, place: &Place, name: &str, records: &Records) -> Listed {
    let found = place.folder.join(name);
    let folder = records::real(&found);
    let is_link = fs::symlink_metadata(&found).is_ok_and(|metadata| metadata.is_symlink());
    let mut listed = Listed {
        name: crate::skill_name::used(None, name),
        manifest: None,
        place: place.kind,
        linked_from: is_link.then(|| found.clone()),
        folder,
        use_: Use::LeftOut,
        standing: Standing::Unknown,
        hash: None,
        problems: Vec::new(),
    };
    if let Some(wall) = places.wall(place.kind)
        && !listed.folder.starts_with(records::real(wall))
    {
        listed.problems.push(of_file(
            Severity::Fatal,
            ProblemCode::Link,
            "",
            format!(
                "It is a link out of the project, to {}.",
                listed.folder.display()
            ),
            "Copy the skill into the project, or install it for yourself.",
        ));
        return listed;
    }
    if let Err(error) = fill(&mut listed, name, records) {
        listed.problems.push(of_file(
            Severity::Fatal,
            ProblemCode::Unreadable,
            "",
            error.to_string(),
            "Make the folder readable for you, or remove it.",
        ));
    }
    listed
}

fn fill(listed: &mut Listed, name: &str, records: &Records) -> Result<(), SkillError> {
    let source = Source::open(&listed.folder)?;
    let examined = Examined::of(&source, name)?;
    listed.name = examined.parsed.name;
    listed.problems = examined.parsed.problems;
    if fatal(&listed.problems).is_some() {
        return Ok(());
    }
    let fingerprint = Fingerprint::of(&source, &examined.contents)?;
    listed.standing = standing(&listed.folder, &fingerprint, records);
    listed.hash = Some(fingerprint.hash);
    listed.manifest = examined.parsed.manifest;
    listed.use_ = Use::Used;
    Ok(())
}

/// Whether what lies in `folder` is what was approved.
pub(crate) fn standing(folder: &Path, now: &Fingerprint, records: &Records) -> Standing {
    if let Some(record) = records.approved(&now.hash) {
        return Standing::Approved {
            by: record.approved_by.clone(),
            at: record.approved_at,
        };
    }
    match records.of_folder(folder) {
        Some(record) => Standing::Changed {
            difference: now.difference(&record.fingerprint),
        },
        None => Standing::Unreviewed,
    }
}

fn listed_bundled(skill: &'static bundled::BundledSkill) -> Listed {
    let source = Source::Bundled(skill);
    let folder = bundled::folder(skill.name);
    let mut listed = Listed {
        name: skill.name.to_owned(),
        manifest: None,
        place: PlaceKind::Bundled,
        linked_from: None,
        folder,
        use_: Use::LeftOut,
        standing: Standing::Bundled,
        hash: None,
        problems: Vec::new(),
    };
    // Embedded bytes are always there to be read: what is wrong with them is a problem.
    if let Ok(examined) = Examined::of(&source, skill.name) {
        let usable = fatal(&examined.parsed.problems).is_none();
        listed.problems = examined.parsed.problems;
        listed.manifest = examined.parsed.manifest;
        listed.hash = Fingerprint::of(&source, &examined.contents)
            .ok()
            .map(|fingerprint| fingerprint.hash);
        if usable {
            listed.use_ = Use::Used;
        }
    }
    listed
}

/// Decides which skill each name means: the first that a person has accepted once, else the first.
/// What nobody has reviewed has no right yet, not even that of standing before another.
fn settle(skills: &mut [Listed]) {
    for at in 0..skills.len() {
        if skills[at].use_ == Use::LeftOut {
            continue;
        }
        let of_name = |other: &&Listed| other.name == skills[at].name && other.use_ != Use::LeftOut;
        let accepted = |other: &&Listed| other.standing != Standing::Unreviewed;
        let winner = skills
            .iter()
            .filter(of_name)
            .find(accepted)
            .or_else(|| skills.iter().find(of_name));
        let Some(winner) = winner else { continue };
        if !std::ptr::eq(winner, &skills[at]) {
            let shadowed = Use::Shadowed {
                by: winner.place,
                folder: winner.folder.clone(),
                same_folder: winner.folder == skills[at].folder,
            };
            skills[at].use_ = shadowed;
        }
    }
}
