//! A server's question to the person: taken apart, refused where it asks for what nobody should
//! type there, and its answer checked against the form.

use longrein_protocol::question::{
    CHOICES_MAX, Choice, FIELDS_MAX, FORM_BYTES_MAX, Field, FieldKind, Reply, TextFormat, Wants,
};
use longrein_runtime::ports::{Answer, Question};
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Map, Value};
use url::Url;

use crate::clean::{head, plain, without_hidden};
use crate::config::is_this_machine;

/// The longest message, title or description that the person is shown.
const WORDS_BYTES: usize = 2_000;

/// The longest address to visit.
const URL_BYTES_MAX: usize = 4_096;

/// Words that a form uses when it asks for a secret; compared with letters and digits only, in
/// lower case, so that `api_key` and `API key` are one.
const SECRET_WORDS: [&str; 17] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secretkey",
    "clientsecret",
    "apikey",
    "apitoken",
    "accesstoken",
    "authtoken",
    "bearertoken",
    "privatekey",
    "credential",
    "creditcard",
    "cardnumber",
    "recoverycode",
    "onetimecode",
];

/// Short words that count only where they are the whole name of a field.
const SECRET_NAMES: [&str; 9] = [
    "secret", "token", "pin", "otp", "cvv", "cvc", "pwd", "key", "ssn",
];

/// Why a question was not put to the person.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Refused(pub(crate) String);

/// Takes a question apart.
pub(crate) fn question(server: &str, asked: &ElicitRequestParams) -> Result<Question, Refused> {
    let (message, wants) = match asked {
        ElicitRequestParams::FormElicitationParams {
            message,
            requested_schema,
            ..
        } => (message, form(message, requested_schema)?),
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => (message, visit(url)?),
        _ => {
            return Err(Refused(
                "It asks in a way that this version does not know.".to_owned(),
            ));
        }
    };
    Ok(Question {
        server: server.to_owned(),
        message: words(message),
        wants,
    })
}

/// The words of a question, as they may be shown.
pub(crate) fn message(asked: &ElicitRequestParams) -> String {
    match asked {
        ElicitRequestParams::FormElicitationParams { message, .. }
        | ElicitRequestParams::UrlElicitationParams { message, .. } => words(message),
        _ => String::new(),
    }
}

/// What the server is told, with what was missing filled in from the form's defaults; an answer
/// that does not fit the form counts as dismissed.
pub(crate) fn result(asked: &ElicitRequestParams, answer: Answer) -> ElicitResult {
    match answer {
        Answer::Reply(Reply::Given { mut values }) => {
            let ElicitRequestParams::FormElicitationParams {
                requested_schema, ..
            } = asked
            else {
                return ElicitResult::new(ElicitationAction::Accept);
            };
            fill_in(&mut values, requested_schema);
            if !fits(&values, requested_schema) {
                return ElicitResult::new(ElicitationAction::Cancel);
            }
            ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(values))
        }
        Answer::Reply(Reply::Declined) | Answer::Nobody(_) => {
            ElicitResult::new(ElicitationAction::Decline)
        }
        Answer::Reply(Reply::Dismissed) => ElicitResult::new(ElicitationAction::Cancel),
    }
}

fn form(message: &str, schema: &ElicitationSchema) -> Result<Wants, Refused> {
    if schema.properties.len() > FIELDS_MAX {
        return Err(Refused(format!(
            "Its form has {} fields; at most {FIELDS_MAX} are shown.",
            schema.properties.len()
        )));
    }
    let raw = serde_json::to_value(&schema.properties).unwrap_or_default();
    let required = schema.required.as_deref().unwrap_or_default();
    let mut names: Vec<&String> = schema.properties.keys().collect();
    if let Some(order) = &schema.property_order {
        // What the order does not name comes last.
        names.sort_by_key(|name| {
            order
                .iter()
                .position(|named| named == *name)
                .unwrap_or(usize::MAX)
        });
    }
    let mut fields = Vec::with_capacity(names.len());
    for name in names {
        let field = field(name, &raw[name.as_str()], required.contains(name))?;
        if asks_for_a_secret(&field) {
            return Err(Refused(format!(
                "It asks for a secret (“{}”). Secrets are never typed into a server's form: keep it with longrein keys set, and grant it to the server in config.toml.",
                field.title
            )));
        }
        fields.push(field);
    }
    let bytes = serde_json::to_string(&fields).map_or(usize::MAX, |text| text.len());
    if bytes > FORM_BYTES_MAX {
        return Err(Refused(format!(
            "Its form has {bytes} bytes; at most {FORM_BYTES_MAX} are shown."
        )));
    }
    if holds_secret_word(message) && !fields.is_empty() {
        return Err(Refused(
            "Its message asks for a secret. Secrets are never typed into a server's form: keep it with longrein keys set, and grant it to the server in config.toml.".to_owned(),
        ));
    }
    Ok(Wants::Form { fields })
}

