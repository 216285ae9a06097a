//! What the elements of a page are to its claims: blocks, labels, captions, the author's own words.

use ego_tree::{NodeId, NodeRef};
use scraper::Node;

/// Who speaks in a block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Voice {
    /// The page: what it states rests on sources.
    Page,
    /// A heading or a name of something, which states nothing.
    Label,
    /// The author, about the page, in an element of this name.
    Own(&'static str),
}

/// The name of an element; `None` for text and the like.
pub(super) fn element<'a>(node: &NodeRef<'a, Node>) -> Option<&'a str> {
    node.value().as_element().map(scraper::node::Element::name)
}

/// The element whose text is one block with `node` (a row, a quotation or a figure as a whole, else
/// the innermost block), and the innermost block in any case.
pub(super) fn block_of(node: NodeRef<'_, Node>) -> (NodeId, NodeId) {
    let outer: Vec<NodeRef<'_, Node>> = node.ancestors().collect();
    let whole = outer
        .iter()
        .find(|outer| element(outer).is_some_and(is_whole));
    let inner = outer
        .iter()
        .find(|outer| element(outer).is_some_and(|name| !is_inline(name)));
    let inner = inner.or(outer.last()).map_or(node.id(), |outer| outer.id());
    (whole.map_or(inner, |whole| whole.id()), inner)
}

/// What a citation covers besides its block: in a caption or a footer the whole table, figure or
/// quotation; elsewhere in a table its caption.
pub(super) fn covering(node: NodeRef<'_, Node>) -> Option<NodeId> {
    let Some(caption) = node.ancestors().find(|outer| {
        matches!(
            element(outer),
            Some("caption" | "figcaption" | "footer" | "cite")
        )
    }) else {
        let named = |name| move |node: &NodeRef<'_, Node>| element(node) == Some(name);
        let table = node.ancestors().find(named("table"))?;
        return table
            .children()
            .find(named("caption"))
            .map(|node| node.id());
    };
    let wanted: &[&str] = match element(&caption) {
        Some("caption") => &["table"],
        Some("figcaption") => &["figure"],
        _ => &["blockquote"],
    };
    let whole = caption
        .ancestors()
        .find(|outer| element(outer).is_some_and(|name| wanted.contains(&name)));
    whole.map(|whole| whole.id())
}

/// Whether a list, a table or a quotation follows the block or stands in it.
pub(super) fn introduces(block: NodeRef<'_, Node>) -> bool {
    let shows = |node: NodeRef<'_, Node>| {
        matches!(
            element(&node),
            Some("ul" | "ol" | "dl" | "table" | "blockquote" | "pre" | "figure")
        )
    };
    let next = block.next_siblings().find(|next| next.value().is_element());
    next.is_some_and(shows) || block.children().any(shows)
}

/// Elements whose text is one block as a whole.
pub(super) fn is_whole(name: &str) -> bool {
    matches!(name, "tr" | "blockquote" | "figure")
}

/// Elements that stand within a line; all others begin a block.
fn is_inline(name: &str) -> bool {
    matches!(
        name,
        "a" | "abbr"
            | "b"
            | "bdi"
            | "bdo"
            | "cite"
            | "code"
            | "data"
            | "del"
            | "dfn"
            | "em"
            | "font"
            | "i"
            | "ins"
            | "kbd"
            | "label"
            | "mark"
            | "q"
            | "s"
            | "samp"
            | "small"
            | "span"
            | "strong"
            | "sub"
            | "sup"
            | "time"
            | "tt"
            | "u"
            | "var"
            | "wbr"
    )
}

/// Who speaks in text that stands in elements of these `names`, from the inside out.
pub(super) fn voice(names: &[&str]) -> Voice {
    let own = ["header", "footer", "nav", "aside"]
        .into_iter()
        .find(|own| names.contains(own));
    // The links of a table of contents repeat the page's headings.
    let leads = own == Some("nav") && names.contains(&"a");
    if leads || names.iter().any(|name| is_label(name)) {
        return Voice::Label;
    }
    own.map_or(Voice::Page, Voice::Own)
}

fn is_label(name: &str) -> bool {
    matches!(
        name,
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "th" | "dt" | "pre"
    )
}

/// Where text is never seen.
pub(super) fn is_hidden(name: &str) -> bool {
    matches!(
        name,
        "script" | "style" | "template" | "title" | "iframe" | "noframes" | "noembed" | "object"
    )
}

/// Where text is seen and a link can't stand.
pub(super) fn takes_no_link(name: &str) -> bool {
    matches!(
        name,
        "a" | "button" | "textarea" | "select" | "svg" | "math" | "noscript" | "xmp" | "plaintext"
    )
}

/// The number that a table's row has by its place, with and without a row of headings before it.
pub(super) fn ranks(row: NodeRef<'_, Node>) -> Option<[u32; 2]> {
    /// Rows after it have no rank that is told from a figure.
    const RANKS_LIMIT: usize = 1_000;
    if element(&row) != Some("tr") {
        return None;
    }
    let before = row
        .prev_siblings()
        .filter(|other| element(other) == Some("tr"))
        .take(RANKS_LIMIT)
        .count();
    let before = u32::try_from(before).ok()?;
    Some([before, before + 1])
}
