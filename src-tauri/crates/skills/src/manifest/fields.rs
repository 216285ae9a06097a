//! The fields of the front matter, each held to what the specification says of it.

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization;

use super::{COMPATIBILITY_LIMIT, DESCRIPTION_LIMIT, ENTRIES_LIMIT, Manifest};
use crate::hidden;
use crate::problem::{ProblemCode, Problems, Severity, of_manifest};
use crate::show;
use crate::skill_name::{self, NAME_LIMIT, NameFault};
use crate::yaml::{Node, Tree, Value};

/// The fields that the specification has.
const FIELDS: [&str; 6] = [
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
];
/// A description shorter than this says what or when, hardly both.
const DESCRIPTION_WORDS_ADVISED: usize = 5;
/// The most characters that are kept of a text for which the specification names no limit.
const TEXT_LIMIT: usize = 1_024;
/// How near a name must be to be taken for a slip.
const NEAR: f64 = 0.7;
/// How many characters of a name are repeated.
const SHOWN_LIMIT: usize = 80;

/// The fields that are there.
#[derive(Debug)]
pub(super) struct Fields {
    fields: BTreeMap<String, Node>,
    /// The line of the first field, from 1.
    line: usize,
}

impl Fields {
    /// The mapping's fields; the first of those that occur twice.
    pub(super) fn of(tree: Tree, problems: &mut Problems) -> Option<Self> {
        let first = super::front::FIRST_LINE;
        let line = tree.root.as_ref().map_or(first, |root| root.line);
        let Some(Value::Map(pairs)) = tree.root.map(|root| root.value) else {
            problems.add(of_manifest(
                Severity::Fatal,
                ProblemCode::NotAMapping,
                Some(line),
                "The front matter is no list of fields with values.",
                "Write one field to a line: `name: …`, `description: …`.",
            ));
            return None;
        };
        let mut fields = BTreeMap::new();
        for (name, value) in pairs {
            let Value::Scalar(text) = name.value else {
                problems.add(error(
                    ProblemCode::WrongKind,
                    name.line,
                    "The name of a field is no text.",
                    "Write one field to a line: `name: value`.",
                ));
                continue;
            };
            if fields.contains_key(&text) {
                problems.add(error(
                    ProblemCode::Twice,
                    name.line,
                    format!("`{}` is here a second time.", shown(&text)),
                    "Keep one of them; the first one counts.",
                ));
                continue;
            }
            if !FIELDS.contains(&text.as_str()) {
                problems.add(unknown(&text, name.line));
            }
            // The name's line is where a person looks, wherever its value begins.
            let line = name.line;
            fields.insert(text, Node { line, ..value });
        }
        Some(Self { fields, line })
    }

    /// The text of a field, where it is text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match &self.fields.get(name)?.value {
            Value::Scalar(text) => Some(text),
            Value::List(_) | Value::Map(_) => None,
        }
    }

    fn line(&self, name: &str) -> usize {
        self.fields.get(name).map_or(self.line, |node| node.line)
    }

    /// The text of a field that has to be text.
    fn expect_text(&self, name: &str, problems: &mut Problems) -> Option<String> {
        let node = self.fields.get(name)?;
        let Value::Scalar(text) = &node.value else {
            problems.add(error(
                ProblemCode::WrongKind,
                node.line,
                format!("`{name}` is no text."),
                "Write text on the same line, in quotes if it has signs in it.",
            ));
            return None;
        };
        for hidden in hidden::find(text) {
            problems.add(error(
                ProblemCode::HiddenCharacter,
                node.line,
                format!(
                    "`{name}` holds {}, which is not seen.",
                    show::written(hidden.letter)
                ),
                "Remove it; it is not taken over.",
            ));
        }
        let seen = |letter: &char| *letter == '\n' || hidden::kind_of(*letter).is_none();
        Some(text.chars().filter(seen).collect())
    }
}

fn error(
    code: ProblemCode,
    line: usize,
    what: impl Into<String>,
    remedy: impl Into<String>,
) -> crate::Problem {
    of_manifest(Severity::Error, code, Some(line), what, remedy)
}

fn shown(text: &str) -> String {
    show::brief(text, SHOWN_LIMIT)
}

