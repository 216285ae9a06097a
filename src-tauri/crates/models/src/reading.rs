//! Reading a response to its end, with every wait bounded, in whatever format its pieces are.

use futures::stream::{self, Stream, StreamExt};
use longrein_runtime::ports::{LiveText, ModelError, ModelReply};
use tokio::time::{Instant, timeout_at};

use crate::fault::{Provider, Said};
use crate::http::Endpoint;
use crate::patience::{Limits, Progress, Wait};
use crate::sse::EventReader;

/// Why the pieces make no reply.
#[derive(Debug)]
pub(crate) enum Fault {
    /// They are not in the format. In words that follow the provider's address.
    Malformed(String),
    /// The provider put an error where a piece should be.
    Refused(Said),
}

impl Fault {
    /// A piece can't be read at all.
    pub fn not_json() -> Self {
        Self::Malformed("sent a piece that is not JSON".to_owned())
    }

    /// Nothing of an answer came.
    pub fn no_answer() -> Self {
        Self::Malformed("sent no answer".to_owned())
    }

    /// The stream ended before the model had said that it is done.
    pub fn cut() -> Self {
        Self::Malformed("ended in the middle of its answer".to_owned())
    }
}

/// One reply in the making. Lenient in what servers vary, strict in what would make the reply
/// something else than the model said.
pub(crate) trait Assembly: Send {
    /// Takes the data of one event.
    fn take(&mut self, data: &str, live: &dyn LiveText) -> Result<(), Fault>;

    /// Takes a whole response from a server that does not stream.
    fn take_whole(&mut self, json: &[u8], live: &dyn LiveText) -> Result<(), Fault>;

    /// Whether the provider has said that this is all.
    fn is_done(&self) -> bool;

    /// How far the answer has come.
    fn progress(&self) -> Progress;

    /// The reply, once nothing more will come. `body` is the request's, so that ids made here are
    /// used nowhere in it.
    fn finish(self, body: &[u8]) -> Result<ModelReply, Fault>;
}

/// Where a response comes from, and how long it may take.
pub(crate) struct Source<'a> {
    pub provider: &'a Provider,
    pub limits: Limits,
    /// When the first byte has to be there.
    pub first_byte: Instant,
}

/// A response's body, piece by piece.
pub(crate) fn body_pieces(
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
pub(crate) async fn read_capped<B: AsRef<[u8]>>(
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
    pub async fn reply<A: Assembly, B: AsRef<[u8]>>(
        &self,
        mut assembly: A,
        mut pieces: impl Stream<Item = Result<B, ModelError>> + Unpin,
        body: &[u8],
        live: &dyn LiveText,
    ) -> Result<ModelReply, ModelError> {
        let mut shape = Shape::Unknown;
        let mut size = 0;
        let mut wait = Wait::until(self.first_byte, self.limits);
        while !assembly.is_done() {
            let progress = assembly.progress();
            let piece = match timeout_at(wait.deadline(progress), pieces.next()).await {
                // The answer is whole; only its usage did not come.
                Err(_) | Ok(Some(Err(_))) if progress == Progress::Complete => break,
                Err(_) => return Err(self.provider.broken(&wait.what_was_missed(progress))),
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
        assembly: &mut impl Assembly,
        piece: &[u8],
        live: &dyn LiveText,
    ) -> Result<bool, ModelError> {
        if let Shape::Unknown = shape {
            match piece.iter().find(|byte| !byte.is_ascii_whitespace()) {
                None => return Ok(false),
                Some(b'{' | b'[') => *shape = Shape::Json(Vec::new()),
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
        assembly: &mut impl Assembly,
        live: &dyn LiveText,
    ) -> Result<(), ModelError> {
        let mut events = Vec::new();
        let taken = match shape {
            Shape::Unknown => Ok(()),
            Shape::Json(json) => assembly.take_whole(&json, live),
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
