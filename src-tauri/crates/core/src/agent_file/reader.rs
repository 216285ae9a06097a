//! Reads TOML that a person wrote and gathers every mistake with its place and a remedy, rather
//! than stopping at the first. Agent files and `config.toml` are read with it.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::problem::{Lines, Problem, Severity};

/// The largest file that is read.
pub const FILE_BYTES_MAX: usize = 256 * 1024;

/// The most mistakes that are reported; a file with more is not a file of ours.
pub const PROBLEMS_MAX: usize = 100;

/// How alike a misspelt name must be to one that is known, from 0 to 1.
const LIKENESS_MIN: f64 = 0.6;

/// One key that a table may have.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// A line that shows how it is written.
    pub example: &'static str,
    /// Whether it does something in this version.
    pub built: bool,
}

impl Key {
    /// A key that works.
    pub const fn new(name: &'static str, example: &'static str) -> Self {
        Self {
            name,
            example,
            built: true,
        }
    }

    /// A key that the design names and that does nothing yet: refused rather than ignored.
    pub const fn later(name: &'static str) -> Self {
        Self {
            name,
            example: "",
            built: false,
        }
    }
}

/// A value with the bytes that it stands on.
#[derive(Clone, PartialEq, Debug)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub span: Range<usize>,
}

/// A table whose keys were checked.
#[derive(Clone, Copy)]
pub struct Fields<'d> {
    table: &'d DeTable<'d>,
    keys: &'d [Key],
    path: &'d str,
}

impl<'d> Fields<'d> {
    /// Its path with a key behind it.
    pub fn path_of(&self, key: &str) -> String {
        join(self.path, key)
    }

    /// Its path.
    pub fn path(&self) -> &'d str {
        self.path
    }

    /// The keys as they are written, with where they stand.
    pub fn entries(
        &self,
    ) -> impl Iterator<Item = (&'d str, Range<usize>, &'d Spanned<DeValue<'d>>)> {
        self.table
            .iter()
            .map(|(name, value)| (name.get_ref().as_ref(), name.span(), value))
    }

    pub(super) fn get(&self, key: &str) -> Option<&'d Spanned<DeValue<'d>>> {
        self.table.get(key)
    }

    pub(super) fn example(&self, key: &str) -> &'d str {
        let known = self.keys.iter().find(|known| known.name == key);
        known.map_or("", |known| known.example)
    }
}

/// A path without the numbers in it: `stage.done_when` for `stage[2].done_when`.
fn without_places(path: &str) -> String {
    let parts = path
        .split('.')
        .map(|part| part.split_once('[').map_or(part, |(name, _)| name));
    parts.collect::<Vec<_>>().join(".")
}

/// A path with a key behind it; a key with other signs than letters stands in quotes.
pub fn join(path: &str, key: &str) -> String {
    let bare = !key.is_empty()
        && key
            .bytes()
            .all(|letter| letter.is_ascii_alphanumeric() || b"-_".contains(&letter));
    let key = if bare {
        key.to_owned()
    } else {
        format!("{key:?}")
    };
    if path.is_empty() {
        key
    } else {
        format!("{path}.{key}")
    }
}

/// Gathers the mistakes of one file.
pub struct Reader<'t> {
    lines: Lines<'t>,
    problems: Vec<Problem>,
    /// Lines that are no TOML; what follows from them is not reported a second time.
    broken: Vec<u32>,
    /// Where else a key belongs: its name and its table.
    places: &'static [(&'static str, &'static str)],
}

impl<'t> Reader<'t> {
    /// Parses the text as far as it is TOML.
    pub fn open(
        text: &'t str,
        places: &'static [(&'static str, &'static str)],
    ) -> (Spanned<DeTable<'t>>, Self) {
        let mut reader = Self {
            lines: Lines::of(text),
            problems: Vec::new(),
            broken: Vec::new(),
            places,
        };
        if text.len() > FILE_BYTES_MAX {
            let message = format!("The file has {} bytes.", text.len());
            let remedy =
                format!("At most {FILE_BYTES_MAX} bytes are read; move long texts elsewhere.");
            reader.error(&(0..0), "", message, remedy);
            reader.broken.push(0);
            return (Spanned::new(0..0, DeTable::new()), reader);
        }
        let (document, faults) = DeTable::parse_recoverable(text);
        for fault in faults {
            let span = fault.span().unwrap_or(0..0);
            let line = reader.lines.place(&span).0;
            if reader.broken.contains(&line) {
                continue;
            }
            let message = format!("This is not TOML: {}.", fault.message().replace('\n', ", "));
            let remedy =
                "Texts stand in quotes, lists in [ ], and each key stands once in its table.";
            reader.error(&span, "", message, remedy);
            reader.broken.push(line);
        }
        (document, reader)
    }

    /// Whether part of the file is no TOML, so that what seems to be missing may only be unread.
    pub fn is_broken(&self) -> bool {
        !self.broken.is_empty()
    }

    /// How many mistakes so far make the file unusable.
    pub(super) fn errors(&self) -> usize {
        let errors = self.problems.iter();
        errors
            .filter(|problem| problem.severity == Severity::Error)
            .count()
    }

    /// Reports something that makes the file unusable.
    pub fn error(
        &mut self,
        span: &Range<usize>,
        path: &str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.report(Severity::Error, span, path, (message.into(), remedy.into()));
    }

