//! Images, documents and recordings that stand in a conversation. Their bytes are blobs.

use serde::{Deserialize, Serialize};

use crate::body::{BlobHash, Body};

/// The most bytes of one item that enters a run: what every provider takes of a document, and more
/// than any takes of an image, which is made smaller when it is refused.
pub const MEDIA_ITEM_BYTES: u64 = 10 * 1024 * 1024;
/// The most items that one message brings.
pub const MEDIA_ITEMS_PER_MESSAGE: usize = 20;
/// The most items of one request: below the 100 that Anthropic takes for a window of 200,000 tokens.
pub const MEDIA_ITEMS_PER_REQUEST: usize = 60;
/// The most bytes of media in one request, before base64 adds a third: Gemini takes 20 MB of a
/// request with data in line (ai.google.dev/gemini-api/docs/image-understanding).
pub const MEDIA_REQUEST_BYTES: u64 = 14 * 1024 * 1024;

/// Pixels that cost one token of an image (platform.claude.com, vision: width × height / 750).
const PIXELS_PER_TOKEN: u64 = 750;
/// The most tokens of one image: providers scale what is larger (the same page: 2,576 pixels at
/// the long edge, 4,784 tokens).
const IMAGE_TOKENS_MAX: u64 = 4_784;
/// The least of one: Gemini counts 258 for a small one, OpenAI 85 and more.
const IMAGE_TOKENS_MIN: u64 = 258;
/// Tokens of an image of unknown size.
const IMAGE_TOKENS_UNKNOWN: u64 = 1_600;
/// Tokens of one page of a document: its text and its picture (platform.claude.com, PDF support:
/// 1,500 to 3,000 for the text alone).
const PAGE_TOKENS: u64 = 3_000;
/// Bytes of a document of unknown length that are taken for one token.
const DOCUMENT_BYTES_PER_TOKEN: u64 = 16;
/// Bytes of a recording that are taken for one token: Gemini counts 32 tokens for a second, which
/// is 16 KB at 128 kbit/s.
const AUDIO_BYTES_PER_TOKEN: u64 = 500;

/// What kind of thing it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MediaKind {
    /// PNG, JPEG, GIF or WebP.
    Image,
    /// PDF.
    Document,
    /// WAV or MP3.
    Audio,
}

impl MediaKind {
    /// The word for a person and a model.
    pub fn word(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Document => "document",
            Self::Audio => "recording",
        }
    }
}

/// One image, document or recording.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Media {
    /// What kind of thing it is.
    pub kind: MediaKind,
    /// Its media type, as its bytes say: `image/png`.
    pub media_type: String,
    /// What it is called: a file's name; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its bytes, always a blob.
    pub body: Body,
    /// Pixels, for an image whose size is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// Pixels, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
    /// Pages, for a document whose length is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<u32>,
    /// Text that stands for it where the thing itself can't be sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Body>,
}

impl Media {
    /// What it is known by.
    pub fn hash(&self) -> BlobHash {
        self.body.hash()
    }

    /// About how many tokens a model counts for it. Base64 is no text to it.
    pub fn tokens(&self) -> u32 {
        let bytes = self.body.len() as u64;
        let tokens = match self.kind {
            MediaKind::Image => match (self.width, self.height) {
                (Some(width), Some(height)) => (u64::from(width) * u64::from(height))
                    .div_ceil(PIXELS_PER_TOKEN)
                    .clamp(IMAGE_TOKENS_MIN, IMAGE_TOKENS_MAX),
                _ => IMAGE_TOKENS_UNKNOWN,
            },
            MediaKind::Document => match self.pages {
                Some(pages) => u64::from(pages.max(1)) * PAGE_TOKENS,
                None => (bytes / DOCUMENT_BYTES_PER_TOKEN).max(PAGE_TOKENS),
            },
            MediaKind::Audio => bytes.div_ceil(AUDIO_BYTES_PER_TOKEN),
        };
        u32::try_from(tokens).unwrap_or(u32::MAX)
    }

    /// What was there, in a few words: `image chart.png, 800 × 600 pixels`.
    pub fn in_words(&self) -> String {
        let mut words = self.kind.word().to_owned();
        if !self.name.is_empty() {
            words.push(' ');
            words.push_str(&self.name.replace(['\n', '\r', '[', ']', '<', '>'], " "));
        }
        let size = match (self.width, self.height, self.pages) {
            (Some(width), Some(height), _) => format!("{width} × {height} pixels"),
            (_, _, Some(1)) => "1 page".to_owned(),
            (_, _, Some(pages)) => format!("{pages} pages"),
            _ => format!("{} bytes of {}", self.body.len(), self.media_type),
        };
        format!("{words}, {size}")
    }
}

/// What a model takes beside text; what is absent is not known, and is tried.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Takes {
    /// Images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<bool>,
    /// Documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents: Option<bool>,
    /// Recordings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio: Option<bool>,
}

impl Takes {
    /// Whether nothing is known.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a kind is known to be refused.
    pub fn refuses(&self, kind: MediaKind) -> bool {
        let takes = match kind {
            MediaKind::Image => self.images,
            MediaKind::Document => self.documents,
            MediaKind::Audio => self.audio,
        };
        takes == Some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(width: u32, height: u32) -> Media {
        Media {
            kind: MediaKind::Image,
            media_type: "image/png".to_owned(),
            name: "a\nb.png".to_owned(),
            body: Body::Blob {
                blob: BlobHash([0; 32]),
                bytes: 4_000_000,
            },
            width: Some(width),
            height: Some(height),
            pages: None,
            text: None,
        }
    }

    #[test]
    fn an_image_costs_by_its_pixels_and_not_by_its_bytes() {
        assert_eq!(image(1_000, 750).tokens(), 1_000);
        assert_eq!(image(1, 1).tokens(), 258);
        assert_eq!(image(u32::MAX, u32::MAX).tokens(), 4_784);
    }

    #[test]
    fn words_for_a_thing_stay_on_one_line() {
        assert_eq!(image(2, 3).in_words(), "image a b.png, 2 × 3 pixels");
    }
}
