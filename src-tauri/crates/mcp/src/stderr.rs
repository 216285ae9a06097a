//! The last of what a server wrote to its standard error, for messages about its failures.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::clean::{Secrets, head, plain};

/// How much is kept.
const KEPT_BYTES: usize = 64 * 1024;

/// How much is read at a time.
const READ_BYTES: usize = 8 * 1024;

/// How many of the last lines a message quotes.
const QUOTED_LINES: usize = 3;

/// How long such a quotation may be.
const QUOTED_BYTES: usize = 600;

/// A ring of the last bytes. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct LastWords {
    ring: Arc<Mutex<VecDeque<u8>>>,
    secrets: Secrets,
}

impl LastWords {
    /// Empty.
    pub(crate) fn new(secrets: Secrets) -> Self {
        Self {
            ring: Arc::default(),
            secrets,
        }
    }

    /// Reads to the end, so that the server never blocks on a full pipe.
    pub(crate) async fn keep(self, mut stderr: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; READ_BYTES];
        while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
            self.push(&buffer[..count]);
        }
    }

    fn push(&self, bytes: &[u8]) {
        let mut ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        ring.extend(bytes);
        let surplus = ring.len().saturating_sub(KEPT_BYTES);
        ring.drain(..surplus);
    }

    /// All that is kept, safe to show.
    pub(crate) fn all(&self) -> String {
        let bytes: Vec<u8> = {
            let ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
            ring.iter().copied().collect()
        };
        self.secrets.mask(plain(&String::from_utf8_lossy(&bytes)))
    }

    /// The last lines as one, safe to show; `None` when it said nothing.
    pub(crate) fn quoted(&self) -> Option<String> {
        let text = self.all();
        let lines: Vec<&str> = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        let last = lines[lines.len().saturating_sub(QUOTED_LINES)..].join(" / ");
        (!last.is_empty()).then(|| head(&last, QUOTED_BYTES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_last_lines_are_quoted_and_the_ring_is_bounded() {
        let words = LastWords::new(Secrets::of(["hush-hush".to_owned()].iter()));
        assert_eq!(words.quoted(), None);
        let mut flood = vec![b'x'; KEPT_BYTES * 2];
        flood.extend_from_slice(b"\none\n\x1b[31mtwo hush-hush\x1b[0m\n\nthree\nfour\n");
        words.clone().keep(flood.as_slice()).await;
        assert_eq!(words.quoted().unwrap(), "two ••• / three / four");
        assert_eq!(words.ring.lock().unwrap().len(), KEPT_BYTES);
    }
}
