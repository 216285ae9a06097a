//! One skill, read whole: its manifest, what is in its folder, and everything that is wrong.

use std::path::{Component, Path};
use std::sync::LazyLock;

use regex::Regex;

use crate::error::SkillError;
use crate::folder::{Contents, EntryKind, Source};
use crate::manifest::{self, MANIFEST_FILE, MANIFEST_LIMIT_BYTES, Manifest, Parsed};
use crate::problem::{Problem, ProblemCode, Problems, Severity, fatal, of_file, of_manifest};

/// The name that other programs let through.
pub(crate) const LOWER_MANIFEST_FILE: &str = "skill.md";
/// The most files that the instructions name which are looked for.
const NAMED_LIMIT: usize = 200;

/// What a check found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checked {
    /// The name by which it is listed.
    pub name: String,
    /// What `SKILL.md` says; `None` when the skill can't be used.
    pub manifest: Option<Manifest>,
    /// Everything that is wrong, and advice.
    pub problems: Vec<Problem>,
}

impl Checked {
    /// Whether the specification finds nothing wrong with it: fit to be given to others.
    pub fn is_publishable(&self) -> bool {
        self.problems
            .iter()
            .all(|problem| problem.severity == Severity::Advice)
    }

    /// Whether it can be used here.
    pub fn is_usable(&self) -> bool {
        self.manifest.is_some() && fatal(&self.problems).is_none()
    }
}

/// Checks the skill in this folder by the whole specification.
///
/// # Errors
/// When the folder can't be listed. Whatever is wrong inside is a problem, not an error.
pub fn check(folder: &Path) -> Result<Checked, SkillError> {
    let real = crate::records::real(folder);
    let source = Source::open(&real)?;
    let name = folder_name(folder);
    let examined = Examined::of(&source, &name)?;
    Ok(Checked {
        name: examined.parsed.name,
        manifest: examined.parsed.manifest,
        problems: examined.parsed.problems,
    })
}

/// The name of the folder as the person named it; of the one behind it where that has no name of
/// its own, as `.` has none.
fn folder_name(folder: &Path) -> String {
    let named = match folder.components().next_back() {
        Some(Component::Normal(name)) => Some(name.to_os_string()),
        _ => crate::records::real(folder).file_name().map(Into::into),
    };
    named.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// A skill that was read, with every problem in `parsed`.
#[derive(Debug)]
pub(crate) struct Examined {
    pub(crate) parsed: Parsed,
    pub(crate) contents: Contents,
    /// The name of the file that its manifest is in.
    pub(crate) manifest_file: String,
    /// The bytes of that file, where it could be read.
    pub(crate) manifest_bytes: Vec<u8>,
}

impl Examined {
    /// Reads the skill of a folder with this name.
    pub(crate) fn of(source: &Source, folder_name: &str) -> Result<Self, SkillError> {
        let contents = source.contents()?;
        let mut problems = Problems::default();
        problems.extend(contents.problems.iter().cloned());
        let (manifest_file, bytes) = manifest_bytes(source, &contents, &mut problems);
        let mut parsed = match &bytes {
            Some(bytes) => manifest::parse(folder_name, bytes),
            None => Parsed {
                manifest: None,
                name: crate::skill_name::used(None, folder_name),
                body: String::new(),
                body_line: 1,
                problems: Vec::new(),
            },
        };
        problems.extend(parsed.problems.drain(..));
        missing_files(&parsed, &contents, &mut problems);
        parsed.problems = problems.finish();
        Ok(Self {
            parsed,
            contents,
            manifest_file,
            manifest_bytes: bytes.unwrap_or_default(),
        })
    }
}

fn manifest_bytes(
    source: &Source,
    contents: &Contents,
    problems: &mut Problems,
) -> (String, Option<Vec<u8>>) {
    let has = |name: &str| contents.entries.iter().find(|entry| entry.path == name);
    let found = has(MANIFEST_FILE).or_else(|| has(LOWER_MANIFEST_FILE));
    let Some(entry) = found else {
        problems.add(of_file(
            Severity::Fatal,
            ProblemCode::NoManifest,
            "",
            "The folder has no SKILL.md.",
            "Add one that begins with `---`, `name:`, `description:` and `---`.",
        ));
        return (MANIFEST_FILE.to_owned(), None);
    };
    if entry.path == LOWER_MANIFEST_FILE {
        problems.add(of_file(
            Severity::Advice,
            ProblemCode::ManifestCase,
            LOWER_MANIFEST_FILE,
            "The specification names this file SKILL.md.",
            "Rename it: not every program finds it so.",
        ));
    }
    if entry.kind != EntryKind::File {
        problems.add(of_manifest(
            Severity::Fatal,
            ProblemCode::Unreadable,
            None,
            "It is no regular file, and is not opened.",
            "Put the file itself there.",
        ));
        return (entry.path.clone(), None);
    }
    match source.read(&entry.path, MANIFEST_LIMIT_BYTES) {
        Ok(bytes) => (entry.path.clone(), Some(bytes)),
        Err(error) => {
            let code = match error {
                SkillError::TooLarge { .. } => ProblemCode::TooLong,
                _ => ProblemCode::Unreadable,
            };
            let remedy = match code {
                ProblemCode::TooLong => "Move what is long into files under references/.",
                _ => "Make it readable for you.",
            };
            problems.add(of_manifest(
                Severity::Fatal,
                code,
                None,
                error.to_string(),
                remedy,
            ));
            (entry.path.clone(), None)
        }
    }
}

/// A Markdown link's target, or a path in the folders that the specification names.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"\]\(\s*<?(?<link>[^)\s>#?]+)|(?:^|[\s`(])(?<path>(?:scripts|references|assets)/[A-Za-z0-9_./-]*[A-Za-z0-9_-]\.[A-Za-z0-9]{1,6})",
    )
    .expect("a fixed pattern is well formed")
});

/// Tells of files that the instructions name and the folder does not have.
fn missing_files(parsed: &Parsed, contents: &Contents, problems: &mut Problems) {
    let has = |path: &str| {
        let folder = format!("{}/", path.trim_end_matches('/'));
        contents
            .entries
            .iter()
            .any(|entry| entry.path == path || entry.path.starts_with(&folder))
    };
    let lines = parsed.body.lines().enumerate();
    let named = lines.flat_map(|(at, line)| {
        NAMED.captures_iter(line).filter_map(move |found| {
            let path = found.name("link").or_else(|| found.name("path"))?;
            Some((at, path.as_str().trim_start_matches("./")))
        })
    });
    for (at, path) in named.take(NAMED_LIMIT) {
        let is_elsewhere = path.contains(':') || path.starts_with(['/', '#']);
        if is_elsewhere || path.is_empty() || has(path) {
            continue;
        }
        problems.add(of_manifest(
            Severity::Advice,
            ProblemCode::MissingFile,
            Some(parsed.body_line + at),
            format!(
                "It names “{}”, and the folder has no such file.",
                crate::show::brief(path, 120)
            ),
            "Add the file or correct the path, which begins at the skill's folder.",
        ));
    }
}
