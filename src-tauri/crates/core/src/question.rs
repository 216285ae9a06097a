//! A server's question to the person: the form in words, and whether an answer fits it. Every
//! surface asks here, and the driver once more before the server is told.

mod typed;

use longrein_protocol::question::{
    ANSWER_BYTES_MAX, Choice, Field, FieldKind, Reply, TextFormat, Wants,
};
use serde_json::{Map, Value};

pub use typed::typed;

/// The word by which a person says no, wherever they type it.
pub const DECLINE: &str = "decline";

/// The word by which a person gives no answer.
pub const DISMISS: &str = "dismiss";

/// The word by which a person agrees to visit a page, or says that they did.
pub const VISITED: &str = "visited";

/// A value does not fit its field: what it has to be.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("has to be {0}")]
pub struct Misfit(pub String);

/// What is wrong with a field of an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    /// The name of the field; empty where it is about the whole answer.
    pub field: String,
    /// What is wrong and what would be right: `has to be a whole number from 1 to 5`.
    pub why: String,
}

impl Mistake {
    fn of(field: &Field, why: impl Into<String>) -> Self {
        Self {
            field: field.name.clone(),
            why: why.into(),
        }
    }

    fn of_all(why: impl Into<String>) -> Self {
        Self {
            field: String::new(),
            why: why.into(),
        }
    }
}

/// Mistakes as a sentence for the person.
pub fn in_words(mistakes: &[Mistake]) -> String {
    let said = mistakes.iter().map(|mistake| match mistake.field.as_str() {
        "" => mistake.why.clone(),
        field => format!("“{field}” {}", mistake.why),
    });
    format!("{}.", said.collect::<Vec<_>>().join("; "))
}

/// The same for a person who sees the titles of the fields, and not their names.
pub fn in_titles(wants: &Wants, mut mistakes: Vec<Mistake>) -> String {
    if let Wants::Form { fields } = wants {
        for mistake in &mut mistakes {
            let field = fields.iter().find(|field| field.name == mistake.field);
            if let Some(field) = field {
                mistake.field.clone_from(&field.title);
            }
        }
    }
    in_words(&mistakes)
}

/// The values of a form in which everything is typed or chosen: of a field that holds no text, the
/// words become what it holds. Those that can't are left as they are, and do not fit.
pub fn filled_in(wants: &Wants, mut values: Map<String, Value>) -> Map<String, Value> {
    let Wants::Form { fields } = wants else {
        return values;
    };
    for field in fields {
        if matches!(field.kind, FieldKind::Text { .. }) {
            continue;
        }
        let words = values.get(&field.name).and_then(Value::as_str);
        // What was left empty is not what the form proposes.
        let words = words.filter(|words| !words.trim().is_empty());
        if let Some(Ok(Some(value))) = words.map(|words| typed(field, words)) {
            values.insert(field.name.clone(), value);
        }
    }
    values
}

/// An answer as a person types it: a word that says no, an object of JSON with the values of a
/// form, or, where the form has one field, its value.
///
/// # Errors
/// What is wrong with it, field by field.
pub fn read(wants: &Wants, text: &str) -> Result<Reply, Vec<Mistake>> {
    let text = text.trim();
    match text.to_lowercase().as_str() {
        DECLINE => return Ok(Reply::Declined),
        DISMISS => return Ok(Reply::Dismissed),
        _ => {}
    }
    let fields = match wants {
        Wants::Visit { .. } if text.to_lowercase() == VISITED => {
            return Ok(Reply::Given { values: Map::new() });
        }
        Wants::Visit { .. } => {
            let why = format!(
                "say {VISITED} once you have opened the page, {DECLINE} to say no, or {DISMISS} to give no answer"
            );
            return Err(vec![Mistake::of_all(why)]);
        }
        Wants::Form { fields } => fields,
    };
    let values = match (serde_json::from_str(text), fields.as_slice()) {
        (Ok(Value::Object(values)), _) => values,
        (_, [only]) => {
            let value =
                typed(only, text).map_err(|why| vec![Mistake::of(only, why.to_string())])?;
            value
                .map(|value| (only.name.clone(), value))
                .into_iter()
                .collect()
        }
        _ => {
            let names: Vec<String> = fields
                .iter()
                .map(|field| format!("\"{}\": …", field.name))
                .collect();
            let why = format!(
                "the answer has to be JSON with a value for each field: {{{}}}; or say {DECLINE} or {DISMISS}",
                names.join(", ")
            );
            return Err(vec![Mistake::of_all(why)]);
        }
    };
    checked(fields, values).map(|values| Reply::Given { values })
}