    /// Reports something that has no effect.
    pub fn warning(
        &mut self,
        span: &Range<usize>,
        path: &str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.report(
            Severity::Warning,
            span,
            path,
            (message.into(), remedy.into()),
        );
    }

    fn report(
        &mut self,
        severity: Severity,
        span: &Range<usize>,
        path: &str,
        (message, remedy): (String, String),
    ) {
        let (line, column) = self.lines.place(span);
        if self.problems.len() < PROBLEMS_MAX && !self.broken.contains(&line) {
            self.problems.push(Problem {
                severity,
                line,
                column,
                path: path.to_owned(),
                message,
                remedy,
            });
        }
    }

    /// Reports a name that is written without being known: `what` is its kind, as in “key”.
    pub fn unknown(
        &mut self,
        span: &Range<usize>,
        path: &str,
        (what, name): (&str, &str),
        known: &[&str],
    ) {
        let message = format!("There is no {what} “{name}”.");
        let remedy = match nearest(name, known) {
            Some(near) => format!("Did you mean “{near}”?"),
            None => known_are(known),
        };
        self.error(span, path, message, remedy);
    }

    /// Reports something that the design names and this version does not do.
    pub fn not_built(&mut self, span: &Range<usize>, path: &str, what: &str) {
        let message = format!("“{what}” is not built yet.");
        self.error(span, path, message, "Take it out: it would have no effect.");
    }

    /// Every mistake, in the order of the file.
    pub fn into_problems(mut self) -> Vec<Problem> {
        self.problems
            .sort_by_key(|problem| (problem.line, problem.column));
        self.problems
    }

    /// The table at the top of the file.
    pub fn root<'d>(&mut self, document: &'d Spanned<DeTable<'d>>, keys: &'d [Key]) -> Fields<'d> {
        let fields = Fields {
            table: document.get_ref(),
            keys,
            path: "",
        };
        self.check_keys(fields);
        fields
    }

    /// A table below a key, its own keys not checked.
    pub fn open_table<'d>(
        &mut self,
        value: &'d Spanned<DeValue<'d>>,
        path: &'d str,
        keys: &'d [Key],
    ) -> Option<Fields<'d>> {
        match value.get_ref() {
            DeValue::Table(table) => Some(Fields { table, keys, path }),
            other => {
                let example = match path.rsplit_once('[') {
                    Some((list, _)) => format!("[[{}]]", without_places(list)),
                    None => format!("[{path}]"),
                };
                self.wrong_type(&value.span(), path, ("a table", other), &example);
                None
            }
        }
    }

    /// A table below a key.
    pub fn table<'d>(
        &mut self,
        value: &'d Spanned<DeValue<'d>>,
        path: &'d str,
        keys: &'d [Key],
    ) -> Option<Fields<'d>> {
        let fields = self.open_table(value, path, keys)?;
        self.check_keys(fields);
        Some(fields)
    }

    /// The value of a key, if it is there.
    pub fn value<'d>(&self, fields: Fields<'d>, key: &str) -> Option<&'d Spanned<DeValue<'d>>> {
        fields.get(key)
    }

    /// The tables of a list of tables, `[[key]]`.
    pub fn tables<'d>(&mut self, fields: Fields<'d>, key: &str) -> Vec<&'d Spanned<DeValue<'d>>> {
        match fields.get(key).map(|value| (value, value.get_ref())) {
            Some((_, DeValue::Array(items))) => items.iter().collect(),
            Some((value, other)) => {
                let example = fields.example(key);
                let path = fields.path_of(key);
                self.wrong_type(&value.span(), &path, ("a list of tables", other), example);
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    fn check_keys(&mut self, fields: Fields<'_>) {
        for (name, span, _) in fields.entries() {
            match fields.keys.iter().find(|key| key.name == name) {
                Some(key) if key.built => {}
                Some(_) => self.not_built(&span, &fields.path_of(name), name),
                None => self.unknown_key(fields, name, &span),
            }
        }
    }

    /// Reports a key that the table does not have.
    pub fn unknown_key(&mut self, fields: Fields<'_>, name: &str, span: &Range<usize>) {
        let path = fields.path_of(name);
        let built = fields.keys.iter().filter(|key| key.built);
        let known: Vec<&str> = built.map(|key| key.name).collect();
        let elsewhere = self.places.iter().find(|(key, _)| *key == name);
        match elsewhere {
            // Below a heading that could not be read, the key stands in the wrong table for us only.
            Some(_) if self.is_broken() => {}
            Some((_, place)) if nearest(name, &known).is_none() => {
                let message = format!("There is no key “{name}” here.");
                self.error(span, &path, message, format!("Write it under {place}."));
            }
            _ => self.unknown(span, &path, ("key", name), &known),
        }
    }
}

/// The known name that is most like this one, if one is like it.
pub fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let name = name.to_lowercase();
    known
        .iter()
        .map(|known| (strsim::normalized_damerau_levenshtein(&name, known), *known))
        .filter(|(likeness, _)| *likeness >= LIKENESS_MIN)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, known)| known)
}

/// The names that are known, as a sentence.
pub fn known_are(names: &[&str]) -> String {
    let verb = if names.len() == 1 { "is" } else { "are" };
    format!("Known {verb} {}.", list(names))
}

/// Names in a sentence: `a, b and c`.
pub fn list(names: &[&str]) -> String {
    match names {
        [] => "none".to_owned(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
