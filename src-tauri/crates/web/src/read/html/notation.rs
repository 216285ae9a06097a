//! What a page writes in a way of its own: formulas, raised digits, languages of code.

use ego_tree::NodeRef;
use scraper::Node;
use scraper::node::Element;

use crate::words::cut_line;

/// The longest formula, in bytes.
const FORMULA_LIMIT_BYTES: usize = 2_000;
/// The longest name of a programming language.
const LANGUAGE_LIMIT_BYTES: usize = 24;

/// What a formula says in TeX, where the page gives it.
pub(super) fn formula(node: NodeRef<'_, Node>, element: &Element) -> Option<String> {
    let annotation = || {
        let tex = node.descendants().find(|inner| {
            inner.value().as_element().is_some_and(|inner| {
                inner.name() == "annotation" && inner.attr("encoding") == Some("application/x-tex")
            })
        })?;
        match tex.first_child()?.value() {
            Node::Text(text) => Some(text.to_string()),
            _ => None,
        }
    };
    element
        .attr("alttext")
        .map(str::to_owned)
        .or_else(annotation)
        .map(|tex| cut_line(&tex, FORMULA_LIMIT_BYTES))
        .filter(|tex| !tex.is_empty())
}

/// The raised or lowered form of a digit or sign.
pub(super) fn moved(name: &str, letter: char) -> Option<char> {
    const PLAIN: &str = "0123456789+-−=()n";
    const RAISED: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ";
    const LOWERED: &str = "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₙ";
    let at = PLAIN.chars().position(|plain| plain == letter)?;
    let forms = if name == "sup" { RAISED } else { LOWERED };
    forms.chars().nth(at)
}

/// The language of a piece of code, from its class: `language-rust`, `lang-rust`.
pub(super) fn language(pre: NodeRef<'_, Node>) -> Option<String> {
    let inner = pre.children().find_map(|child| child.value().as_element());
    let outer = pre.parent().and_then(|parent| parent.value().as_element());
    [pre.value().as_element(), inner, outer]
        .into_iter()
        .flatten()
        .filter_map(|element| element.attr("class"))
        .flat_map(str::split_whitespace)
        .find_map(|class| {
            let name = class
                .strip_prefix("language-")
                .or_else(|| class.strip_prefix("lang-"))?;
            let is_name = !name.is_empty()
                && name.len() <= LANGUAGE_LIMIT_BYTES
                && name
                    .chars()
                    .all(|letter| letter.is_ascii_alphanumeric() || "+#-_.".contains(letter));
            is_name.then(|| name.to_owned())
        })
}
