//! What a page is about, found as browsers find it for their reading view.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dom_smoothie::{Config, Readability};
use scraper::{Html, Node};

/// With more elements, looking for the main part takes too long.
const ELEMENTS_LIMIT: usize = 30_000;

/// The main part of a page.
pub(super) struct Main {
    pub html: String,
    /// Who is named above it. The line that says so is no part of it.
    pub author: Option<String>,
}

/// Finds the main part; `None` where none stands out.
pub(super) fn find(page: &Html) -> Option<Main> {
    let elements = page
        .tree
        .values()
        .filter(|node| matches!(node, Node::Element(_)))
        .count();
    if elements > ELEMENTS_LIMIT {
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
