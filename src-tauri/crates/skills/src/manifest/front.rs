//! The front matter: where it is, and its YAML, read a second time where a value only lacks its
//! quotes.

use std::sync::LazyLock;

use regex::Regex;

use crate::problem::{ProblemCode, Problems, Severity, of_manifest};
use crate::show;
use crate::yaml::{self, Oddity, Tree, YamlError};

const FENCE: &str = "---";
/// The line of the file at which the front matter's first line stands, after the fence.
pub(super) const FIRST_LINE: usize = 2;
/// How many characters of what can't be read are repeated.
const SHOWN_LIMIT: usize = 60;

/// `SKILL.md` in its two parts.
#[derive(Debug)]
pub(super) struct Front<'t> {
    pub(super) yaml: Yaml<'t>,
    pub(super) body: &'t str,
    /// From 1.
    pub(super) body_line: usize,
}

/// The text between the fences.
#[derive(Clone, Copy, Debug)]
pub(super) struct Yaml<'t> {
    text: &'t str,
    /// What to add to a line of the text for the line of the file.
    offset: usize,
}

/// Finds the front matter.
pub(super) fn split<'t>(text: &'t str, problems: &mut Problems) -> Option<Front<'t>> {
    let error = |code, line, what: &str, remedy: &str| {
        of_manifest(Severity::Error, code, Some(line), what, remedy)
    };
    let rest = text.strip_prefix('\u{feff}');
    if rest.is_some() {
        problems.add(error(
            ProblemCode::ByteOrderMark,
            1,
            "A byte order mark stands before the first `---`.",
            "Save the file as UTF-8 without a mark.",
        ));
    }
    let text = rest.unwrap_or(text);
    let blank = text
        .split_inclusive('\n')
        .take_while(|line| line.trim().is_empty())
        .count();
    let start: usize = text.split_inclusive('\n').take(blank).map(str::len).sum();
    let mut lines = text[start..].split_inclusive('\n');
    let first = lines.next().unwrap_or("");
    if first.trim_end() != FENCE {
        problems.add(of_manifest(
            Severity::Fatal,
            ProblemCode::NoFrontMatter,
            Some(blank + 1),
            "It does not begin with `---`, so it has no front matter.",
            "Begin the file with `---`, then `name:` and `description:`, then `---`.",
        ));
        return None;
    }
    if blank > 0 {
        problems.add(error(
            ProblemCode::NoFrontMatter,
            1,
            "Blank lines stand before the first `---`.",
            "Remove them: the file begins with `---`.",
        ));
    }
    let yaml_start = start + first.len();
    let mut end = yaml_start;
    for (at, line) in lines.enumerate() {
        if line.trim_end() == FENCE {
            return Some(Front {
                yaml: Yaml {
                    text: &text[yaml_start..end],
                    offset: blank + FIRST_LINE - 1,
                },
                body: &text[end + line.len()..],
                body_line: blank + FIRST_LINE + at + 1,
            });
        }
        end += line.len();
    }
    problems.add(of_manifest(
        Severity::Fatal,
        ProblemCode::Unclosed,
        Some(blank + 1),
        "The front matter that begins here has no end.",
        "Write a line `---` after its last field.",
    ));
    None
}

/// Reads the front matter's YAML.
pub(super) fn read(front: Yaml<'_>, problems: &mut Problems) -> Option<Tree> {
    let Yaml { text, offset } = front;
    for (at, line) in text.lines().enumerate() {
        if line.contains(FENCE) {
            problems.add(of_manifest(
                Severity::Error,
                ProblemCode::InnerDashes,
                Some(at + 1 + offset),
                "`---` stands inside the front matter, and other readers end it here.",
                "Write one or two hyphens, or a dash.",
            ));
        }
    }
    let tree = match yaml::parse(text) {
        Ok(tree) => Some(tree),
        Err(error) => again(text, offset, problems).or_else(|| {
            problems.add(unreadable(&error, text, offset));
            None
        }),
    }?;
    for &(oddity, line) in &tree.oddities {
        let (code, what, remedy) = odd(oddity);
        problems.add(of_manifest(
            Severity::Error,
            code,
            Some(line + offset),
            what,
            remedy,
        ));
    }
    Some(offset_by(tree, offset))
}

