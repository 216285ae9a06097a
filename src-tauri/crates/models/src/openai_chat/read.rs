//! Reading a response to its end, with every wait bounded.

use std::time::Duration;

use futures::stream::{self, Stream, StreamExt};
use longrein_runtime::ports::{LiveText, ModelError, ModelReply};
use tokio::time::{Instant, timeout_at};

use super::Limits;
use super::assembly::{Assembly, Fault};
use super::sse::EventReader;
use crate::fault::Provider;
use crate::http::Endpoint;

/// How long the usage is waited for when the model has already said that it is done.
const AFTER_STOP: Duration = Duration::from_secs(5);

/// Where a response comes from, and how long it may take.
pub(super) struct Source<'a> {
    pub provider: &'a Provider,
    pub limits: Limits,
    /// When the first byte has to be there.
    pub first_byte: Instant,
}

/// That nothing came, in words that follow the provider's address.
pub(super) fn silent(limit: Duration) -> String {
    format!("sent nothing for {} seconds", limit.as_secs_f64())
}

/// A response's body, piece by piece.
pub(super) fn body_pieces(
    response: reqwest::Response,
    endpoint: &Endpoint,
) -> impl Stream<Item = Result<impl AsRef<[u8]> + use<>, ModelError>> + Unpin {
    Box::pin(stream::unfold(Some(response), move |response| async move {
        let mut response = response?;
        match response.chunk().await {
            Ok(Some(piece)) => Some((Ok(piece), Some(response))),
            Ok(None) => None,
            Err(error) => Some((Err(endpoint.explain(&error)), None)),
        }
    }))
}

/// Reads at most `limit` bytes; what is longer is cut.
pub(super) async fn read_capped<B: AsRef<[u8]>>(
    mut pieces: impl Stream<Item = Result<B, ModelError>> + Unpin,
    limit: usize,
) -> Result<Vec<u8>, ModelError> {
    let mut body = Vec::new();
    while let Some(piece) = pieces.next().await {
        body.extend_from_slice(piece?.as_ref());
        if body.len() >= limit {
            body.truncate(limit);
            break;
        }
    }
    Ok(body)
}

/// The two shapes of a body.
enum Shape {
    /// Nothing but white space came.
    Unknown,
    /// Server-sent events.
    Events(EventReader),
    /// One JSON text, from a server that does not stream.
    Json(Vec<u8>),
}

impl Source<'_> {
    /// Reads a reply. `body` is the request's.
    pub async fn reply<B: AsRef<[u8]>>(
        &self,
        mut pieces: impl Stream<Item = Result<B, ModelError>> + Unpin,
        body: &[u8],
        live: &dyn LiveText,
    ) -> Result<ModelReply, ModelError> {
        let mut assembly = Assembly::default();
        let mut shape = Shape::Unknown;
        let mut size = 0;
        let mut wait = Wait::until_first_byte(self);
        while !assembly.is_done() {
            let piece = match timeout_at(wait.deadline(&assembly), pieces.next()).await {
                // The answer is whole; only its usage did not come.
                Err(_) | Ok(Some(Err(_))) if assembly.is_complete() => break,
                Err(_) => return Err(self.provider.broken(&wait.what_was_missed())),
                Ok(None) => break,
                Ok(Some(piece)) => piece?,
            };
            size += piece.as_ref().len();
            if size > self.limits.response_bytes {
                let limit = self.limits.response_bytes;
                return Err(self
                    .provider
                    .malformed(&format!("sent more than {limit} bytes")));
            }
            let heard = self.take(&mut shape, &mut assembly, piece.as_ref(), live)?;
            wait.after_piece(heard);
        }
        self.end(shape, &mut assembly, live)?;
        assembly.finish(body).map_err(|fault| self.explain(fault))
    }

    /// Takes a piece; says whether it held more than a sign of life.
    fn take(
        &self,
        shape: &mut Shape,
        assembly: &mut Assembly,
        piece: &[u8],
        live: &dyn LiveText,
    ) -> Result<bool, ModelError> {
        if let Shape::Unknown = shape {
            match piece.iter().find(|byte| !byte.is_ascii_whitespace()) {
                None => return Ok(false),
                Some(b'{') => *shape = Shape::Json(Vec::new()),
                Some(_) => *shape = Shape::Events(EventReader::default()),
            }
        }
        let mut events = Vec::new();
        match shape {
            Shape::Unknown => {}
            Shape::Json(json) => {
                json.extend_from_slice(piece);
                return Ok(true);
            }
            Shape::Events(reader) => reader
                .push(piece, &mut events)
                .map_err(|_| self.provider.malformed("sent a line that does not end"))?,
        }
        for data in &events {
            assembly
                .take(data, live)
                .map_err(|fault| self.explain(fault))?;
        }
        Ok(!events.is_empty())
    }

    fn end(
        &self,
        shape: Shape,
        assembly: &mut Assembly,
        live: &dyn LiveText,
    ) -> Result<(), ModelError> {
        let mut events = Vec::new();
        let taken = match shape {
            Shape::Unknown => Ok(()),
            Shape::Json(json) => assembly.take_json(&json, live),
            Shape::Events(mut reader) => {
                reader.finish(&mut events);
                events.iter().try_for_each(|data| assembly.take(data, live))
            }
        };
        taken.map_err(|fault| self.explain(fault))
    }

    fn explain(&self, fault: Fault) -> ModelError {
        match fault {
            Fault::Malformed(what) => self.provider.malformed(&what),
            Fault::Refused(said) => self.provider.refused_inside(&said),
        }
    }
}

/// What is waited for, and until when.
struct Wait {
    limits: Limits,
    first_byte: Option<Instant>,
    last_byte: Instant,
    last_event: Instant,
}

impl Wait {
    fn until_first_byte(source: &Source<'_>) -> Self {
        let now = Instant::now();
        Self {
            limits: source.limits,
            first_byte: Some(source.first_byte),
            last_byte: now,
            last_event: now,
        }
    }

    fn deadline(&self, assembly: &Assembly) -> Instant {
        match self.first_byte {
            Some(first_byte) => first_byte,
            None if assembly.is_complete() => self.last_event + AFTER_STOP.min(self.limits.idle),
            None => (self.last_byte + self.limits.idle).min(self.last_event + self.limits.quiet),
        }
    }

    fn after_piece(&mut self, heard: bool) {
        self.first_byte = None;
        self.last_byte = Instant::now();
        if heard {
            self.last_event = self.last_byte;
        }
    }

    fn what_was_missed(&self) -> String {
        let now = Instant::now();
        match self.first_byte {
            Some(_) => silent(self.limits.first_byte),
            None if now >= self.last_byte + self.limits.idle => silent(self.limits.idle),
            None => {
                let quiet = self.limits.quiet.as_secs_f64();
                format!("sent signs of life for {quiet} seconds but no answer")
            }
        }
    }
}
