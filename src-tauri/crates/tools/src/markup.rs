//! HTML from anywhere, parsed as a browser parses it, within bounds.

use html5ever::tendril::TendrilSink;
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, driver};
use scraper::{Html, HtmlTreeSink};

/// How deep elements may stand in each other: the parser's work grows with the depth at every tag.
const DEPTH_LIMIT: usize = 1_000;

/// A page that is refused unread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("its elements stand in each other more than {DEPTH_LIMIT} deep")]
pub(crate) struct TooDeep;

/// The page's tree. Scripts are taken as switched off, so that nothing hides in `noscript`.
pub(crate) fn parse(html: &str) -> Result<Html, TooDeep> {
    if depth(html) > DEPTH_LIMIT {
        return Err(TooDeep);
    }
    let options = ParseOpts {
        tree_builder: TreeBuilderOpts {
            scripting_enabled: false,
            ..TreeBuilderOpts::default()
        },
        ..ParseOpts::default()
    };
    Ok(driver::parse_document(HtmlTreeSink::new(Html::new_document()), options).one(html))
}

/// The most elements that are open at once, at most: tags that browsers close by themselves are
/// left out, and scripts are not read as tags.
fn depth(html: &str) -> usize {
    let (mut open, mut deepest) = (0usize, 0usize);
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end..]);
            continue;
        }
        let closes = rest.starts_with('/');
        let name = name(rest.trim_start_matches('/'));
        if !name.starts_with(char::is_alphabetic) || closes_itself(&name) {
            continue;
        }
        if closes {
            open = open.saturating_sub(1);
            continue;
        }
        if matches!(name.as_str(), "script" | "style") {
            rest = end_of(rest, &name);
            continue;
        }
        open += 1;
        deepest = deepest.max(open);
    }
    deepest
}

fn name(tag: &str) -> String {
    /// Longer names are none that matter here.
    const NAME_LIMIT: usize = 12;
    tag.chars()
        .take(NAME_LIMIT)
        .take_while(char::is_ascii_alphanumeric)
        .map(|letter| letter.to_ascii_lowercase())
        .collect()
}

/// What follows the content of a script or a style.
fn end_of<'t>(rest: &'t str, name: &str) -> &'t str {
    let ends = |offset: &usize| {
        let after = &rest[offset + 2..];
        after
            .get(..name.len())
            .is_some_and(|end| end.eq_ignore_ascii_case(name))
    };
    let end = rest
        .match_indices("</")
        .map(|(offset, _)| offset)
        .find(ends);
    end.map_or("", |end| &rest[end + 2..])
}

fn closes_itself(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "br"
            | "col"
            | "embed"
            | "hr"
            | "img"
            | "input"
            | "link"
            | "meta"
            | "param"
            | "source"
            | "track"
            | "wbr"
            | "p"
            | "li"
            | "dt"
            | "dd"
            | "option"
            | "tr"
            | "td"
            | "th"
            | "thead"
            | "tbody"
            | "tfoot"
            | "html"
            | "head"
            | "body"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_what_stands_in_each_other() {
        assert_eq!(depth("<div><p>a<br><b>c</b></div><div></div>"), 2);
        assert_eq!(depth("<script>a<b<c<d</script><!-- <a><b><c> --><i>"), 1);
        assert_eq!(depth("a < b <> </ <3"), 0);
        assert_eq!(depth("<p>one".repeat(5_000).as_str()), 0);
        assert_eq!(depth("<script><div>"), 0);
    }

    #[test]
    fn a_page_without_a_bottom_is_refused_at_once() {
        assert!(matches!(parse(&"<div>".repeat(1_000_000)), Err(TooDeep)));
        assert!(parse(&"<div>".repeat(1_000)).is_ok());
    }
}