fn odd(oddity: Oddity) -> (ProblemCode, &'static str, &'static str) {
    match oddity {
        Oddity::Flow => (
            ProblemCode::FlowStyle,
            "A value in brackets or braces is not read by every program.",
            "Put quotes around it if it is text; else write one entry to a line.",
        ),
        Oddity::Anchor => (
            ProblemCode::YamlExtra,
            "Anchors (`&`) and aliases (`*`) are not part of front matter; an alias counts as empty.",
            "Write the value out, in quotes if it begins with `&` or `*`.",
        ),
        Oddity::Tag => (
            ProblemCode::YamlExtra,
            "Tags (`!`) are not part of front matter.",
            "Remove the tag, or put the value in quotes.",
        ),
        Oddity::Indent => (
            ProblemCode::UnevenIndent,
            "This is indented by another step than the lines above.",
            "Indent every level by the same number of spaces.",
        ),
    }
}

fn unreadable(error: &YamlError, text: &str, offset: usize) -> crate::Problem {
    let (code, line) = match error {
        YamlError::Syntax { line, .. } => (ProblemCode::NotYaml, *line),
        YamlError::TooLarge { line } => (ProblemCode::TooDeep, *line),
    };
    let found = text.lines().nth(line - 1).unwrap_or("");
    let remedy = match (code, found.contains('\t')) {
        (ProblemCode::TooDeep, _) => "Keep to the fields of the specification.".to_owned(),
        (_, true) => "Indent with spaces: YAML takes no tabs.".to_owned(),
        _ => format!(
            "Mend the line “{}”; text with signs in it goes into quotes.",
            show::brief(found, SHOWN_LIMIT)
        ),
    };
    of_manifest(
        Severity::Fatal,
        code,
        Some(line + offset),
        format!("The front matter can't be read: {error}."),
        remedy,
    )
}

/// A field with a value on its line.
static FIELD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?<indent> *)(?<name>[A-Za-z0-9_.-]+):[ \t]+(?<value>\S.*)$")
        .expect("a fixed pattern is well formed")
});

/// Reads it once more with quotes around the values that need them.
fn again(text: &str, offset: usize, problems: &mut Problems) -> Option<Tree> {
    let (quoted, lines) = with_quotes(text);
    if lines.is_empty() {
        return None;
    }
    let tree = yaml::parse(&quoted).ok()?;
    for line in lines {
        problems.add(of_manifest(
            Severity::Error,
            ProblemCode::UnquotedColon,
            Some(line + offset),
            "The value has a colon or another sign of YAML and no quotes around it.",
            "Put the value in double quotes.",
        ));
    }
    Some(tree)
}

/// The text with quotes where they are missing, in as many lines, and at which lines.
fn with_quotes(text: &str) -> (String, Vec<usize>) {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = String::with_capacity(text.len() + 16);
    let mut changed = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let taken = quoted_field(&lines[at..]);
        match taken {
            Some((field, count)) => {
                out.push_str(&field);
                // As many lines as before, so that the others keep their numbers.
                out.extend(std::iter::repeat_n('\n', count));
                changed.push(at + 1);
                at += count;
            }
            None => {
                out.push_str(lines[at]);
                out.push('\n');
                at += 1;
            }
        }
    }
    (out, changed)
}

/// The field at the first of `lines` in quotes, and over how many lines it went; `None` where it
/// needs none.
fn quoted_field(lines: &[&str]) -> Option<(String, usize)> {
    let field = FIELD.captures(lines.first()?)?;
    let value = field["value"].trim_end();
    if value.starts_with(['"', '\'', '|', '>', '[', '{', '#']) {
        return None;
    }
    let deeper = |line: &&&str| {
        line.starts_with(' ') && line.len() - line.trim_start().len() > field["indent"].len()
    };
    let more: Vec<&str> = lines[1..].iter().take_while(deeper).copied().collect();
    let whole = std::iter::once(value)
        .chain(more.iter().map(|line| line.trim()))
        .collect::<Vec<_>>()
        .join(" ");
    let needs = whole.contains(": ")
        || whole.contains(":\t")
        || whole.ends_with(':')
        || value.starts_with(['@', '`', '%', '&', '*', '!', '?', '-', ',', ']', '}']);
    if !needs {
        return None;
    }
    let quoted = whole.replace('\'', "''");
    let (indent, name) = (&field["indent"], &field["name"]);
    Some((format!("{indent}{name}: '{quoted}'"), 1 + more.len()))
}

fn offset_by(mut tree: Tree, offset: usize) -> Tree {
    fn shift(node: &mut yaml::Node, offset: usize) {
        node.line += offset;
        match &mut node.value {
            yaml::Value::Scalar(_) => {}
            yaml::Value::List(nodes) => nodes.iter_mut().for_each(|node| shift(node, offset)),
            yaml::Value::Map(pairs) => {
                for (name, value) in pairs {
                    shift(name, offset);
                    shift(value, offset);
                }
            }
        }
    }
    tree.root.iter_mut().for_each(|root| shift(root, offset));
    tree
}
