//! What a page says: its blocks, the citations in them, and what is wrong with how it cites.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use ego_tree::{NodeId, NodeRef};
use longrein_core::evidence::{Cited, Found, sentences, tokens};
use longrein_protocol::SourceId;
use scraper::{Html, Node};

use super::active::Active;
use super::{TOLD_LIMIT, active};
use crate::show;

/// The most citations of one page.
const CITATIONS_LIMIT: usize = 2_000;
/// A sentence with fewer words states nothing.
const STATEMENT_WORDS: usize = 4;
/// The most statements without a citation that each of `header`, `footer`, `nav` and `aside` may
/// hold on one page: enough to say what was searched and what was not found, too few for a report.
pub(super) const OWN_STATEMENTS: usize = 10;
/// How much of a place a fault shows.
const PLACE_BYTES: usize = 60;

/// What was found in a page.
#[derive(Default)]
pub(crate) struct Survey {
    /// The page's own title, or its first heading; may be empty.
    pub(crate) title: String,
    /// What is wrong with how it cites, one sentence each.
    pub(crate) faults: Vec<String>,
    /// In the order of the page.
    pub(crate) statements: Vec<Statement>,
    /// What makes the page show something else than what it says, in a few words each.
    pub(crate) active: Vec<String>,
}

/// A sentence that cites, or that should.
pub(crate) struct Statement {
    pub(crate) sentence: String,
    /// `None` where it carries no citation and neither does its block.
    pub(crate) token: Option<PlacedToken>,
}

/// One pair of brackets in a text node.
pub(crate) struct PlacedToken {
    pub(super) node: NodeId,
    pub(super) range: Range<usize>,
    pub(crate) cited: Vec<Cited>,
}

impl Survey {
    /// The sources that the page names.
    pub(crate) fn cited(&self) -> BTreeSet<SourceId> {
        let tokens = self
            .statements
            .iter()
            .filter_map(|statement| statement.token.as_ref());
        tokens
            .flat_map(|token| token.cited.iter().map(|cited| cited.source))
            .collect()
    }
}

/// Looks through the whole page once.
pub(crate) fn survey(page: &Html) -> Survey {
    let mut walk = Walk::default();
    for node in page.tree.root().descendants() {
        match node.value() {
            Node::Text(text) => walk.text(node, text),
            Node::Comment(comment) => walk.misplaced(comment, "a comment"),
            Node::Element(element) => {
                match active::of(element) {
                    Some(Active::Refused(what)) => walk.fault(format!(
                        "{what} can show what the page itself does not hold: take it out"
                    )),
                    Some(Active::Changing(what)) if walk.active.len() < TOLD_LIMIT => {
                        walk.active.push(what);
                    }
                    Some(Active::Changing(_)) | None => {}
                }
                for (name, value) in element.attrs() {
                    walk.misplaced(
                        value,
                        &format!("the attribute {name} of <{}>", element.name()),
                    );
                }
                if element.name() == "br" {
                    walk.text(node, " ");
                }
            }
            _ => {}
        }
    }
    walk.finish(page)
}

/// A run of text that belongs together.
#[derive(Default)]
struct Block {
    text: String,
    /// Whether the last thing was a citation, before which a blank may stand that the sentence
    /// does not need.
    after_token: bool,
    /// The innermost element that the last words stood in: between two cells or paragraphs is a
    /// blank.
    part: Option<NodeId>,
    tokens: Vec<(usize, PlacedToken)>,
}

/// Who speaks in a block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Voice {
    /// The page: what it states rests on sources.
    Page,
    /// A heading or a name of something, which states nothing.
    Label,
    /// The author, about the page, in an element of this name.
    Own(&'static str),
}

#[derive(Default)]
struct Walk {
    title: String,
    heading: String,
    faults: Vec<String>,
    active: Vec<String>,
    /// By their element and voice, in the order in which they begin.
    blocks: Vec<((NodeId, Voice), Block)>,
    numbers: BTreeMap<(NodeId, Voice), usize>,
    /// Tables, figures and quotations whose caption or footer cites, and captions of tables that
    /// cite.
    covered: BTreeSet<NodeId>,
    citations: usize,
}

impl Walk {
    fn misplaced(&mut self, text: &str, place: &str) {
        for found in tokens(text) {
            let (range, malformed) = match found {
                Found::Token(token) => (token.range, false),
                Found::Malformed(token) => (token.range, true),
            };
            // `[s 3` in a script or an address is hardly meant as a citation.
            if !malformed {
                self.fault(format!(
                    "`{}` stands in {place}: citations count in the page's text only",
                    show::brief(&text[range], PLACE_BYTES)
                ));
            }
        }
    }

    fn fault(&mut self, fault: String) {
        if self.faults.len() < TOLD_LIMIT {
            self.faults.push(fault);
        }
    }

