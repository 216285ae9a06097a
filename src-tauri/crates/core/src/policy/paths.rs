//! Paths beneath the workspace, as rules speak of them.

use longrein_protocol::ToolSpec;
use longrein_protocol::gate::PathFact;
use serde_json::Value;

use super::text::{fits, undisguised};

/// The most components of a path that a rule is compared with.
const COMPONENTS_LIMIT: usize = 256;

/// Whether a real path beneath the workspace fits a pattern: `*` stands for any part of a name,
/// `**` for any folders, also none. `notes/**` is the folder `notes` with all that is in it.
pub(super) fn is_on(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = names(pattern).collect();
    let path: Vec<&str> = names(path).take(COMPONENTS_LIMIT + 1).collect();
    path.len() <= COMPONENTS_LIMIT && components_fit(&pattern, &path)
}

/// As [`is_on`], but other letters that look the same, and other cases, are the same: some file
/// systems take them so. For rules that deny or ask.
pub(super) fn may_be_on(pattern: &str, path: &str) -> bool {
    let plain = |text: &str| undisguised(text).to_lowercase();
    is_on(pattern, path) || is_on(&plain(pattern), &plain(path))
}

fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
        .filter(|name| !name.is_empty() && *name != ".")
}

/// One row of a table at a time: which beginnings of `path` the pattern so far can stand for.
fn components_fit(pattern: &[&str], path: &[&str]) -> bool {
    let mut reached = vec![false; path.len() + 1];
    reached[0] = true;
    for part in pattern {
        let mut next = vec![false; path.len() + 1];
        for at in 0..=path.len() {
            if *part == "**" {
                next[at] = reached[at] || (at > 0 && next[at - 1]);
            } else if at > 0 {
                next[at] = reached[at - 1] && fits(part, path[at - 1]);
            }
        }
        reached = next;
    }
    reached[path.len()]
}

/// Where path arguments lead by their words alone, for a world that did not look: links are not
/// followed, so the tool itself must not follow them out either.
pub(super) fn by_words(spec: &ToolSpec, arguments: &Value, looked: &[PathFact]) -> Vec<PathFact> {
    let mut facts = Vec::new();
    for name in &spec.path_arguments {
        if looked.iter().any(|fact| fact.argument == *name) {
            continue;
        }
        let mut add = |real| {
            facts.push(PathFact {
                argument: name.clone(),
                real,
                content: None,
            });
        };
        match arguments.get(name) {
            None | Some(Value::Null) => {}
            Some(Value::String(path)) => add(beneath(path)),
            Some(Value::Array(paths)) => {
                for path in paths {
                    add(path.as_str().and_then(beneath));
                }
            }
            // Whatever this names, it is no path.
            Some(_) => add(None),
        }
    }
    facts
}

/// The names beneath the workspace, joined by `/`; `.` is the workspace. `None`: it leads outside.
fn beneath(path: &str) -> Option<String> {
    let drive = path.as_bytes().get(1) == Some(&b':');
    if drive || path.starts_with(['/', '\\', '~']) || path.contains(char::is_control) {
        return None;
    }
    let mut real: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                real.pop()?;
            }
            name => real.push(name),
        }
    }
    Some(if real.is_empty() {
        ".".to_owned()
    } else {
        real.join("/")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_pattern_matches_whole_names_and_any_folders() {
        for (pattern, path, expected) in [
            ("notes/plan.md", "notes/plan.md", true),
            ("notes/plan.md", "notes/plan.md.bak", false),
            ("notes/*", "notes/plan.md", true),
            ("notes/*", "notes/deep/plan.md", false),
            ("notes/*.md", "notes/plan.md", true),
            ("notes/*.md", "notes/plan.txt", false),
            ("notes/**", "notes/deep/plan.md", true),
            ("notes/**", "notes", true),
            ("notes/**", "notes-private/plan.md", false),
            ("**/plan.md", "plan.md", true),
            ("**/plan.md", "a/b/plan.md", true),
            ("a/**/z", "a/z", true),
            ("a/**/z", "a/b/c/z", true),
            ("a/**/z", "a/b/c/zz", false),
            ("**", ".", true),
            ("*", ".", false),
            ("./notes/", "notes", true),
        ] {
            assert_eq!(is_on(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn a_path_that_climbs_out_by_its_words_is_outside() {
        for (path, real) in [
            ("notes/plan.md", Some("notes/plan.md")),
            ("./notes//../plan.md", Some("plan.md")),
            ("", Some(".")),
            ("notes/../../plan.md", None),
            ("..", None),
            ("/etc/passwd", None),
            ("~/plan.md", None),
            ("C:\\plan.md", None),
            ("\\\\host\\share", None),
            ("plan\0.md", None),
        ] {
            assert_eq!(beneath(path).as_deref(), real, "{path:?}");
        }
    }
}
