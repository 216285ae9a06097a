//! The readable text of an HTML page: what a reader sees, block by block.

use ego_tree::iter::Edge;
use encoding_rs::Encoding;
use longrein_protocol::source::SourceMeta;
use scraper::Node;

use super::{Document, DocumentError};
use crate::markup;

/// Where a page may say in which encoding it is written.
const CHARSET_LIMIT_BYTES: usize = 1024;

/// The encoding that the page says it is written in.
pub(super) fn charset(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(CHARSET_LIMIT_BYTES)])
        .to_ascii_lowercase();
    let (_, after) = head.split_once("charset=")?;
    let label = after.trim_start_matches(['"', '\'']);
    let end = label
        .find(['"', '\'', ' ', ';', '>', '/'])
        .unwrap_or(label.len());
    Encoding::for_label(&label.as_bytes()[..end])
}

pub(super) fn read(html: &str) -> Result<Document, DocumentError> {
    let page = markup::parse(html)?;
    let mut reading = Reading::default();
    for edge in page.tree.root().traverse() {
        match edge {
            Edge::Open(node) => reading.open(node.value()),
            Edge::Close(node) => reading.close(node.value()),
        }
    }
    if reading.meta.title.is_empty() {
        reading.meta.title = reading.first_heading.unwrap_or_default();
    }
    let mut document = Document::of(reading.text.trim_end().to_owned());
    document.meta = reading.meta;
    Ok(document)
}

#[derive(Default)]
struct Reading {
    text: String,
    meta: SourceMeta,
    first_heading: Option<String>,
    /// Open elements whose text is not read.
    silent: usize,
    /// Open elements whose white space is kept.
    preformatted: usize,
    in_title: bool,
    /// Where the text of the open first heading began.
    heading: Option<usize>,
}

impl Reading {
    fn open(&mut self, node: &Node) {
        match node {
            Node::Text(text) if self.in_title => self.meta.title.push_str(text),
            Node::Text(text) if self.silent == 0 => self.words(text),
            Node::Element(element) => {
                let name = element.name();
                match name {
                    "title" => self.in_title = self.meta.title.is_empty(),
                    "meta" => self.describe(element),
                    "pre" => self.preformatted += 1,
                    "br" if self.silent == 0 => self.text.push('\n'),
                    "td" | "th" => self.cell(),
                    "h1" if self.first_heading.is_none() && self.silent == 0 => {
                        self.block();
                        self.heading = Some(self.text.len());
                    }
                    _ => {}
                }
                if is_silent(name) {
                    self.silent += 1;
                }
                if is_block(name) {
                    self.block();
                }
            }
            _ => {}
        }
    }

    fn close(&mut self, node: &Node) {
        let Node::Element(element) = node else { return };
        let name = element.name();
        match name {
            "title" => self.in_title = false,
            "pre" => self.preformatted -= 1,
            "h1" => {
                if let Some(start) = self.heading.take() {
                    let heading = self.text[start.min(self.text.len())..].trim();
                    self.first_heading = (!heading.is_empty()).then(|| heading.to_owned());
                }
            }
            _ => {}
        }
        if is_silent(name) {
            self.silent -= 1;
        }
        if is_block(name) {
            self.block();
        }
    }

    fn words(&mut self, text: &str) {
        if self.preformatted > 0 {
            self.text.push_str(text);
            return;
        }
        for letter in text.chars() {
            // No-break spaces are kept: they are the author's.
            if !matches!(letter, ' ' | '\n' | '\t' | '\r' | '\u{c}') {
                self.text.push(letter);
            } else if !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
                self.text.push(' ');
            }
        }
    }

    fn cell(&mut self) {
        if self.silent == 0 && !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push_str(" | ");
        }
    }

    /// One blank line between blocks.
    fn block(&mut self) {
        if self.silent > 0 || self.text.is_empty() {
            return;
        }
        self.text
            .truncate(self.text.trim_end_matches([' ', '\n']).len());
        self.text.push_str("\n\n");
    }

    fn describe(&mut self, element: &scraper::node::Element) {
        let name = element
            .attr("name")
            .or_else(|| element.attr("property"))
            .unwrap_or_default();
        let Some(content) = element
            .attr("content")
            .filter(|content| !content.trim().is_empty())
        else {
            return;
        };
        match name.to_ascii_lowercase().as_str() {
            "citation_title" | "dc.title" => content.clone_into(&mut self.meta.title),
            // Often named twice, in two vocabularies.
            "author" | "citation_author" | "dc.creator"
                if !self.meta.authors.iter().any(|author| author == content) =>
            {
                self.meta.authors.push(content.to_owned());
            }
            "citation_publication_date"
            | "citation_date"
            | "dc.date"
            | "date"
            | "article:published_time"
                if self.meta.date.is_none() =>
            {
                self.meta.date = Some(content.to_owned());
            }
            _ => {}
        }
    }
}

fn is_silent(name: &str) -> bool {
    matches!(
        name,
        "script"
            | "style"
            | "head"
            | "template"
            | "noscript"
            | "svg"
            | "math"
            | "iframe"
            | "object"
            | "nav"
            | "select"
            | "button"
    )
}

fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "body"
            | "caption"
            | "dd"
            | "details"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hr"
            | "li"
            | "main"
            | "ol"
            | "p"
            | "pre"
            | "section"
            | "summary"
            | "table"
            | "tr"
            | "ul"
    )
}
