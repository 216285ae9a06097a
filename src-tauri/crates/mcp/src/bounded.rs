//! A reader that refuses a line without end, before anything has to hold it in memory.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// The longest line (one message) that a server may send.
pub(crate) const LINE_BYTES_MAX: usize = 16 * 1024 * 1024 - 1;

/// How deep a message may be nested: what the reader behind takes. It would drop a deeper one in
/// silence.
const DEPTH_MAX: u32 = 120;

/// Passes bytes on until a line grows too long or too deep; then it fails for good and says why in `fault`.
/// Without it the message would be dropped in silence and its call would wait for its time-out.
pub(crate) struct BoundedLines<R> {
    inner: R,
    limit: usize,
    line_bytes: usize,
    nesting: Nesting,
    fault: Arc<OnceLock<String>>,
}

/// How deep the JSON of a line is nested so far.
#[derive(Default)]
struct Nesting {
    depth: u32,
    is_text: bool,
    is_escaped: bool,
}

impl Nesting {
    /// Takes the next byte and tells how deep it is now.
    fn take(&mut self, byte: u8) -> u32 {
        match byte {
            b'\n' => *self = Self::default(),
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' if self.is_text => self.is_escaped = true,
            b'"' => self.is_text = !self.is_text,
            b'{' | b'[' if !self.is_text => self.depth += 1,
            b'}' | b']' if !self.is_text => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.depth
    }
}

impl<R> BoundedLines<R> {
    /// Wraps `inner`.
    pub(crate) fn new(inner: R, limit: usize, fault: Arc<OnceLock<String>>) -> Self {
        Self {
            inner,
            limit,
            line_bytes: 0,
            nesting: Nesting::default(),
            fault,
        }
    }

    /// What is wrong with what came in.
    fn fault_of(&mut self, fresh: &[u8]) -> Option<String> {
        if fresh
            .iter()
            .any(|byte| self.nesting.take(*byte) > DEPTH_MAX)
        {
            return Some(format!(
                "it sent a message nested more than {DEPTH_MAX} levels deep"
            ));
        }
        let fits = self.admits(fresh);
        (!fits).then(|| format!("it sent a line longer than {} bytes", self.limit))
    }

    /// Counts what came in; `false` when a line is too long.
    fn admits(&mut self, mut fresh: &[u8]) -> bool {
        while let Some(end) = fresh.iter().position(|byte| *byte == b'\n') {
            if self.line_bytes + end > self.limit {
                return false;
            }
            self.line_bytes = 0;
            fresh = &fresh[end + 1..];
        }
        self.line_bytes += fresh.len();
        self.line_bytes <= self.limit
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for BoundedLines<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        let fault = match self.fault.get().cloned() {
            Some(fault) => Some(fault),
            None => self.fault_of(&buffer.filled()[before..]),
        };
        let Some(fault) = fault else {
            return Poll::Ready(Ok(()));
        };
        // A read that fails leaves the buffer as it was.
        buffer.set_filled(before);
        let fault = self.fault.get_or_init(|| fault).clone();
        Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, fault)))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn a_message_nested_too_deeply_ends_the_stream_with_a_reason() {
        let deep = |levels| format!("{}{}\n", "[".repeat(levels), "]".repeat(levels));
        assert!(read(deep(120).as_bytes(), 1_000).await.0.is_ok());
        let (result, fault) = read(deep(121).as_bytes(), 1_000).await;
        assert!(result.is_err());
        assert_eq!(
            fault.unwrap(),
            "it sent a message nested more than 120 levels deep"
        );
        let in_text = format!("{{\"a\": \"\\\"{}\"}}\n", "[".repeat(200));
        assert!(read(in_text.as_bytes(), 1_000).await.0.is_ok());
    }

    async fn read(input: &[u8], limit: usize) -> (io::Result<usize>, Option<String>) {
        let fault = Arc::new(OnceLock::new());
        let mut reader = BoundedLines::new(input, limit, fault.clone());
        let mut all = Vec::new();
        let result = reader.read_to_end(&mut all).await;
        (result, fault.get().cloned())
    }

    #[tokio::test]
    async fn lines_up_to_the_limit_pass_and_a_longer_one_ends_the_stream_with_a_reason() {
        assert_eq!(read(b"12345\n12345\n1", 5).await.0.unwrap(), 13);
        let (result, fault) = read(b"12345\n123456\n", 5).await;
        assert_eq!(result.unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(fault.unwrap(), "it sent a line longer than 5 bytes");
        assert!(read(b"123456", 5).await.0.is_err());
    }
}
