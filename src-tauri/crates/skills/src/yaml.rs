//! YAML as front matter needs it: a small tree with lines, bounded, and the things named that the
//! specification's reference validator does not take.

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

/// The deepest nesting that is read.
const DEPTH_LIMIT: usize = 8;
/// The most values that are read.
const NODES_LIMIT: usize = 2_000;
/// The most events that the parser may give: more than any tree within the limits needs.
const EVENTS_LIMIT: usize = 4 * NODES_LIMIT;

/// A value and where it begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Node {
    /// From 1.
    pub(crate) line: usize,
    pub(crate) value: Value,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Value {
    /// Every scalar is the text that stands there: `1.0` and `yes` are words here.
    Scalar(String),
    List(Vec<Node>),
    /// In the order of the file; a name may occur twice.
    Map(Vec<(Node, Node)>),
}

/// What can be read, and is not part of the subset that front matter is written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Oddity {
    /// `{…}` or `[…]`.
    Flow,
    /// `&name` or `*name`.
    Anchor,
    /// `!tag`.
    Tag,
    /// A mapping indented by no multiple of the first one's step.
    Indent,
}

/// What was read.
#[derive(Debug)]
pub(crate) struct Tree {
    /// `None` for a text without a value.
    pub(crate) root: Option<Node>,
    /// With the line of each, from 1.
    pub(crate) oddities: Vec<(Oddity, usize)>,
}

/// Why nothing can be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum YamlError {
    /// It is no YAML.
    #[error("{what}")]
    Syntax {
        /// From 1.
        line: usize,
        what: String,
    },
    /// It is deeper or has more values than is read.
    #[error("it is nested deeper than {DEPTH_LIMIT} levels or has more than {NODES_LIMIT} values")]
    TooLarge {
        /// From 1.
        line: usize,
    },
}

/// Reads one document.
pub(crate) fn parse(text: &str) -> Result<Tree, YamlError> {
    let mut builder = Builder {
        letters: text.chars().collect(),
        ..Builder::default()
    };
    for (at, event) in Parser::new_from_str(text).enumerate() {
        let (event, span) = event.map_err(|error| YamlError::Syntax {
            line: error.marker().line().max(1),
            what: error.info().to_owned(),
        })?;
        if at > EVENTS_LIMIT {
            return Err(too_large(&span));
        }
        builder.take(event, &span)?;
    }
    Ok(Tree {
        root: builder.root,
        oddities: builder.oddities,
    })
}

fn too_large(span: &Span) -> YamlError {
    YamlError::TooLarge {
        line: span.start.line().max(1),
    }
}

/// A list or a mapping that has not ended yet.
#[derive(Debug)]
struct Open {
    line: usize,
    column: usize,
    is_block: bool,
    is_map: bool,
    /// A mapping's names and values in turn.
    children: Vec<Node>,
}

#[derive(Default)]
struct Builder {
    letters: Vec<char>,
    open: Vec<Open>,
    root: Option<Node>,
    oddities: Vec<(Oddity, usize)>,
    nodes: usize,
    documents: usize,
    /// How far the first nested mapping is indented.
    step: Option<usize>,
}

impl Builder {
    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<(), YamlError> {
        let line = span.start.line().max(1);
        match event {
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(YamlError::Syntax {
                        line,
                        what: "a second document begins".to_owned(),
                    });
                }
            }
            Event::Alias(_) => {
                self.oddities.push((Oddity::Anchor, line));
                self.add(span, Value::Scalar(String::new()))?;
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.note(anchor, tag.is_some(), line);
                let text = if style == ScalarStyle::Plain && text == "~" && tag.is_none() {
                    // What the parser gives for nothing at all is the same as a tilde.
                    self.written_at(span)
                } else {
                    text.into_owned()
                };
                self.add(span, Value::Scalar(text))?;
            }
            Event::SequenceStart(anchor, tag) => {
                self.note(anchor, tag.is_some(), line);
                self.begin(span, false)?;
            }
            Event::MappingStart(anchor, tag) => {
                self.note(anchor, tag.is_some(), line);
                self.begin(span, true)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(span)?,
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
        Ok(())
    }

    /// The text of a plain scalar as it stands in the file: nothing, or a tilde.
    fn written_at(&self, span: &Span) -> String {
        let tilde = self.letters.get(span.start.index()) == Some(&'~');
        if tilde { "~" } else { "" }.to_owned()
    }

    fn note(&mut self, anchor: usize, tagged: bool, line: usize) {
        if anchor > 0 {
            self.oddities.push((Oddity::Anchor, line));
        }
        if tagged {
            self.oddities.push((Oddity::Tag, line));
        }
    }

