use longrein_protocol::question::{Choice, Field, FieldKind, Reply, TextFormat, Wants};
use serde_json::{Map, Value, json};

use super::{checked, filled_in, fitting, in_titles, in_words, lines, read, typed};

fn field(name: &str, kind: FieldKind) -> Field {
    Field {
        name: name.to_owned(),
        title: name.to_owned(),
        description: String::new(),
        required: true,
        default: None,
        kind,
    }
}

fn text(format: Option<TextFormat>) -> FieldKind {
    FieldKind::Text {
        min_letters: None,
        max_letters: Some(30),
        format,
    }
}

fn number(whole: bool) -> FieldKind {
    FieldKind::Number {
        whole,
        least: Some(1.0),
        most: Some(5.0),
    }
}

fn choices() -> Vec<Choice> {
    let choice = |value: &str, title: &str| Choice {
        value: value.to_owned(),
        title: title.to_owned(),
    };
    vec![
        choice("a", "First"),
        choice("b", "Second"),
        choice("c", "c"),
    ]
}

fn many() -> FieldKind {
    FieldKind::Many {
        choices: choices(),
        fewest: Some(1),
        most: Some(2),
    }
}

fn wrong(kind: FieldKind, value: Value) -> String {
    let values = Map::from_iter([("f".to_owned(), value)]);
    match checked(&[field("f", kind)], values) {
        Ok(_) => String::new(),
        Err(mistakes) => in_words(&mistakes),
    }
}

#[test]
fn a_value_fits_its_field_or_is_told_what_it_has_to_be() {
    let one = || FieldKind::One { choices: choices() };
    let good = [
        (text(None), json!("x")),
        (text(Some(TextFormat::Email)), json!("ann@example.org")),
        (text(Some(TextFormat::Uri)), json!("https://example.org/a")),
        (text(Some(TextFormat::Date)), json!("2024-02-29")),
        (
            text(Some(TextFormat::DateTime)),
            json!("2026-07-28T09:00:00.5+02:00"),
        ),
        (number(true), json!(5)),
        (number(true), json!(5.0)),
        (number(false), json!(1.5)),
        (FieldKind::YesNo, json!(false)),
        (one(), json!("b")),
        (many(), json!(["a", "c"])),
    ];
    for (kind, value) in good {
        assert_eq!(wrong(kind.clone(), value.clone()), "", "{kind:?} {value}");
    }
    let bad = [
        (text(None), json!(7)),
        (text(None), json!("x".repeat(31))),
        (text(Some(TextFormat::Email)), json!("ann at example")),
        (text(Some(TextFormat::Uri)), json!("example.org")),
        (text(Some(TextFormat::Date)), json!("2023-02-29")),
        (text(Some(TextFormat::DateTime)), json!("2026-07-28 09:00")),
        (number(true), json!(1.5)),
        (number(true), json!(6)),
        (number(false), json!("2")),
        (FieldKind::YesNo, json!("yes")),
        (one(), json!("First")),
        (many(), json!([])),
        (many(), json!(["a", "a"])),
        (many(), json!(["a", "b", "c"])),
        (many(), json!(["d"])),
    ];
    for (kind, value) in bad {
        let said = wrong(kind.clone(), value.clone());
        assert!(
            said.starts_with("“f” has to be "),
            "{kind:?} {value}: {said}"
        );
    }
    assert_eq!(
        wrong(number(true), json!(9)),
        "“f” has to be a whole number, from 1 to 5."
    );
}

#[test]
fn what_is_missing_takes_its_default_and_what_is_unknown_is_named() {
    let mut days = field("days", number(true));
    days.default = Some(json!(3));
    let mut note = field("note", text(None));
    note.required = false;
    let fields = [days, note, field("city", text(None))];
    let values = |value: Value| serde_json::from_value(value).unwrap();
    let full = checked(&fields, values(json!({"city": "Bern", "note": null})));
    assert_eq!(
        Value::Object(full.unwrap()),
        json!({"city": "Bern", "days": 3})
    );
    let mistakes = checked(&fields, values(json!({"town": "Bern"}))).unwrap_err();
    assert_eq!(
        in_words(&mistakes),
        "“town” is no field of the form, which has: days, note, city; “city” is missing; it has \
         to be a text, at most 30 characters long."
    );
}

