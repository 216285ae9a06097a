//! `tool`: that what was done can be read back.

use longrein_protocol::agent::ToolCriterion;
use longrein_runtime::ports::{Asks, ToolError};
use serde_json::Value;

use super::pattern::pattern;
use super::{Finding, shown};
use crate::{error, show};

/// A longer answer is not looked at.
const ANSWER_LIMIT_BYTES: usize = 4 * 1024 * 1024;
/// How many names of a place are told.
const NAMES_LIMIT: usize = 20;

pub(super) async fn check(
    criterion: &ToolCriterion,
    asks: &dyn Asks,
) -> Result<Finding, ToolError> {
    let expects = criterion.matches.as_deref().map(pattern).transpose()?;
    let arguments = Value::Object(criterion.args.clone().into_iter().collect());
    let answer = asks.tool(&criterion.tool, arguments).await?;
    if answer.len() > ANSWER_LIMIT_BYTES {
        return Err(error::failed(format!(
            "{} gave {}, more than the {ANSWER_LIMIT_BYTES} that are looked at",
            criterion.tool,
            show::count(answer.len(), "byte", "bytes")
        )));
    }
    let answer: Value = serde_json::from_str(&answer).unwrap_or(Value::String(answer));
    let place = match criterion.pointer.as_str() {
        "" => String::new(),
        pointer => format!(" at {pointer} of its answer"),
    };
    let Some(there) = answer.pointer(&criterion.pointer) else {
        return Ok(Finding::off(
            format!("{} has nothing{place}", criterion.tool),
            format!("{} has nothing{place}; {}.", criterion.tool, parts(&answer)),
        ));
    };
    let written = written(there);
    let mut difference = Vec::new();
    if let Some(wanted) = criterion
        .equals
        .as_ref()
        .filter(|wanted| !same(wanted, there))
    {
        difference.push(format!(
            "{} says {}{place}, and {} has to stand there.",
            criterion.tool,
            shown(&there.to_string()),
            shown(&wanted.to_string())
        ));
    }
    if let (Some(expects), Some(wanted)) = (expects, &criterion.matches)
        && !expects.is_match(&written)
    {
        difference.push(format!(
            "{} says {}{place}, which does not match “{}”.",
            criterion.tool,
            shown(&there.to_string()),
            shown(wanted)
        ));
    }
    let evidence = format!(
        "{} says {}{place}",
        criterion.tool,
        shown(&there.to_string())
    );
    Ok(Finding::of(evidence, difference))
}

/// What a pattern is held against: a text itself, anything else as JSON.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// Whether two values are the same, where 1 and 1.0 are.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || one.as_f64() == other.as_f64()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(name, value)| other.get(name).is_some_and(|other| same(value, other)))
        }
        (one, other) => one == other,
    }
}

/// What an answer is made of, for one who looked for something that it has not.
fn parts(answer: &Value) -> String {
    match answer {
        Value::Object(parts) => {
            let names: Vec<&str> = parts.keys().take(NAMES_LIMIT).map(String::as_str).collect();
            format!("it is an object with {}", shown(&names.join(", ")))
        }
        Value::Array(parts) => format!("it is a list of {}", parts.len()),
        value => format!("it is {}", shown(&value.to_string())),
    }
}
