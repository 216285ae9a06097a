//! A document of the library: its bytes become text, with what it says of itself.

mod html;
mod markdown;
mod pdf;
#[cfg(test)]
pub(super) mod tests;

use std::ops::Range;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use longrein_keys::Masker;
use longrein_protocol::source::SourceMeta;

/// The largest file that is read.
pub(crate) const FILE_LIMIT_BYTES: u64 = 64 * 1024 * 1024;
/// The most text that is kept of one document.
pub(crate) const TEXT_LIMIT_BYTES: usize = 8 * 1024 * 1024;
/// The most authors that are kept.
const AUTHORS_LIMIT: usize = 100;
/// The longest title, author or date, in bytes.
const META_LIMIT_BYTES: usize = 500;

/// How a file is read, as its name says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Text,
    Markdown,
    Html,
    Pdf,
}

impl Kind {
    /// `None` for a file that the library does not read.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let (_, extension) = path.rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "txt" | "text" | "rst" | "org" | "adoc" | "tex" => Some(Self::Text),
            "md" | "markdown" => Some(Self::Markdown),
            "html" | "htm" | "xhtml" => Some(Self::Html),
            "pdf" => Some(Self::Pdf),
            _ => None,
        }
    }

    fn media_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain",
            Self::Markdown => "text/markdown",
            Self::Html => "text/html",
            Self::Pdf => "application/pdf",
        }
    }
}

/// What was read of a document.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Document {
    /// What it is.
    pub(crate) meta: SourceMeta,
    /// Its text; the pages of a PDF are divided by form feeds.
    pub(crate) text: String,
    /// Parts of the text that are not offered as evidence: front matter, bibliographies.
    pub(crate) hidden: Vec<Range<usize>>,
    /// What the reader of a result should know: pages that could not be read, a text that was cut.
    pub(crate) notes: Vec<String>,
}

/// Why a document could not be read.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub(crate) enum DocumentError {
    #[error("it could not be opened: {0}")]
    NotOpened(String),
    #[error("it is a link, which is not followed")]
    Link,
    #[error("it has {0} bytes, more than the {FILE_LIMIT_BYTES} that are read")]
    TooLarge(u64),
    #[error("it is binary data, not text")]
    Binary,
    #[error(transparent)]
    TooDeep(#[from] crate::markup::TooDeep),
    #[error("it is not a PDF that can be read ({0})")]
    BrokenPdf(String),
    #[error("it is an encrypted PDF that needs a password")]
    EncryptedPdf,
    #[error("none of its {0} pages has text: it is scanned and needs OCR")]
    ScannedPdf(u32),
    #[error("none of its {0} pages could be read")]
    UnreadablePdf(u32),
    #[error("reading it took longer than {0} seconds")]
    TooSlow(u64),
    #[error("other PDFs hang while they are read, so this one was not tried")]
    OthersHang,
}

impl DocumentError {
    /// Whether the same bytes may be readable another time.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Self::NotOpened(_) | Self::OthersHang)
    }
}

/// Reads a document. `path` names it and says of which kind it is.
pub(crate) fn read(kind: Kind, path: &str, bytes: &[u8]) -> Result<Document, DocumentError> {
    let mut document = match kind {
        Kind::Pdf => pdf::read(bytes)?,
        Kind::Html => html::read(&decoded(bytes, html::charset(bytes))?)?,
        Kind::Markdown => markdown::read(decoded(bytes, None)?),
        Kind::Text => Document::of(decoded(bytes, None)?),
    };
    if document.text.len() > TEXT_LIMIT_BYTES {
        let end = document.text.floor_char_boundary(TEXT_LIMIT_BYTES);
        document.text.truncate(end);
        document.hidden.retain(|range| range.end <= end);
        document.notes.push(format!(
            "only its first {TEXT_LIMIT_BYTES} bytes of text were read"
        ));
    }
    let meta = &mut document.meta;
    kind.media_type().clone_into(&mut meta.media_type);
    meta.file = Some(path.to_owned());
    meta.private = true;
    meta.title = tidy(&meta.title);
    if meta.title.is_empty() {
        path.rsplit('/')
            .next()
            .unwrap_or(path)
            .clone_into(&mut meta.title);
    }
    meta.authors = meta
        .authors
        .iter()
        .map(|author| tidy(author))
        .filter(|author| !author.is_empty())
        .collect();
    meta.authors.truncate(AUTHORS_LIMIT);
    meta.date = meta
        .date
        .take()
        .map(|date| tidy(&date))
        .filter(|date| !date.is_empty());
    Ok(document)
}

impl Document {
    fn of(text: String) -> Self {
        Self {
            meta: SourceMeta::default(),
            text,
            hidden: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Masks secrets in it. As many asterisks stand in the place of one as it had bytes, so that
    /// ranges into the text stay true. The name of its file stays, since it is read by that.
    pub(crate) fn mask(&mut self, masker: &Masker) {
        let Self {
            meta, text, notes, ..
        } = self;
        masker.text(text);
        masker.text(&mut meta.title);
        for words in meta.authors.iter_mut().chain(notes).chain(&mut meta.date) {
            masker.text(words);
        }
        if let Some(url) = &mut meta.url {
            masker.text(url);
        }
    }
}

/// One line of at most [`META_LIMIT_BYTES`], without characters that act on a screen.
fn tidy(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    crate::show::safe(crate::show::cut(&line, META_LIMIT_BYTES)).into_owned()
}

/// Bytes as text: by their byte order mark, as UTF-8, by the label, or as Western European.
fn decoded(bytes: &[u8], label: Option<&'static Encoding>) -> Result<String, DocumentError> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return Ok(encoding
            .decode_without_bom_handling(&bytes[mark..])
            .0
            .into_owned());
    }
    if bytes.contains(&0) {
        return Err(DocumentError::Binary);
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Ok(text.to_owned());
    }
    let encoding = label
        .filter(|encoding| *encoding != UTF_8)
        .unwrap_or(WINDOWS_1252);
    Ok(encoding.decode_without_bom_handling(bytes).0.into_owned())
}
