//! The words of a page, block by block.

use ego_tree::NodeRef;
use ego_tree::iter::Edge;
use scraper::node::Element;
use scraper::{Html, Node};

use super::notation::{formula, language, moved};
use super::table::{Rows, holds_data};
use crate::page::Hidden;
use crate::read::block::{Block, BlockKind, Line, Nest, Span, Style, Words};
use crate::read::links::Links;
use crate::read::seen;
use crate::words::cut_line;

/// How deep lists and quotes are shown in each other.
const NEST_LIMIT: usize = 12;
/// The longest description of an image, in bytes.
const IMAGE_LIMIT_BYTES: usize = 300;

/// Reads a tree into blocks.
pub(in crate::read) struct Collector<'l> {
    links: &'l mut Links,
    blocks: Vec<Block>,
    line: Line,
    nest: Vec<Open>,
    lists: Vec<List>,
    heading: Option<u8>,
    code: Option<Code>,
    table: Option<Rows>,
    strong: usize,
    emphasis: usize,
    in_code: usize,
    /// The open links, with where they lead.
    hrefs: Vec<Option<String>>,
    /// Open elements whose content was read already.
    silent: usize,
    /// Letters and digits that were read.
    pub letters: usize,
    /// Characters that nobody sees and that were left out.
    pub unseen: usize,
}

/// What the next block stands in.
enum Open {
    Quote,
    Item { marker: String, is_fresh: bool },
}

struct List {
    /// The next number, for a list with numbers.
    next: Option<i64>,
}

#[derive(Default)]
struct Code {
    language: Option<String>,
    text: String,
}

impl<'l> Collector<'l> {
    pub fn new(links: &'l mut Links) -> Self {
        Self {
            links,
            blocks: Vec::new(),
            line: Line::new(),
            nest: Vec::new(),
            lists: Vec::new(),
            heading: None,
            code: None,
            table: None,
            strong: 0,
            emphasis: 0,
            in_code: 0,
            hrefs: Vec::new(),
            silent: 0,
            letters: 0,
            unseen: 0,
        }
    }

    /// Reads a whole tree.
    pub fn read(&mut self, page: &Html) {
        for edge in page.tree.root().traverse() {
            match edge {
                Edge::Open(node) => match node.value() {
                    Node::Text(text) if self.silent == 0 => self.text(text),
                    Node::Element(element) => self.open(node, element),
                    _ => {}
                },
                Edge::Close(node) => {
                    if let Node::Element(element) = node.value() {
                        self.close(node, element);
                    }
                }
            }
        }
    }

    /// The blocks, in the order of reading.
    pub fn finish(mut self) -> Vec<Block> {
        self.block();
        self.blocks
    }

    fn text(&mut self, text: &str) {
        let mut hidden = Hidden::default();
        let text = seen(text, &mut hidden);
        self.unseen += hidden.characters;
        let letters = text
            .chars()
            .filter(|letter| letter.is_alphanumeric())
            .count();
        self.letters += letters;
        if let Some(code) = &mut self.code {
            code.text.push_str(&text);
            return;
        }
        // A link gets its number with its first word: one without words is none to a reader.
        let link = self.link(text.trim().is_empty());
        if let Some(number) = link {
            self.links.words(number, &text);
        }
        let style = Style {
            link,
            ..self.style()
        };
        self.line.text(&text, style);
    }

    fn style(&self) -> Style {
        Style {
            strong: self.strong > 0 && self.heading.is_none(),
            emphasis: self.emphasis > 0,
            code: self.in_code > 0,
            link: None,
        }
    }

    /// The number of the open link. White space belongs to it only when it has words already.
    fn link(&mut self, is_blank: bool) -> Option<u32> {
        let href = self.hrefs.last()?.as_deref()?;
        if is_blank {
            self.links.known(href)
        } else {
            self.links.number(href)
        }
    }

    /// Ends the line that is being collected, if there is one.
    fn block(&mut self) {
        if self.table.as_ref().is_some_and(Rows::is_in_cell) {
            self.line.gap();
            return;
        }
        let Some(spans) = self.line.take() else {
            return;
        };
        let kind = match self.heading {
            Some(level) => BlockKind::Heading(level, spans),
            None => BlockKind::Paragraph(spans),
        };
        self.push(kind);
    }

