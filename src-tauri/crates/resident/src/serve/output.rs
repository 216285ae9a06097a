//! One output stream of a command: kept on disk as it comes, read from there by offset.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use longrein_resident::wire::{Answer, Code, Kept, PIECE_MAX_BYTES};

use super::Refused;
use super::link::Link;

/// How many reads of one stream may wait at a time.
const READS_MAX: usize = 4;

/// An ask that is answered later.
pub(crate) struct Due {
    pub(crate) link: Weak<Link>,
    pub(crate) id: u64,
}

impl Due {
    pub(crate) fn answer(&self, answer: Answer, body: &[u8]) {
        if let Some(link) = self.link.upgrade() {
            link.answer(self.id, answer, body);
        }
    }
}

pub(crate) struct Output {
    path: PathBuf,
    /// Open while the command writes.
    file: Option<Arc<File>>,
    pub(crate) kept: Kept,
    pub(crate) ended: bool,
    waiting: Vec<(Due, u64)>,
}

impl Output {
    /// A stream that begins.
    pub(crate) fn begin(path: PathBuf) -> io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create_new(true)
            .open(&path)?;
        Ok(Self {
            path,
            file: Some(Arc::new(file)),
            kept: Kept::default(),
            ended: false,
            waiting: Vec::new(),
        })
    }

    /// A stream that has ended.
    pub(crate) fn ended(path: PathBuf, kept: Kept) -> Self {
        Self {
            path,
            file: None,
            kept,
            ended: true,
            waiting: Vec::new(),
        }
    }

    /// Keeps what fits and counts the rest. A disk that takes no more drops it too: the command
    /// must not hang for it.
    pub(crate) fn keep(&mut self, bytes: &[u8], limit: u64) {
        let room = usize::try_from(limit.saturating_sub(self.kept.bytes)).unwrap_or(usize::MAX);
        let fits = &bytes[..bytes.len().min(room)];
        let written = match &self.file {
            Some(file) if (&mut &**file).write_all(fits).is_ok() => fits.len(),
            _ => 0,
        };
        self.kept.bytes += written as u64;
        self.kept.dropped_bytes += (bytes.len() - written) as u64;
        self.serve();
    }

    /// No more will come.
    pub(crate) fn end(&mut self) {
        self.ended = true;
        self.serve();
        self.file = None;
    }

    /// Answers now, or later where there is nothing yet and the app waits.
    pub(crate) fn read(&mut self, due: Due, offset: u64, wait: bool) -> Result<(), Refused> {
        if offset > self.kept.bytes {
            let message = format!("the output has {} bytes, not {offset}", self.kept.bytes);
            return Err(Refused(Code::Invalid, message));
        }
        self.waiting.retain(|(due, _)| due.link.strong_count() > 0);
        if offset < self.kept.bytes || self.ended || !wait {
            return self.answer(&due, offset);
        }
        if self.waiting.len() >= READS_MAX {
            return Err(Refused(
                Code::TooMany,
                "too many reads wait for this output".to_owned(),
            ));
        }
        self.waiting.push((due, offset));
        Ok(())
    }

    fn serve(&mut self) {
        let bytes = self.kept.bytes;
        let ended = self.ended;
        let due: Vec<(Due, u64)> = self
            .waiting
            .extract_if(.., |(_, offset)| ended || *offset < bytes)
            .collect();
        for (due, offset) in due {
            if let Err(Refused(code, message)) = self.answer(&due, offset) {
                due.answer(Answer::Refused { code, message }, &[]);
            }
        }
    }

    fn answer(&self, due: &Due, offset: u64) -> Result<(), Refused> {
        let left = self.kept.bytes.saturating_sub(offset);
        let length = usize::try_from(left)
            .unwrap_or(usize::MAX)
            .min(PIECE_MAX_BYTES);
        let mut piece = vec![0; length];
        if length > 0 {
            let file = match &self.file {
                Some(file) => Arc::clone(file),
                None => Arc::new(open(&self.path)?),
            };
            file.read_exact_at(&mut piece, offset)?;
        }
        let ended = self.ended && length as u64 == left;
        due.answer(Answer::Output { offset, ended }, &piece);
        Ok(())
    }
}

fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Reads a pipe to its end.
pub(crate) fn pump(mut from: impl Read, mut take: impl FnMut(&[u8])) {
    let mut piece = vec![0; PIECE_MAX_BYTES];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return,
            Ok(count) => take(&piece[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}
