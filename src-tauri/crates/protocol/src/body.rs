//! Content that an event carries: in place when it is small, by hash when it is not.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A body longer than this many bytes is stored as a blob and referred to by hash.
pub const INLINE_LIMIT_BYTES: usize = 1024;

/// The BLAKE3 hash of a blob's bytes before compression; written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlobHash(pub [u8; 32]);

impl BlobHash {
    /// Hashes `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }
}

impl fmt::Display for BlobHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BlobHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is not a hash.
#[derive(Debug, thiserror::Error)]
#[error("not a hash of 64 hexadecimal digits")]
pub struct NotAHash;

impl FromStr for BlobHash {
    type Err = NotAHash;
    fn from_str(text: &str) -> Result<Self, NotAHash> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(NotAHash);
        }
        let mut bytes = [0u8; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let high = (pair[0] as char).to_digit(16).ok_or(NotAHash)?;
            let low = (pair[1] as char).to_digit(16).ok_or(NotAHash)?;
            *byte = (high * 16 + low) as u8;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for BlobHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BlobHash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Content of an event: a text in place, or a reference to a blob.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
#[serde(untagged)]
pub enum Body {
    /// At most [`INLINE_LIMIT_BYTES`] of text.
    Text(String),
    /// Anything else.
    Blob {
        /// What to look it up by.
        blob: BlobHash,
        /// Its length before compression.
        bytes: u32,
    },
}

impl Body {
    /// The length of the content in bytes.
    pub fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Blob { bytes, .. } => *bytes as usize,
        }
    }

    /// Whether there is no content.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The hash of the content, wherever it lies.
    pub fn hash(&self) -> BlobHash {
        match self {
            Self::Text(text) => BlobHash::of(text.as_bytes()),
            Self::Blob { blob, .. } => *blob,
        }
    }

    /// Splits `text` into what the event carries and, when it is long, the blob to store with it.
    pub fn of(text: String) -> (Self, Option<NewBlob>) {
        if text.len() <= INLINE_LIMIT_BYTES {
            return (Self::Text(text), None);
        }
        let blob = NewBlob::of(text.into_bytes());
        (blob.body(), Some(blob))
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

/// Bytes that have to be stored in the same transaction as the event that refers to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewBlob {
    /// The hash of `bytes`.
    pub hash: BlobHash,
    /// The content before compression.
    pub bytes: Vec<u8>,
}

impl NewBlob {
    /// Hashes `bytes`.
    pub fn of(bytes: Vec<u8>) -> Self {
        Self {
            hash: BlobHash::of(&bytes),
            bytes,
        }
    }

    /// The reference to this blob.
    pub fn body(&self) -> Body {
        Body::Blob {
            blob: self.hash,
            bytes: self.bytes.len().min(u32::MAX as usize) as u32,
        }
    }
}