    fn begin(&mut self, span: &Span, is_map: bool) -> Result<(), YamlError> {
        if self.open.len() >= DEPTH_LIMIT {
            return Err(too_large(span));
        }
        let (line, column) = (span.start.line().max(1), span.start.col());
        let first = self.letters.get(span.start.index());
        let is_block = !matches!(first, Some('{' | '['));
        if !is_block {
            self.oddities.push((Oddity::Flow, line));
        }
        let above = self
            .open
            .last()
            .filter(|above| above.is_map && above.is_block);
        if let Some(above) = above.filter(|_| is_map && is_block) {
            let step = column.saturating_sub(above.column);
            // Some readers take only multiples of the first step.
            let first = *self.step.get_or_insert(step.max(1));
            if !step.is_multiple_of(first) {
                self.oddities.push((Oddity::Indent, line));
            }
        }
        self.open.push(Open {
            line,
            column,
            is_block,
            is_map,
            children: Vec::new(),
        });
        Ok(())
    }

    fn end(&mut self, span: &Span) -> Result<(), YamlError> {
        let Some(open) = self.open.pop() else {
            return Ok(());
        };
        let value = if open.is_map {
            let mut pairs = Vec::with_capacity(open.children.len() / 2);
            let mut children = open.children.into_iter();
            while let (Some(name), Some(value)) = (children.next(), children.next()) {
                pairs.push((name, value));
            }
            Value::Map(pairs)
        } else {
            Value::List(open.children)
        };
        let line = open.line;
        self.push(Node { line, value }, span)
    }

    fn add(&mut self, span: &Span, value: Value) -> Result<(), YamlError> {
        let line = span.start.line().max(1);
        self.push(Node { line, value }, span)
    }

    fn push(&mut self, node: Node, span: &Span) -> Result<(), YamlError> {
        self.nodes += 1;
        if self.nodes > NODES_LIMIT {
            return Err(too_large(span));
        }
        match self.open.last_mut() {
            Some(open) => open.children.push(node),
            None => self.root = Some(node),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    /// The tree in one line, with the line of each value.
    fn written(node: &Node) -> String {
        let list = |nodes: &[Node]| nodes.iter().map(written).collect::<Vec<_>>().join(", ");
        match &node.value {
            Value::Scalar(text) => format!("{text:?}@{}", node.line),
            Value::List(nodes) => format!("[{}]", list(nodes)),
            Value::Map(pairs) => {
                let pairs: Vec<String> = pairs
                    .iter()
                    .map(|(name, value)| format!("{}: {}", written(name), written(value)))
                    .collect();
                format!("{{{}}}", pairs.join(", "))
            }
        }
    }

    fn check(text: &str, expected: Expect) {
        let shown = match parse(text) {
            Ok(tree) => {
                let root = tree.root.as_ref().map(written).unwrap_or_default();
                format!("{root} {:?}", tree.oddities)
            }
            Err(error) => format!("{error:?}"),
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn values_are_words_with_lines() {
        check(
            "a: 1.0\nb: yes # said\nc:\n  d: >\n    two\n    lines\n  e:\nf:\n  - ~\n",
            expect![[
                r#"{"a"@1: "1.0"@1, "b"@2: "yes"@2, "c"@3: {"d"@4: "two lines\n"@5, "e"@7: ""@7}, "f"@8: ["~"@9]} []"#
            ]],
        );
    }

    #[test]
    fn what_front_matter_does_not_have_is_named() {
        check(
            "a: {b: c}\nd: &e f\ng: *e\nh: !!str i\nj: [k]\n",
            expect![[
                r#"{"a"@1: {"b"@1: "c"@1}, "d"@2: "f"@2, "g"@3: ""@3, "h"@4: "i"@4, "j"@5: ["k"@5]} [(Flow, 1), (Anchor, 2), (Anchor, 3), (Tag, 4), (Flow, 5)]"#
            ]],
        );
        check(
            "a:\n    b: c\nd:\n  e: f\nh:\n        i: j\n",
            expect![[
                r#"{"a"@1: {"b"@2: "c"@2}, "d"@3: {"e"@4: "f"@4}, "h"@5: {"i"@6: "j"@6}} [(Indent, 4)]"#
            ]],
        );
    }

    #[test]
    fn a_bomb_is_refused_before_it_grows() {
        let nested = |times| "a: ".to_owned() + &"[".repeat(times) + &"]".repeat(times);
        let deep = parse(&nested(DEPTH_LIMIT));
        assert!(matches!(deep, Err(YamlError::TooLarge { line: 1 })));
        // The parser itself gives up on what is deeper still.
        parse(&nested(5_000)).unwrap_err();
        let wide: String = (0..NODES_LIMIT).map(|at| format!("k{at}: v\n")).collect();
        assert!(matches!(parse(&wide), Err(YamlError::TooLarge { .. })));
        let aliases = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n";
        assert!(parse(aliases).unwrap().oddities.len() > 4);
    }

    #[test]
    fn what_is_no_yaml_is_told_with_its_line() {
        let line = |text: &str| match parse(text) {
            Err(YamlError::Syntax { line, .. }) => line,
            other => panic!("{other:?}"),
        };
        assert_eq!(line("a: b\nc: d: e\n"), 2);
        assert_eq!(line("a: b\n---\nc: d\n"), 2);
        assert!(line("a: \"open\n") >= 1);
    }
}
