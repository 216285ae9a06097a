//! A tree of a page from anywhere, within bounds.

use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, driver};
use scraper::{Html, HtmlTreeSink};

/// How deep elements may stand in each other: the parser's work grows with the depth at every tag.
const DEPTH_LIMIT: usize = 512;
/// How many nodes a page may have.
const NODES_LIMIT: usize = 400_000;
/// How much is parsed between two looks at the limits. What one piece can do beyond them is
/// bounded by its size.
const PIECE_BYTES: usize = 1024;

/// A parsed page.
pub(super) struct Parsed {
    pub page: Html,
    /// Whether a limit was reached, and what came after it was left out.
    pub left_out: bool,
}

/// Parses a page with scripts taken as switched off, so that nothing hides in `noscript`.
pub(super) fn document(html: &str) -> Parsed {
    let options = ParseOpts {
        tree_builder: TreeBuilderOpts {
            scripting_enabled: false,
            ..TreeBuilderOpts::default()
        },
        ..ParseOpts::default()
    };
    let mut parser = driver::parse_document(HtmlTreeSink::new(Html::new_document()), options);
    let mut rest = html;
    while !rest.is_empty() {
        let end = rest.ceil_char_boundary(PIECE_BYTES.min(rest.len()));
        parser.process(StrTendril::from(&rest[..end]));
        rest = &rest[end..];
        if is_full(&parser.tokenizer.sink.sink) {
            break;
        }
    }
    Parsed {
        left_out: !rest.is_empty(),
        page: parser.finish(),
    }
}

fn is_full(sink: &HtmlTreeSink) -> bool {
    let page = sink.0.borrow();
    let nodes = page.tree.values().len();
    if nodes > NODES_LIMIT {
        return true;
    }
    // What was parsed last stands where the parser stands.
    page.tree
        .nodes()
        .next_back()
        .is_some_and(|last| last.ancestors().count() > DEPTH_LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_page_is_parsed_whole() {
        let page = "<div><p>words</div>".repeat(2_000);
        let parsed = document(&page);
        assert!(!parsed.left_out);
        assert!(
            parsed
                .page
                .html()
                .ends_with("words</p></div></body></html>")
        );
    }

    #[test]
    fn a_page_without_a_bottom_is_cut() {
        for page in [
            "<div>".repeat(1_000_000),
            "<table><tr><td>".repeat(100_000),
            (0..100_000).map(|n| format!("<i n={n}>")).collect(),
        ] {
            let parsed = document(&page);
            assert!(parsed.left_out, "{}", &page[..20]);
            assert!(parsed.page.tree.values().len() < NODES_LIMIT);
        }
    }

    #[test]
    fn styles_that_are_opened_again_in_every_paragraph_are_cut() {
        let styles: String = (0..400).map(|n| format!("<b n={n}>")).collect();
        let page = format!("{styles}{}", "<p>a".repeat(500_000));
        assert!(document(&page).left_out);
    }
}
