//! The bytes of a page become its text.

mod block;
mod html;
mod json;
mod links;
mod markdown;
#[cfg(test)]
mod tests;
mod text;
mod xml;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use longrein_protocol::source::SourceMeta;
use url::Url;

use crate::charset;
use crate::error::FetchError;
use crate::media::{self, Kind};
use crate::page::{Capture, Heading, Hidden, Link, Note, Page, Part};
use crate::words::{cut_line, is_ordinary, is_seen, line};

use block::Block;

/// The longest title, author or date, in bytes.
const META_LIMIT_BYTES: usize = 500;
/// The most authors that are kept.
const AUTHORS_LIMIT: usize = 100;

/// What a reader of PDFs gives.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct PdfText {
    /// What the document is, with the receipt of its pages.
    pub meta: SourceMeta,
    /// Its text; pages are divided by form feeds.
    pub text: String,
    /// Parts of the text that are no evidence, in bytes.
    pub not_evidence: Vec<Range<usize>>,
    /// What the reader of a page should know.
    pub notes: Vec<String>,
}

/// Why a document can't be read, to follow "it can't be read: ".
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(pub String);

/// Reads a PDF within bounds of its own. It is called on a thread where that may take its time.
pub type PdfReader = dyn Fn(&[u8]) -> Result<PdfText, Unreadable> + Send + Sync;

/// What one of the readers gives.
#[derive(Default)]
struct Reading {
    meta: SourceMeta,
    canonical: Option<String>,
    language: Option<String>,
    identifier: Option<String>,
    body: Body,
    links: Vec<Link>,
    hidden: Hidden,
    notes: Vec<Note>,
}

/// The text, as blocks that are still to be written out or as it is.
enum Body {
    Blocks(Vec<Block>),
    Plain {
        text: String,
        markdown: String,
        not_evidence: Vec<Range<usize>>,
    },
}