fn field(name: &str, schema: &Value, required: bool) -> Result<Field, Refused> {
    let text = |key: &str| schema.get(key).and_then(Value::as_str).map(words);
    let count = |key: &str| {
        let count = schema.get(key).and_then(Value::as_u64)?;
        Some(u32::try_from(count).unwrap_or(u32::MAX))
    };
    let kind = match schema.get("type").and_then(Value::as_str) {
        Some("boolean") => FieldKind::YesNo,
        Some(number @ ("number" | "integer")) => FieldKind::Number {
            whole: number == "integer",
            least: schema.get("minimum").and_then(Value::as_f64),
            most: schema.get("maximum").and_then(Value::as_f64),
        },
        Some("array") => FieldKind::Many {
            choices: choices(schema.get("items").unwrap_or(&Value::Null))?,
            fewest: count("minItems"),
            most: count("maxItems"),
        },
        _ => match choices(schema)? {
            choices if choices.is_empty() => FieldKind::Text {
                min_letters: count("minLength"),
                max_letters: count("maxLength"),
                format: schema
                    .get("format")
                    .and_then(Value::as_str)
                    .and_then(format),
            },
            choices => FieldKind::One { choices },
        },
    };
    let shown_name = words(name);
    Ok(Field {
        title: text("title")
            .filter(|title| !title.is_empty())
            .unwrap_or(shown_name),
        name: name.to_owned(),
        description: text("description").unwrap_or_default(),
        required,
        default: schema.get("default").cloned(),
        kind,
    })
}

fn format(name: &str) -> Option<TextFormat> {
    match name {
        "email" => Some(TextFormat::Email),
        "uri" => Some(TextFormat::Uri),
        "date" => Some(TextFormat::Date),
        "date-time" => Some(TextFormat::DateTime),
        _ => None,
    }
}

/// The choices of a field in either way of writing them: values with names beside them, or values
/// with a title each.
fn choices(schema: &Value) -> Result<Vec<Choice>, Refused> {
    let titled = schema.get("oneOf").or_else(|| schema.get("anyOf"));
    let choices: Vec<Choice> = if let Some(titled) = titled.and_then(Value::as_array) {
        let one = |choice: &Value| {
            let value = choice.get("const")?.as_str()?.to_owned();
            let title = choice.get("title").and_then(Value::as_str);
            let title = words(title.unwrap_or(&value));
            Some(Choice { value, title })
        };
        titled.iter().filter_map(one).collect()
    } else {
        let values = schema.get("enum").and_then(Value::as_array);
        let names = schema.get("enumNames").and_then(Value::as_array);
        let one = |(place, value): (usize, &Value)| {
            let value = value.as_str()?.to_owned();
            let name = names.and_then(|names| names.get(place)?.as_str());
            let title = words(name.unwrap_or(&value));
            Some(Choice { value, title })
        };
        values
            .into_iter()
            .flatten()
            .enumerate()
            .filter_map(one)
            .collect()
    };
    if choices.len() > CHOICES_MAX {
        return Err(Refused(format!(
            "A field of its form has {} choices; at most {CHOICES_MAX} are shown.",
            choices.len()
        )));
    }
    Ok(choices)
}

fn visit(url: &str) -> Result<Wants, Refused> {
    let refused = |why: &str| Refused(format!("It asks to open an address, and {why}."));
    if url.len() > URL_BYTES_MAX {
        return Err(refused("that is too long"));
    }
    let parsed = Url::parse(url).map_err(|_| refused("that is none"))?;
    let near = is_this_machine(&parsed);
    if parsed.scheme() != "https" && !(parsed.scheme() == "http" && near) {
        return Err(refused("only https addresses are opened"));
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err(refused(
            "a name in front of its host would hide where it leads",
        ));
    }
    let Some(host) = parsed.host_str() else {
        return Err(refused("that names no host"));
    };
    let host = host.to_owned();
    Ok(Wants::Visit {
        url: parsed.into(),
        host,
    })
}

