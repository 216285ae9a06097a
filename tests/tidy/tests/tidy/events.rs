//! Every type of event is named by one pattern and says what it means.

use longrein_tidy::{SourceFile, Tree, Violations, demand_none};

const EVENTS: &str = "src-tauri/crates/protocol/src/event.rs";

fn events(tree: &Tree) -> &SourceFile {
    tree.files
        .iter()
        .find(|file| file.path == EVENTS)
        .unwrap_or_else(|| panic!("{EVENTS} holds the events"))
}

/// `RunCreated = "run.created";` in the table of payloads, as (line, type, name on the wire).
fn table(file: &SourceFile) -> Vec<(usize, &str, &str)> {
    file.lines()
        .filter_map(|(at, line)| {
            let (name, wire) = line.trim().strip_suffix("\";")?.split_once(" = \"")?;
            let is_name = name.chars().all(char::is_alphanumeric);
            is_name.then_some((at, name, wire))
        })
        .collect()
}

/// `noun.past_verb`, in small letters.
fn is_event_name(wire: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty()
            && word
                .chars()
                .all(|letter| letter.is_ascii_lowercase() || letter == '_')
    };
    wire.split_once('.')
        .is_some_and(|(noun, verb)| is_word(noun) && is_word(verb))
}

#[test]
fn every_type_of_event_is_documented() -> Result<(), Violations> {
    let tree = Tree::read();
    let file = events(&tree);
    let lines: Vec<&str> = file.text.lines().collect();
    let types = table(file);
    assert!(
        types.len() > 20,
        "the table of events was not found: {} types",
        types.len()
    );
    let violations = types
        .iter()
        .filter(|(at, _, _)| *at < 2 || !lines[at - 2].trim().starts_with("///"))
        .map(|(at, name, _)| format!("{EVENTS}:{at}: {name} has no line that says what it means"))
        .collect();
    demand_none("A type of event is not documented.", violations)
}

#[test]
fn every_type_of_event_is_a_noun_and_a_past_verb() -> Result<(), Violations> {
    let tree = Tree::read();
    let file = events(&tree);
    let violations = table(file)
        .into_iter()
        .filter(|(_, _, wire)| !is_event_name(wire))
        .map(|(at, name, wire)| format!("{EVENTS}:{at}: {name} is called {wire}"))
        .collect();
    demand_none("An event is not called `noun.past_verb`.", violations)
}

#[test]
fn no_payload_uses_a_name_of_the_envelope() -> Result<(), Violations> {
    let tree = Tree::read();
    let file = syn::parse_file(&events(&tree).text).expect("the events are Rust");
    let names: Vec<String> = table(events(&tree))
        .into_iter()
        .map(|(_, name, _)| name.to_owned())
        .collect();
    let mut violations = Vec::new();
    for item in &file.items {
        let syn::Item::Struct(payload) = item else {
            continue;
        };
        if !names.contains(&payload.ident.to_string()) {
            continue;
        }
        for field in &payload.fields {
            let Some(name) = &field.ident else { continue };
            if ["run", "seq", "at", "type", "v"]
                .iter()
                .any(|reserved| name == reserved)
            {
                violations.push(format!("{}.{name}", payload.ident));
            }
            if !field
                .attrs
                .iter()
                .any(|attribute| attribute.path().is_ident("doc"))
            {
                violations.push(format!("{}.{name} is not documented", payload.ident));
            }
        }
    }
    demand_none(
        "A payload's field takes a reserved name, or says nothing.",
        violations,
    )
}
