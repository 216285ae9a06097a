//! Small pieces of JSON that every format is made of.

use longrein_core::dialect::{Attached, Parameters};
use serde_json::Value;

/// A text as JSON.
pub(crate) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A text as it stands between the quotes of JSON.
pub(crate) fn inside(text: &str) -> String {
    let quoted = quoted(text);
    quoted[1..quoted.len() - 1].to_owned()
}

/// An item's bytes as an address that holds them, as JSON. Base64 and media types need no escapes.
pub(crate) fn data_url(media: &Attached) -> String {
    format!(r#""data:{};base64,{}""#, media.media_type, media.base64)
}

/// Arguments as a JSON object. What is none makes many servers refuse the whole history, so what
/// can't be sent as it was is wrapped; the model still sees what it wrote.
pub(crate) fn sendable_arguments(arguments: &str) -> String {
    match serde_json::from_str::<Value>(arguments) {
        Ok(Value::Object(_)) => arguments.trim().to_owned(),
        _ if arguments.trim().is_empty() => "{}".to_owned(),
        _ => format!(r#"{{"unreadable_arguments":{}}}"#, quoted(arguments)),
    }
}

/// The schema of a tool's arguments as providers take it: an object, without a choice at its top.
/// One that is written otherwise makes them refuse the whole request; the arguments are checked
/// against the whole schema here in any case.
pub(crate) fn object_schema(schema: &Value) -> Value {
    const CHOICES: [&str; 5] = ["oneOf", "anyOf", "allOf", "enum", "not"];
    let mut schema = schema.clone();
    match schema.as_object_mut() {
        Some(fields) => {
            for choice in CHOICES {
                fields.remove(choice);
            }
            fields.insert("type".to_owned(), Value::from("object"));
        }
        None => schema = serde_json::json!({ "type": "object" }),
    }
    schema
}

/// The temperature as JSON, where there is one that can be sent.
pub(crate) fn temperature(parameters: Parameters<'_>) -> Option<String> {
    let number = parameters.temperature.filter(|number| number.is_finite())?;
    Some(Value::from(number).to_string())
}

/// The text of a field.
pub(crate) fn string<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

/// A number of tokens at a place. Some servers write whole numbers with a point.
pub(crate) fn tokens(value: &Value, pointer: &str) -> Option<u32> {
    let number = value.pointer(pointer)?;
    let number = number
        .as_u64()
        .or_else(|| number.as_f64().map(|number| number as u64))?;
    Some(u32::try_from(number).unwrap_or(u32::MAX))
}

/// What a usage says that the request cost: in dollars (OpenRouter), or in ticks of which a dollar
/// has ten thousand million (xAI). In millionths of a dollar, rounded up.
pub(crate) fn cost_micro(usage: &Value) -> Option<u64> {
    const TICKS: f64 = 1e10;
    let number = |key: &str| usage.get(key).and_then(Value::as_f64);
    let dollars = number("cost").or_else(|| Some(number("cost_in_usd_ticks")? / TICKS))?;
    (dollars.is_finite() && dollars >= 0.0).then(|| (dollars * 1e6).ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_that_providers_would_refuse_is_sent_as_a_plain_object() {
        let sent = |schema: &str| {
            let schema: Value = serde_json::from_str(schema).unwrap();
            object_schema(&schema).to_string()
        };
        let usual = r#"{"properties":{"a":{"anyOf":[]}},"type":"object"}"#;
        assert_eq!(sent(usual), usual);
        assert_eq!(sent("{}"), r#"{"type":"object"}"#);
        assert_eq!(sent("true"), r#"{"type":"object"}"#);
        assert_eq!(
            sent(r#"{"oneOf":[{}],"properties":{}}"#),
            r#"{"properties":{},"type":"object"}"#
        );
    }

    #[test]
    fn arguments_that_are_no_object_are_sent_in_one() {
        assert_eq!(sendable_arguments(r#" {"a":1} "#), r#"{"a":1}"#);
        assert_eq!(sendable_arguments(" "), "{}");
        assert_eq!(
            sendable_arguments(r#"{"a":"#),
            r#"{"unreadable_arguments":"{\"a\":"}"#
        );
        assert_eq!(
            sendable_arguments("[1]"),
            r#"{"unreadable_arguments":"[1]"}"#
        );
    }
}
