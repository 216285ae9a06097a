//! A page as it was fetched and as it is read.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use longrein_protocol::body::BlobHash;
use longrein_protocol::source::SourceMeta;

use crate::words::count;

/// Which part of a page is read. It matters for HTML only.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Part {
    /// What the page is about, without navigation and asides; the whole where that can't be told.
    #[default]
    Main,
    /// All that a reader sees.
    Whole,
}

/// One step on the way from the address that was asked for to the page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Redirect {
    /// The HTTP status.
    pub status: u16,
    /// The address that sent on.
    pub from: String,
    /// Where it sent on to.
    pub to: String,
}

/// What came over the network: the evidence.
#[derive(Clone, PartialEq, Debug)]
pub struct Capture {
    /// The address that was asked for, without a fragment.
    pub requested: String,
    /// The address that answered.
    pub address: String,
    /// The way between the two.
    pub redirects: Vec<Redirect>,
    /// The HTTP status: a success.
    pub status: u16,
    /// When, in milliseconds since 1970, as the caller said.
    pub fetched_at_ms: u64,
    /// The header `content-type`, as it was sent.
    pub content_type: Option<String>,
    /// The body, decompressed and otherwise as it was sent.
    pub bytes: Vec<u8>,
    /// The hash of the body.
    pub hash: BlobHash,
    /// Whether `robots.txt` was left aside by the person's word.
    pub robots_ignored: bool,
}

/// A link of a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    /// Counted from 1, in the order in which they first occur; in Markdown, `[words][L1]`.
    pub number: u32,
    /// The words of the first link to this address, cut.
    pub text: String,
    /// Where it leads, whole. Always `http` or `https`.
    pub address: String,
}

/// A heading of a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// Its words.
    pub text: String,
    /// Where in the page's text it begins, in bytes.
    pub start: usize,
}

/// What was left out of the text because nobody would see it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Hidden {
    /// Parts of the page that are not shown and have words.
    pub parts: usize,
    /// Letters in them.
    pub letters: usize,
    /// Comments.
    pub comments: usize,
    /// Characters that nobody sees, other than those of ordinary typesetting.
    pub characters: usize,
}

/// What the reader of a page should know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Note {
    /// Only the main part was read.
    MainPartOnly,
    /// The text was cut at this many bytes.
    Cut {
        /// The limit.
        limit_bytes: usize,
    },
    /// The page has more elements than are read, or they stand in each other too deep.
    ElementsLeftOut,
    /// Text that nobody would see was left out.
    HiddenText(Hidden),
    /// `robots.txt` was left aside by the person's word.
    RobotsIgnored,
    /// The page does not say its encoding, or says a wrong one.
    CharsetGuessed {
        /// The one that was taken.
        taken: &'static str,
        /// The one that the page names.
        named: Option<String>,
    },
    /// Some bytes are no characters of the encoding; each is shown as `�`.
    BrokenCharacters {
        /// The encoding.
        charset: &'static str,
    },
    /// The page was sent as one thing and is another.
    TypeCorrected {
        /// As it was sent.
        sent: String,
        /// What it is.
        is: String,
    },
    /// The page tells browsers to go on to another at once.
    SendsOn {
        /// To which.
        address: String,
    },
    /// There are more links than are listed.
    LinksLeftOut {
        /// How many are listed.
        limit: usize,
    },
    /// It says to be JSON or XML, and is broken.
    NotWellFormed {
        /// What it says to be.
        format: &'static str,
    },
    /// There are no words in it. It may need scripts, which are never run.
    Empty,
    /// What its own reader says, as of a PDF.
    Said(String),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MainPartOnly => f.write_str(
                "Only the main part was read; navigation and asides are in the whole page.",
            ),
            Self::Cut { limit_bytes } => {
                write!(f, "The text was cut after {limit_bytes} bytes.")
            }
            Self::ElementsLeftOut => f.write_str(
                "The page has more elements than are read, or too deep ones; the rest is left out.",
            ),
            Self::HiddenText(hidden) => hidden.fmt(f),
            Self::RobotsIgnored => f.write_str("robots.txt was left aside, as the person allowed."),
            Self::CharsetGuessed { taken, named } => match named {
                Some(named) => write!(
                    f,
                    "The page says it is written in {named}, which it is not; {taken} was taken."
                ),
                None => write!(
                    f,
                    "The page does not say how it is written; {taken} was taken."
                ),
            },
            Self::BrokenCharacters { charset } => write!(
                f,
                "Some bytes are no characters of {charset} and are shown as \u{fffd}."
            ),
            Self::TypeCorrected { sent, is } => {
                write!(f, "It was sent as {sent} and is {is}.")
            }
            Self::SendsOn { address } => {
                write!(f, "The page sends browsers on to {address} at once.")
            }
            Self::LinksLeftOut { limit } => {
                write!(f, "Only the first {limit} links are listed.")
            }
            Self::NotWellFormed { format } => {
                write!(f, "It is no well-formed {format} and is shown as it is.")
            }
            Self::Empty => {
                f.write_str("There are no words in it. It may need scripts, which are never run.")
            }
            Self::Said(words) => f.write_str(words),
        }
    }
}

impl fmt::Display for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut kinds = Vec::new();
        if self.parts > 0 {
            kinds.push(format!(
                "{} with {}",
                count(self.parts, "part", "parts"),
                count(self.letters, "letter", "letters")
            ));
        }
        if self.comments > 0 {
            kinds.push(count(self.comments, "comment", "comments"));
        }
        if self.characters > 0 {
            kinds.push(count(self.characters, "character", "characters"));
        }
        write!(
            f,
            "Left out because no reader sees it: {}.",
            kinds.join(", ")
        )
    }
}

impl Hidden {
    pub(crate) fn is_none(self) -> bool {
        self == Self::default()
    }
}

/// A page as text.
#[derive(Clone, PartialEq, Debug)]
pub struct Page {
    /// What came over the network.
    pub capture: Arc<Capture>,
    /// The part that was asked for.
    pub part: Part,
    /// Title, authors, date, address and media type, as far as the page says.
    pub meta: SourceMeta,
    /// The address under which the page wants to be known.
    pub canonical: Option<String>,
    /// The language that the page says it is in: `en`, `pt-BR`.
    pub language: Option<String>,
    /// The work's identifier, where the page names one: a DOI.
    pub identifier: Option<String>,
    /// The extracted text. Quotes are checked against it, and ranges of it are kept: the same
    /// bytes give the same text. Words only, with one blank line between blocks.
    pub text: String,
    /// The same as Markdown, for reading: headings, lists, tables, code and numbered links.
    pub markdown: String,
    /// The links of the text.
    pub links: Vec<Link>,
    /// The headings of the text.
    pub headings: Vec<Heading>,
    /// Parts of the text that are no evidence, such as a bibliography; in bytes.
    pub not_evidence: Vec<Range<usize>>,
    /// What its reader should know.
    pub notes: Vec<Note>,
}

impl Page {
    /// How much memory it takes, about, in bytes.
    pub fn weight(&self) -> usize {
        let links: usize = self
            .links
            .iter()
            .map(|link| link.address.len() + link.text.len() + size_of::<Link>())
            .sum();
        self.capture.bytes.len() + self.text.len() + self.markdown.len() + links + size_of::<Self>()
    }
}
