//! How a driver is woken from outside.

use tokio::sync::mpsc;

use super::Message;

/// Wakes a driver from outside.
#[derive(Clone)]
pub struct Waker(pub(super) mpsc::Sender<Message>);

impl Waker {
    /// Says that the inbox may have something. A full mailbox will be read anyway.
    pub fn wake(&self) {
        let _ = self.0.try_send(Message::Wake);
    }

    /// Cancels the run. A mailbox that is full is read, and the inbox with it.
    pub(crate) fn cancel(&self) {
        let _ = self.0.try_send(Message::CancelRun);
    }
}