/// A reply as it may be sent: its values fit the form, and defaults stand where nothing was given.
///
/// # Errors
/// What is wrong with it, field by field.
pub fn fitting(wants: &Wants, reply: Reply) -> Result<Reply, Vec<Mistake>> {
    match (wants, reply) {
        (Wants::Form { fields }, Reply::Given { values }) => {
            checked(fields, values).map(|values| Reply::Given { values })
        }
        (Wants::Visit { .. }, Reply::Given { .. }) => Ok(Reply::Given { values: Map::new() }),
        (_, reply) => Ok(reply),
    }
}

/// The values of a form with defaults where nothing was given.
///
/// # Errors
/// What is wrong with them, field by field.
pub fn checked(
    fields: &[Field],
    mut values: Map<String, Value>,
) -> Result<Map<String, Value>, Vec<Mistake>> {
    let mut mistakes = Vec::new();
    for name in values.keys() {
        if !fields.iter().any(|field| field.name == *name) {
            let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
            mistakes.push(Mistake {
                field: name.clone(),
                why: format!("is no field of the form, which has: {}", names.join(", ")),
            });
        }
    }
    for field in fields {
        let given = values.get(&field.name).filter(|value| !value.is_null());
        match (given.cloned(), &field.default) {
            (Some(value), _) => {
                if let Err(Misfit(right)) = fits(field, &value) {
                    let why = format!("has to be {right}");
                    mistakes.push(Mistake::of(field, why));
                }
            }
            // What a form proposes has to fit it as well.
            (None, Some(default)) if fits(field, default).is_ok() => {
                values.insert(field.name.clone(), default.clone());
            }
            (None, _) if field.required => mistakes.push(Mistake::of(
                field,
                format!("is missing; it has to be {}", hint(field)),
            )),
            (None, _) => {
                values.remove(&field.name);
            }
        }
    }
    let size = serde_json::to_string(&values).map_or(usize::MAX, |text| text.len());
    if size > ANSWER_BYTES_MAX {
        mistakes.push(Mistake::of_all(format!(
            "the answer has {size} bytes; at most {ANSWER_BYTES_MAX} are sent"
        )));
    }
    if mistakes.is_empty() {
        Ok(values)
    } else {
        Err(mistakes)
    }
}

/// Whether a value may stand in a field.
fn fits(field: &Field, value: &Value) -> Result<(), Misfit> {
    let fitting = match (&field.kind, value) {
        (FieldKind::Text { .. }, Value::String(text)) => text_fits(&field.kind, text),
        (FieldKind::Number { .. }, Value::Number(number)) => {
            number_fits(&field.kind, number.as_f64())
        }
        (FieldKind::YesNo, Value::Bool(_)) => true,
        (FieldKind::One { choices }, Value::String(text)) => is_among(choices, text),
        (FieldKind::Many { .. }, Value::Array(chosen)) => many_fit(&field.kind, chosen),
        _ => false,
    };
    match fitting {
        true => Ok(()),
        false => Err(Misfit(hint(field))),
    }
}

fn text_fits(kind: &FieldKind, text: &str) -> bool {
    let FieldKind::Text {
        min_letters,
        max_letters,
        format,
    } = kind
    else {
        return false;
    };
    let letters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    min_letters.is_none_or(|least| letters >= least)
        && max_letters.is_none_or(|most| letters <= most)
        && format.is_none_or(|format| typed::is_of(format, text))
}

fn number_fits(kind: &FieldKind, number: Option<f64>) -> bool {
    let (FieldKind::Number { whole, least, most }, Some(number)) = (kind, number) else {
        return false;
    };
    number.is_finite()
        && (!whole || number.fract() == 0.0)
        && least.is_none_or(|least| number >= least)
        && most.is_none_or(|most| number <= most)
}

