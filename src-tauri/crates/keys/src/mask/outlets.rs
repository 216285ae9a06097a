//! Where words leave the process that no store is handed to: standard error, and what a panic says.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, Write};
use std::panic;

use super::Known;

/// A place for words that masks what this process knows, a line at a time.
pub struct MaskedWriter<W: Write> {
    out: W,
    /// What has no end of line yet; a secret may be cut in it.
    line: Vec<u8>,
}

/// A line longer than this is not waited for to its end: no secret is as long by far.
const LINE_MAX_BYTES: usize = 64 * 1024;

impl<W: Write> MaskedWriter<W> {
    /// Masks what goes to `out`.
    pub fn new(out: W) -> Self {
        Self {
            out,
            line: Vec::new(),
        }
    }

    fn give(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        let mut bytes = bytes;
        Known::of_process().masker().bytes(&mut bytes);
        self.out.write_all(&bytes)
    }
}

impl<W: Write> Write for MaskedWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        let end = self.line.iter().rposition(|byte| *byte == b'\n');
        let whole = match end {
            Some(end) => end + 1,
            None if self.line.len() > LINE_MAX_BYTES => self.line.len(),
            None => 0,
        };
        if whole > 0 {
            let rest = self.line.split_off(whole);
            let lines = std::mem::replace(&mut self.line, rest);
            self.give(lines)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.line);
        self.give(rest)?;
        self.out.flush()
    }
}

impl<W: Write> Drop for MaskedWriter<W> {
    fn drop(&mut self) {
        // Nobody is left to be told that it could not be written.
        let _ = self.flush();
    }
}

/// From here on what a panic says is masked like everything else.
pub fn mask_panics() {
    panic::set_hook(Box::new(|panic| {
        let thread = std::thread::current();
        let name = thread.name().unwrap_or("unnamed").to_owned();
        let mut err = MaskedWriter::new(io::stderr().lock());
        let _ = writeln!(err, "thread '{name}' {panic}");
        let backtrace = Backtrace::capture();
        if backtrace.status() == BacktraceStatus::Captured {
            let _ = writeln!(err, "{backtrace}");
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SecretText;

    #[test]
    fn what_is_written_in_pieces_is_masked_line_by_line() {
        Known::of_process().learn(&SecretText::new("a-secret-of-outlets"));
        let mut out = Vec::new();
        let mut writer = MaskedWriter::new(&mut out);
        for piece in [
            "it is a-sec",
            "ret-of-outlets.\nand a-secret-of-",
            "outlets",
        ] {
            writer.write_all(piece.as_bytes()).unwrap();
        }
        drop(writer);
        let written = String::from_utf8(out).unwrap();
        assert_eq!(
            written,
            "it is *******************.\nand *******************"
        );
    }
}
