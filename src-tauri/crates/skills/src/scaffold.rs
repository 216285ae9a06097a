//! A new skill to begin with.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::SkillError;
use crate::load::write_new;
use crate::manifest::{DESCRIPTION_LIMIT, MANIFEST_FILE};
use crate::records::sync_folder;
use crate::skill_name;

/// The sections that a skill does well to have. It holds no instruction of its own, so that a
/// skill that is forgotten half written orders nothing.
const BODY: &str = "\
## When to use this

Say which tasks this is for, and which it is not for.

## Steps

1. Say the first step as an order: what to do, with what, and how to see that it worked.
2. Name each file of this folder where it is needed: what always applies stays here, what is
   needed now and then goes into `references/`, programs go into `scripts/`.

## Examples

Show one input and what should come out of it.

## When something goes wrong

Say what to do about each failure that you have seen.
";

/// Makes a skill's folder in `parent`: a `SKILL.md` that passes the check. Gives its path.
///
/// # Errors
/// When the name or the description is not allowed; when the folder is there already; when the
/// disk refuses.
pub fn scaffold(parent: &Path, name: &str, description: &str) -> Result<PathBuf, SkillError> {
    if !skill_name::is_valid(name) || name != skill_name::folded(name) {
        return Err(SkillError::BadName {
            name: crate::show::brief(name, 80),
            near: skill_name::near(name),
        });
    }
    let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
    let length = description.chars().count();
    if length == 0 || length > DESCRIPTION_LIMIT {
        return Err(SkillError::BadDescription {
            length,
            limit: DESCRIPTION_LIMIT,
        });
    }
    let folder = parent.join(name);
    if fs::symlink_metadata(&folder).is_ok() {
        return Err(SkillError::Exists {
            name: name.to_owned(),
        });
    }
    let of_folder = || SkillError::io(folder.clone(), "made");
    fs::create_dir_all(parent).map_err(of_folder())?;
    // Put together beside it and moved, so that no half of it shows.
    let stage = tempfile::Builder::new()
        .prefix(".unfinished-")
        .tempdir_in(parent)
        .map_err(of_folder())?;
    let content = stage.path().join(name);
    write_new(
        &content.join(MANIFEST_FILE),
        manifest(name, &description).as_bytes(),
        false,
    )
    .and_then(|file| file.sync_all())
    .and_then(|()| fs::rename(&content, &folder))
    .and_then(|()| sync_folder(parent))
    .map_err(of_folder())?;
    Ok(folder)
}

fn manifest(name: &str, description: &str) -> String {
    let title = name.replace('-', " ");
    let mut letters = title.chars();
    let title: String = letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default();
    let quoted = quoted(description);
    format!("---\nname: {name}\ndescription: {quoted}\n---\n\n# {title}\n\n{BODY}")
}

/// The text as YAML takes it in any case. Three hyphens would end the front matter for some
/// readers, so they become a dash.
fn quoted(text: &str) -> String {
    let text = text
        .replace("---", "—")
        .replace('\\', "\\\\")
        .replace('"', "\\\"");
    format!("\"{text}\"")
}
