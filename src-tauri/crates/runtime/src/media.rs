//! Images, documents and recordings: what bytes are, and a smaller copy of an image that a model
//! refused.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::Cursor;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::{DynamicImage, ImageReader, RgbImage};
use longrein_core::compile;
use longrein_protocol::body::NewBlob;
use longrein_protocol::event::MediaReduced;
use longrein_protocol::{BlobHash, Body, Media, MediaKind};

use crate::driver::{DriveError, Driver};
use crate::wire;

/// The long edge of a smaller copy, in pixels: every provider and local server takes as much.
const COPY_EDGE: u32 = 1_024;
/// The quality of a smaller copy, of 100.
const COPY_QUALITY: u8 = 80;
/// The most memory that decoding an image may take.
const DECODE_BYTES: u64 = 512 * 1024 * 1024;
/// The longest edge of an image that is decoded, in pixels.
const DECODE_EDGE: u32 = 32_768;

/// An image, a document or a recording that enters a run.
#[derive(Clone, Debug)]
pub struct NewMedia {
    /// What kind of thing it is.
    pub kind: MediaKind,
    /// Its media type, as its bytes say.
    pub media_type: &'static str,
    /// What it is called; may be empty.
    pub name: String,
    /// Its bytes.
    pub bytes: Arc<[u8]>,
    /// Pixels, where they can be told.
    pub width: Option<u32>,
    /// Pixels, likewise.
    pub height: Option<u32>,
    /// Pages, where somebody counted them.
    pub pages: Option<u32>,
    /// Text that stands for it where the thing itself can't be sent.
    pub text: Option<Arc<str>>,
}

impl NewMedia {
    /// What `bytes` are, as they say themselves; `None` where no model would take them. What
    /// somebody else calls them does not matter: a wrong media type makes providers refuse a whole
    /// request.
    pub fn of(bytes: impl Into<Arc<[u8]>>, name: impl Into<String>) -> Option<Self> {
        let bytes = bytes.into();
        let (kind, media_type) = sniff(&bytes)?;
        let size = (kind == MediaKind::Image).then(|| size(&bytes)).flatten();
        Some(Self {
            kind,
            media_type,
            name: name.into(),
            bytes,
            width: size.map(|(width, _)| width),
            height: size.map(|(_, height)| height),
            pages: None,
            text: None,
        })
    }

    /// What the log keeps of it; the bytes go to `blobs`.
    pub fn record(self, blobs: &mut Vec<NewBlob>) -> Media {
        let text = self.text.map(|text| {
            let (body, blob) = Body::of(text.to_string());
            blobs.extend(blob);
            body
        });
        let blob = NewBlob::of(self.bytes.to_vec());
        let body = blob.body();
        blobs.push(blob);
        Media {
            kind: self.kind,
            media_type: self.media_type.to_owned(),
            name: self.name,
            body,
            width: self.width,
            height: self.height,
            pages: self.pages,
            text,
        }
    }

    /// What it is, in a few words.
    pub fn in_words(&self) -> String {
        let bytes = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
        let media = Media {
            kind: self.kind,
            media_type: self.media_type.to_owned(),
            name: self.name.clone(),
            body: Body::Blob {
                blob: BlobHash([0; 32]),
                bytes,
            },
            width: self.width,
            height: self.height,
            pages: self.pages,
            text: None,
        };
        media.in_words()
    }
}

/// The kind and the media type that bytes begin with; `None` where no model would take them.
pub fn sniff(bytes: &[u8]) -> Option<(MediaKind, &'static str)> {
    Some(match infer::get(bytes)?.mime_type() {
        "image/png" => (MediaKind::Image, "image/png"),
        "image/jpeg" => (MediaKind::Image, "image/jpeg"),
        "image/gif" => (MediaKind::Image, "image/gif"),
        "image/webp" => (MediaKind::Image, "image/webp"),
        "application/pdf" => (MediaKind::Document, "application/pdf"),
        "audio/x-wav" => (MediaKind::Audio, "audio/wav"),
        "audio/mpeg" => (MediaKind::Audio, "audio/mpeg"),
        _ => return None,
    })
}

fn reader(bytes: &[u8]) -> Option<ImageReader<Cursor<&[u8]>>> {
    let mut reader = ImageReader::new(Cursor::new(bytes));
    let mut limits = image::Limits::default();
    limits.max_alloc = Some(DECODE_BYTES);
    limits.max_image_width = Some(DECODE_EDGE);
    limits.max_image_height = Some(DECODE_EDGE);
    reader.limits(limits);
    reader.with_guessed_format().ok()
}

fn size(bytes: &[u8]) -> Option<(u32, u32)> {
    reader(bytes)?.into_dimensions().ok()
}

