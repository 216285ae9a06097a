//! The folder of a child: empty, or with a copy of the files of the run above.

use std::io;
use std::path::{Path, PathBuf};

use longrein_core::run::Run;
use longrein_runtime::world::Unavailable;
use longrein_sandbox::code::{Room, copy, copy_but};
use longrein_store::file_system::make_private_folder;

/// The folder of a run's workspace in which its children have theirs.
const CHILDREN: &str = "children";
/// The folder of long results, which are named by actions: a child has its own of the same names.
const RESULTS: &str = "results";
/// Where a child finds those of the run above.
const ABOVE: &str = "above";
/// What programs are given their tools by; made anew for each program.
const PACKAGES: &str = ".longrein";
/// How the name of a folder ends that is not whole yet.
const PART: &str = "part";
/// The most bytes and entries that a child is given a copy of.
const ROOM: Room = Room {
    bytes: 4 << 30,
    entries: 100_000,
};

/// The folder that a run works in.
pub(crate) fn workspace_of(run: &Run) -> PathBuf {
    let created = run.created.as_ref();
    created
        .map(|created| PathBuf::from(&created.workspace))
        .unwrap_or_default()
}

/// Makes the folder of a child, where it is not there; that of a first run was made when it began.
pub(super) async fn of_child(run: &Run) -> Result<(), Unavailable> {
    let Some(created) = run.created.as_deref().filter(|it| it.root.is_some()) else {
        return Ok(());
    };
    let (folder, copies) = (workspace_of(run), created.copies);
    let making = move || match above(&folder).filter(|_| copies) {
        Some(above) => copied(&above, &folder),
        None => make_private_folder(&folder),
    };
    let made = tokio::task::spawn_blocking(making).await;
    let made = made.map_err(io::Error::from).flatten();
    made.map_err(|error| Unavailable {
        message: format!("The folder of the child can't be made: {error}."),
        remedy: "Check that the workspace can be written and that the disk has room.".to_owned(),
    })
}

/// The folder that holds that of a child, beneath [`CHILDREN`].
fn above(folder: &Path) -> Option<PathBuf> {
    let children = folder.parent()?;
    let is_there = children.file_name().is_some_and(|name| name == CHILDREN);
    children.parent().filter(|_| is_there).map(Path::to_owned)
}

/// Copies the files; the folder takes its name when all of it is there.
fn copied(above: &Path, folder: &Path) -> io::Result<()> {
    if folder.exists() {
        return Ok(());
    }
    let part = folder.with_extension(PART);
    match std::fs::remove_dir_all(&part) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    make_private_folder(&part)?;
    copy_but(above, &part, ROOM, &[CHILDREN, RESULTS, PACKAGES])?;
    let results = above.join(RESULTS);
    // A link there may lead anywhere.
    if results.symlink_metadata().is_ok_and(|it| it.is_dir()) {
        let own = part.join(RESULTS).join(ABOVE);
        make_private_folder(&own)?;
        copy(&results, &own, ROOM)?;
    }
    std::fs::rename(part, folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_files_of_the_run_above_and_none_of_its_children_s() {
        let above = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("data/a.csv", "a"),
            ("results/a1.json", "{}"),
            ("children/x/own.txt", "x"),
            (".longrein/tools.py", "y"),
        ] {
            let path = above.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let folder = above.path().join("children/y");
        std::fs::create_dir_all(folder.with_extension(PART).join("half")).unwrap();
        copied(above.path(), &folder).unwrap();
        let mut found: Vec<_> = walk(&folder).collect();
        found.sort();
        assert_eq!(found, ["data/a.csv", "results/above/a1.json"]);
        std::fs::write(folder.join("data/a.csv"), "changed").unwrap();
        copied(above.path(), &folder).unwrap();
        let kept = std::fs::read_to_string(folder.join("data/a.csv")).unwrap();
        assert_eq!(kept, "changed", "what is there is the child's");
        let parents = std::fs::read_to_string(above.path().join("data/a.csv")).unwrap();
        assert_eq!(parents, "a");
    }

    fn walk(folder: &Path) -> impl Iterator<Item = String> {
        let mut folders = vec![folder.to_owned()];
        let mut files = Vec::new();
        while let Some(next) = folders.pop() {
            for entry in std::fs::read_dir(next).unwrap().map(Result::unwrap) {
                match entry.path().is_dir() {
                    true => folders.push(entry.path()),
                    false => files.push(entry.path()),
                }
            }
        }
        let root = folder.to_owned();
        let name = move |file: PathBuf| file.strip_prefix(&root).unwrap().display().to_string();
        files.into_iter().map(name)
    }
}
