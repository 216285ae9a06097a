//! What a page says: its blocks, the citations in them, and what is wrong with how it cites.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use ego_tree::{NodeId, NodeRef};
use longrein_core::evidence::{Cited, Found, sentences, tokens};
use longrein_protocol::SourceId;
use scraper::{Html, Node};

use super::active::Active;
use super::elements::{
    Voice, block_of, covering, element, introduces, is_hidden, is_whole, ranks, takes_no_link,
    voice,
};
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
    /// The sentences that citations cover, in the order of the page.
    pub(super) covered: Vec<Covered>,
    /// What makes the page show something else than what it says, in a few words each.
    pub(crate) active: Vec<String>,
}

/// A sentence that cites, or that should.
pub(crate) struct Statement {
    pub(crate) sentence: String,
    /// `None` where it carries no citation and neither does its block.
    pub(crate) token: Option<PlacedToken>,
}

/// A sentence that citations cover: its own, or else those of its block.
pub(super) struct Covered {
    pub(super) sentence: String,
    pub(super) cited: Vec<Cited>,
    /// How many of the page's statements stand before it or in it.
    pub(super) after: usize,
    /// The numbers of a table's row; one of them at its beginning states nothing.
    pub(super) ranks: Option<[u32; 2]>,
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
    /// cite, with what they cite.
    covered: BTreeMap<NodeId, Vec<Cited>>,
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
        // The numbers along the axes of a drawing.
        if names.contains(&"svg") && !text.contains(char::is_alphabetic) && tokens(text).is_empty()
        {
            return;
        }
        let number = self.block(node, voice(&names));
        if let Some(name) = names.iter().find(|name| takes_no_link(name)) {
            self.misplaced(text, &format!("<{name}>"));
            self.blocks[number].1.words(text);
            return;
        }
        if names.contains(&"sup") {
            self.blocks[number].1.raise(text);
        }
        self.cite(node, text, number);
    }

    /// The number of the block that the text at `node` belongs to.
    fn block(&mut self, node: NodeRef<'_, Node>, voice: Voice) -> usize {
        let (id, part) = block_of(node);
        let number = *self.numbers.entry((id, voice)).or_insert_with(|| {
            self.blocks.push(((id, voice), Block::default()));
            self.blocks.len() - 1
        });
        let block = &mut self.blocks[number].1;
        if block
            .part
            .replace(part)
            .is_some_and(|before| before != part)
        {
            block.words(" ");
        }
        number
    }

    /// Takes up text with the citations in it.
    fn cite(&mut self, node: NodeRef<'_, Node>, text: &str, number: usize) {
        let mut from = 0;
        for found in tokens(text) {
            match found {
                Found::Token(token) => {
                    self.blocks[number].1.words(&text[from..token.range.start]);
                    from = token.range.end;
                    self.citations += token.cited.len();
                    if let Some(covered) = covering(node) {
                        let covered = self.covered.entry(covered).or_default();
                        covered.extend(token.cited.iter().cloned());
                    }
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
        let mut found = Statements {
            page,
            outer: &self.covered,
            own: BTreeMap::new(),
            statements: Vec::new(),
            covered: Vec::new(),
        };
        for ((id, voice), block) in self.blocks {
            if block.tokens.is_empty() {
                found.uncited(id, voice, &block.text);
            } else {
                found.cited(id, block);
            }
        }
        let Statements {
            statements,
            covered,
            ..
        } = found;
        let title = if self.title.trim().is_empty() {
            self.heading
        } else {
            self.title
        };
        Survey {
            title: title.split_whitespace().collect::<Vec<_>>().join(" "),
            faults: self.faults,
            statements,
            covered,
            active: self.active,
        }
    }
}

/// The statements of a page in the making.
struct Statements<'p> {
    page: &'p Html,
    /// What the captions and footers of tables, figures and quotations cite.
    outer: &'p BTreeMap<NodeId, Vec<Cited>>,
    /// How many sentences of the author's own there may still be.
    own: BTreeMap<Voice, usize>,
    statements: Vec<Statement>,
    covered: Vec<Covered>,
}

impl Statements<'_> {
    /// What covers the block besides its own citations.
    fn outer(&self, id: NodeId) -> Vec<Cited> {
        let Some(node) = self.page.tree.get(id) else {
            return Vec::new();
        };
        let outer = node.ancestors().map(|outer| outer.id());
        std::iter::once(id)
            .chain(outer)
            .filter_map(|id| self.outer.get(&id))
            .flatten()
            .cloned()
            .collect()
    }

    fn cover(&mut self, id: NodeId, sentence: &str, cited: Vec<Cited>) {
        self.covered.push(Covered {
            sentence: sentence.to_owned(),
            cited,
            after: self.statements.len(),
            ranks: self.page.tree.get(id).and_then(ranks),
        });
    }

    fn uncited(&mut self, id: NodeId, voice: Voice, text: &str) {
        if voice == Voice::Label {
            return;
        }
        let outer = self.outer(id);
        if !outer.is_empty() {
            for range in sentences(text) {
                self.cover(id, &text[range], outer.clone());
            }
            return;
        }
        let introduces = self.page.tree.get(id).is_some_and(introduces);
        let stated: Vec<&str> = sentences(text)
            .into_iter()
            .map(|range| &text[range])
            .filter(|sentence| states(sentence, introduces))
            .collect();
        let free = match voice {
            Voice::Own(_) => {
                let left = self.own.entry(voice).or_insert(OWN_STATEMENTS);
                let free = stated.len().min(*left);
                *left -= free;
                free
            }
            Voice::Page | Voice::Label => 0,
        };
        let uncited = stated.into_iter().skip(free);
        self.statements.extend(uncited.map(|sentence| Statement {
            sentence: sentence.to_owned(),
            token: None,
        }));
    }

    fn cited(&mut self, id: NodeId, block: Block) {
        let Block { text, tokens, .. } = block;
        let ranges = sentences(&text);
        let outer = self.outer(id);
        let all: Vec<Cited> = tokens
            .iter()
            .flat_map(|(_, token)| token.cited.iter().cloned())
            .collect();
        let whole = self
            .page
            .tree
            .get(id)
            .is_some_and(|node| element(&node).is_some_and(is_whole));
        let mut tokens = tokens.into_iter().peekable();
        for (number, range) in ranges.iter().enumerate() {
            let sentence = &text[range.clone()];
            // A citation belongs to the sentence that begins before it; one before all of them to
            // the first.
            let end = ranges.get(number + 1).map_or(usize::MAX, |next| next.start);
            let mut own = Vec::new();
            while let Some((_, token)) = tokens.next_if(|(offset, _)| *offset <= end) {
                own.extend(token.cited.iter().cloned());
                self.statements.push(Statement {
                    sentence: sentence.to_owned(),
                    token: Some(token),
                });
            }
            let mut cited = if own.is_empty() || whole {
                all.clone()
            } else {
                own
            };
            cited.extend(outer.iter().cloned());
            self.cover(id, sentence, cited);
        }
        // A block of nothing but citations has no sentences.
        self.statements.extend(tokens.map(|(_, token)| Statement {
            sentence: String::new(),
            token: Some(token),
        }));
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

    /// A raised number is a power or the mark of a note, and no more digits or letters of what
    /// stands before it.
    fn raise(&mut self, raised: &str) {
        let number = raised.trim_start_matches(['-', '\u{2212}']);
        let goes_on = self.text.ends_with(char::is_alphanumeric);
        if goes_on && number.starts_with(|letter: char| letter.is_ascii_digit()) {
            self.text.push('^');
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
