//! What is kept of a command's output: as much as a model can be shown in memory, and all of it in
//! a file of the workspace where it is more.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};
use tokio::io::AsyncWriteExt;

use super::plain;

/// The folder beneath the workspace where results are kept whole.
pub(super) const FOLDER: &str = "results";
/// The bytes from the beginning that a result holds. How much of it a model is shown is not decided
/// here.
const HEAD_BYTES: usize = 768 * 1024;
/// The bytes from the end that it holds besides.
const TAIL_BYTES: usize = 256 * 1024;

/// How many names are tried for a folder of ours where commands have put something else.
const NAMES_MAX: u32 = 9;

/// Takes in output from its beginning to its end. Whatever commands did to the workspace, the
/// beginning and the end of it are kept.
pub(super) struct Kept {
    workspace: PathBuf,
    name: String,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    whole: Whole,
}

/// Where all of the output is.
enum Whole {
    /// In memory, still.
    Here,
    /// In a file, by its path from the workspace.
    File(String, tokio::fs::File),
    /// Nowhere, for that reason.
    Lost(String),
}

impl Kept {
    /// Nothing yet. A file is made only when there is more than a result holds.
    pub(super) fn new(workspace: &Path, command: &str) -> Self {
        Self {
            workspace: workspace.to_owned(),
            name: format!("{command}.txt"),
            head: Vec::new(),
            tail: VecDeque::new(),
            total: 0,
            whole: Whole::Here,
        }
    }

    /// Takes in one more piece.
    pub(super) async fn push(&mut self, bytes: &[u8]) {
        let fits = bytes.len().min(HEAD_BYTES - self.head.len());
        self.total += bytes.len() as u64;
        self.head.extend_from_slice(&bytes[..fits]);
        self.tail.extend(&bytes[fits..]);
        match &mut self.whole {
            Whole::Here if self.total > (HEAD_BYTES + TAIL_BYTES) as u64 => {
                self.whole = match self.begun().await {
                    Ok((path, file)) => Whole::File(path, file),
                    Err(error) => Whole::Lost(error.to_string()),
                };
            }
            Whole::File(path, file) => {
                if let Err(error) = file.write_all(bytes).await {
                    self.whole = Whole::Lost(format!("{path}: {error}"));
                }
            }
            Whole::Here | Whole::Lost(_) => {}
        }
        if !matches!(self.whole, Whole::Here) {
            let excess = self.tail.len().saturating_sub(TAIL_BYTES);
            self.tail.drain(..excess);
        }
    }

    /// A file with all that came so far, which is still in memory.
    async fn begun(&self) -> std::io::Result<(String, tokio::fs::File)> {
        let dir = Dir::open_ambient_dir(&self.workspace, ambient_authority())?;
        let (path, mut file) = fresh_file(&dir, FOLDER, &self.name)?;
        let (one, other) = self.tail.as_slices();
        file.write_all(&[&self.head[..], one, other].concat())
            .await?;
        Ok((path, file))
    }

    /// What a result says of it, and where it is not all, the file that has the rest.
    pub(super) async fn end(mut self) -> (String, Option<String>) {
        if let Whole::File(path, file) = &mut self.whole
            && let Err(error) = file.flush().await
        {
            self.whole = Whole::Lost(format!("{path}: {error}"));
        }
        let tail: Vec<u8> = self.tail.into();
        let held = (self.head.len() + tail.len()) as u64;
        let (rest, file) = match self.whole {
            Whole::Here => return (plain::text(&[self.head, tail].concat()), None),
            Whole::File(path, _) => (format!("all of it is in {path}"), Some(path)),
            Whole::Lost(why) => {
                let why = plain::text(why.as_bytes());
                (format!("they could not be kept in a file: {why}"), None)
            }
        };
        let text = format!(
            "{}\n[… {} bytes are left out here; {rest} …]\n{}",
            plain::text(&self.head),
            self.total - held,
            plain::text(&tail)
        );
        (text, file)
    }
}

/// The names of a folder of ours, in the order in which they are tried: commands may have put
/// something else in its place, which is theirs.
pub(super) fn names(folder: &str) -> impl Iterator<Item = String> {
    let others = (2..=NAMES_MAX).map(move |number| format!("{folder}-{number}"));
    std::iter::once(folder.to_owned()).chain(others)
}

/// A new file in a folder of ours, with its path from the workspace.
pub(super) fn fresh_file(
    dir: &Dir,
    folder: &str,
    name: &str,
) -> std::io::Result<(String, tokio::fs::File)> {
    let mut first = None;
    for folder in names(folder) {
        let path = format!("{folder}/{name}");
        match in_place(dir, &path) {
            Ok(file) => return Ok((path, file)),
            // What is in the way of the usual name is what counts.
            Err(error) => {
                first.get_or_insert(error);
            }
        }
    }
    Err(first.unwrap_or_else(|| std::io::ErrorKind::NotFound.into()))
}

