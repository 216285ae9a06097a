//! From the grammar's tree to simple commands. Every kind of node is named here; another one makes
//! the command unclear.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use super::word::{Pieces, Word};
use super::{Reader, is_harmless, is_local, sound};
use crate::policy::text::short;

/// How deep a tree is followed.
const NESTING_LIMIT: usize = 100;
/// How often the parser reports (every hundred operations) before it is stopped.
const PARSER_REPORTS_LIMIT: usize = 50_000;

/// Nodes that hold statements, conditions or words, and mean nothing beside them.
const CONTAINERS: &[&str] = &[
    "ERROR",
    "binary_expression",
    "case_item",
    "case_statement",
    "command_name",
    "do_group",
    "elif_clause",
    "else_clause",
    "if_statement",
    "list",
    "negated_command",
    "parenthesized_expression",
    "pipeline",
    "postfix_expression",
    "program",
    "subshell",
    "ternary_expression",
    "unary_expression",
    "variable_assignments",
    "while_statement",
];

/// Those of them in which every word belongs to a command.
const LISTS: &[&str] = &[
    "compound_statement",
    "do_group",
    "elif_clause",
    "else_clause",
    "if_statement",
    "list",
    "negated_command",
    "pipeline",
    "program",
    "subshell",
    "while_statement",
];

/// Nodes that hold no command; `sound` has looked at their text.
const LEAVES: &[&str] = &[
    "comment",
    "extglob_pattern",
    "file_descriptor",
    "heredoc_end",
    "heredoc_start",
    "regex",
    "special_variable_name",
    "test_operator",
    "variable_name",
];

/// Nodes that are words.
const WORDS: &[&str] = &[
    "ansi_c_string",
    "arithmetic_expansion",
    "array",
    "brace_expression",
    "command_substitution",
    "concatenation",
    "expansion",
    "number",
    "process_substitution",
    "raw_string",
    "simple_expansion",
    "string",
    "translated_string",
    "word",
];

impl Reader {
    pub(super) fn parse(&mut self, text: &str, depth: usize) {
        if let Some(why) = sound::odd_characters(text) {
            self.unclear(why);
        }
        let Some(tree) = tree_of(text) else {
            self.unclear("the command is too tangled to be read");
            return;
        };
        if tree.root_node().has_error() || !sound::is_sound(&tree, text) {
            self.unclear(format!(
                "the shell's grammar does not fit “{}”",
                short(text)
            ));
        }
        let mut walk = Walk {
            reader: self,
            text,
            depth,
            nesting: 0,
        };
        walk.statement(tree.root_node());
    }
}

fn tree_of(text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    let language = tree_sitter_bash::LANGUAGE.into();
    parser.set_language(&language).ok()?;
    let mut reports = 0;
    let mut report = |_: &ParseState| {
        reports += 1;
        if reports > PARSER_REPORTS_LIMIT {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut report);
    let bytes = text.as_bytes();
    let mut from = |at: usize, _| bytes.get(at..).unwrap_or_default();
    parser.parse_with_options(&mut from, None, Some(options))
}

/// One text on its way to being read.
pub(super) struct Walk<'r, 't> {
    pub(super) reader: &'r mut Reader,
    pub(super) text: &'t str,
    /// How many commands stand around this text.
    depth: usize,
    /// How many nodes stand around this one.
    nesting: usize,
}

/// Whether a node is a word.
pub(super) fn is_word(node: Node<'_>) -> bool {
    WORDS.contains(&node.kind())
}

pub(super) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}

