//! XML as text, and feeds as what they announce.

use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use url::Url;

use super::block::{Block, BlockKind, Line, Style};
use super::links::Links;
use super::{Body, Reading, html, seen};
use crate::page::{Hidden, Note};

/// How deep elements may stand in each other.
const DEPTH_LIMIT: usize = 512;
/// How many blocks are read.
const BLOCKS_LIMIT: usize = 200_000;
/// How often HTML inside a feed is read.
const FRAGMENTS_LIMIT: usize = 2_000;

/// Reads XML. What is broken is shown as far as it goes.
pub(super) fn read(text: &str, base: Option<&Url>) -> Reading {
    let mut links = Links::new(base.cloned());
    let mut reader = Feed {
        links: &mut links,
        open: Vec::new(),
        words: String::new(),
        blocks: Vec::new(),
        hidden: Hidden::default(),
        title: None,
        fragments: 0,
        left_out: false,
    };
    let is_whole = reader.read(text);
    let Feed {
        blocks,
        hidden,
        title,
        left_out,
        ..
    } = reader;
    let mut notes = Vec::new();
    if !is_whole {
        notes.push(Note::NotWellFormed { format: "XML" });
    }
    if left_out {
        notes.push(Note::ElementsLeftOut);
    }
    let mut reading = Reading {
        hidden,
        notes,
        ..Reading::default()
    };
    reading.meta.title = title.unwrap_or_default();
    reading.body = if is_whole || !blocks.is_empty() {
        Body::Blocks(blocks)
    } else {
        let text = seen(text, &mut reading.hidden);
        Body::Plain {
            markdown: text.clone(),
            text,
            not_evidence: Vec::new(),
        }
    };
    reading.links = links.finish();
    reading
}

struct Feed<'l> {
    links: &'l mut Links,
    /// The names of the open elements, without their prefix.
    open: Vec<String>,
    words: String,
    blocks: Vec<Block>,
    hidden: Hidden,
    title: Option<String>,
    fragments: usize,
    left_out: bool,
}

impl Feed<'_> {
    /// Whether the text is well formed as far as it was read.
    fn read(&mut self, text: &str) -> bool {
        let mut reader = Reader::from_str(text);
        loop {
            if self.blocks.len() > BLOCKS_LIMIT || self.open.len() > DEPTH_LIMIT {
                self.left_out = true;
                return true;
            }
            match reader.read_event() {
                Ok(Event::Start(tag)) => {
                    self.flush();
                    self.link(&tag);
                    self.open.push(name(&tag));
                }
                Ok(Event::Empty(tag)) => {
                    self.flush();
                    self.link(&tag);
                }
                Ok(Event::End(_)) => {
                    self.flush();
                    self.open.pop();
                }
                Ok(Event::Text(piece)) => self.words.push_str(&piece.xml10_content()),
                Ok(Event::CData(piece)) => self.words.push_str(&piece.xml10_content()),
                Ok(Event::GeneralRef(reference)) => self.reference(&reference),
                Ok(Event::Comment(comment)) => {
                    if !comment.trim().is_empty() {
                        self.hidden.comments += 1;
                    }
                }
                Ok(Event::Eof) => {
                    self.flush();
                    return self.open.is_empty();
                }
                Ok(_) => {}
                Err(_) => {
                    self.flush();
                    return false;
                }
            }
        }
    }

    /// A character or one of the five entities. Others are never expanded: a document could grow
    /// without end, or ask for another one.
    fn reference(&mut self, reference: &BytesRef<'_>) {
        if let Ok(Some(letter)) = reference.resolve_char_ref() {
            self.words.push(letter);
            return;
        }
        match resolve_predefined_entity(reference) {
            Some(words) => self.words.push_str(words),
            None => {
                self.words.push('&');
                self.words.push_str(reference);
                self.words.push(';');
            }
        }
    }

    /// Atom's links are attributes.
    fn link(&mut self, tag: &BytesStart<'_>) {
        if name(tag) != "link" {
            return;
        }
        let attribute = |wanted: &str| {
            tag.try_get_attribute(wanted)
                .ok()
                .flatten()
                .and_then(|attribute| attribute.normalized_value(XmlVersion::Implicit1_0).ok())
                .map(|value| value.into_owned())
        };
        let is_other = attribute("rel").is_some_and(|relation| relation != "alternate");
        if let Some(href) = attribute("href").filter(|_| !is_other) {
            self.address(&href);
        }
    }

    fn address(&mut self, href: &str) {
        let Some(number) = self.links.number(href) else {
            return;
        };
        let address = href.trim().to_owned();
        self.links.words(number, &address);
        self.links.end();
        let style = Style {
            link: Some(number),
            ..Style::default()
        };
        self.paragraph(&address, style);
    }

    /// The words that were read become a block.
    fn flush(&mut self) {
        let words = std::mem::take(&mut self.words);
        let words = seen(&words, &mut self.hidden);
        if words.trim().is_empty() {
            return;
        }
        let inside = |name: &str| self.open.iter().any(|open| open == name);
        let is_entry = inside("item") || inside("entry");
        match self.open.last().map(String::as_str) {
            Some("title") => {
                if self.title.is_none() && !is_entry {
                    self.title = Some(words.clone());
                }
                let mut line = Line::new();
                line.text(&words, Style::default());
                if let Some(spans) = line.take() {
                    let level = if is_entry { 2 } else { 1 };
                    self.push(BlockKind::Heading(level, spans));
                }
            }
            Some("link") => self.address(&words),
            Some("description" | "summary" | "content" | "encoded")
                if words.contains('<') && self.fragments < FRAGMENTS_LIMIT =>
            {
                self.fragments += 1;
                let blocks = html::fragment(&words, self.links, &mut self.hidden);
                self.blocks.extend(blocks);
            }
            _ => self.paragraph(&words, Style::default()),
        }
    }

    fn paragraph(&mut self, words: &str, style: Style) {
        let mut line = Line::new();
        line.text(words, style);
        if let Some(spans) = line.take() {
            self.push(BlockKind::Paragraph(spans));
        }
    }

    fn push(&mut self, kind: BlockKind) {
        self.blocks.push(Block {
            nest: Vec::new(),
            kind,
        });
    }
}

fn name(tag: &BytesStart<'_>) -> String {
    tag.local_name().as_ref().to_owned()
}