fn unknown(name: &str, line: usize) -> crate::Problem {
    let nearest = FIELDS
        .iter()
        .map(|known| (strsim::normalized_damerau_levenshtein(name, known), known))
        .filter(|&(likeness, _)| likeness >= NEAR)
        .max_by(|one, other| one.0.total_cmp(&other.0));
    let remedy = match nearest {
        Some((_, known)) => format!("Did you mean `{known}`?"),
        None => "Put it under `metadata`, as text.".to_owned(),
    };
    error(
        ProblemCode::UnknownField,
        line,
        format!("The specification has no field `{}`.", shown(name)),
        remedy,
    )
}

/// What the fields say, and what is wrong with them. `None` without a description.
pub(super) fn judge(folder: &str, fields: &Fields, problems: &mut Problems) -> Option<Manifest> {
    name(folder, fields, problems);
    let description = description(fields, problems);
    let license = fields
        .expect_text("license", problems)
        .map(|text| kept(&text, "license", fields.line("license"), problems));
    let compatibility = compatibility(fields, problems);
    let metadata = metadata(fields, problems);
    let allowed_tools = allowed_tools(fields, problems);
    Some(Manifest {
        name: skill_name::used(fields.text("name"), folder),
        description: description?,
        license: license.filter(|text| !text.is_empty()),
        compatibility,
        metadata,
        allowed_tools,
    })
}

fn name(folder: &str, fields: &Fields, problems: &mut Problems) {
    let text = fields.expect_text("name", problems);
    let line = fields.line("name");
    let Some(stated) = text.filter(|text| !text.trim().is_empty()) else {
        if fields
            .fields
            .get("name")
            .is_none_or(|node| matches!(node.value, Value::Scalar(_)))
        {
            problems.add(error(
                ProblemCode::NoName,
                line,
                "`name` is missing or empty.",
                format!("Add `name: {}`.", skill_name::used(None, folder)),
            ));
        }
        return;
    };
    for fault in skill_name::faults(&stated) {
        let (code, what) = name_fault(fault);
        let near = skill_name::near(&stated);
        problems.add(error(
            code,
            line,
            format!("The name “{}” {what}.", shown(&stated)),
            format!("Use lower-case letters, digits and single hyphens inside: `{near}`."),
        ));
    }
    let folded: String = folder.nfkc().collect();
    if folded != skill_name::folded(&stated) {
        problems.add(error(
            ProblemCode::NameMismatch,
            line,
            format!(
                "The name “{}” is not that of its folder, “{}”.",
                shown(&stated),
                shown(folder)
            ),
            "Rename one after the other.",
        ));
    }
}

fn name_fault(fault: NameFault) -> (ProblemCode, String) {
    let letters = ProblemCode::NameLetters;
    match fault {
        NameFault::TooLong(length) => (
            ProblemCode::NameTooLong,
            format!("has {length} characters, more than {NAME_LIMIT}"),
        ),
        NameFault::UpperCase => (letters, "has upper-case letters".to_owned()),
        NameFault::OuterHyphen => (letters, "begins or ends with a hyphen".to_owned()),
        NameFault::DoubleHyphen => (letters, "has two hyphens in a row".to_owned()),
        NameFault::Letter(' ') => (letters, "has a space in it".to_owned()),
        NameFault::Letter(letter) if hidden::kind_of(letter).is_some() => (
            letters,
            format!("holds {}, which is not seen", show::written(letter)),
        ),
        NameFault::Letter(letter) => (letters, format!("has `{letter}` in it")),
    }
}

fn description(fields: &Fields, problems: &mut Problems) -> Option<String> {
    let line = fields.line("description");
    let text = fields.expect_text("description", problems);
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
        problems.add(of_manifest(
            Severity::Fatal,
            ProblemCode::NoDescription,
            Some(line),
            "`description` is missing or empty, so no model would know when to use the skill.",
            "Say in one or two sentences what the skill does and when to use it.",
        ));
        return None;
    };
    let length = text.chars().count();
    if length > DESCRIPTION_LIMIT {
        problems.add(error(
            ProblemCode::DescriptionTooLong,
            line,
            format!("`description` has {length} characters, more than {DESCRIPTION_LIMIT}."),
            "Shorten it; details belong into the body.",
        ));
    }
    if text.split_whitespace().count() < DESCRIPTION_WORDS_ADVISED {
        problems.add(of_manifest(
            Severity::Advice,
            ProblemCode::DescriptionShort,
            Some(line),
            "`description` is so short that a model may not see when to use the skill.",
            "Say what it does, when to use it, and the words people use for that.",
        ));
    }
    // Loaded all the same, but never at a length that would fill the index of skills.
    let kept: String = text.trim().chars().take(DESCRIPTION_LIMIT).collect();
    Some(kept)
}