    fn text(&mut self, node: NodeRef<'_, Node>, text: &str) {
        let names: Vec<&str> = node
            .ancestors()
            .filter_map(|outer| element(&outer))
            .collect();
        if names.contains(&"title") && names.contains(&"head") {
            self.title.push_str(text);
        }
        if let Some(name) = names.iter().find(|name| is_hidden(name)) {
            self.misplaced(text, &format!("<{name}>"));
            return;
        }
        if names.contains(&"h1") && self.heading.len() < 4 * PLACE_BYTES {
            self.heading.push_str(text);
        }
        let voice = voice(&names);
        let (id, part) = block_of(node);
        let number = *self.numbers.entry((id, voice)).or_insert_with(|| {
            self.blocks.push(((id, voice), Block::default()));
            self.blocks.len() - 1
        });
        if self.blocks[number]
            .1
            .part
            .replace(part)
            .is_some_and(|before| before != part)
        {
            self.blocks[number].1.words(" ");
        }
        if let Some(name) = names.iter().find(|name| takes_no_link(name)) {
            self.misplaced(text, &format!("<{name}>"));
            self.blocks[number].1.words(text);
            return;
        }
        let mut from = 0;
        for found in tokens(text) {
            match found {
                Found::Token(token) => {
                    self.blocks[number].1.words(&text[from..token.range.start]);
                    from = token.range.end;
                    self.citations += token.cited.len();
                    self.covered.extend(covering(node));
                    self.blocks[number].1.token(PlacedToken {
                        node: node.id(),
                        range: token.range,
                        cited: token.cited,
                    });
                }
                Found::Malformed(token) => {
                    let around = show::cut(&text[token.range.start..], PLACE_BYTES);
                    self.fault(format!(
                        "`{}` (at “{}”) {}",
                        token.excerpt,
                        around.trim(),
                        token.problem
                    ));
                }
            }
        }
        self.blocks[number].1.words(&text[from..]);
    }

    fn finish(mut self, page: &Html) -> Survey {
        if self.citations > CITATIONS_LIMIT {
            self.fault(format!(
                "the page has {} citations, more than {CITATIONS_LIMIT}",
                self.citations
            ));
        }
        let mut statements = Vec::new();
        let mut own: BTreeMap<Voice, usize> = BTreeMap::new();
        for ((id, voice), block) in self.blocks {
            let ranges = sentences(&block.text);
            let sentence = |range: &Range<usize>| block.text[range.clone()].to_owned();
            if block.tokens.is_empty() {
                let covered = page.tree.get(id).is_some_and(|node| {
                    self.covered.contains(&id)
                        || node
                            .ancestors()
                            .any(|outer| self.covered.contains(&outer.id()))
                });
                if voice == Voice::Label || covered {
                    continue;
                }
                let introduces = page.tree.get(id).is_some_and(introduces);
                let stated: Vec<String> = ranges
                    .iter()
                    .map(sentence)
                    .filter(|sentence| states(sentence, introduces))
                    .collect();
                let free = match voice {
                    Voice::Own(_) => {
                        let left = own.entry(voice).or_insert(OWN_STATEMENTS);
                        let free = stated.len().min(*left);
                        *left -= free;
                        free
                    }
                    Voice::Page | Voice::Label => 0,
                };
                let uncited = stated.into_iter().skip(free);
                statements.extend(uncited.map(|sentence| Statement {
                    sentence,
                    token: None,
                }));
                continue;
            }
            for (offset, token) in block.tokens {
                let carries = ranges
                    .iter()
                    .rfind(|range| range.start < offset)
                    .or(ranges.first());
                let sentence = carries.map(sentence).unwrap_or_default();
                statements.push(Statement {
                    sentence,
                    token: Some(token),
                });
            }
        }
        let title = if self.title.trim().is_empty() {
            self.heading
        } else {
            self.title
        };
        Survey {
            title: title.split_whitespace().collect::<Vec<_>>().join(" "),
            faults: self.faults,
            statements,
            active: self.active,
        }
    }
}

impl Block {
    /// Takes up words with their white space folded.
    fn words(&mut self, text: &str) {
        for letter in text.chars() {
            if letter.is_whitespace() {
                if !self.text.is_empty() && !self.text.ends_with(' ') {
                    self.text.push(' ');
                }
                continue;
            }
            if self.after_token
                && matches!(letter, '.' | ',' | ';' | ':' | '!' | '?')
                && self.text.ends_with(' ')
            {
                self.text.pop();
            }
            self.after_token = false;
            self.text.push(letter);
        }
    }

    fn token(&mut self, token: PlacedToken) {
        self.after_token = true;
        self.tokens.push((self.text.trim_end().len(), token));
    }
}

fn states(sentence: &str, introduces: bool) -> bool {
    let words = sentence
        .split_whitespace()
        .filter(|word| word.contains(char::is_alphabetic))
        .count();
    words >= STATEMENT_WORDS && !sentence.ends_with('?') && !(introduces && sentence.ends_with(':'))
}

fn element<'a>(node: &NodeRef<'a, Node>) -> Option<&'a str> {
    node.value().as_element().map(scraper::node::Element::name)
}

/// The element whose text is one block with `node` (a row, a quotation or a figure as a whole, else
/// the innermost block), and the innermost block in any case.
fn block_of(node: NodeRef<'_, Node>) -> (NodeId, NodeId) {
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
fn covering(node: NodeRef<'_, Node>) -> Option<NodeId> {
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
fn introduces(block: NodeRef<'_, Node>) -> bool {
    let shows = |node: NodeRef<'_, Node>| {
        matches!(
            element(&node),
            Some("ul" | "ol" | "dl" | "table" | "blockquote" | "pre" | "figure")
        )
    };
    let next = block.next_siblings().find(|next| next.value().is_element());
    next.is_some_and(shows) || block.children().any(shows)
}

fn is_whole(name: &str) -> bool {
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
fn voice(names: &[&str]) -> Voice {
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
fn is_hidden(name: &str) -> bool {
    matches!(
        name,
        "script" | "style" | "template" | "title" | "iframe" | "noframes" | "noembed" | "object"
    )
}

/// Where text is seen and a link can't stand.
fn takes_no_link(name: &str) -> bool {
    matches!(
        name,
        "a" | "button" | "textarea" | "select" | "svg" | "math" | "noscript" | "xmp" | "plaintext"
    )
}