fn asks_for_a_secret(field: &Field) -> bool {
    let squeezed = |text: &str| -> String {
        text.chars()
            .filter(|letter| letter.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect()
    };
    // A choice or a yes holds no secret, whatever it is about.
    if !matches!(
        field.kind,
        FieldKind::Text { .. } | FieldKind::Number { .. }
    ) {
        return false;
    }
    [&field.name, &field.title, &field.description]
        .iter()
        .any(|text| holds_secret_word(text))
        || SECRET_NAMES.contains(&squeezed(&field.name).as_str())
        || SECRET_NAMES.contains(&squeezed(&field.title).as_str())
}

fn holds_secret_word(text: &str) -> bool {
    let squeezed: String = text
        .chars()
        .filter(|letter| letter.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    SECRET_WORDS.iter().any(|word| squeezed.contains(word))
}

fn fill_in(values: &mut Map<String, Value>, schema: &ElicitationSchema) {
    for (name, property) in &schema.properties {
        let default = serde_json::to_value(property)
            .ok()
            .and_then(|property| property.get("default").cloned());
        if let Some(default) = default.filter(|_| !values.contains_key(name)) {
            values.insert(name.clone(), default);
        }
    }
}

fn fits(values: &Map<String, Value>, schema: &ElicitationSchema) -> bool {
    let known = values
        .keys()
        .all(|name| schema.properties.contains_key(name));
    let Ok(schema) = serde_json::to_value(schema) else {
        return false;
    };
    known
        && jsonschema::validator_for(&schema)
            .is_ok_and(|validator| validator.is_valid(&Value::Object(values.clone())))
}

/// A value that fits a field, for whoever plays the person.
pub(crate) fn proposed(field: &Field) -> Value {
    match (&field.default, &field.kind) {
        (Some(default), _) => default.clone(),
        (None, FieldKind::Text { .. }) => "x".into(),
        (None, FieldKind::Number { .. }) => 1.into(),
        (None, FieldKind::YesNo) => true.into(),
        (None, FieldKind::One { choices }) => choices
            .first()
            .map_or(Value::Null, |choice| choice.value.clone().into()),
        (None, FieldKind::Many { .. }) => Value::Array(Vec::new()),
    }
}

fn words(text: &str) -> String {
    head(without_hidden(&plain(text)).trim(), WORDS_BYTES)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(value: Value) -> ElicitRequestParams {
        serde_json::from_value(value).unwrap()
    }

    fn form_of(properties: Value) -> ElicitRequestParams {
        asked(json!({
            "mode": "form", "message": "Tell me",
            "requestedSchema": {"type": "object", "properties": properties},
        }))
    }

    #[test]
    fn a_form_is_shown_with_its_choices_and_defaults() {
        let asked = form_of(json!({
            "city": {"type": "string", "title": "Which\u{200b} city", "default": "Bern"},
            "mode": {"type": "string", "enum": ["a", "b"], "enumNames": ["First", "Second"]},
            "days": {"type": "integer"},
        }));
        let question = question("s", &asked).unwrap();
        let Wants::Form { fields } = question.wants else {
            panic!("a form expected");
        };
        let shown: Vec<(&str, &str)> = fields
            .iter()
            .map(|field| (field.name.as_str(), field.title.as_str()))
            .collect();
        assert_eq!(
            shown,
            [("city", "Which city"), ("days", "days"), ("mode", "mode")]
        );
        assert_eq!(fields[0].default, Some(json!("Bern")));
        let FieldKind::One { choices } = &fields[2].kind else {
            panic!("a choice expected");
        };
        assert_eq!(choices[1].title, "Second");
    }

    #[test]
    fn a_form_that_asks_for_a_secret_is_refused_with_a_word() {
        for properties in [
            json!({"password": {"type": "string"}}),
            json!({"x": {"type": "string", "title": "Your API key"}}),
            json!({"x": {"type": "string", "description": "the access_token of your account"}}),
            json!({"pin": {"type": "integer"}}),
            json!({"Token": {"type": "string"}}),
        ] {
            let refused = question("s", &form_of(properties.clone())).unwrap_err();
            assert!(
                refused.0.starts_with("It asks for a secret"),
                "{properties}"
            );
        }
        let by_message = asked(json!({
            "message": "Please type your password below",
            "requestedSchema": {"type": "object", "properties": {"x": {"type": "string"}}},
        }));
        assert!(question("s", &by_message).is_err());
        let harmless = form_of(json!({
            "keyboard": {"type": "string"}, "pins": {"type": "boolean", "title": "Keep the token?"},
        }));
        assert!(question("s", &harmless).is_ok());
    }

    #[test]
    fn only_addresses_that_show_where_they_lead_are_visited() {
        let visit = |url: &str| {
            let asked = asked(json!({
                "mode": "url", "message": "Sign in", "url": url, "elicitationId": "1",
            }));
            question("s", &asked)
        };
        let good = visit("https://example.org/pay?x=1").unwrap();
        assert!(matches!(good.wants, Wants::Visit { host, .. } if host == "example.org"));
        for bad in [
            "http://example.org/",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "https://bank.example@evil.example/",
            "nonsense",
        ] {
            assert!(visit(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_answer_takes_the_defaults_and_must_fit_the_form() {
        let asked = form_of(json!({
            "city": {"type": "string", "default": "Bern"},
            "days": {"type": "integer", "minimum": 1},
        }));
        let given = |values: Value| {
            let Value::Object(values) = values else {
                panic!("an object expected");
            };
            result(&asked, Answer::Reply(Reply::Given { values }))
        };
        let good = given(json!({"days": 2}));
        assert_eq!(good.action, ElicitationAction::Accept);
        assert_eq!(good.content, Some(json!({"city": "Bern", "days": 2})));
        for bad in [
            json!({"days": 0}),
            json!({"days": "two"}),
            json!({"other": 1}),
        ] {
            assert_eq!(given(bad).action, ElicitationAction::Cancel);
        }
        assert_eq!(
            result(&asked, Answer::Reply(Reply::Declined)).action,
            ElicitationAction::Decline
        );
    }
}