    fn push(&mut self, kind: BlockKind) {
        let mut nest = Vec::with_capacity(self.nest.len().min(NEST_LIMIT));
        for open in &mut self.nest {
            let level = match open {
                Open::Quote => Nest::Quote,
                Open::Item { marker, is_fresh } => Nest::Item {
                    marker: marker.clone(),
                    first: std::mem::take(is_fresh),
                },
            };
            if nest.len() < NEST_LIMIT {
                nest.push(level);
            }
        }
        self.blocks.push(Block { nest, kind });
    }

    fn open(&mut self, node: NodeRef<'_, Node>, element: &Element) {
        if self.silent > 0 || self.code.is_some() {
            self.open_inside(element.name());
            return;
        }
        match element.name() {
            "head" => self.silent = 1,
            "br" => self.line.push(Words::Break, Style::default()),
            "hr" => {
                self.block();
                self.push(BlockKind::Rule);
            }
            "img" => self.image(element),
            "pre" => {
                self.block();
                self.code = Some(Code {
                    language: language(node),
                    text: String::new(),
                });
            }
            "ul" | "menu" | "dir" => self.list(None),
            "ol" => {
                let start = element
                    .attr("start")
                    .and_then(|start| start.trim().parse().ok());
                self.list(Some(start.unwrap_or(1)));
            }
            "li" => self.item(element),
            "dd" => {
                self.block();
                self.nest.push(Open::Item {
                    marker: "-".to_owned(),
                    is_fresh: true,
                });
            }
            "blockquote" => {
                self.block();
                self.nest.push(Open::Quote);
            }
            "table" if self.table.is_none() && holds_data(node) => {
                self.block();
                self.table = Some(Rows::default());
            }
            "thead" => self.in_table(Rows::open_head),
            "td" | "th" => self.cell(element),
            "strong" | "b" => self.strong += 1,
            "em" | "i" | "cite" | "dfn" | "var" => self.emphasis += 1,
            "code" | "kbd" | "samp" | "tt" => self.in_code += 1,
            "a" => self.hrefs.push(element.attr("href").map(str::to_owned)),
            "q" => self.line.text("“", self.style()),
            "sup" | "sub" | "math" => self.special(node, element),
            name => {
                if let Some(level) = heading(name) {
                    self.block();
                    self.heading = Some(level);
                } else if is_block(name) {
                    self.block();
                }
            }
        }
    }

    /// Inside code only line breaks count, and inside what is silent nothing but its end.
    fn open_inside(&mut self, name: &str) {
        if self.silent > 0 {
            self.silent += 1;
            return;
        }
        if let Some(code) = &mut self.code
            && (name == "br" || (is_block(name) && !code.text.is_empty()))
        {
            end_line(&mut code.text, name == "br");
        }
    }

    fn close(&mut self, node: NodeRef<'_, Node>, element: &Element) {
        let name = element.name();
        if self.silent > 0 {
            self.silent -= 1;
            return;
        }
        if self.code.is_some() {
            self.close_code(node, name);
            return;
        }
        match name {
            "ul" | "menu" | "dir" | "ol" => {
                self.block();
                self.lists.pop();
            }
            "li" | "dd" | "blockquote" => {
                self.block();
                self.nest.pop();
            }
            "table" if self.table.is_some() => {
                if let Some(table) = self.table.take().and_then(Rows::finish) {
                    self.push(BlockKind::Table(table));
                }
            }
            "thead" => self.in_table(Rows::close_head),
            "tr" if self.table.is_some() => self.in_table(Rows::close_row),
            "td" | "th" => self.close_cell(),
            "strong" | "b" => self.strong -= 1,
            "em" | "i" | "cite" | "dfn" | "var" => self.emphasis -= 1,
            "code" | "kbd" | "samp" | "tt" => self.in_code -= 1,
            "a" => {
                self.hrefs.pop();
                self.links.end();
            }
            "q" => self.line.text("”", self.style()),
            _ => {
                if heading(name).is_some() {
                    self.block();
                    self.heading = None;
                } else if is_block(name) {
                    self.block();
                }
            }
        }
    }