impl<'t> Walk<'_, 't> {
    pub(super) fn source(&self, node: Node<'_>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    pub(super) fn unclear(&mut self, what: &str, node: Node<'_>) {
        let source = short(self.source(node));
        self.reader.unclear(format!("{what}: “{source}”"));
    }

    /// Whether one node more may be entered.
    pub(super) fn enters(&mut self) -> bool {
        self.nesting += 1;
        let may_enter = self.nesting <= NESTING_LIMIT;
        if !may_enter {
            self.reader
                .unclear("the command is nested too deeply to be read");
        }
        may_enter
    }

    pub(super) fn leaves(&mut self) {
        self.nesting -= 1;
    }

    pub(super) fn statements(&mut self, node: Node<'_>) {
        let has_words = !LISTS.contains(&node.kind());
        for child in children(node) {
            if !has_words && is_word(child) {
                self.unclear("a word stands where a command is expected", node);
            }
            self.statement(child);
        }
    }

    pub(super) fn statement(&mut self, node: Node<'_>) {
        if self.enters() {
            self.statement_of_kind(node);
        }
        self.leaves();
    }

    fn statement_of_kind(&mut self, node: Node<'_>) {
        match node.kind() {
            "command" => self.command(node, Vec::new()),
            "redirected_statement" => self.redirected(node),
            "declaration_command" | "unset_command" => self.declaration(node),
            "variable_assignment" => {
                let word = self.assignment(node);
                self.sets(&word);
            }
            "compound_statement" => self.compound(node),
            "c_style_for_statement" => {
                self.calculation(node);
                self.statements(node);
            }
            "for_statement" => self.for_each(node),
            "test_command" => self.test(node),
            "subscript" => self.subscript(node),
            "function_definition" => {
                self.unclear("it defines a function, which may stand for a program", node);
                self.statements(node);
            }
            "file_redirect" | "heredoc_redirect" | "herestring_redirect" => {
                if !self.redirect(node).is_empty() {
                    self.unclear("words stand behind a redirection", node);
                }
            }
            kind if CONTAINERS.contains(&kind) => self.statements(node),
            kind if WORDS.contains(&kind) => {
                self.word(node);
            }
            kind if LEAVES.contains(&kind) || !node.is_named() => {}
            kind => {
                let what = format!("a kind of syntax that is not read ({kind})");
                self.unclear(&what, node);
            }
        }
    }

    /// A simple command; `more` are words that the grammar has put behind a redirection.
    fn command(&mut self, node: Node<'_>, more: Vec<Word>) {
        let mut words = Vec::new();
        let mut end = None;
        for child in children(node) {
            self.follows(end, child, node);
            end = Some(child.end_byte());
            match child.kind() {
                "variable_assignment" => words.push(self.assignment(child)),
                "file_redirect" | "heredoc_redirect" | "herestring_redirect" => {
                    words.extend(self.redirect(child));
                }
                "command_name" => {
                    words.extend(children(child).into_iter().map(|name| self.word(name)))
                }
                "subshell" => {
                    self.unclear(
                        "a list in parentheses stands where words are expected",
                        child,
                    );
                    self.statement(child);
                }
                "comment" => {}
                _ => words.push(self.word(child)),
            }
        }
        words.extend(more);
        self.reader.simple(words, self.depth);
    }

    /// Looks at what stands between two parts of a command: a blank, and no end of the line.
    pub(super) fn follows(&mut self, end: Option<usize>, part: Node<'_>, command: Node<'_>) {
        let Some(end) = end else {
            return;
        };
        let gap = self.text.get(end..part.start_byte()).unwrap_or_default();
        if gap.is_empty() && !part.kind().ends_with("_redirect") {
            self.unclear("two words without a blank between them", command);
        }
        if gap.replace("\\\n", "").contains('\n') {
            self.unclear("the end of a line is read in two ways", command);
        }
    }

    /// A statement with redirections. Words behind one belong to the command before it, or are the
    /// command.
    fn redirected(&mut self, node: Node<'_>) {
        let mut command = None;
        let mut more = Vec::new();
        let mut others = Vec::new();
        let mut end = None;
        for child in children(node) {
            self.follows(end, child, node);
            // What stands behind a here-document stands on a line of its own.
            end = (child.kind() != "heredoc_redirect").then(|| child.end_byte());
            match child.kind() {
                "file_redirect" | "heredoc_redirect" | "herestring_redirect" => {
                    more.extend(self.redirect(child));
                }
                "command" => command = Some(child),
                _ => others.push(child),
            }
        }
        if others.iter().any(|other| is_word(*other)) {
            self.unclear("a word stands where a command is expected", node);
        }
        let has_body = others.iter().any(|other| other.kind() != "comment");
        match command {
            Some(command) => self.command(command, more),
            None if has_body && !more.is_empty() => {
                self.unclear("words stand behind a redirection", node);
            }
            None if !more.is_empty() => {
                // They came as words, and so did what is set before them.
                self.reader.simple(more, self.depth);
            }
            None => {}
        }
        others.into_iter().for_each(|other| self.statement(other));
    }

    /// `{ …; }`, or `(( … ))`.
    fn compound(&mut self, node: Node<'_>) {
        let source = self.source(node);
        if source.starts_with("((") {
            self.calculation(node);
        } else if !source
            .get(1..)
            .unwrap_or_default()
            .starts_with([' ', '\t', '\n'])
        {
            // `{a,b}` is no list of commands but two words.
            self.unclear("a brace without a blank behind it", node);
        }
        self.statements(node);
    }

    /// `for x in …`. The variable is set like any other.
    fn for_each(&mut self, node: Node<'_>) {
        if let Some(variable) = node.child_by_field_name("variable") {
            let name = self.source(variable);
            let mut pieces = Pieces::default();
            pieces.push_bare(&format!("{name}="));
            pieces.push_unknown();
            self.sets(&pieces.finish(&format!("{name}=$(…)")));
        }
        self.statements(node);
    }

    /// `export A=b`, `declare x`, `unset x`: recorded as commands.
    fn declaration(&mut self, node: Node<'_>) {
        let mut words = Vec::new();
        for child in children(node) {
            match child.kind() {
                "variable_assignment" => words.push(self.assignment(child)),
                "comment" => {}
                _ => words.push(self.word(child)),
            }
        }
        // With these a value is calculated, or stands for the name of another variable.
        let evaluates = |word: &Word| {
            word.text.starts_with(['-', '+']) && word.text.contains(['i', 'n', 'a', 'A'])
        };
        if words
            .iter()
            .skip(1)
            .any(|word| evaluates(word) || word.text.contains('['))
        {
            self.unclear("it declares a variable whose value may run something", node);
        }
        self.reader.simple(words, self.depth);
    }

    /// `A=b` as a word.
    fn assignment(&mut self, node: Node<'_>) -> Word {
        let mut pieces = Pieces::default();
        for child in children(node) {
            match child.kind() {
                "subscript" => {
                    self.subscript(child);
                    pieces.push_bare(self.source(child));
                }
                "variable_name" => pieces.push_bare(self.source(child)),
                "=" | "+=" => pieces.push_bare(child.kind()),
                "array" => {
                    children(child)
                        .into_iter()
                        .for_each(|part| self.statement(part));
                    pieces.push_unknown();
                }
                "comment" => {}
                _ => self.pieces(child, &mut pieces),
            }
        }
        pieces.finish(self.source(node))
    }

    /// A variable is set for what follows.
    fn sets(&mut self, word: &Word) {
        self.reader.addresses_in(&word.text);
        let matters = word
            .assigns()
            .is_none_or(|name| !is_local(name) && !is_harmless(name));
        if matters {
            self.reader.record(std::slice::from_ref(word));
        }
    }

    /// `a[i]`: the index is calculated.
    pub(super) fn subscript(&mut self, node: Node<'_>) {
        let index = node.child_by_field_name("index");
        let is_known = index.is_some_and(|index| {
            let source = self.source(index);
            matches!(source, "@" | "*") || source.chars().all(|digit| digit.is_ascii_digit())
        });
        if !is_known {
            self.unclear(
                "an index is calculated from a value that may run something",
                node,
            );
        }
        self.statements_but_subscript(node);
    }

    fn statements_but_subscript(&mut self, node: Node<'_>) {
        for child in children(node) {
            if child.kind() != "*" && child.kind() != "@" {
                self.statement(child);
            }
        }
    }

    /// Arithmetic runs what stands in the index of a variable's value, so that only numbers are
    /// calculated without asking.
    pub(super) fn calculation(&mut self, node: Node<'_>) {
        let mut open = vec![node];
        while let Some(next) = open.pop() {
            let is_value = matches!(
                next.kind(),
                "variable_name"
                    | "simple_expansion"
                    | "expansion"
                    | "word"
                    | "subscript"
                    | "string"
            );
            if is_value {
                self.unclear("it calculates with a value that may run something", node);
                return;
            }
            if next.kind() != "do_group" && next.kind() != "compound_statement" || next == node {
                open.extend(children(next));
            }
        }
    }

    /// `[ … ]` and `[[ … ]]`. In the first kind, signs that are operators to the grammar are
    /// redirections and lists to a shell.
    fn test(&mut self, node: Node<'_>) {
        const PLAIN: &[&str] = &[
            "[", "]", "=", "==", "!=", "!", "-a", "-o", "\"", "$", "${", "}",
        ];
        const CALCULATING: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R"];
        let is_double = self.source(node).starts_with("[[");
        let mut open = children(node);
        while let Some(next) = open.pop() {
            let source = self.source(next);
            let is_odd = if is_double {
                next.kind() == "test_operator" && CALCULATING.contains(&source)
            } else {
                !next.is_named() && !PLAIN.contains(&next.kind())
            };
            if is_odd {
                self.unclear("a test that may run or write something", node);
                break;
            }
            if !WORDS.contains(&next.kind()) {
                open.extend(children(next));
            }
        }
        self.statements(node);
    }
}
