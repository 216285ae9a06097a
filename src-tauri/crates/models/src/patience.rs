//! How long a response may stay away, and how large it may be.

use std::time::Duration;

use tokio::time::Instant;

/// How long the usage is waited for when the model has already said that it is done.
const AFTER_STOP: Duration = Duration::from_secs(5);

/// How long a response may stay away, and how large it may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Until there is a connection.
    pub connect: Duration,
    /// From sending to the first byte of the answer.
    pub first_byte: Duration,
    /// From one byte of the answer to the next.
    pub idle: Duration,
    /// The same while the model may be thinking, which most providers do in silence.
    pub thinking: Duration,
    /// From one piece of the answer to the next, if only signs of life come in between.
    pub quiet: Duration,
    /// The largest response that is taken, in bytes.
    pub response_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            // A model on this machine reads a long request for minutes before its first word.
            first_byte: Duration::from_secs(300),
            idle: Duration::from_secs(60),
            thinking: Duration::from_secs(300),
            quiet: Duration::from_secs(600),
            response_bytes: 32 * 1024 * 1024,
        }
    }
}

/// That nothing came, in words that follow the provider's address.
pub(crate) fn silent(limit: Duration) -> String {
    format!("sent nothing for {} seconds", limit.as_secs_f64())
}

/// How far an answer has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    /// The model may be thinking.
    Thinking,
    /// Its words or calls are coming.
    Speaking,
    /// It has said that this is all; the usage may still follow.
    Complete,
}

/// What is waited for, and until when.
pub(crate) struct Wait {
    limits: Limits,
    first_byte: Option<Instant>,
    last_byte: Instant,
    last_event: Instant,
}

impl Wait {
    /// Waits for the first byte until `first_byte`.
    pub fn until(first_byte: Instant, limits: Limits) -> Self {
        let now = Instant::now();
        Self {
            limits,
            first_byte: Some(first_byte),
            last_byte: now,
            last_event: now,
        }
    }

    /// When the next piece has to be there. A whole answer does not wait long for what may follow.
    pub fn deadline(&self, progress: Progress) -> Instant {
        if let Some(first_byte) = self.first_byte {
            return first_byte;
        }
        if progress == Progress::Complete {
            return self.last_event + AFTER_STOP.min(self.limits.idle);
        }
        (self.last_byte + self.idle(progress)).min(self.last_event + self.limits.quiet)
    }

    fn idle(&self, progress: Progress) -> Duration {
        match progress {
            Progress::Thinking => self.limits.thinking,
            Progress::Speaking | Progress::Complete => self.limits.idle,
        }
    }

    /// A piece came; `heard` says whether it held more than a sign of life.
    pub fn after_piece(&mut self, heard: bool) {
        self.first_byte = None;
        self.last_byte = Instant::now();
        if heard {
            self.last_event = self.last_byte;
        }
    }

    /// What did not come, in words that follow the provider's address.
    pub fn what_was_missed(&self, progress: Progress) -> String {
        let idle = self.idle(progress);
        match self.first_byte {
            Some(_) => silent(self.limits.first_byte),
            None if Instant::now() >= self.last_byte + idle => silent(idle),
            None => {
                let quiet = self.limits.quiet.as_secs_f64();
                format!("sent signs of life for {quiet} seconds but no answer")
            }
        }
    }
}
