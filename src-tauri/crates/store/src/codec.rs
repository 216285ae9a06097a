//! How payloads and small blobs lie on disk: JSON without the envelope, compressed with a
//! dictionary that knows the words of events. Old shapes are made new here and nowhere else.

use std::io;
use std::sync::LazyLock;

use longrein_protocol::Payload;
use longrein_protocol::event::SCHEMA_VERSION;
use zstd::bulk::{Compressor, Decompressor};
use zstd::dict::{DecoderDictionary, EncoderDictionary};
use zstd::zstd_safe::{self, CParameter};

use crate::chain::{self, RowHash};

/// The most bytes that one payload may have, before compression; a damaged row can't ask for
/// more memory than this.
pub(crate) const PAYLOAD_LIMIT_BYTES: usize = 64 << 20;

/// Higher levels gain little on a few hundred bytes.
const LEVEL: i32 = 3;

/// The first byte says how the rest is written. Values are never given a new meaning.
const AS_IT_IS: u8 = 0;
const WITH_DICTIONARY_1: u8 = 1;

/// Every frame begins with these, so they are not stored.
const FRAME_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// How serde begins a payload.
const TAG: &[u8] = br#"{"type":""#;
const NO_FIELDS: &[u8] = b"{}";

/// Trained on sample events (see `examples/dictionary.rs`). Rows refer to it for ever: a better
/// one gets a number of its own.
static DICTIONARY_1: &[u8] = include_bytes!("dictionary-1.zdict");

static ENCODER_1: LazyLock<EncoderDictionary<'static>> =
    LazyLock::new(|| EncoderDictionary::copy(DICTIONARY_1, LEVEL));
static DECODER_1: LazyLock<DecoderDictionary<'static>> =
    LazyLock::new(|| DecoderDictionary::copy(DICTIONARY_1));

/// Writes what [`decode`] reads. Keeps its buffers, so one per thread.
pub(crate) struct Encoder {
    compressor: Compressor<'static>,
    json: Vec<u8>,
}

impl Encoder {
    pub(crate) fn new() -> io::Result<Self> {
        let mut compressor = Compressor::with_prepared_dictionary(&ENCODER_1)?;
        // The first byte already names the dictionary; the length bounds what decoding takes.
        compressor.set_parameter(CParameter::DictIdFlag(false))?;
        compressor.set_parameter(CParameter::ChecksumFlag(false))?;
        compressor.set_parameter(CParameter::ContentSizeFlag(true))?;
        Ok(Self {
            compressor,
            json: Vec::new(),
        })
    }

    /// The encoded form of a payload and the hash that stands for it in the chain.
    pub(crate) fn payload(&mut self, payload: &Payload) -> io::Result<(RowHash, Vec<u8>)> {
        let json = fields(&mut self.json, payload)?;
        let hash = chain::payload_hash(json);
        Ok((hash, encode(&mut self.compressor, json)?))
    }

    /// Compresses `bytes`, or leaves them as they are where that is shorter.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        encode(&mut self.compressor, bytes)
    }
}

/// The JSON of a payload without its `type`, which is a column of its own.
fn fields<'a>(buffer: &'a mut Vec<u8>, payload: &Payload) -> io::Result<&'a [u8]> {
    buffer.clear();
    serde_json::to_writer(&mut *buffer, payload)?;
    if buffer.len() > PAYLOAD_LIMIT_BYTES {
        let message = format!("an event of {} bytes is too large", buffer.len());
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    // `{"type":"NAME",…}` becomes `{…}` in place.
    let comma = TAG.len() + payload.name().len() + 1;
    match buffer.get_mut(comma) {
        Some(byte) if *byte == b',' => {
            *byte = b'{';
            Ok(&buffer[comma..])
        }
        _ => Ok(NO_FIELDS),
    }
}

fn encode(compressor: &mut Compressor<'_>, bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut frame = Vec::with_capacity(zstd_safe::compress_bound(bytes.len()));
    compressor.compress_to_buffer(bytes, &mut frame)?;
    let body = frame.strip_prefix(&FRAME_MAGIC).unwrap_or(&frame);
    let (form, body) = if body.len() < bytes.len() && body.len() < frame.len() {
        (WITH_DICTIONARY_1, body)
    } else {
        (AS_IT_IS, bytes)
    };
    let mut stored = Vec::with_capacity(body.len() + 1);
    stored.push(form);
    stored.extend_from_slice(body);
    Ok(stored)
}

/// Reads what [`Encoder`] wrote. Keeps its context, so one per thread.
pub(crate) struct Decoder {
    decompressor: Decompressor<'static>,
    frame: Vec<u8>,
}

impl Decoder {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            decompressor: Decompressor::with_prepared_dictionary(&DECODER_1)?,
            frame: Vec::new(),
        })
    }

    /// The bytes that were encoded, at most `limit`; `None` when `stored` is damaged.
    pub(crate) fn bytes(&mut self, stored: &[u8], limit: usize) -> Option<Vec<u8>> {
        let (form, body) = stored.split_first()?;
        match *form {
            AS_IT_IS => (body.len() <= limit).then(|| body.to_vec()),
            WITH_DICTIONARY_1 => {
                self.frame.clear();
                self.frame.extend_from_slice(&FRAME_MAGIC);
                self.frame.extend_from_slice(body);
                let length = zstd_safe::get_frame_content_size(&self.frame).ok()??;
                let length = usize::try_from(length)
                    .ok()
                    .filter(|length| *length <= limit)?;
                self.decompressor.decompress(&self.frame, length).ok()
            }
            _ => None,
        }
    }
}

/// What a stored payload turned out to be.
#[derive(Debug)]
pub(crate) enum Parsed {
    /// An event's payload in the shape of today.
    Payload(Box<Payload>),
    /// A type, or a version of a type, of the future.
    Unknown(String),
    /// Not the JSON of this type.
    Unreadable,
}

/// Parses the `json` of an event of type `kind`, written in schema version `v`.
pub(crate) fn parse(kind: &str, v: u16, json: &[u8]) -> Parsed {
    if !Payload::NAMES.contains(&kind) {
        return Parsed::Unknown(kind.to_owned());
    }
    if v > SCHEMA_VERSION {
        return Parsed::Unknown(format!("{kind} v{v}"));
    }
    let mut tagged = Vec::with_capacity(TAG.len() + kind.len() + json.len() + 2);
    tagged.extend_from_slice(TAG);
    tagged.extend_from_slice(kind.as_bytes());
    tagged.push(b'"');
    match json.strip_prefix(b"{") {
        Some(b"}") => tagged.push(b'}'),
        Some(rest) => {
            tagged.push(b',');
            tagged.extend_from_slice(rest);
        }
        None => return Parsed::Unreadable,
    }
    match serde_json::from_slice(&tagged) {
        Ok(payload) => Parsed::Payload(Box::new(payload)),
        Err(_) => Parsed::Unreadable,
    }
}

#[cfg(test)]
mod tests;
