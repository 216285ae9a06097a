//! Where path arguments really lead, for the gate: links are followed beneath the workspace and
//! nowhere else, and what stands there is hashed, so that an approval holds for that content only.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File};
use longrein_protocol::gate::PathFact;
use longrein_protocol::{BlobHash, ToolSpec};
use serde_json::Value;

use crate::workspace::{PATH_LIMIT_BYTES, open_regular};

/// The most paths of one action that are followed; what comes after is taken to lead outside.
const PATHS_LIMIT: usize = 256;
/// Files up to this size are hashed whole.
const WHOLE_LIMIT_BYTES: u64 = 16 * 1024 * 1024;
/// The most that is hashed whole for one action: the gate looks before every start.
const ACTION_LIMIT_BYTES: u64 = 128 * 1024 * 1024;
/// How much of the beginning and of the end of a larger file is hashed.
const PART_BYTES: u64 = 1024 * 1024;

/// Follows every path argument of an action. Files are read, so this blocks.
///
/// A larger file is known by its size, its times, its number on the disk, its beginning and its
/// end. Its time of change can't be set by a program, so that content which was put in its place
/// shows, without reading gigabytes before every start.
pub fn paths(workspace: &Path, spec: &ToolSpec, arguments: &Value) -> Vec<PathFact> {
    let root = Dir::open_ambient_dir(workspace, ambient_authority()).ok();
    let mut left = ACTION_LIMIT_BYTES;
    let mut facts = Vec::new();
    for argument in &spec.path_arguments {
        for path in written(arguments.get(argument)) {
            let followed = root
                .as_ref()
                .filter(|_| facts.len() < PATHS_LIMIT)
                .and_then(|root| Some((root, follow(root, path?)?)));
            let content = followed
                .as_ref()
                .and_then(|(root, real)| content(root, real, &mut left));
            facts.push(PathFact {
                argument: argument.clone(),
                real: followed.map(|(_, real)| real),
                content,
            });
        }
    }
    facts.truncate(PATHS_LIMIT + 1);
    facts
}

/// The paths of an argument; `None` for what is no text.
fn written(value: Option<&Value>) -> Vec<Option<&str>> {
    match value {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(values)) => values.iter().map(Value::as_str).collect(),
        Some(value) => vec![value.as_str()],
    }
}

/// The real path beneath `root`, joined by `/`; `.` is the root. Names that are not there yet are
/// taken as they are. `None` when it leads outside, or can't be followed.
fn follow(root: &Dir, path: &str) -> Option<String> {
    let drive = path.as_bytes().get(1) == Some(&b':') && path.as_bytes()[0].is_ascii_alphabetic();
    let is_relative = !drive && !path.starts_with(['/', '\\', '~']);
    if !is_relative || path.len() > PATH_LIMIT_BYTES || path.contains(char::is_control) {
        return None;
    }
    let mut real: Vec<String> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            // The folder above is that of where the links led, as for the system.
            ".." => {
                real.pop()?;
            }
            name if cfg!(windows) && name.contains(['\\', ':']) => return None,
            name => {
                real.push(name.to_owned());
                real = resolved(root, real)?;
            }
        }
    }
    Some(if real.is_empty() {
        ".".to_owned()
    } else {
        real.join("/")
    })
}

/// Follows the last of these names, where it is there.
fn resolved(root: &Dir, names: Vec<String>) -> Option<Vec<String>> {
    let path = names.join("/");
    match root.canonicalize(&path) {
        Ok(real) => {
            let real = real.to_str()?.replace('\\', "/");
            let names = real
                .split('/')
                .filter(|name| !name.is_empty() && *name != ".");
            Some(names.map(str::to_owned).collect())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // A link to what is not there would be followed by whoever makes it.
            root.symlink_metadata(&path).is_err().then_some(names)
        }
        // Beneath a file there is nothing; the tool will say so.
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Some(names),
        Err(_) => None,
    }
}

/// The hash of a regular file; `None` for anything else, and for what can't be read.
fn content(root: &Dir, path: &str, left: &mut u64) -> Option<BlobHash> {
    let (mut file, bytes) = open_regular(root, path).ok()?;
    if bytes <= WHOLE_LIMIT_BYTES && bytes <= *left {
        *left -= bytes;
        let mut whole = Vec::with_capacity(usize::try_from(bytes).ok()?);
        // The file may grow while it is read: then it is another one than a moment ago.
        let limit = WHOLE_LIMIT_BYTES + 1;
        Read::take(&mut file, limit).read_to_end(&mut whole).ok()?;
        return Some(BlobHash::of(&whole));
    }
    mark(file).ok()
}

