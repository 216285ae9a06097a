//! What is kept of a command's output: as much as a model can be shown in memory, and all of it in
//! a file of the workspace where it is more.

use std::collections::VecDeque;
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use tokio::io::AsyncWriteExt;

use super::plain;
use crate::SandboxError;

/// The folder beneath the workspace where results are kept whole.
pub(super) const FOLDER: &str = "results";
/// The bytes from the beginning that a result holds.
const HEAD_BYTES: usize = 24 * 1024;
/// The bytes from the end that it holds besides.
const TAIL_BYTES: usize = 8 * 1024;

/// Takes in output from its beginning to its end.
pub(super) struct Kept {
    dir: Dir,
    name: String,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    file: Option<tokio::fs::File>,
}

impl Kept {
    /// Nothing yet. A file is made only when there is more than a result holds.
    pub(super) fn new(workspace: &Path, command: &str) -> Result<Self, SandboxError> {
        let dir = Dir::open_ambient_dir(workspace, ambient_authority());
        Ok(Self {
            dir: dir.map_err(SandboxError::file(workspace))?,
            name: format!("{FOLDER}/{command}.txt"),
            head: Vec::new(),
            tail: VecDeque::new(),
            total: 0,
            file: None,
        })
    }

    /// Takes in one more piece.
    pub(super) async fn push(&mut self, bytes: &[u8]) -> Result<(), SandboxError> {
        let fits = bytes.len().min(HEAD_BYTES - self.head.len());
        self.total += bytes.len() as u64;
        self.head.extend_from_slice(&bytes[..fits]);
        self.tail.extend(&bytes[fits..]);
        let failed = |name: &str, error| SandboxError::file(name)(error);
        if self.file.is_none() && self.total > (HEAD_BYTES + TAIL_BYTES) as u64 {
            let mut file =
                fresh_file(&self.dir, &self.name).map_err(|error| failed(&self.name, error))?;
            // All that came before is still in memory.
            let (one, other) = self.tail.as_slices();
            let whole = [&self.head[..], one, other].concat();
            let written = file.write_all(&whole).await;
            written.map_err(|error| failed(&self.name, error))?;
            self.file = Some(file);
        } else if let Some(file) = &mut self.file {
            let written = file.write_all(bytes).await;
            written.map_err(|error| failed(&self.name, error))?;
        }
        let excess = self.tail.len().saturating_sub(TAIL_BYTES);
        if self.file.is_some() {
            self.tail.drain(..excess);
        }
        Ok(())
    }

    /// What a result says of it. Where it is not all, the file has the rest.
    pub(super) async fn end(mut self) -> Result<String, SandboxError> {
        if let Some(file) = &mut self.file {
            let flushed = file.flush().await;
            flushed.map_err(SandboxError::file(&self.name))?;
        }
        let tail: Vec<u8> = self.tail.into();
        if self.file.is_none() {
            return Ok(plain::text(&[self.head, tail].concat()));
        }
        let held = (self.head.len() + tail.len()) as u64;
        Ok(format!(
            "{}\n[… {} bytes are left out here; all of it is in {} …]\n{}",
            plain::text(&self.head),
            self.total - held,
            self.name,
            plain::text(&tail)
        ))
    }
}

/// A new file in the place of whatever stands there. What commands put there is removed and never
/// opened: it may be a pipe or a link.
pub(super) fn fresh_file(dir: &Dir, name: &str) -> std::io::Result<tokio::fs::File> {
    if let Some((folder, _)) = name.rsplit_once('/') {
        dir.create_dir_all(folder)?;
    }
    match dir.remove_file(name) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file = dir.open_with(name, OpenOptions::new().write(true).create_new(true))?;
    Ok(tokio::fs::File::from_std(file.into_std()))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn kept(folder: &Path, pieces: &[&[u8]]) -> String {
        let mut kept = Kept::new(folder, "A1").expect("a workspace");
        for piece in pieces {
            kept.push(piece).await.expect("it can be kept");
        }
        kept.end().await.expect("it can be kept")
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
        let lines: Vec<String> = (0..20_000).map(|n| format!("line {n}\n")).collect();
        let all = lines.concat();
        let pieces: Vec<&[u8]> = all.as_bytes().chunks(7_777).collect();
        let shown = kept(folder.path(), &pieces).await;
        assert!(shown.starts_with("line 0\n") && shown.ends_with("line 19999\n"));
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
}
