//! The hash chain of a run. Each row's hash covers the row before it and the *hash* of its
//! payload, so that a payload can be redacted later and the chain still holds.

use longrein_protocol::{Millis, RunId};

/// The BLAKE3 hash of a row and, through it, of every row before it.
pub type RowHash = [u8; 32];

/// What stands before the first row of a run.
pub(crate) const BEFORE_FIRST: RowHash = [0; 32];

/// The parts of a row that its hash covers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link<'a> {
    /// The run.
    pub run: RunId,
    /// The row's place.
    pub seq: u32,
    /// The event's time.
    pub at: Millis,
    /// The name of the event's type.
    pub kind: &'a str,
    /// The schema version of the payload.
    pub v: u16,
    /// The BLAKE3 hash of the payload's JSON, envelope left out.
    pub payload: &'a RowHash,
}

impl Link<'_> {
    /// The row's hash after `before`. Numbers are big-endian; the only part of variable length
    /// carries its length, so that no two rows have the same bytes.
    pub(crate) fn hash(&self, before: &RowHash) -> RowHash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(before);
        hasher.update(&self.run.0.0.to_be_bytes());
        hasher.update(&self.seq.to_be_bytes());
        hasher.update(&self.at.to_be_bytes());
        hasher.update(&(self.kind.len() as u32).to_be_bytes());
        hasher.update(self.kind.as_bytes());
        hasher.update(&self.v.to_be_bytes());
        hasher.update(self.payload);
        *hasher.finalize().as_bytes()
    }
}

/// The hash that stands for a payload in the chain.
pub(crate) fn payload_hash(json: &[u8]) -> RowHash {
    *blake3::hash(json).as_bytes()
}