fn many_fit(kind: &FieldKind, chosen: &[Value]) -> bool {
    let FieldKind::Many {
        choices,
        fewest,
        most,
    } = kind
    else {
        return false;
    };
    let count = u32::try_from(chosen.len()).unwrap_or(u32::MAX);
    let known = |value: &Value| value.as_str().is_some_and(|text| is_among(choices, text));
    let twice = (1..chosen.len()).any(|place| chosen[..place].contains(&chosen[place]));
    chosen.iter().all(known)
        && !twice
        && fewest.is_none_or(|fewest| count >= fewest)
        && most.is_none_or(|most| count <= most)
}

fn is_among(choices: &[Choice], text: &str) -> bool {
    choices.iter().any(|choice| choice.value == text)
}

/// What may stand in a field: `a whole number from 1 to 5`.
pub fn hint(field: &Field) -> String {
    match &field.kind {
        FieldKind::Text {
            min_letters,
            max_letters,
            format,
        } => {
            let what = match format {
                None => "a text",
                Some(TextFormat::Email) => "an address of e-mail, such as ann@example.org",
                Some(TextFormat::Uri) => "a whole address, such as https://example.org/page",
                Some(TextFormat::Date) => "a date, such as 2026-07-28",
                Some(TextFormat::DateTime) => "a date with a time, such as 2026-07-28T09:00:00Z",
            };
            let range = range(
                min_letters.map(|letters| letters.to_string()),
                max_letters.map(|letters| letters.to_string()),
            );
            match range {
                Some(range) => format!("{what}, {range} characters long"),
                None => what.to_owned(),
            }
        }
        FieldKind::Number { whole, least, most } => {
            let what = if *whole { "a whole number" } else { "a number" };
            let range = range(
                least.map(|number| number.to_string()),
                most.map(|number| number.to_string()),
            );
            match range {
                Some(range) => format!("{what}, {range}"),
                None => what.to_owned(),
            }
        }
        FieldKind::YesNo => "true or false".to_owned(),
        FieldKind::One { choices } => format!("one of {}", listed(choices)),
        FieldKind::Many { choices, .. } => {
            let how_many = how_many(field).map(|range| format!(" ({range})"));
            format!(
                "a list{} of different ones of {}",
                how_many.unwrap_or_default(),
                listed(choices)
            )
        }
    }
}

/// How many choices of a field may be taken: `from 1 to 3`; `None` where any number may.
pub fn how_many(field: &Field) -> Option<String> {
    let FieldKind::Many { fewest, most, .. } = &field.kind else {
        return None;
    };
    range(
        fewest.map(|count| count.to_string()),
        most.map(|count| count.to_string()),
    )
}

/// The most choices that are named in a hint.
const NAMED_CHOICES: usize = 12;

fn listed(choices: &[Choice]) -> String {
    let named: Vec<String> = choices
        .iter()
        .take(NAMED_CHOICES)
        .map(|choice| match choice.title == choice.value {
            true => format!("“{}”", choice.value),
            false => format!("“{}” ({})", choice.value, choice.title),
        })
        .collect();
    match choices.len().saturating_sub(NAMED_CHOICES) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

fn range(least: Option<String>, most: Option<String>) -> Option<String> {
    match (least, most) {
        (Some(least), Some(most)) => Some(format!("from {least} to {most}")),
        (Some(least), None) => Some(format!("at least {least}")),
        (None, Some(most)) => Some(format!("at most {most}")),
        (None, None) => None,
    }
}

/// What is wanted, line by line.
pub fn lines(wants: &Wants) -> Vec<String> {
    match wants {
        Wants::Visit { url, host } => vec![
            format!("It wants you to open a page of {host} in your own browser:"),
            format!("  {url}"),
        ],
        Wants::Form { fields } => fields.iter().map(line).collect(),
    }
}

fn line(field: &Field) -> String {
    let mut line = match field.title == field.name {
        true => format!("  {}: {}", field.name, hint(field)),
        false => format!("  {} ({}): {}", field.name, field.title, hint(field)),
    };
    if !field.required {
        line.push_str("; may be left out");
    }
    if let Some(default) = &field.default {
        line.push_str(&format!("; if left out, {default}"));
    }
    if !field.description.is_empty() {
        line.push_str(&format!(" — {}", field.description));
    }
    line
}

#[cfg(test)]
mod tests;
