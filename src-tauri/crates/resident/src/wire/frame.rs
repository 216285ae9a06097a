//! Frames: lengths, a header, a body.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{BODY_MAX_BYTES, HEADER_MAX_BYTES};

/// A header with its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<H> {
    /// What is said.
    pub header: H,
    /// Plain bytes that go with it.
    pub body: Vec<u8>,
}

/// Why a frame can't be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The pipe failed or ended within a frame.
    #[error("the pipe to the resident agent failed: {0}")]
    Io(#[from] io::Error),
    /// A length that no frame has.
    #[error(
        "a frame has a header of {header} and a body of {body} bytes; the limits are {HEADER_MAX_BYTES} and {BODY_MAX_BYTES}"
    )]
    TooLong {
        /// Bytes of the header.
        header: usize,
        /// Bytes of the body.
        body: usize,
    },
    /// A header that is not one of these words.
    #[error("a frame's header is not understood: {0}")]
    Header(#[from] serde_json::Error),
}

/// How many bytes stand before a header.
pub const LENGTHS_BYTES: usize = 8;

/// The lengths of header and body from what stands before them.
///
/// # Errors
/// When one is beyond its limit.
pub fn lengths(bytes: [u8; LENGTHS_BYTES]) -> Result<(usize, usize), FrameError> {
    let [a, b, c, d, e, f, g, h] = bytes;
    let header = u32::from_be_bytes([a, b, c, d]) as usize;
    let body = u32::from_be_bytes([e, f, g, h]) as usize;
    if header > HEADER_MAX_BYTES || body > BODY_MAX_BYTES {
        return Err(FrameError::TooLong { header, body });
    }
    Ok((header, body))
}

/// The bytes of a frame.
///
/// # Errors
/// When it is longer than a frame may be.
pub fn encode<H: Serialize>(header: &H, body: &[u8]) -> Result<Vec<u8>, FrameError> {
    let mut bytes = vec![0; LENGTHS_BYTES];
    serde_json::to_writer(&mut bytes, header)?;
    let header = bytes.len() - LENGTHS_BYTES;
    let (Ok(header_length), Ok(body_length)) = (u32::try_from(header), u32::try_from(body.len()))
    else {
        return Err(FrameError::TooLong {
            header,
            body: body.len(),
        });
    };
    if header > HEADER_MAX_BYTES || body.len() > BODY_MAX_BYTES {
        return Err(FrameError::TooLong {
            header,
            body: body.len(),
        });
    }
    bytes[..4].copy_from_slice(&header_length.to_be_bytes());
    bytes[4..LENGTHS_BYTES].copy_from_slice(&body_length.to_be_bytes());
    bytes.extend_from_slice(body);
    Ok(bytes)
}

/// Writes one frame.
///
/// # Errors
/// When it is too long or the pipe fails.
pub fn write<H: Serialize>(to: &mut impl Write, header: &H, body: &[u8]) -> Result<(), FrameError> {
    to.write_all(&encode(header, body)?)?;
    Ok(())
}

/// Reads one frame; `None` when the pipe ends between frames.
///
/// # Errors
/// When the pipe fails or ends within a frame, or what arrives is none.
pub fn read<H: DeserializeOwned>(from: &mut impl Read) -> Result<Option<Frame<H>>, FrameError> {
    let mut start = [0; LENGTHS_BYTES];
    if from.read(&mut start[..1])? == 0 {
        return Ok(None);
    }
    from.read_exact(&mut start[1..])?;
    let (header, body) = lengths(start)?;
    let mut header = vec![0; header];
    from.read_exact(&mut header)?;
    let mut body = vec![0; body];
    from.read_exact(&mut body)?;
    Ok(Some(Frame {
        header: serde_json::from_slice(&header)?,
        body,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Ask, Asked};

    #[test]
    fn a_frame_is_read_as_it_was_written() {
        let header = Asked {
            id: 7,
            ask: Ask::Wait {
                command: "a-1".into(),
            },
        };
        let bytes = encode(&header, b"body").expect("it is short");
        let frame = read::<Asked>(&mut bytes.as_slice()).expect("it is whole");
        assert_eq!(
            frame,
            Some(Frame {
                header,
                body: b"body".to_vec()
            })
        );
    }

    #[test]
    fn a_pipe_that_ends_between_frames_is_no_error_and_one_within_is() {
        let bytes = encode(
            &Asked {
                id: 1,
                ask: Ask::Stop,
            },
            b"x",
        )
        .expect("it is short");
        assert!(matches!(read::<Asked>(&mut [].as_slice()), Ok(None)));
        for cut in 1..bytes.len() {
            let error = read::<Asked>(&mut &bytes[..cut]).expect_err("it is cut");
            assert!(matches!(error, FrameError::Io(_)), "{cut}: {error}");
        }
    }

    #[test]
    fn no_length_makes_a_reader_reserve_more_than_a_frame_may_have() {
        let bytes = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];
        assert!(matches!(lengths(bytes), Err(FrameError::TooLong { .. })));
        let long = vec![0; BODY_MAX_BYTES + 1];
        assert!(matches!(
            encode(&Ask::Stop, &long),
            Err(FrameError::TooLong { .. })
        ));
    }
}
