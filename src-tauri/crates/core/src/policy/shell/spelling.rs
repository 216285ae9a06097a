//! From nodes to words, and where redirections lead.

use tree_sitter::Node;

use super::is_local;
use super::sound;
use super::tree::{Walk, children, is_word};
use super::word::{self, Pieces, Word};

/// Files that keep nothing of what is written to them.
const NOWHERE: &[&str] = &[
    "/dev/null",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/fd/1",
    "/dev/fd/2",
];

impl Walk<'_, '_> {
    /// One word, as far as it is known; what it runs to find out the rest is read as well.
    pub(super) fn word(&mut self, node: Node<'_>) -> Word {
        let mut pieces = Pieces::default();
        self.pieces(node, &mut pieces);
        let word = pieces.finish(self.source(node));
        self.reader.addresses_in(&word.text);
        word
    }

    pub(super) fn pieces(&mut self, node: Node<'_>, pieces: &mut Pieces) {
        if self.enters() {
            self.pieces_of_kind(node, pieces);
        } else {
            pieces.push_unknown();
        }
        self.leaves();
    }

    fn pieces_of_kind(&mut self, node: Node<'_>, pieces: &mut Pieces) {
        let source = self.source(node);
        match node.kind() {
            "word" | "variable_name" | "test_operator" => {
                if sound::has_blank(source) {
                    self.unclear("two words are read as one", node);
                }
                pieces.push_bare(source);
            }
            "number" if node.child_count() == 0 => pieces.push_bare(source),
            "raw_string" => {
                let inner = source
                    .strip_prefix('\'')
                    .and_then(|rest| rest.strip_suffix('\''));
                pieces.push_quoted(inner.unwrap_or(source));
            }
            "ansi_c_string" => match word::ansi_c(source) {
                Some(text) => pieces.push_quoted(&text),
                None => pieces.push_unknown(),
            },
            "string" => self.double_quoted(node, pieces),
            "concatenation" => self.joined(node, pieces),
            "simple_expansion" | "brace_expression" => pieces.push_unknown(),
            "expansion" => {
                pieces.push_unknown();
                self.expansion(node);
            }
            "arithmetic_expansion" => {
                pieces.push_unknown();
                self.calculation(node);
                self.statements(node);
            }
            // Within backticks a backslash is taken away before the rest is read.
            "command_substitution" if source.starts_with('`') && source.contains('\\') => {
                pieces.push_unknown();
                self.unclear("what stands in backticks is read in two ways", node);
                self.statements(node);
            }
            "command_substitution"
            | "process_substitution"
            | "array"
            | "number"
            | "translated_string" => {
                pieces.push_unknown();
                self.statements(node);
            }
            _ if !node.is_named() => pieces.push_bare(source),
            _ => {
                pieces.push_unknown();
                self.unclear("a kind of word that is not read", node);
                self.statements(node);
            }
        }
    }

    /// Parts without a blank between them.
    fn joined(&mut self, node: Node<'_>, pieces: &mut Pieces) {
        let mut end = node.start_byte();
        for part in children(node) {
            if part.start_byte() != end {
                self.unclear("parts of a word stand apart", node);
            }
            end = part.end_byte();
            match part.kind() {
                "$" => pieces.push('$', false),
                "``" => self.unclear("backticks are read in two ways", node),
                _ => self.pieces(part, pieces),
            }
        }
    }

    /// `"…"`: what stands between its expansions is text.
    fn double_quoted(&mut self, node: Node<'_>, pieces: &mut Pieces) {
        let mut end = node.start_byte() + 1;
        let last = node.end_byte().saturating_sub(1);
        for part in children(node) {
            let is_text = matches!(part.kind(), "\"" | "$" | "string_content");
            if is_text || part.end_byte() > last {
                continue;
            }
            self.quoted_text(node, end..part.start_byte(), pieces);
            end = part.end_byte();
            self.pieces(part, pieces);
        }
        self.quoted_text(node, end..last, pieces);
    }