/// A new file in the place of whatever stands there. What commands put there is removed and never
/// opened: it may be a pipe or a link.
pub(super) fn in_place(dir: &Dir, path: &str) -> std::io::Result<tokio::fs::File> {
    if let Some((folder, _)) = path.rsplit_once('/') {
        dir.create_dir_all(folder)?;
        // Whoever may do everything could write there, and commands could not read it.
        if is_closed(&dir.metadata(folder)?) {
            return Err(std::io::ErrorKind::PermissionDenied.into());
        }
    }
    match dir.remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file = dir.open_with(path, OpenOptions::new().write(true).create_new(true))?;
    Ok(tokio::fs::File::from_std(file.into_std()))
}

/// Whether those who own a folder can't use it.
#[cfg(unix)]
fn is_closed(folder: &Metadata) -> bool {
    use cap_std::fs::PermissionsExt;
    /// All that an owner may do.
    const OWNERS: u32 = 0o700;
    folder.permissions().mode() & OWNERS != OWNERS
}

#[cfg(not(unix))]
fn is_closed(_folder: &Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn kept(folder: &Path, pieces: &[&[u8]]) -> String {
        let mut kept = Kept::new(folder, "A1");
        for piece in pieces {
            kept.push(piece).await;
        }
        let (text, file) = kept.end().await;
        assert_eq!(file.is_some(), text.contains("all of it is in"));
        text
    }

    #[tokio::test]
    async fn little_output_is_shown_whole_and_leaves_no_file() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(
            kept(folder.path(), &[b"one\n", b"two\n"]).await,
            "one\ntwo\n"
        );
        assert!(!folder.path().join(FOLDER).exists());
    }

    #[tokio::test]
    async fn much_output_is_shown_by_its_ends_and_is_whole_in_a_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let lines: Vec<String> = (0..200_000).map(|n| format!("line {n}\n")).collect();
        let all = lines.concat();
        let pieces: Vec<&[u8]> = all.as_bytes().chunks(7_777).collect();
        let shown = kept(folder.path(), &pieces).await;
        assert!(shown.starts_with("line 0\n") && shown.ends_with("line 199999\n"));
        assert!(shown.contains("all of it is in results/A1.txt"), "{shown}");
        assert!(shown.len() < HEAD_BYTES + TAIL_BYTES + 200);
        let file = std::fs::read_to_string(folder.path().join("results/A1.txt"));
        assert_eq!(file.expect("it is there"), all);
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_link_in_the_place_of_the_file_is_removed_and_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let outside = tempfile::NamedTempFile::new().expect("a file");
        std::fs::create_dir(folder.path().join(FOLDER)).expect("ours");
        let place = folder.path().join("results/A1.txt");
        std::os::unix::fs::symlink(outside.path(), &place).expect("ours");
        let much = vec![b'x'; HEAD_BYTES + TAIL_BYTES + 1];
        kept(folder.path(), &[&much]).await;
        assert_eq!(std::fs::metadata(outside.path()).expect("there").len(), 0);
        assert_eq!(std::fs::read(place).expect("it is there"), much);
    }

    /// What commands may leave where results are kept.
    #[cfg(unix)]
    fn in_the_way(folder: &Path, what: &str) {
        let place = folder.join(FOLDER);
        match what {
            "file" => std::fs::write(place, "theirs").expect("ours"),
            "link" => std::os::unix::fs::symlink("/nowhere", place).expect("ours"),
            "link out" => std::os::unix::fs::symlink("/", place).expect("ours"),
            "folder" => std::fs::create_dir_all(place.join("A1.txt")).expect("ours"),
            _ => rustix::fs::mknodat(
                rustix::fs::CWD,
                &place,
                rustix::fs::FileType::Fifo,
                rustix::fs::Mode::from_raw_mode(0o600),
                0,
            )
            .expect("ours"),
        }
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn whatever_is_in_the_way_of_results_they_are_kept_beside_it() {
        for what in ["file", "link", "link out", "folder", "pipe"] {
            let folder = tempfile::tempdir().expect("a folder");
            in_the_way(folder.path(), what);
            let much = vec![b'x'; HEAD_BYTES + TAIL_BYTES + 1];
            let shown = kept(folder.path(), &[&much]).await;
            assert!(
                shown.contains("all of it is in results-2/A1.txt"),
                "{what}: {shown}"
            );
            let file = std::fs::read(folder.path().join("results-2/A1.txt"));
            assert_eq!(file.expect("it is there"), much, "{what}");
            assert!(
                folder.path().join(FOLDER).symlink_metadata().is_ok(),
                "{what} is theirs"
            );
        }
    }

    #[tokio::test]
    async fn without_a_place_for_the_whole_its_ends_are_kept_and_it_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let gone = folder.path().join("gone");
        let much = vec![b'x'; 2 * (HEAD_BYTES + TAIL_BYTES)];
        let shown = kept(&gone, &[b"begin", &much, &much, b"end"]).await;
        assert!(shown.starts_with("begin") && shown.ends_with("end"));
        assert!(shown.contains("could not be kept in a file: "), "{shown}");
    }
}
