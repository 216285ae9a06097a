//! What no reader of a page sees is taken out of its tree before anything is read, and counted:
//! it is where instructions to a model are hidden.

use ego_tree::iter::Edge;
use ego_tree::{NodeId, NodeRef};
use scraper::node::Element;
use scraper::{Html, Node};

use super::style::Look;
use crate::page::Hidden;

/// Takes out of the page what is not shown, and says how much it was.
pub(super) fn remove(page: &mut Html) -> Hidden {
    let mut search = Search::default();
    for edge in page.tree.root().traverse() {
        match edge {
            Edge::Open(node) => search.open(node),
            Edge::Close(node) => search.close(node),
        }
    }
    for id in search.doomed {
        if let Some(mut node) = page.tree.get_mut(id) {
            node.detach();
        }
    }
    search.hidden
}

#[derive(Default)]
struct Search {
    hidden: Hidden,
    doomed: Vec<NodeId>,
    /// How the open elements look, from the outside in.
    looks: Vec<Look>,
    /// The outermost open element that is taken out.
    inside: Option<(NodeId, Why)>,
    /// Letters in it.
    letters: usize,
    /// Open formulas, which are often hidden beside a picture of themselves.
    formulas: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Why {
    /// It is no text of the page: a script, a style, a drawing.
    NoText,
    Hidden,
}

impl Search {
    fn open(&mut self, node: NodeRef<'_, Node>) {
        match node.value() {
            Node::Comment(comment) => {
                self.doomed.push(node.id());
                if !comment.trim().is_empty() {
                    self.hidden.comments += 1;
                }
            }
            Node::ProcessingInstruction(_) => self.doomed.push(node.id()),
            Node::Text(text) => self.text(node.id(), text),
            Node::Element(element) => {
                let outer = self.looks.last().copied().unwrap_or_default();
                let own = element.attr("style").map(Look::of).unwrap_or_default();
                self.looks.push(own.inside(outer));
                if element.name() == "math" {
                    self.formulas += 1;
                }
                if self.inside.is_some() {
                    return;
                }
                let why = if is_no_text(element.name()) {
                    Why::NoText
                } else if own.gone || is_hidden(element) {
                    Why::Hidden
                } else {
                    return;
                };
                self.inside = Some((node.id(), why));
                self.letters = 0;
                self.doomed.push(node.id());
            }
            _ => {}
        }
    }

    fn text(&mut self, id: NodeId, text: &str) {
        let letters = text
            .chars()
            .filter(|letter| !letter.is_whitespace())
            .count();
        if self.inside.is_some() {
            if self.formulas == 0 {
                self.letters += letters;
            }
            return;
        }
        let look = self.looks.last().copied().unwrap_or_default();
        if letters > 0 && look.hides_words() {
            self.doomed.push(id);
            self.hidden.parts += 1;
            self.hidden.letters += letters;
        }
    }

    fn close(&mut self, node: NodeRef<'_, Node>) {
        let Node::Element(element) = node.value() else {
            return;
        };
        self.looks.pop();
        if element.name() == "math" {
            self.formulas -= 1;
        }
        if let Some((id, why)) = self.inside
            && id == node.id()
        {
            self.inside = None;
            if why == Why::Hidden && self.letters > 0 {
                self.hidden.parts += 1;
                self.hidden.letters += self.letters;
            }
        }
    }
}

fn is_hidden(element: &Element) -> bool {
    let says = |name: &str, value: &str| {
        element
            .attr(name)
            .is_some_and(|said| said.trim().eq_ignore_ascii_case(value))
    };
    // What is "hidden until found" is shown as soon as somebody searches for it.
    (element.attr("hidden").is_some() && !says("hidden", "until-found"))
        || says("aria-hidden", "true")
        || (element.name() == "dialog" && element.attr("open").is_none())
}

/// Elements whose content is no text of the page.
fn is_no_text(name: &str) -> bool {
    matches!(
        name,
        "script"
            | "style"
            | "template"
            | "svg"
            | "iframe"
            | "frame"
            | "frameset"
            | "noframes"
            | "noembed"
            | "object"
            | "embed"
            | "applet"
            | "audio"
            | "video"
            | "canvas"
            | "select"
            | "textarea"
            | "datalist"
            | "input"
            | "map"
    )
}
