//! What a page is about, found as browsers find it for their reading view.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dom_smoothie::{Config, Readability};
use ego_tree::iter::Edge;
use scraper::{Html, Node};

/// With more elements, looking for the main part takes too long.
const ELEMENTS_LIMIT: usize = 30_000;
/// With elements that stand deeper in each other too: the work grows faster than the depth.
const DEPTH_LIMIT: usize = 150;
/// With more text too.
const TEXT_LIMIT_BYTES: usize = 4 * 1024 * 1024;
/// How many bytes may be copied while pieces of text are put together: a piece is copied once more
/// at every character that is written as an entity.
const COPIED_LIMIT_BYTES: usize = 64 * 1024 * 1024;

/// The main part of a page.
pub(super) struct Main {
    pub html: String,
    /// Who is named above it. The line that says so is no part of it.
    pub author: Option<String>,
}

/// Finds the main part; `None` where none stands out.
pub(super) fn find(page: &Html) -> Option<Main> {
    if is_too_much(page) {
        return None;
    }
    let html = page.html();
    // A library's guesses over pages from anywhere: should it fail, the whole page is read.
    let found = catch_unwind(AssertUnwindSafe(|| {
        let config = Config {
            keep_classes: true,
            max_elements_to_parse: ELEMENTS_LIMIT,
            disable_json_ld: true,
            ..Config::default()
        };
        Readability::new(html, None, Some(config))
            .and_then(|mut readability| readability.parse())
            .ok()
    }));
    let article = found.ok().flatten()?;
    Some(Main {
        html: article.content.to_string(),
        author: article.byline,
    })
}

fn is_too_much(page: &Html) -> bool {
    let (mut elements, mut depth) = (0usize, 0usize);
    let (mut text_bytes, mut copied) = (0usize, 0usize);
    for edge in page.tree.root().traverse() {
        match edge {
            Edge::Open(node) => match node.value() {
                Node::Element(_) => {
                    elements += 1;
                    depth += 1;
                }
                Node::Text(text) => {
                    text_bytes += text.len();
                    copied += text.len() * text.matches(is_written_as_entity).count();
                }
                _ => {}
            },
            Edge::Close(node) => depth -= usize::from(node.value().is_element()),
        }
        let is_too_much = elements > ELEMENTS_LIMIT
            || depth > DEPTH_LIMIT
            || text_bytes > TEXT_LIMIT_BYTES
            || copied > COPIED_LIMIT_BYTES;
        if is_too_much {
            return true;
        }
    }
    false
}

fn is_written_as_entity(letter: char) -> bool {
    matches!(letter, '&' | '<' | '>' | '\u{a0}')
}