fn compatibility(fields: &Fields, problems: &mut Problems) -> Option<String> {
    let text = fields.expect_text("compatibility", problems)?;
    let line = fields.line("compatibility");
    let length = text.chars().count();
    if text.trim().is_empty() || length > COMPATIBILITY_LIMIT {
        problems.add(error(
            ProblemCode::Compatibility,
            line,
            format!(
                "`compatibility` has {length} characters; it has 1 to {COMPATIBILITY_LIMIT} where it is given."
            ),
            "Name only what the skill needs of the machine, or remove the field.",
        ));
    }
    let kept: String = text.trim().chars().take(COMPATIBILITY_LIMIT).collect();
    (!kept.is_empty()).then_some(kept)
}

fn metadata(fields: &Fields, problems: &mut Problems) -> BTreeMap<String, String> {
    let mut metadata = BTreeMap::new();
    let Some(node) = fields.fields.get("metadata") else {
        return metadata;
    };
    let pairs = match &node.value {
        Value::Map(pairs) => pairs,
        // A name with nothing under it has no metadata.
        Value::Scalar(text) if text.trim().is_empty() => return metadata,
        Value::Scalar(_) | Value::List(_) => {
            problems.add(error(
                ProblemCode::WrongKind,
                node.line,
                "`metadata` is no mapping.",
                "Write `name: text` lines under it, indented by two spaces.",
            ));
            return metadata;
        }
    };
    for (name, value) in pairs.iter().take(ENTRIES_LIMIT) {
        match (&name.value, &value.value) {
            (Value::Scalar(name), Value::Scalar(text)) => {
                let line = value.line;
                let (name, text) = (
                    kept(name, "metadata", line, problems),
                    kept(text, "metadata", line, problems),
                );
                metadata.entry(name).or_insert(text);
            }
            _ => problems.add(of_manifest(
                Severity::Advice,
                ProblemCode::WrongKind,
                Some(name.line),
                "A value under `metadata` is no text, and is left out.",
                "Metadata are names with text; write it as text.",
            )),
        }
    }
    metadata
}

/// The beginning of a text, as much as is kept of it.
fn kept(text: &str, field: &str, line: usize, problems: &mut Problems) -> String {
    let text = text.trim();
    let length = text.chars().count();
    if length > TEXT_LIMIT {
        problems.add(of_manifest(
            Severity::Advice,
            ProblemCode::TooLong,
            Some(line),
            format!("A text of `{field}` has {length} characters; {TEXT_LIMIT} are kept."),
            "Put long text into a file and name it here.",
        ));
    }
    text.chars().take(TEXT_LIMIT).collect()
}

fn allowed_tools(fields: &Fields, problems: &mut Problems) -> Vec<String> {
    let Some(node) = fields.fields.get("allowed-tools") else {
        return Vec::new();
    };
    let mut tools = Vec::new();
    match &node.value {
        Value::Scalar(text) => tools.extend(tool_words(text)),
        Value::List(nodes) => {
            for entry in nodes {
                match &entry.value {
                    Value::Scalar(text) => tools.push(text.trim().to_owned()),
                    Value::List(_) | Value::Map(_) => problems.add(not_tools(entry.line)),
                }
            }
        }
        Value::Map(_) => problems.add(not_tools(node.line)),
    }
    tools.retain(|tool| !tool.is_empty());
    tools.truncate(ENTRIES_LIMIT);
    let line = node.line;
    tools
        .iter()
        .map(|tool| kept(tool, "allowed-tools", line, problems))
        .collect()
}

fn not_tools(line: usize) -> crate::Problem {
    error(
        ProblemCode::WrongKind,
        line,
        "`allowed-tools` names tools by text, and this is none.",
        "Write the tools' names in one line with spaces between, or as a list of them.",
    )
}

/// The words of a text; what stands in parentheses belongs to its word: `Bash(git add:*) Read`.
fn tool_words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut depth = 0_usize;
    for letter in text.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (letter.is_whitespace() || letter == ',') {
            words.push(String::new());
        } else if let Some(word) = words.last_mut() {
            word.push(letter);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
