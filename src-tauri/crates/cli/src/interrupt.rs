//! Ctrl-C: the first asks, the second insists.

use std::io;

use crate::failure::{Failure, Status};

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals by which a person stops a command: an interrupt, and where there is one, the
/// request to terminate.
#[derive(Debug)]
pub struct Interrupts {
    #[cfg(unix)]
    interrupt: Signal,
    #[cfg(unix)]
    terminate: Signal,
    #[cfg(windows)]
    interrupt: tokio::signal::windows::CtrlC,
}

impl Interrupts {
    /// Begins to listen; from here on the signals no longer end the process by themselves.
    ///
    /// # Errors
    /// When the system has no room for it.
    pub fn listen() -> Result<Self, Failure> {
        Self::open().map_err(|error| {
            let message = format!("Signals can't be listened to: {error}.");
            Failure::said(Status::Failed, message, "")
        })
    }

    #[cfg(unix)]
    fn open() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    #[cfg(windows)]
    fn open() -> io::Result<Self> {
        Ok(Self {
            interrupt: tokio::signal::windows::ctrl_c()?,
        })
    }

    /// The next signal. Cancel-safe.
    #[cfg(unix)]
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    /// The next signal. Cancel-safe.
    #[cfg(windows)]
    pub async fn next(&mut self) {
        // It ends only with the process.
        let _ = self.interrupt.recv().await;
    }
}