impl Default for Body {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

/// Reads what was captured.
pub(crate) fn page(
    capture: &Arc<Capture>,
    part: Part,
    pdf: Option<&PdfReader>,
    text_bytes: usize,
) -> Result<Page, FetchError> {
    let address = || line(&capture.address);
    let media =
        media::identify(capture.content_type.as_deref(), &capture.bytes).map_err(|what| {
            FetchError::UnsupportedType {
                address: address(),
                media_type: what.to_string(),
            }
        })?;
    let mut reading = if media.kind == Kind::Pdf {
        let Some(pdf) = pdf else {
            return Err(FetchError::UnsupportedType {
                address: address(),
                media_type: media.name,
            });
        };
        let read = pdf(&capture.bytes).map_err(|Unreadable(why)| FetchError::Unreadable {
            address: address(),
            why,
        })?;
        of_pdf(read)
    } else {
        let decoded = charset::decode(media.kind, &capture.bytes, media.charset.as_deref());
        let mut reading = of_text(media.kind, &decoded.text, capture, part, text_bytes);
        reading.notes.splice(0..0, decoded.notes);
        reading
    };
    if let Some(sent) = media.corrected {
        reading.notes.insert(
            0,
            Note::TypeCorrected {
                sent: line(&sent),
                is: media.name.clone(),
            },
        );
    }
    reading.meta.media_type = media.name;
    Ok(finish(reading, Arc::clone(capture), part, text_bytes))
}

fn of_pdf(read: PdfText) -> Reading {
    Reading {
        meta: read.meta,
        body: Body::Plain {
            markdown: read.text.clone(),
            text: read.text,
            not_evidence: read.not_evidence,
        },
        notes: read.notes.into_iter().map(Note::Said).collect(),
        ..Reading::default()
    }
}

fn of_text(kind: Kind, text: &str, capture: &Capture, part: Part, text_bytes: usize) -> Reading {
    // The address was one that could be fetched.
    let base = Url::parse(&capture.address).ok();
    match kind {
        Kind::Html => html::read(text, base.as_ref(), part),
        Kind::Xml => xml::read(text, base.as_ref()),
        Kind::Json => json::read(text, text_bytes),
        Kind::Markdown | Kind::Text | Kind::Pdf => {
            let mut hidden = Hidden::default();
            let text = seen(text, &mut hidden);
            Reading {
                body: Body::Plain {
                    markdown: text.clone(),
                    text,
                    not_evidence: Vec::new(),
                },
                hidden,
                ..Reading::default()
            }
        }
    }
}

fn finish(reading: Reading, capture: Arc<Capture>, part: Part, text_bytes: usize) -> Page {
    let mut notes = reading.notes;
    let (written, markdown, mut not_evidence) = match reading.body {
        Body::Blocks(blocks) => {
            let written = text::write(&blocks, text_bytes);
            let mut markdown = markdown::write(&blocks[..written.blocks], text_bytes);
            markdown::define(&mut markdown, &reading.links);
            (written, markdown, Vec::new())
        }
        Body::Plain {
            text,
            markdown,
            not_evidence,
        } => {
            let is_cut = text.len() > text_bytes;
            let mut markdown = markdown;
            markdown.truncate(markdown.floor_char_boundary(text_bytes));
            let mut text = text;
            text.truncate(text.floor_char_boundary(text_bytes));
            let written = text::Written {
                text,
                headings: Vec::<Heading>::new(),
                blocks: 0,
                is_cut,
            };
            (written, markdown, not_evidence)
        }
    };
    not_evidence.retain(|range| range.end <= written.text.len());
    if written.is_cut {
        notes.push(Note::Cut {
            limit_bytes: text_bytes,
        });
    }
    if !reading.hidden.is_none() {
        notes.push(Note::HiddenText(reading.hidden));
    }
    if capture.robots_ignored {
        notes.push(Note::RobotsIgnored);
    }
    if !written.text.contains(char::is_alphanumeric) {
        notes.push(Note::Empty);
    }
    let meta = tidy_meta(reading.meta, &capture, &written.headings);
    Page {
        part,
        meta,
        canonical: reading.canonical,
        language: reading.language,
        identifier: reading.identifier,
        text: written.text,
        markdown,
        links: reading.links,
        headings: written.headings,
        not_evidence,
        notes,
        capture,
    }
}

/// Every page has a title: its own, its first heading, or the end of its address.
fn tidy_meta(mut meta: SourceMeta, capture: &Capture, headings: &[Heading]) -> SourceMeta {
    let tidy = |text: &str| cut_line(text, META_LIMIT_BYTES);
    meta.title = tidy(&meta.title);
    if meta.title.is_empty()
        && let Some(heading) = headings.first()
    {
        meta.title = tidy(&heading.text);
    }
    if meta.title.is_empty() {
        meta.title = tidy(&name_of(&capture.address));
    }
    meta.authors = meta
        .authors
        .iter()
        .map(|author| tidy(author))
        .filter(|author| !author.is_empty())
        .take(AUTHORS_LIMIT)
        .collect();
    meta.date = meta
        .date
        .as_deref()
        .map(tidy)
        .filter(|date| !date.is_empty());
    meta.url = Some(capture.address.clone());
    meta.file = None;
    meta.private = false;
    meta
}

/// The last part of an address's path, or its host.
fn name_of(address: &str) -> String {
    let Ok(url) = Url::parse(address) else {
        return address.to_owned();
    };
    url.path_segments()
        .and_then(|mut parts| parts.rfind(|part| !part.is_empty()))
        .or_else(|| url.host_str())
        .unwrap_or(address)
        .to_owned()
}

/// A text without characters that nobody sees, with line breaks of one kind.
fn seen(text: &str, hidden: &mut Hidden) -> String {
    let text = if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    };
    let mut seen = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_seen(letter) || letter == '\u{c}' {
            seen.push(letter);
        } else if !is_ordinary(letter) {
            hidden.characters += 1;
        }
    }
    seen
}
