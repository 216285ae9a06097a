//! The bytes of a streamed reply, with what goes wrong on the way.

use std::future::pending;
use std::io;
use std::time::Duration;

use longrein_models::Format;
use tokio::time::sleep;

use super::control::After;
use super::format::{self, Event, Sending};
use super::http::Connection;
use super::manner::{Fault, Manner};
use super::refusal::{Refusal, Trouble};
use crate::gate::Gate;

/// Words of one event of a flood.
const FLOOD_WORDS: usize = 16 * 1024;
/// Time between two signs of life where nothing else comes.
const SIGN_OF_LIFE: Duration = Duration::from_millis(10);
/// The most signs of life that are sent where nothing else comes.
const SIGNS_LIMIT: u32 = 100_000;
/// What no format is.
const GARBAGE: &str = r#"{"choices":[{"#;

/// The bytes of a whole stream, as they would go over the wire.
pub(super) fn bytes(format: Format, sending: Sending<'_>) -> Vec<u8> {
    let events = format::events(format, sending);
    let events =
        events
            .iter()
            .chain(&format::end_mark(format))
            .fold(String::new(), |text, event| {
                let comment = match sending.manner.keep_alive {
                    true => sending.manner.comment(),
                    false => "",
                };
                text + comment + &sending.manner.frame(event)
            });
    events.into_bytes()
}

/// Sends a stream of a format, in a manner.
pub(super) struct Stream<'a> {
    pub connection: &'a mut Connection,
    pub gate: &'a Gate,
    pub format: Format,
    pub manner: &'a Manner,
    /// Bytes of the body so far.
    pub sent: usize,
}

impl Stream<'_> {
    /// Sends these events, and says whether the connection goes on.
    pub async fn events(&mut self, events: &[Event]) -> io::Result<After> {
        self.connection.begin_stream().await?;
        for (number, event) in events.iter().enumerate() {
            if self.manner.hold_after == Some(number) {
                self.gate.pass().await;
            }
            if let Some(after) = self.fault(number).await? {
                return Ok(after);
            }
            if self.manner.keep_alive && !self.send(self.manner.comment()).await? {
                return self.cut().await;
            }
            if !self.send(&self.manner.frame(event)).await? {
                return self.cut().await;
            }
        }
        if let Some(mark) = format::end_mark(self.format)
            && !self.send(&self.manner.frame(&mark)).await?
        {
            return self.cut().await;
        }
        self.connection.end_stream().await?;
        Ok(After::GoOn)
    }

    /// Sends bytes that were recorded, cut where the manner says.
    pub async fn recorded(&mut self, body: &str) -> io::Result<After> {
        self.connection.begin_stream().await?;
        if !self.send(body).await? {
            return self.cut().await;
        }
        self.connection.end_stream().await?;
        Ok(After::GoOn)
    }

    /// What goes wrong before this event; `None` when the stream goes on.
    async fn fault(&mut self, number: usize) -> io::Result<Option<After>> {
        let Some(fault) = self.manner.fault else {
            return Ok(None);
        };
        match fault {
            Fault::StallAfter(after) if after == number => pending().await,
            Fault::DropAfter(after) if after == number => return Ok(Some(After::Close)),
            Fault::EndAfter(after) if after == number => {
                self.connection.end_stream().await?;
                return Ok(Some(After::GoOn));
            }
            Fault::SignsOfLifeAfter(after) if after == number => {
                for _ in 0..SIGNS_LIMIT {
                    self.send(self.manner.comment()).await?;
                    sleep(SIGN_OF_LIFE).await;
                }
                return Ok(Some(After::Close));
            }
            Fault::ErrorAfter(after) if after == number => self.break_off(Trouble::Broken).await?,
            Fault::BreakOffAfter(after, trouble) if after == number => {
                self.break_off(trouble).await?;
                self.connection.end_stream().await?;
                return Ok(Some(After::GoOn));
            }
            Fault::GarbageAfter(after) if after == number => {
                let garbage = Event {
                    name: None,
                    data: GARBAGE.to_owned(),
                };
                self.send(&self.manner.frame(&garbage)).await?;
            }
            Fault::FloodAfter(after, bytes) if after == number => self.flood(bytes).await?,
            _ => {}
        }
        Ok(None)
    }

    async fn break_off(&mut self, trouble: Trouble) -> io::Result<()> {
        let event = format::break_off(self.format, &Refusal::of(trouble));
        self.send(&self.manner.frame(&event)).await?;
        Ok(())
    }

    async fn flood(&mut self, bytes: usize) -> io::Result<()> {
        let words = "la ".repeat(FLOOD_WORDS / 3);
        let frame = self.manner.frame(&format::filler(self.format, &words));
        for _ in 0..bytes.div_ceil(frame.len()) {
            self.send(&frame).await?;
        }
        Ok(())
    }

    /// Sends a text; false when the fault ends it here.
    async fn send(&mut self, text: &str) -> io::Result<bool> {
        let limit = match self.manner.fault {
            Some(Fault::DropAtByte(limit) | Fault::EndAtByte(limit)) => limit,
            _ => usize::MAX,
        };
        let allowed = text.len().min(limit.saturating_sub(self.sent));
        let frame = self.manner.frame_bytes.unwrap_or(usize::MAX).max(1);
        for piece in text.as_bytes()[..allowed].chunks(frame) {
            self.connection.send_chunk(piece).await?;
            if let Some(pause) = self.manner.pause_ms {
                sleep(Duration::from_millis(pause)).await;
            }
        }
        self.sent += allowed;
        Ok(allowed == text.len())
    }

    /// The end of a stream that is cut at a byte.
    async fn cut(&mut self) -> io::Result<After> {
        match self.manner.fault {
            Some(Fault::EndAtByte(_)) => {
                self.connection.end_stream().await?;
                Ok(After::GoOn)
            }
            _ => Ok(After::Close),
        }
    }
}