    fn close_code(&mut self, node: NodeRef<'_, Node>, name: &str) {
        let inner = node
            .ancestors()
            .filter_map(|outer| outer.value().as_element())
            .any(|outer| outer.name() == "pre");
        if name != "pre" || inner {
            if let Some(code) = &mut self.code
                && is_block(name)
            {
                end_line(&mut code.text, false);
            }
            return;
        }
        let Some(code) = self.code.take() else { return };
        let text = code.text.trim_matches('\n').trim_end();
        if !text.is_empty() {
            self.push(BlockKind::Code {
                language: code.language,
                text: text.to_owned(),
            });
        }
    }

    fn list(&mut self, next: Option<i64>) {
        self.block();
        self.lists.push(List { next });
    }

    fn item(&mut self, element: &Element) {
        if self.table.as_ref().is_some_and(Rows::is_in_cell) {
            self.line.divide();
        }
        self.block();
        let marker = match self.lists.last_mut() {
            Some(List { next: Some(next) }) => {
                if let Some(value) = element.attr("value").and_then(|value| value.parse().ok()) {
                    *next = value;
                }
                let marker = format!("{next}.");
                *next = next.saturating_add(1);
                marker
            }
            _ => "-".to_owned(),
        };
        self.nest.push(Open::Item {
            marker,
            is_fresh: true,
        });
    }

    fn cell(&mut self, element: &Element) {
        self.block();
        self.in_table(|rows| rows.open_cell(element));
    }

    fn close_cell(&mut self) {
        if self.table.as_ref().is_some_and(Rows::is_in_cell) {
            let words: Vec<Span> = self.line.take().unwrap_or_default();
            self.in_table(|rows| rows.close_cell(words));
        } else {
            self.block();
        }
    }

    fn in_table(&mut self, act: impl FnOnce(&mut Rows)) {
        if let Some(rows) = &mut self.table {
            act(rows);
        }
    }

    fn image(&mut self, element: &Element) {
        let shows = cut_line(element.attr("alt").unwrap_or_default(), IMAGE_LIMIT_BYTES);
        if shows.is_empty() {
            return;
        }
        let link = self.link(false);
        if let Some(number) = link {
            self.links.words(number, &shows);
        }
        let style = Style {
            link,
            ..Style::default()
        };
        self.line.push(Words::Image(shows), style);
    }

    /// Raised and lowered digits, and formulas: written as they are meant, where that is known.
    fn special(&mut self, node: NodeRef<'_, Node>, element: &Element) {
        if element.name() == "math" {
            if let Some(tex) = formula(node, element) {
                self.letters += tex
                    .chars()
                    .filter(|letter| letter.is_alphanumeric())
                    .count();
                self.line.push(Words::Formula(tex), self.style());
                self.silent = 1;
            }
            return;
        }
        let only = node
            .first_child()
            .filter(|child| child.next_sibling().is_none());
        let Some(Node::Text(text)) = only.map(|child| child.value()) else {
            return;
        };
        let moved: Option<String> = text
            .trim()
            .chars()
            .map(|letter| moved(element.name(), letter))
            .collect();
        if let Some(moved) = moved.filter(|moved| !moved.is_empty()) {
            self.text(&moved);
            self.silent = 1;
        }
    }
}

fn end_line(text: &mut String, always: bool) {
    if always || !text.ends_with('\n') {
        text.push('\n');
    }
}

fn heading(name: &str) -> Option<u8> {
    match name.as_bytes() {
        [b'h', level @ b'1'..=b'6'] => Some(level - b'0'),
        _ => None,
    }
}

fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "body"
            | "caption"
            | "center"
            | "details"
            | "dialog"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "header"
            | "hgroup"
            | "html"
            | "legend"
            | "main"
            | "nav"
            | "noscript"
            | "optgroup"
            | "p"
            | "search"
            | "section"
            | "summary"
            | "table"
            | "tbody"
            | "tfoot"
            | "tr"
    )
}
