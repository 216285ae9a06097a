//! `[[done_when]]`: what has to hold before a run is done.

use longrein_protocol::agent::{Criterion, EvidenceCriterion, FileCriterion, Uncited};

use super::keys;
use super::reader::{At, Fields, Reader};

/// What to do with uncited statements, by name.
const UNCITED: &[(&str, Uncited)] = &[("allow", Uncited::Allow), ("forbid", Uncited::Forbid)];

/// Reads every criterion that can be used and reports the others.
pub(super) fn read(reader: &mut Reader<'_>, root: Fields<'_>) -> Vec<Criterion> {
    let mut criteria: Vec<Criterion> = Vec::new();
    for (position, value) in reader.tables(root, "done_when").into_iter().enumerate() {
        let path = format!("done_when[{}]", position + 1);
        let Some(fields) = reader.open_table(value, &path, keys::CRITERION) else {
            continue;
        };
        let mut later = fields
            .entries()
            .filter(|(name, _, _)| keys::LATER_CRITERIA.contains(name))
            .peekable();
        if later.peek().is_some() {
            for (name, span, _) in later {
                reader.not_built(&span, &fields.path_of(name), name);
            }
            continue;
        }
        let has = |key| reader.value(fields, key).is_some();
        let criterion = match (has("file"), has("evidence")) {
            (true, true) => {
                let message = "One criterion can't be about a file and about evidence.";
                let remedy = "Write two [[done_when]], one with file and one with evidence.";
                reader.error(&value.span(), &path, message, remedy);
                None
            }
            (true, false) => reader
                .table(value, &path, keys::FILE_CRITERION)
                .and_then(|fields| file(reader, fields)),
            (false, true) => reader
                .table(value, &path, keys::EVIDENCE_CRITERION)
                .and_then(|fields| evidence(reader, fields)),
            (false, false) => {
                unknown(reader, fields, &value.span());
                None
            }
        };
        let Some(criterion) = criterion else { continue };
        if criteria.contains(&criterion) {
            let message = "The same criterion stands twice.";
            reader.error(&value.span(), &path, message, "Keep one of the two.");
        } else {
            criteria.push(criterion);
        }
    }
    criteria
}

fn unknown(reader: &mut Reader<'_>, fields: Fields<'_>, span: &std::ops::Range<usize>) {
    for (name, span, _) in fields.entries() {
        reader.unknown_key(fields, name, &span);
    }
    if fields.entries().next().is_none() && !reader.is_broken() {
        let message = "The criterion says nothing.";
        let remedy = "Write file = \"index.html\" or evidence = \"index.html\".";
        reader.error(span, &fields.path_of("file"), message, remedy);
    }
}

fn file(reader: &mut Reader<'_>, fields: Fields<'_>) -> Option<Criterion> {
    let min_bytes = reader.whole(fields, "min_bytes", &keys::MIN_BYTES);
    let path = reader.text(fields, "file")?;
    is_beneath_workspace(reader, fields, "file", &path).then(|| {
        Criterion::File(FileCriterion {
            file: path.value,
            min_bytes: min_bytes.unwrap_or(*keys::MIN_BYTES.start()),
        })
    })
}

fn evidence(reader: &mut Reader<'_>, fields: Fields<'_>) -> Option<Criterion> {
    let uncited = reader.choice(fields, "uncited", UNCITED, &[]);
    let min_citations = reader.whole(fields, "min_citations", &keys::MIN_CITATIONS);
    let path = reader.text(fields, "evidence")?;
    is_beneath_workspace(reader, fields, "evidence", &path).then(|| {
        Criterion::Evidence(EvidenceCriterion {
            evidence: path.value,
            uncited: uncited.unwrap_or_default(),
            min_citations: min_citations.unwrap_or(*keys::MIN_CITATIONS.start()),
        })
    })
}

/// Whether a path names a file beneath the workspace; reports it when not.
fn is_beneath_workspace(
    reader: &mut Reader<'_>,
    fields: Fields<'_>,
    key: &str,
    path: &At<String>,
) -> bool {
    let text = path.value.as_str();
    let leaves = text.starts_with('/')
        || text.starts_with('~')
        || text.contains('\\')
        || text.split('/').any(|part| part == "..");
    let names_a_file =
        !text.trim().is_empty() && !text.ends_with('/') && !text.contains(char::is_control);
    if names_a_file && !leaves {
        return true;
    }
    let message = if leaves {
        format!("“{text}” is not beneath the workspace.")
    } else {
        format!("“{text}” does not name a file.")
    };
    let remedy = format!("Give the path from the workspace down, as in {key} = \"index.html\".");
    reader.error(&path.span, &fields.path_of(key), message, remedy);
    false
}
