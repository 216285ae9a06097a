//! The bytes of an answer, decompressed as they come and never more than a limit.

use std::io::{self, Write};

use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

/// What is offered to servers, and all that is understood.
pub(crate) const ENCODINGS: &str = "gzip, deflate";

/// Why a body could not be taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyFault {
    #[error("it has more bytes than are read")]
    TooLarge,
    #[error("its compression is damaged")]
    Damaged,
    #[error("it is compressed as {0}")]
    UnknownEncoding(String),
}

/// Takes the pieces of a body and gives the whole.
pub(crate) struct Body {
    decoder: Decoder,
    /// How many bytes may still come over the wire.
    wire_left: usize,
    limit: usize,
}

enum Decoder {
    Identity(Bounded),
    Gzip(Box<MultiGzDecoder<Bounded>>),
    /// With or without the wrapper of zlib: servers differ, and the first byte tells.
    DeflateUnseen(Bounded),
    Zlib(Box<ZlibDecoder<Bounded>>),
    Deflate(Box<DeflateDecoder<Bounded>>),
}

/// Collects bytes up to a limit and refuses the one that comes after.
struct Bounded {
    bytes: Vec<u8>,
    limit: usize,
    overflown: bool,
}

impl Write for Bounded {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if piece.len() > self.limit - self.bytes.len() {
            self.overflown = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Body {
    /// `encoding` is the header `content-encoding`. At most `limit` bytes are taken, both over
    /// the wire and decompressed.
    pub fn new(encoding: Option<&str>, limit: usize) -> Result<Self, BodyFault> {
        let bytes = Bounded {
            bytes: Vec::new(),
            limit,
            overflown: false,
        };
        let decoder = match encoding
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase()
            .as_str()
        {
            "" | "identity" => Decoder::Identity(bytes),
            "gzip" | "x-gzip" => Decoder::Gzip(Box::new(MultiGzDecoder::new(bytes))),
            "deflate" => Decoder::DeflateUnseen(bytes),
            other => return Err(BodyFault::UnknownEncoding(crate::words::line(other))),
        };
        Ok(Self {
            decoder,
            wire_left: limit,
            limit,
        })
    }

    /// Takes the next piece.
    pub fn take(&mut self, piece: &[u8]) -> Result<(), BodyFault> {
        let Some(left) = self.wire_left.checked_sub(piece.len()) else {
            return Err(BodyFault::TooLarge);
        };
        self.wire_left = left;
        let Some(first) = piece.first() else {
            return Ok(());
        };
        if let Decoder::DeflateUnseen(bytes) = &mut self.decoder {
            let bytes = std::mem::replace(
                bytes,
                Bounded {
                    bytes: Vec::new(),
                    limit: self.limit,
                    overflown: false,
                },
            );
            // The low half of zlib's first byte says "deflate"; a bare stream never begins so.
            self.decoder = if first & 0x0f == 8 {
                Decoder::Zlib(Box::new(ZlibDecoder::new(bytes)))
            } else {
                Decoder::Deflate(Box::new(DeflateDecoder::new(bytes)))
            };
        }
        let written = match &mut self.decoder {
            Decoder::Identity(bytes) | Decoder::DeflateUnseen(bytes) => bytes.write_all(piece),
            Decoder::Gzip(decoder) => decoder.write_all(piece),
            Decoder::Zlib(decoder) => decoder.write_all(piece),
            Decoder::Deflate(decoder) => decoder.write_all(piece),
        };
        written.map_err(|_| self.fault())
    }

    /// The whole, once the last piece was taken.
    pub fn finish(mut self) -> Result<Vec<u8>, BodyFault> {
        let finished = match &mut self.decoder {
            Decoder::Identity(_) | Decoder::DeflateUnseen(_) => Ok(()),
            // A body without a byte, as to a request that has none, is not damaged.
            _ if self.wire_left == self.limit => Ok(()),
            Decoder::Gzip(decoder) => decoder.try_finish(),
            Decoder::Zlib(decoder) => decoder.try_finish(),
            Decoder::Deflate(decoder) => decoder.try_finish(),
        };
        if finished.is_err() {
            return Err(self.fault());
        }
        Ok(match self.decoder {
            Decoder::Identity(bytes) | Decoder::DeflateUnseen(bytes) => bytes.bytes,
            Decoder::Gzip(mut decoder) => std::mem::take(&mut decoder.get_mut().bytes),
            Decoder::Zlib(mut decoder) => std::mem::take(&mut decoder.get_mut().bytes),
            Decoder::Deflate(mut decoder) => std::mem::take(&mut decoder.get_mut().bytes),
        })
    }

    /// What has come so far, where the rest is not wanted.
    pub fn so_far(self) -> Vec<u8> {
        match self.decoder {
            Decoder::Identity(bytes) | Decoder::DeflateUnseen(bytes) => bytes.bytes,
            Decoder::Gzip(mut decoder) => std::mem::take(&mut decoder.get_mut().bytes),
            Decoder::Zlib(mut decoder) => std::mem::take(&mut decoder.get_mut().bytes),
            Decoder::Deflate(mut decoder) => std::mem::take(&mut decoder.get_mut().bytes),
        }
    }

    fn fault(&self) -> BodyFault {
        let overflown = match &self.decoder {
            Decoder::Identity(bytes) | Decoder::DeflateUnseen(bytes) => bytes.overflown,
            Decoder::Gzip(decoder) => decoder.get_ref().overflown,
            Decoder::Zlib(decoder) => decoder.get_ref().overflown,
            Decoder::Deflate(decoder) => decoder.get_ref().overflown,
        };
        if overflown {
            BodyFault::TooLarge
        } else {
            BodyFault::Damaged
        }
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;

    fn read(encoding: &str, bytes: &[u8], limit: usize) -> Result<Vec<u8>, BodyFault> {
        let mut body = Body::new(Some(encoding), limit)?;
        for piece in bytes.chunks(7) {
            body.take(piece)?;
        }
        body.finish()
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn every_encoding_that_is_offered_is_understood() {
        let text = "one two three ".repeat(100).into_bytes();
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
        zlib.write_all(&text).unwrap();
        let mut bare = DeflateEncoder::new(Vec::new(), Compression::best());
        bare.write_all(&text).unwrap();
        for (encoding, bytes) in [
            ("identity", text.clone()),
            ("gzip", gzip(&text)),
            ("X-GZIP", gzip(&text)),
            ("deflate", zlib.finish().unwrap()),
            ("deflate", bare.finish().unwrap()),
        ] {
            assert_eq!(read(encoding, &bytes, 10_000).unwrap(), text, "{encoding}");
        }
        assert_eq!(read("gzip", b"", 10).unwrap(), b"");
    }

    #[test]
    fn a_bomb_goes_off_at_the_limit() {
        let bomb = gzip(&vec![0; 50 * 1024 * 1024]);
        assert!(bomb.len() < 100_000);
        assert!(matches!(
            read("gzip", &bomb, 1024 * 1024),
            Err(BodyFault::TooLarge)
        ));
    }

    #[test]
    fn the_wire_has_the_same_limit() {
        assert!(matches!(
            read("identity", &[b'a'; 100], 99),
            Err(BodyFault::TooLarge)
        ));
        assert_eq!(read("identity", &[b'a'; 99], 99).unwrap().len(), 99);
    }

    #[test]
    fn a_compressed_body_that_ends_early_or_is_none_is_damaged() {
        let whole = gzip(b"one two three four five six seven");
        for bytes in [&whole[..whole.len() - 9], &b"not compressed at all"[..]] {
            assert!(matches!(
                read("gzip", bytes, 1_000),
                Err(BodyFault::Damaged)
            ));
        }
    }

    #[test]
    fn what_was_not_offered_is_named() {
        assert!(matches!(
            read("br", b"", 10),
            Err(BodyFault::UnknownEncoding(name)) if name == "br"
        ));
    }
}