/// A smaller copy of an image, as a JPEG on white, which everybody takes. `None` where the bytes
/// are no image that can be read.
fn smaller(bytes: &[u8], name: &str) -> Option<NewMedia> {
    let image = reader(bytes)?.decode().ok()?;
    let is_large = image.width().max(image.height()) > COPY_EDGE;
    let image = match is_large {
        true => image.resize(COPY_EDGE, COPY_EDGE, FilterType::Triangle),
        false => image,
    };
    let mut copy = Vec::new();
    let encoder = JpegEncoder::new_with_quality(&mut copy, COPY_QUALITY);
    on_white(&image).write_with_encoder(encoder).ok()?;
    NewMedia::of(copy, name)
}

fn on_white(image: &DynamicImage) -> RgbImage {
    let over = |color: u8, alpha: u8| {
        let (color, alpha) = (u32::from(color), u32::from(alpha));
        // A mean of two numbers below 256 is below 256.
        ((color * alpha + 255 * (255 - alpha)) / 255) as u8
    };
    let from = image.to_rgba8();
    RgbImage::from_fn(from.width(), from.height(), |x, y| {
        let [red, green, blue, alpha] = from.get_pixel(x, y).0;
        image::Rgb([over(red, alpha), over(green, alpha), over(blue, alpha)])
    })
}

impl Driver {
    /// Makes a smaller copy of each image that the model refused; what can't be made smaller is
    /// replaced by a note.
    pub(crate) async fn reduce(&mut self, refused: Vec<Media>) -> Result<(), DriveError> {
        for media in refused {
            let bytes = self.media_bytes(&media).await?;
            let name = media.name.clone();
            let made = tokio::task::spawn_blocking(move || smaller(&bytes, &name)).await;
            // A decoder that falls over a malformed image has read it as little as one that says so.
            let made = made.unwrap_or_default();
            let mut blobs = Vec::new();
            let copy = made.map(|made| made.record(&mut blobs));
            self.blobs.extend(blobs);
            let why = match copy {
                Some(_) => "The model refused it; a smaller copy is sent.",
                None => "The model refused it, and it can't be made smaller.",
            };
            self.record(MediaReduced {
                media: media.hash(),
                copy,
                why: why.to_owned(),
            })?;
        }
        Ok(())
    }

    /// The base64 of what the next request shows.
    pub(crate) async fn media_at_hand(&self) -> Result<HashMap<BlobHash, Arc<str>>, DriveError> {
        let mut known: HashMap<BlobHash, Arc<str>> = HashMap::new();
        for media in compile::media_needed(&self.run) {
            if let Entry::Vacant(place) = known.entry(media.hash()) {
                let bytes = self.media_bytes(media).await?;
                place.insert(STANDARD.encode(&bytes).into());
            }
        }
        Ok(known)
    }

    async fn media_bytes(&self, media: &Media) -> Result<Arc<[u8]>, DriveError> {
        let hash = media.hash();
        match self.blobs.iter().find(|kept| kept.hash == hash) {
            Some(kept) => Ok(kept.bytes.as_slice().into()),
            None => Ok(wire::body_bytes(&*self.ports.log, &media.body).await?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let image = image::RgbaImage::from_pixel(width, height, image::Rgba([9, 9, 9, 0]));
        let mut bytes = Vec::new();
        let mut to = Cursor::new(&mut bytes);
        let written = image.write_to(&mut to, image::ImageFormat::Png);
        written.unwrap();
        bytes
    }

    #[test]
    fn bytes_say_themselves_what_they_are() {
        let image = NewMedia::of(png(30, 20), "x.jpeg").unwrap();
        assert_eq!(
            (image.kind, image.media_type),
            (MediaKind::Image, "image/png")
        );
        assert_eq!(image.in_words(), "image x.jpeg, 30 × 20 pixels");
        let document = NewMedia::of(b"%PDF-1.7\n".to_vec(), "x").unwrap();
        assert_eq!(document.media_type, "application/pdf");
        let wave = NewMedia::of(b"RIFF\0\0\0\0WAVEfmt ".to_vec(), "").unwrap();
        assert_eq!(wave.media_type, "audio/wav");
        for other in [&b"plain text"[..], b"", b"PK\x03\x04", b"BM\0\0\0\0\0\0"] {
            assert!(NewMedia::of(other.to_vec(), "x").is_none());
        }
    }

    #[test]
    fn an_image_that_was_cut_is_of_unknown_size_and_has_no_copy() {
        let mut bytes = png(30, 20);
        bytes.truncate(12);
        let image = NewMedia::of(bytes.clone(), "").unwrap();
        assert_eq!((image.width, image.height), (None, None));
        assert!(smaller(&bytes, "").is_none());
    }

    #[test]
    fn a_smaller_copy_keeps_the_proportions_and_stands_on_white() {
        let copy = smaller(&png(2_048, 512), "x.png").unwrap();
        assert_eq!(
            (copy.media_type, copy.width, copy.height),
            ("image/jpeg", Some(1_024), Some(256))
        );
        let pixels = reader(&copy.bytes).unwrap().decode().unwrap().to_rgb8();
        assert!(pixels.get_pixel(5, 5).0.iter().all(|color| *color > 250));
        let small = smaller(&png(3, 2), "x.png").unwrap();
        assert_eq!((small.width, small.height), (Some(3), Some(2)));
    }
}
