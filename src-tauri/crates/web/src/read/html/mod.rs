//! HTML: parsed as a browser parses it, without what nobody sees, the main part found, and its
//! words collected.

mod collect;
mod hidden;
mod main_part;
mod meta;
mod notation;
mod parse;
mod style;
mod table;

use scraper::Html;
use url::Url;

use super::block::Block;
use super::links::{LINKS_LIMIT, Links};
use super::{Body, Reading};
use crate::page::{Hidden, Link, Note, Part};

pub(super) use collect::Collector;

/// A main part with fewer letters is believed only when it is most of the page.
const MAIN_LETTERS: usize = 250;

/// Reads a page. `base` is where it was fetched from.
pub(super) fn read(html: &str, base: Option<&Url>, part: Part) -> Reading {
    let parsed = parse::document(html);
    let mut page = parsed.page;
    let said = meta::describe(&page, base);
    let hidden = hidden::remove(&mut page);
    let base = said.base.clone().or_else(|| base.cloned());

    let whole = Collected::of(&page, base.clone());
    let found = match part {
        Part::Main => main_part::find(&page).and_then(|found| {
            let main = Collected::of(&parse::document(&found.html).page, base);
            main.is_credible(&whole).then_some((main, found.author))
        }),
        Part::Whole => None,
    };
    let mut notes = Vec::new();
    if parsed.left_out {
        notes.push(Note::ElementsLeftOut);
    }
    let mut meta = said.meta;
    let collected = match found {
        Some((main, author)) => {
            if main.letters < whole.letters {
                notes.push(Note::MainPartOnly);
            }
            if meta.authors.is_empty() {
                meta.authors.extend(author);
            }
            main
        }
        None => whole,
    };
    if collected.links_left_out {
        notes.push(Note::LinksLeftOut { limit: LINKS_LIMIT });
    }
    if let Some(address) = said.sends_on {
        notes.push(Note::SendsOn { address });
    }
    Reading {
        meta,
        canonical: said.canonical,
        language: said.language,
        identifier: said.identifier,
        hidden: Hidden {
            characters: collected.unseen,
            ..hidden
        },
        body: Body::Blocks(collected.blocks),
        links: collected.links,
        notes,
    }
}

/// The blocks of a piece of HTML that stands inside something else, such as a feed.
pub(super) fn fragment(html: &str, links: &mut Links, hidden: &mut Hidden) -> Vec<Block> {
    let mut page = parse::document(html).page;
    let found = hidden::remove(&mut page);
    hidden.parts += found.parts;
    hidden.letters += found.letters;
    hidden.comments += found.comments;
    let mut collector = Collector::new(links);
    collector.read(&page);
    hidden.characters += collector.unseen;
    collector.finish()
}

/// What a page or a part of it says.
struct Collected {
    blocks: Vec<Block>,
    links: Vec<Link>,
    links_left_out: bool,
    /// Letters and digits.
    letters: usize,
    /// Characters that nobody sees.
    unseen: usize,
}

impl Collected {
    fn of(page: &Html, base: Option<Url>) -> Self {
        let mut links = Links::new(base);
        let mut collector = Collector::new(&mut links);
        collector.read(page);
        let (letters, unseen) = (collector.letters, collector.unseen);
        let blocks = collector.finish();
        Self {
            blocks,
            links_left_out: links.are_more,
            links: links.finish(),
            letters,
            unseen,
        }
    }

    /// Whether it can be what the page is about.
    fn is_credible(&self, whole: &Self) -> bool {
        self.letters >= MAIN_LETTERS || self.letters * 2 >= whole.letters
    }
}