/// What a large file is known by.
fn mark(mut file: File) -> io::Result<BlobHash> {
    let metadata = file.metadata()?;
    let mut known = format!("{:?}", metadata.modified()?.into_std()).into_bytes();
    known.extend_from_slice(&metadata.len().to_le_bytes());
    #[cfg(unix)]
    {
        use cap_std::fs::MetadataExt;
        for number in [metadata.ctime(), metadata.ctime_nsec()] {
            known.extend_from_slice(&number.to_le_bytes());
        }
        for number in [metadata.dev(), metadata.ino()] {
            known.extend_from_slice(&number.to_le_bytes());
        }
    }
    Read::take(&mut file, PART_BYTES).read_to_end(&mut known)?;
    file.seek(SeekFrom::Start(metadata.len().saturating_sub(PART_BYTES)))?;
    Read::take(&mut file, PART_BYTES).read_to_end(&mut known)?;
    Ok(BlobHash::of(&known))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;
    use tempfile::TempDir;

    use super::*;
    use crate::tool::spec;

    fn workspace() -> TempDir {
        let workspace = tempfile::tempdir().unwrap();
        fs::create_dir_all(workspace.path().join("notes/deep")).unwrap();
        fs::write(workspace.path().join("notes/plan.md"), "a plan").unwrap();
        workspace
    }

    fn look(workspace: &TempDir, path: Value) -> Vec<PathFact> {
        let spec = ToolSpec {
            path_arguments: vec!["path".to_owned()],
            ..spec("read", "Reads.", json!({}), &[])
        };
        paths(workspace.path(), &spec, &json!({ "path": path }))
    }

    fn real(workspace: &TempDir, path: &str) -> Option<String> {
        let facts = look(workspace, json!(path));
        assert_eq!(facts.len(), 1, "{path}");
        facts.into_iter().next().unwrap().real
    }

    #[test]
    fn a_path_leads_where_its_names_say() {
        let workspace = workspace();
        for (path, expected) in [
            ("notes/plan.md", Some("notes/plan.md")),
            ("./notes//plan.md", Some("notes/plan.md")),
            ("notes/deep/../plan.md", Some("notes/plan.md")),
            ("new/../notes", Some("notes")),
            ("new/page.html", Some("new/page.html")),
            ("notes/plan.md/below", Some("notes/plan.md/below")),
            ("", Some(".")),
            (".", Some(".")),
            ("notes/..", Some(".")),
            ("..", None),
            ("notes/../../x", None),
            ("/etc/passwd", None),
            ("~/x", None),
            ("C:\\x", None),
            ("a\0b", None),
        ] {
            assert_eq!(real(&workspace, path).as_deref(), expected, "{path:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_beneath_the_workspace_and_nowhere_else() {
        use std::os::unix::fs::symlink;
        let workspace = workspace();
        let at = |name: &str| workspace.path().join(name);
        fs::create_dir(at("out")).unwrap();
        symlink("../notes/plan.md", at("out/page.html")).unwrap();
        symlink("../notes", at("out/folder")).unwrap();
        symlink("../../..", at("out/up")).unwrap();
        symlink("/etc", at("out/etc")).unwrap();
        symlink("missing", at("out/dangling")).unwrap();
        symlink("loop", at("out/loop")).unwrap();
        for (path, expected) in [
            ("out/page.html", Some("notes/plan.md")),
            ("out/folder/plan.md", Some("notes/plan.md")),
            ("out/folder/new.md", Some("notes/new.md")),
            ("out/folder/../x", Some("x")),
            ("out/up", None),
            ("out/up/x", None),
            ("out/etc", None),
            ("out/etc/passwd", None),
            ("out/dangling", None),
            ("out/loop", None),
        ] {
            assert_eq!(real(&workspace, path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn every_path_of_a_list_is_followed_and_what_is_no_path_leads_nowhere() {
        let workspace = workspace();
        let facts = look(&workspace, json!(["notes", "..", 5]));
        let real: Vec<_> = facts.iter().map(|fact| fact.real.as_deref()).collect();
        assert_eq!(real, [Some("notes"), None, None]);
        assert_eq!(look(&workspace, json!({"a": 1}))[0].real, None);
        assert_eq!(look(&workspace, Value::Null), []);
        let many = look(&workspace, json!(vec!["notes"; PATHS_LIMIT + 9]));
        assert_eq!(many.len(), PATHS_LIMIT + 1);
        assert_eq!(many[PATHS_LIMIT].real, None);
    }

    #[test]
    fn what_stands_at_a_path_is_known_by_its_content() {
        let workspace = workspace();
        let content = |path: &str| look(&workspace, json!(path))[0].content;
        let before = content("notes/plan.md");
        assert_eq!(before, Some(BlobHash::of(b"a plan")));
        fs::write(workspace.path().join("notes/plan.md"), "b plan").unwrap();
        assert_eq!(content("notes/plan.md"), Some(BlobHash::of(b"b plan")));
        assert_eq!(content("notes"), None);
        assert_eq!(content("notes/new.md"), None);
    }

    #[test]
    fn a_large_file_is_known_without_being_read_whole() {
        let workspace = workspace();
        let path = workspace.path().join("large.bin");
        let write = |at: u64, byte: u8| {
            let mut file = fs::OpenOptions::new();
            let mut file = file
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)
                .unwrap();
            file.set_len(WHOLE_LIMIT_BYTES + 1).unwrap();
            file.seek(SeekFrom::Start(at)).unwrap();
            io::Write::write_all(&mut file, &[byte]).unwrap();
        };
        let content = || look(&workspace, json!("large.bin"))[0].content;
        write(0, 1);
        let first = content();
        assert!(first.is_some());
        assert_eq!(content(), first);
        for (at, byte) in [(0, 2), (WHOLE_LIMIT_BYTES, 3)] {
            write(at, byte);
            assert_ne!(content(), first, "a byte at {at}");
        }
    }

    #[test]
    fn without_a_workspace_every_path_leads_nowhere() {
        let gone = workspace().path().to_owned();
        let spec = ToolSpec {
            path_arguments: vec!["path".to_owned()],
            ..spec("read", "Reads.", json!({}), &[])
        };
        let facts = paths(&gone, &spec, &json!({"path": "notes"}));
        assert_eq!(facts[0].real, None);
    }
}
