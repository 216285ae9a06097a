//! An artifact that cites: what it claims, whether the claims hold, and how it is shown.
//!
//! A page is parsed as a browser parses it. Citations count in its text only; its statements are
//! the sentences of its blocks. What a statement is, and what is not:
//!
//! - Headings and names of things (`th`, `dt`, `pre`) state nothing. What stands in `header`,
//!   `footer`, `nav` and `aside` are the author's own words about the page: there it may say what
//!   was searched and what was not found, in a few sentences.
//! - Sentences of fewer than four words, questions, and a line that ends with a colon before a
//!   list, a table or a quotation state nothing.
//! - A table's row, a quotation and a figure are one block each, and a citation in the caption of
//!   a table or figure, or in the footer of a quotation, covers all of it. A table's caption is
//!   covered by any citation in the table.
//! - Where a citation can't stand (`svg`, `textarea`, a link), the words count all the same: a
//!   figure with a caption that cites covers a drawing.
//! - In every other block one citation covers the block.
//!
//! The numbers of every sentence that a citation covers are claims of their own: each has to stand,
//! with its unit, in a passage of a cited source that the run was shown, or around the words that
//! are quoted of it (see `numbers`).

mod active;
mod elements;
mod figures;
mod ledger;
mod markdown;
mod numbers;
mod render;
mod survey;
#[cfg(test)]
mod tests;

use scraper::Html;

pub(crate) use ledger::{Permits, SourceText, Sources, Tally, differences, ledger};
pub(crate) use render::render;
pub(crate) use survey::{Survey, survey};

use crate::markup::{self, TooDeep};

/// The largest page that is read.
pub(crate) const PAGE_LIMIT_BYTES: u64 = 8 * 1024 * 1024;
/// The most faults or differences that a model is told at once.
pub(crate) const TOLD_LIMIT: usize = 20;

/// How an artifact is read, as its name says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Media {
    /// Citations are rendered.
    Html,
    /// Becomes HTML, then as above.
    Markdown,
    /// Published as it is.
    Other(&'static str),
}

impl Media {
    pub(crate) fn of(path: &str) -> Self {
        let extension = path
            .rsplit_once('.')
            .map_or("", |(_, extension)| extension)
            .to_ascii_lowercase();
        match extension.as_str() {
            "html" | "htm" => Self::Html,
            "md" | "markdown" => Self::Markdown,
            "txt" | "log" | "bib" | "ris" => Self::Other("text/plain"),
            "csv" => Self::Other("text/csv"),
            "json" => Self::Other("application/json"),
            "svg" => Self::Other("image/svg+xml"),
            "png" => Self::Other("image/png"),
            "jpg" | "jpeg" => Self::Other("image/jpeg"),
            "pdf" => Self::Other("application/pdf"),
            _ => Self::Other("application/octet-stream"),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Html => "text/html",
            Self::Markdown => "text/markdown",
            Self::Other(name) => name,
        }
    }

    /// What [`Media::name`] gave, read back.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "text/html" => Some(Self::Html),
            "text/markdown" => Some(Self::Markdown),
            _ => None,
        }
    }

    /// Where the rendered copy of `path` lies.
    pub(crate) fn rendered_path(self, path: &str) -> String {
        match self {
            Self::Markdown => format!("{RENDERED}/{path}.html"),
            _ => format!("{RENDERED}/{path}"),
        }
    }
}

/// The folder of rendered copies, beneath the workspace.
pub(crate) const RENDERED: &str = "artifacts";

/// The page's tree.
pub(crate) fn parse(text: &str, media: Media) -> Result<Html, TooDeep> {
    match media {
        Media::Markdown => markup::parse(&markdown::page(text)),
        _ => markup::parse(text),
    }
}

/// For text and for quoted attributes.
pub(crate) fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            letter => html.push(letter),
        }
    }
    html
}