    fn quoted_text(&mut self, node: Node<'_>, range: std::ops::Range<usize>, pieces: &mut Pieces) {
        let text = self.text.get(range).unwrap_or_default();
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            let next = letters.peek().copied();
            match (letter, next) {
                ('\\', Some('\n')) => {
                    letters.next();
                }
                ('\\', Some(kept @ ('$' | '`' | '"' | '\\'))) => {
                    letters.next();
                    pieces.push(kept, false);
                }
                ('"' | '`', _) => self.unclear("a quotation is read in two ways", node),
                ('$', Some(begins))
                    if begins.is_ascii_alphanumeric() || "_({[@*#?!-$".contains(begins) =>
                {
                    self.unclear("a quotation is read in two ways", node);
                }
                _ => pieces.push(letter, false),
            }
        }
    }

    /// `${…}`. Some forms run what a value holds.
    fn expansion(&mut self, node: Node<'_>) {
        let parts = children(node);
        let mut operators = parts
            .iter()
            .enumerate()
            .filter(|(_, part)| !part.is_named());
        let runs = operators.any(|(at, part)| match part.kind() {
            "!" => true,
            "@" => parts[at..]
                .iter()
                .any(|letter| matches!(letter.kind(), "P" | "A" | "E")),
            "=" | ":=" => parts[..at]
                .iter()
                .any(|name| !is_local(self.source(*name)) && name.is_named()),
            ":" => parts[at..]
                .iter()
                .any(|value| value.is_named() && value.kind() != "number"),
            _ => false,
        });
        if runs {
            self.unclear("what stands in a variable may be run", node);
        }
        for part in parts {
            match part.kind() {
                "subscript" => self.subscript(part),
                "word" | "concatenation" | "string" => {
                    self.word(part);
                }
                _ => self.statement(part),
            }
        }
    }

    /// A redirection. Returns the words behind it that belong to the command.
    pub(super) fn redirect(&mut self, node: Node<'_>) -> Vec<Word> {
        match node.kind() {
            "heredoc_redirect" => self.here_document(node),
            "herestring_redirect" => {
                self.statements(node);
                Vec::new()
            }
            _ => self.file_redirect(node),
        }
    }

    /// `> file`. Writing to a file is recorded as a command of its own, `> file`, since a rule for
    /// a program says nothing of what its output overwrites.
    fn file_redirect(&mut self, node: Node<'_>) -> Vec<Word> {
        let mut operator = "";
        let mut words = Vec::new();
        let mut end = None;
        for part in children(node) {
            let before = end.replace(part.end_byte()).filter(|_| is_word(part));
            match part.kind() {
                "file_descriptor" | "comment" => {}
                kind if !part.is_named() => operator = kind,
                _ => {
                    // The first may stand at the sign itself.
                    self.follows(before.filter(|_| !words.is_empty()), part, node);
                    words.push(self.word(part));
                }
            }
        }
        // `{name}>` puts the number of the file into a variable.
        let before = self.text.get(..node.start_byte()).unwrap_or_default();
        if before.ends_with('}') {
            self.unclear("a redirection is read in two ways", node);
        }
        // `>&-` closes a file, and takes no place.
        if words.is_empty() || operator.ends_with("&-") {
            return words;
        }
        let more = words.split_off(1);
        let Some(place) = words.pop() else {
            return more;
        };
        let is_descriptor =
            operator.ends_with('&') && place.is_literal && is_number_of_file(&place.text);
        let is_nowhere = place.is_literal && NOWHERE.contains(&place.text.as_str());
        let is_socket = place.text.starts_with("/dev/tcp/") || place.text.starts_with("/dev/udp/");
        if operator.contains('>') && !is_descriptor && !is_nowhere && !is_socket {
            self.reader.record(&[Word::literal(">"), place]);
        }
        more
    }

    /// `<< end`. Its text is data, but what it expands is run, and what stands behind it on its
    /// line goes on with the command.
    fn here_document(&mut self, node: Node<'_>) -> Vec<Word> {
        let parts = children(node);
        let start = parts.iter().find(|part| part.kind() == "heredoc_start");
        let end = parts.iter().find(|part| part.kind() == "heredoc_end");
        let strips = parts.iter().any(|part| part.kind() == "<<-");
        let body = start.and_then(|start| {
            sound::here_document(self.text, self.source(*start), start.end_byte(), strips)
        });
        let fits = body.as_ref().is_some_and(|body| {
            let is_its_end = end.is_some_and(|end| {
                body.end.start <= end.start_byte() && end.end_byte() <= body.end.end
            });
            let is_on_line = |part: &Node<'_>| {
                matches!(part.kind(), "heredoc_body" | "heredoc_end")
                    || part.end_byte() <= body.start
            };
            is_its_end && parts.iter().all(is_on_line)
        });
        if !fits {
            self.unclear("the end of a here-document is read in two ways", node);
        }
        let is_quoted = body.is_some_and(|body| body.is_quoted);
        let mut more = Vec::new();
        let mut end = None;
        for part in &parts {
            let before = end.replace(part.end_byte());
            if is_word(*part) {
                self.follows(before, *part, node);
            }
            match part.kind() {
                "heredoc_body" => {
                    self.reader.addresses_in(self.source(*part));
                    if !is_quoted && part.child_count() == 0 && sound::has_live(self.source(*part))
                    {
                        self.unclear("a here-document is read in two ways", node);
                    }
                    for live in children(*part) {
                        if live.kind() != "heredoc_content" {
                            self.statement(live);
                        }
                    }
                }
                "file_redirect" | "herestring_redirect" => more.extend(self.redirect(*part)),
                _ if is_word(*part) => more.push(self.word(*part)),
                _ => self.statement(*part),
            }
        }
        more
    }
}

/// `2`, `2-`, `-`: a file that is open already, or none.
fn is_number_of_file(text: &str) -> bool {
    let digits = text.strip_suffix('-').unwrap_or(text);
    !text.is_empty() && digits.chars().all(|digit| digit.is_ascii_digit())
}
