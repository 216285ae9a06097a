//! The files of a workspace, as names: no link is followed, and nothing is opened but folders.

use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

/// The most files that are listed.
const FILES: usize = 1_000;
/// How deep folders are looked into.
const DEPTH: u32 = 8;
/// The most entries of a folder that are looked at.
const ENTRIES_OF_A_FOLDER: usize = 2_000;

/// A file of a workspace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkspaceFile {
    /// The path beneath the workspace, with `/` between its parts.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// The files beneath a folder; a folder that is not there, or can't be read, has none. Names that
/// begin with a dot are left out.
pub fn list(folder: &Path) -> Vec<WorkspaceFile> {
    let mut files = Vec::new();
    if let Ok(root) = Dir::open_ambient_dir(folder, ambient_authority()) {
        add(&root, "", DEPTH, &mut files);
    }
    files
}

fn add(folder: &Dir, above: &str, depth: u32, files: &mut Vec<WorkspaceFile>) {
    let Ok(entries) = folder.entries() else {
        return;
    };
    for entry in entries.take(ENTRIES_OF_A_FOLDER).filter_map(Result::ok) {
        if files.len() >= FILES {
            return;
        }
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        // The type and the size are those of a link itself, not of what it points at.
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if name.starts_with('.') {
            continue;
        }
        let path = format!("{above}{name}");
        if kind.is_dir() && depth > 0 {
            if let Ok(inner) = entry.open_dir() {
                add(&inner, &format!("{path}/"), depth - 1, files);
            }
        } else if kind.is_file()
            && let Ok(metadata) = entry.metadata()
        {
            files.push(WorkspaceFile {
                path,
                bytes: metadata.len(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn files_are_listed_with_their_paths_and_no_link_is_followed() {
        let outside = tempfile::tempdir().expect("a folder");
        fs::write(outside.path().join("secret.txt"), "secret").expect("a file");
        let workspace = tempfile::tempdir().expect("a folder");
        fs::create_dir(workspace.path().join("data")).expect("a folder");
        fs::write(workspace.path().join("data/table.csv"), "a,b").expect("a file");
        fs::write(workspace.path().join("index.html"), "<p>").expect("a file");
        fs::write(workspace.path().join(".hidden"), "x").expect("a file");
        #[cfg(unix)]
        std::os::unix::fs::symlink(outside.path(), workspace.path().join("out")).expect("a link");

        let mut files = list(workspace.path());
        files.sort_by(|one, other| one.path.cmp(&other.path));
        let listed: Vec<(&str, u64)> = files
            .iter()
            .map(|file| (file.path.as_str(), file.bytes))
            .collect();
        assert_eq!(listed, [("data/table.csv", 3), ("index.html", 3)]);
    }

    #[test]
    fn a_folder_that_is_gone_has_no_files() {
        assert!(list(Path::new("/nowhere/at/all")).is_empty());
    }
}
