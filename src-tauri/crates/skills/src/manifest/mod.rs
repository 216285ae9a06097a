//! `SKILL.md`: its front matter by the specification, its body, and everything that is wrong with
//! either. What the specification forbids is told and loaded all the same; only a skill without a
//! description, or whose front matter can't be read, is left out.

mod body;
mod fields;
mod front;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::problem::{Problem, ProblemCode, Problems, Severity, of_manifest};
use crate::skill_name;

/// The file that makes a folder a skill.
pub const MANIFEST_FILE: &str = "SKILL.md";
/// The largest `SKILL.md` that is read, in bytes.
pub const MANIFEST_LIMIT_BYTES: u64 = 512 * 1024;
/// The most characters of a description.
pub const DESCRIPTION_LIMIT: usize = 1_024;
/// The most characters of a compatibility note.
pub const COMPATIBILITY_LIMIT: usize = 500;
/// The most lines that the instructions should have.
pub const BODY_LINES_ADVISED: usize = 500;
/// The most tools and metadata that are kept.
pub(crate) const ENTRIES_LIMIT: usize = 100;

/// What `SKILL.md` says of the skill.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Manifest {
    /// The name by which the skill is found: lower-case letters, digits and hyphens. The stated
    /// one where it is allowed, else the folder's, else what comes near.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// The licence's name, or the name of a file with it.
    pub license: Option<String>,
    /// What it needs of the machine.
    pub compatibility: Option<String>,
    /// What the specification leaves to others.
    pub metadata: BTreeMap<String, String>,
    /// The tools that it would like to use. It grants nothing.
    pub allowed_tools: Vec<String>,
}

/// A `SKILL.md` that was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parsed {
    /// `None` when the skill can't be used; the fatal problem says why.
    pub manifest: Option<Manifest>,
    /// The name by which the skill is listed, whether it can be used or not.
    pub name: String,
    /// The instructions, without the front matter.
    pub body: String,
    /// The line at which the body begins, from 1.
    pub body_line: usize,
    /// Everything that is wrong, by line.
    pub problems: Vec<Problem>,
}

/// Reads the text of a `SKILL.md` in a folder of this name.
pub fn parse(folder: &str, bytes: &[u8]) -> Parsed {
    let mut problems = Problems::default();
    let read = read(folder, bytes, &mut problems);
    let (manifest, name, body, body_line) = match read {
        Some((front, fields)) => {
            let manifest = fields::judge(folder, &fields, &mut problems);
            let name = skill_name::used(fields.text("name"), folder);
            body::judge(front.body, front.body_line, &mut problems);
            (manifest, name, front.body.to_owned(), front.body_line)
        }
        None => (None, skill_name::used(None, folder), String::new(), 1),
    };
    Parsed {
        manifest,
        name,
        body,
        body_line,
        problems: problems.finish(),
    }
}

fn read<'t>(
    folder: &str,
    bytes: &'t [u8],
    problems: &mut Problems,
) -> Option<(front::Front<'t>, fields::Fields)> {
    tracing::trace!(folder, "reads a skill's manifest");
    let fatal = |code, line, what: String, remedy: &str| {
        of_manifest(Severity::Fatal, code, line, what, remedy)
    };
    if bytes.len() as u64 > MANIFEST_LIMIT_BYTES {
        let what = format!(
            "It has {} bytes; at most {MANIFEST_LIMIT_BYTES} are read.",
            bytes.len()
        );
        let remedy = "Move what is long into files under references/.";
        problems.add(fatal(ProblemCode::TooLong, None, what, remedy));
        return None;
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let line = 1 + bytes[..error.valid_up_to()]
                .iter()
                .filter(|&&byte| byte == b'\n')
                .count();
            let what = "Here stands a byte that is no UTF-8.".to_owned();
            let remedy = "Save the file as UTF-8.";
            problems.add(fatal(ProblemCode::NotUtf8, Some(line), what, remedy));
            return None;
        }
    };
    let front = front::split(text, problems)?;
    let tree = front::read(front.yaml, problems)?;
    let fields = fields::Fields::of(tree, problems)?;
    Some((front, fields))
}
