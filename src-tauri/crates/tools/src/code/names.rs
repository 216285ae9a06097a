//! Names as Python takes them, none twice.

use std::collections::HashSet;

/// Words that Python keeps for itself, and names that the package uses.
const KEPT: &[&str] = &[
    "Any",
    "False",
    "Literal",
    "None",
    "ResultFile",
    "ToolError",
    "True",
    "UNSET",
    "and",
    "annotations",
    "as",
    "assert",
    "async",
    "await",
    "break",
    "case",
    "class",
    "continue",
    "def",
    "del",
    "elif",
    "else",
    "except",
    "finally",
    "for",
    "from",
    "global",
    "if",
    "import",
    "in",
    "is",
    "lambda",
    "match",
    "nonlocal",
    "not",
    "or",
    "pass",
    "print",
    "raise",
    "return",
    "try",
    "type",
    "while",
    "with",
    "yield",
];

/// The names of one scope.
#[derive(Default)]
pub(super) struct Names(HashSet<String>);

impl Names {
    /// A name as Python takes it. What another name became before gets a number.
    pub(super) fn python(&mut self, name: &str) -> String {
        let mut python = String::with_capacity(name.len());
        for letter in name.chars() {
            let is_plain = letter.is_ascii_alphanumeric() || letter == '_';
            python.push(if is_plain { letter } else { '_' });
        }
        // What begins with an underscore is the package's own.
        if python.is_empty()
            || python.starts_with(|first: char| first.is_ascii_digit() || first == '_')
        {
            python.insert(0, 't');
        }
        if KEPT.contains(&python.as_str()) {
            python.push('_');
        }
        let plain = python.clone();
        let mut number = 2_u32;
        while !self.0.insert(python.clone()) {
            python = format!("{plain}_{number}");
            number += 1;
        }
        python
    }
}
