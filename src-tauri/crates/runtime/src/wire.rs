//! The bytes of a request: the frozen front is kept, the tail is laid behind it.

use std::sync::Arc;

use longrein_core::compile::Compiled;
use longrein_protocol::Body;
use longrein_protocol::body::NewBlob;
use longrein_protocol::event::{ContextCompiled, Fragment, Section};
use longrein_store::log::{Log, LogError};
use sha2::{Digest, Sha256};

/// The front of the last request with its running hash.
#[derive(Clone, Default)]
pub struct Wire {
    front: Vec<u8>,
    hash: Sha256,
    fragments: u32,
}

/// A body with its hash.
#[derive(Clone)]
pub struct Sealed {
    /// The exact bytes.
    pub bytes: Arc<[u8]>,
    /// SHA-256 in hexadecimal.
    pub sha256: String,
}

impl Wire {
    /// Takes up the front of a run's last request.
    pub async fn load(log: &dyn Log, fragments: &[Fragment]) -> Result<Self, LogError> {
        let mut wire = Self::default();
        for fragment in fragments
            .iter()
            .take_while(|fragment| !is_fresh(fragment.part))
        {
            wire.extend(&body_bytes(log, &fragment.body).await?);
        }
        Ok(wire)
    }

    /// Lays a compiled request behind the frozen front and seals it.
    pub fn seal(&mut self, compiled: &Compiled) -> Sealed {
        if compiled.keep != self.fragments {
            debug_assert_eq!(compiled.keep, 0, "a front is kept whole or not at all");
            *self = Self::default();
        }
        let fresh = compiled
            .add
            .iter()
            .position(|piece| is_fresh(piece.part))
            .unwrap_or(compiled.add.len());
        for piece in &compiled.add[..fresh] {
            self.extend(piece.text.as_bytes());
        }
        let mut hash = self.hash.clone();
        let tail: usize = compiled.add[fresh..]
            .iter()
            .map(|piece| piece.text.len())
            .sum();
        let mut bytes = Vec::with_capacity(self.front.len() + tail);
        bytes.extend_from_slice(&self.front);
        for piece in &compiled.add[fresh..] {
            bytes.extend_from_slice(piece.text.as_bytes());
            hash.update(piece.text.as_bytes());
        }
        Sealed {
            bytes: bytes.into(),
            sha256: hex(&hash.finalize()),
        }
    }

    /// The SHA-256 and the length of a request that is made of these fragments, of which the first
    /// `keep` are those of the request before.
    ///
    /// # Errors
    /// What reading gives.
    pub async fn follow(
        &mut self,
        log: &dyn Log,
        keep: u32,
        fragments: &[Fragment],
    ) -> Result<(String, usize), LogError> {
        if keep != self.fragments {
            *self = Self::default();
        }
        let frozen = frozen(fragments) as usize;
        for fragment in &fragments[(self.fragments as usize).min(frozen)..frozen] {
            self.extend(&body_bytes(log, &fragment.body).await?);
        }
        let (mut hash, mut length) = (self.hash.clone(), self.front.len());
        for fragment in &fragments[frozen..] {
            let bytes = body_bytes(log, &fragment.body).await?;
            hash.update(&bytes);
            length += bytes.len();
        }
        Ok((hex(&hash.finalize()), length))
    }

    fn extend(&mut self, bytes: &[u8]) {
        self.front.extend_from_slice(bytes);
        self.hash.update(bytes);
        self.fragments += 1;
    }
}

/// The event of a compiled request, with the blobs that it refers to.
pub fn record(compiled: Compiled, tokens: u32) -> (ContextCompiled, Vec<NewBlob>) {
    let mut blobs = Vec::new();
    let mut add = Vec::with_capacity(compiled.add.len());
    for piece in compiled.add {
        let (body, blob) = Body::of(piece.text);
        blobs.extend(blob);
        add.push(Fragment {
            part: piece.part,
            body,
            media_bytes: piece.media_bytes,
            media_tokens: piece.media_tokens,
            origin: piece.label.as_ref().map(|label| label.origin.clone()),
            trust: piece.label.map(|label| label.trust),
        });
    }
    (
        ContextCompiled {
            keep: compiled.keep,
            add,
            items: compiled.items,
            tokens,
        },
        blobs,
    )
}

/// Rebuilds the bytes of a request from its fragments; needs no serializer.
pub async fn rebuild(log: &dyn Log, fragments: &[Fragment]) -> Result<Sealed, LogError> {
    let mut bytes = Vec::new();
    for fragment in fragments {
        bytes.extend_from_slice(&body_bytes(log, &fragment.body).await?);
    }
    let sha256 = sha256(&bytes);
    Ok(Sealed {
        bytes: bytes.into(),
        sha256,
    })
}

/// The bytes of a body, wherever they lie.
pub async fn body_bytes(log: &dyn Log, body: &Body) -> Result<Arc<[u8]>, LogError> {
    match body {
        Body::Text(text) => Ok(text.as_bytes().into()),
        Body::Blob { blob, .. } => log.blob(*blob).await,
    }
}

/// The text of a body; bytes that are no UTF-8 are replaced.
pub async fn body_text(log: &dyn Log, body: &Body) -> Result<String, LogError> {
    match body {
        Body::Text(text) => Ok(text.clone()),
        Body::Blob { blob, .. } => {
            Ok(String::from_utf8_lossy(&log.blob(*blob).await?).into_owned())
        }
    }
}

/// How many fragments stand before those that are fresh in every request.
pub fn frozen(fragments: &[Fragment]) -> u32 {
    let frozen = fragments
        .iter()
        .take_while(|fragment| !is_fresh(fragment.part));
    u32::try_from(frozen.count()).unwrap_or(u32::MAX)
}

fn is_fresh(part: Section) -> bool {
    matches!(part, Section::Tail | Section::Closing)
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes
        .iter()
        .fold(String::with_capacity(64), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

/// The SHA-256 of bytes, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}