#[test]
fn an_answer_is_json_or_the_value_of_the_only_field_or_a_word_that_says_no() {
    let one = Wants::Form {
        fields: vec![field("city", text(None))],
    };
    let given = |value: Value| Reply::Given {
        values: serde_json::from_value(value).unwrap(),
    };
    assert_eq!(
        read(&one, " Bern\n").unwrap(),
        given(json!({"city": "Bern"}))
    );
    assert_eq!(
        read(&one, "{\"city\": \"Bern\"}").unwrap(),
        given(json!({"city": "Bern"}))
    );
    assert_eq!(read(&one, "Decline").unwrap(), Reply::Declined);
    assert_eq!(read(&one, "dismiss").unwrap(), Reply::Dismissed);
    let two = Wants::Form {
        fields: vec![field("city", text(None)), field("days", number(true))],
    };
    assert_eq!(
        in_words(&read(&two, "Bern").unwrap_err()),
        "the answer has to be JSON with a value for each field: {\"city\": …, \"days\": …}; or \
         say decline or dismiss."
    );
    let page = Wants::Visit {
        url: "https://pay.example/1".to_owned(),
        host: "pay.example".to_owned(),
    };
    assert_eq!(read(&page, "visited").unwrap(), given(json!({})));
    // Nothing but the word says that a person agreed.
    for other in ["", "y", "yes", "{}"] {
        assert!(read(&page, other).is_err(), "{other}");
    }
    assert_eq!(lines(&page)[1], "  https://pay.example/1");
}

#[test]
fn a_field_is_typed_without_json() {
    let of = |kind: FieldKind, line: &str| typed(&field("f", kind), line);
    let one = || FieldKind::One { choices: choices() };
    assert_eq!(of(number(true), "3"), Ok(Some(json!(3))));
    assert_eq!(of(number(false), "2.5"), Ok(Some(json!(2.5))));
    assert_eq!(of(FieldKind::YesNo, "Y"), Ok(Some(json!(true))));
    assert_eq!(of(one(), "second"), Ok(Some(json!("b"))));
    assert_eq!(of(one(), "1"), Ok(Some(json!("a"))));
    assert_eq!(of(many(), "First, c"), Ok(Some(json!(["a", "c"]))));
    for (kind, line) in [
        (number(true), "2.5"),
        (FieldKind::YesNo, "maybe"),
        (one(), "4"),
        (many(), "a, d"),
        (text(None), ""),
    ] {
        assert!(of(kind.clone(), line).is_err(), "{kind:?} {line}");
    }
    let mut optional = field("f", text(None));
    optional.required = false;
    assert_eq!(typed(&optional, ""), Ok(None));
    optional.default = Some(json!("x"));
    assert_eq!(typed(&optional, ""), Ok(Some(json!("x"))));
}

#[test]
fn what_is_typed_into_a_form_becomes_what_its_fields_hold() {
    let mut days = field("days", number(true));
    days.default = Some(json!(3));
    days.title = "How many days".to_owned();
    let fields = vec![
        days,
        field("note", text(None)),
        field("keep", FieldKind::YesNo),
        field("mode", FieldKind::One { choices: choices() }),
        field("kinds", many()),
    ];
    let form = Wants::Form { fields };
    let given = |days: &str| {
        let values = json!({
            "days": days, "note": "5", "keep": "false", "mode": "b", "kinds": ["a", "c"],
        });
        let values = filled_in(&form, serde_json::from_value(values).unwrap());
        fitting(&form, Reply::Given { values })
    };
    let Reply::Given { values } = given(" 4 ").unwrap() else {
        panic!("values expected");
    };
    let wanted = json!({
        "days": 4, "note": "5", "keep": false, "mode": "b", "kinds": ["a", "c"],
    });
    assert_eq!(Value::Object(values), wanted);
    // What was left empty is not taken for the default, and what is off is told by its title.
    for off in ["", "four", "9"] {
        assert_eq!(
            in_titles(&form, given(off).unwrap_err()),
            "“How many days” has to be a whole number, from 1 to 5.",
            "{off}"
        );
    }
}
