//! The folder of a child: empty, or with a copy of the files of the run above.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use longrein_core::run::Run;
use longrein_protocol::event::RunCreated;
use longrein_runtime::world::Unavailable;
use longrein_sandbox::code::{Room, copy_files};
use longrein_store::file_system::make_private_folder;

/// The folder of a run's workspace in which it finds what its children delivered.
const CHILDREN: &str = "children";
/// The folder of long results, which are named by actions: a child has its own of the same names.
const RESULTS: &str = "results";
/// Where a child finds those of the run above.
const ABOVE: &str = "results/above";
/// What programs are given their tools by; made anew for each program.
const PACKAGES: &str = ".longrein";
/// How the name of a folder ends that is not whole yet.
const PART: &str = "part";
/// The most entries that a child is given a copy of.
const ENTRIES: u64 = 100_000;

/// The folder that a run works in.
pub(crate) fn workspace_of(run: &Run) -> PathBuf {
    let created = run.created.as_ref();
    created
        .map(|created| PathBuf::from(&created.workspace))
        .unwrap_or_default()
}

/// Makes the folder of a child, where it is not there; that of a first run was made when it began.
pub(super) async fn of_child(run: &Run) -> Result<(), Unavailable> {
    let Some(created) = run.created.clone().filter(|it| it.root.is_some()) else {
        return Ok(());
    };
    let folder = workspace_of(run);
    let making = move || match &created.copies {
        Some(above) => copied(Path::new(above), &folder, &created),
        None => make_private_folder(&folder),
    };
    let made = tokio::task::spawn_blocking(making).await;
    let made = made.map_err(io::Error::from).flatten();
    made.map_err(|error| Unavailable {
        message: format!("The folder of the child can't be made: {error}."),
        remedy: "Check that the disk has room, and that the files of the run above are no more than `disk` under [sandbox] of its agent allows.".to_owned(),
    })
}

/// Copies the files; the folder takes its name when all of it is there.
fn copied(above: &Path, folder: &Path, created: &RunCreated) -> io::Result<()> {
    if folder.exists() {
        return Ok(());
    }
    let part = folder.with_extension(PART);
    let done = fill(above, &part, created.agent.sandbox.disk.0);
    let done = done.and_then(|()| std::fs::rename(&part, folder));
    if done.is_err() {
        // What is not whole is of no use to anybody.
        let _ = std::fs::remove_dir_all(&part);
    }
    done
}

fn fill(above: &Path, part: &Path, bytes: u64) -> io::Result<()> {
    match std::fs::remove_dir_all(part) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    make_private_folder(part)?;
    let mut room = Room {
        bytes,
        entries: ENTRIES,
    };
    let leave = [CHILDREN, RESULTS, PACKAGES];
    copy_files((above, "."), (part, "."), &mut room, &leave)?;
    copy_files((above, RESULTS), (part, ABOVE), &mut room, &[])
}

/// Lays a file down that the log has too: a long result, or what a child delivered.
pub(super) async fn keep(workspace: PathBuf, path: String, bytes: Arc<[u8]>) -> Option<String> {
    let laying = move || longrein_tools::lay_down(&workspace, &path, &bytes);
    match tokio::task::spawn_blocking(laying).await.ok()? {
        Ok(path) => Some(path),
        Err(error) => {
            tracing::warn!("a file is kept in the log alone: {error}");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two folders, of which the first has a link in the place of its results.
    #[test]
    fn a_copy_has_the_files_of_the_run_above_and_nothing_from_outside() {
        let (above, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
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
        std::fs::write(outside.path().join("secret"), "s").unwrap();
        let folder = above.path().with_extension("child");
        std::fs::create_dir_all(folder.with_extension(PART).join("half")).unwrap();
        fill(above.path(), &folder, 1 << 20).unwrap();
        let mut found: Vec<_> = walk(&folder).collect();
        found.sort();
        assert_eq!(found, ["data/a.csv", "results/above/a1.json"]);
        std::fs::remove_dir_all(above.path().join(RESULTS)).unwrap();
        std::os::unix::fs::symlink(outside.path(), above.path().join(RESULTS)).unwrap();
        fill(above.path(), &folder, 1 << 20).unwrap();
        assert_eq!(walk(&folder).collect::<Vec<_>>(), ["data/a.csv"]);
        assert!(fill(above.path(), &folder, 0).is_err(), "there is no room");
        std::fs::remove_dir_all(folder.with_extension(PART)).unwrap();
        std::fs::remove_dir_all(folder).unwrap();
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
