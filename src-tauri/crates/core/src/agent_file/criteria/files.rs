//! Criteria about one file of the workspace.

use longrein_protocol::agent::{
    Criterion, EvidenceCriterion, FileCriterion, LinksCriterion, Permit, SchemaCriterion,
    TextCriterion, ToolGrants,
};
use serde_json::Value;

use super::super::choices::PERMITS;
use super::super::keys;
use super::super::reader::{At, Fields, Reader};
use super::{beneath_workspace, is_expression, need};

/// `file = "index.html"`
pub(super) fn file(
    reader: &mut Reader<'_>,
    fields: Fields<'_>,
    _grants: &ToolGrants,
) -> Option<Criterion> {
    let least = reader.whole(fields, "min_bytes", &keys::MIN_BYTES);
    let max_bytes = reader.whole(fields, "max_bytes", &keys::MIN_BYTES);
    let min_bytes = least.unwrap_or(*keys::MIN_BYTES.start());
    if let Some(most) = max_bytes.filter(|most| *most < min_bytes) {
        let span = reader
            .value(fields, "max_bytes")
            .map_or(0..0, toml::Spanned::span);
        let message = format!("No file has at least {min_bytes} and at most {most} bytes.");
        let path = fields.path_of("max_bytes");
        reader.error(
            &span,
            &path,
            message,
            "Make max_bytes larger than min_bytes.",
        );
    }
    let media_type = media_type(reader, fields);
    Some(Criterion::File(FileCriterion {
        file: beneath_workspace(reader, fields, "file")?,
        min_bytes,
        max_bytes,
        media_type,
    }))
}

fn media_type(reader: &mut Reader<'_>, fields: Fields<'_>) -> Option<String> {
    let written = reader.text(fields, "media_type")?;
    let is_word = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|letter| {
                letter.is_ascii_lowercase() || letter.is_ascii_digit() || b"-+.".contains(&letter)
            })
    };
    let sound = written
        .value
        .split_once('/')
        .is_some_and(|(kind, rest)| is_word(kind) && (rest == "*" || is_word(rest)));
    if !sound {
        let message = format!("“{}” is not a media type.", written.value);
        let remedy = "Write it in lower case, as in \"text/html\" or \"image/*\".";
        reader.error(
            &written.span,
            &fields.path_of("media_type"),
            message,
            remedy,
        );
    }
    Some(written.value)
}

/// `evidence = "index.html"`
pub(super) fn evidence(
    reader: &mut Reader<'_>,
    fields: Fields<'_>,
    _grants: &ToolGrants,
) -> Option<Criterion> {
    let uncited = reader.choice(fields, "uncited", PERMITS, &[]);
    let numbers = reader.choice(fields, "numbers", PERMITS, &[]);
    let min_citations = reader.whole(fields, "min_citations", &keys::MIN_CITATIONS);
    Some(Criterion::Evidence(EvidenceCriterion {
        evidence: beneath_workspace(reader, fields, "evidence")?,
        uncited: uncited.unwrap_or_default(),
        numbers: numbers.unwrap_or(Permit::Forbid),
        min_citations: min_citations.unwrap_or(*keys::MIN_CITATIONS.start()),
    }))
}

/// `schema = "data.json"`
pub(super) fn schema(
    reader: &mut Reader<'_>,
    fields: Fields<'_>,
    _grants: &ToolGrants,
) -> Option<Criterion> {
    need(reader, fields, ("against", "schema"));
    let path = beneath_workspace(reader, fields, "schema");
    reader.inner(fields, "against")?;
    let against = reader.json(fields, "against")?;
    let span = reader
        .value(fields, "against")
        .map_or(0..0, toml::Spanned::span);
    if let Some(address) = elsewhere(&against) {
        let message = format!("The schema refers to {address}, which is not fetched.");
        let remedy = "Put what it refers to under \"$defs\" and write \"#/$defs/name\".";
        reader.error(&span, &fields.path_of("against"), message, remedy);
    } else if let Err(error) = jsonschema::validator_for(&against) {
        let place = error.instance_path().to_string();
        let place = if place.is_empty() {
            String::new()
        } else {
            format!(" at {place}")
        };
        let message = format!("This is not a JSON Schema{place}: {error}.");
        let remedy = format!("Write it like this: {}", fields.example("against"));
        reader.error(&span, &fields.path_of("against"), message, remedy);
    }
    Some(Criterion::Schema(SchemaCriterion {
        schema: path?,
        against,
    }))
}

/// What a schema refers to outside itself, if anything.
fn elsewhere(schema: &Value) -> Option<&str> {
    match schema {
        Value::Object(object) => object.iter().find_map(|(key, value)| {
            let reference = value
                .as_str()
                .filter(|_| key == "$ref" || key == "$dynamicRef");
            let outside = reference.filter(|reference| !reference.starts_with('#'));
            outside.or_else(|| elsewhere(value))
        }),
        Value::Array(items) => items.iter().find_map(elsewhere),
        _ => None,
    }
}

/// `text = "report.md"`
pub(super) fn text(
    reader: &mut Reader<'_>,
    fields: Fields<'_>,
    _grants: &ToolGrants,
) -> Option<Criterion> {
    let must = expressions(reader, fields, "must");
    let must_not = expressions(reader, fields, "must_not");
    if must.is_empty() && must_not.is_empty() && !reader.is_broken() {
        let span = reader
            .value(fields, "text")
            .map_or(0..0, toml::Spanned::span);
        let message = "The criterion does not say what must, or must not, stand in the file.";
        let remedy = format!("Write it like this: {}", fields.example("must"));
        reader.error(&span, fields.path(), message, remedy);
    }
    for forbidden in &must_not {
        if must.iter().any(|asked| asked.value == forbidden.value) {
            let message = format!("“{}” must and must not match.", forbidden.value);
            let path = fields.path_of("must_not");
            reader.error(&forbidden.span, &path, message, "Keep one of the two.");
        }
    }
    let values = |texts: Vec<At<String>>| texts.into_iter().map(|text| text.value).collect();
    Some(Criterion::Text(TextCriterion {
        text: beneath_workspace(reader, fields, "text")?,
        must: values(must),
        must_not: values(must_not),
    }))
}

fn expressions(reader: &mut Reader<'_>, fields: Fields<'_>, key: &str) -> Vec<At<String>> {
    let written = reader.texts(fields, key).unwrap_or_default();
    let path = fields.path_of(key);
    for text in &written {
        is_expression(reader, text, &path);
    }
    written
}

/// `links = "index.html"`
pub(super) fn links(
    reader: &mut Reader<'_>,
    fields: Fields<'_>,
    _grants: &ToolGrants,
) -> Option<Criterion> {
    let min = reader.whole(fields, "min", &keys::MIN_LINKS);
    Some(Criterion::Links(LinksCriterion {
        links: beneath_workspace(reader, fields, "links")?,
        min: min.unwrap_or(*keys::MIN_LINKS.start()),
    }))
}
