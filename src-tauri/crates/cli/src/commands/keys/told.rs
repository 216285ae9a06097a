//! Keys in words: where each comes from, and what is wrong.

use longrein_app::keys::{KeyLine, KeyList, KeyPlace, KeyUse};
use longrein_keys::{Backend, Found, Source, Standing};

use crate::failure::{Failure, Status};
use crate::screen::{Screen, Tone};
use crate::text;

/// Columns of a name.
const NAME_COLUMNS: usize = 18;
/// Columns of what is shown of a key.
const KEY_COLUMNS: usize = 9;

/// A place, behind `in`.
pub fn in_words(backend: Backend) -> &'static str {
    match backend {
        Backend::Keychain => "the keychain",
        Backend::File => "the encrypted file",
        Backend::Memory => "memory only",
    }
}

/// A source as the subject of a sentence.
pub fn source_in_words(source: &Source) -> String {
    match source {
        Source::Environment(variable) => format!("The variable {variable}"),
        Source::Keychain => "The keychain".to_owned(),
        Source::File => "The encrypted file".to_owned(),
        Source::Memory => "The memory of this process".to_owned(),
    }
}

/// A key that was found: where, and its last four characters.
pub fn found_in_words(found: &Found) -> String {
    let source = match &found.source {
        Source::Environment(variable) => format!("the variable {variable}"),
        Source::Keychain => "the keychain".to_owned(),
        Source::File => "the encrypted file".to_owned(),
        Source::Memory => "memory".to_owned(),
    };
    match &found.last4 {
        Some(last4) => format!("{source} (ends in {})", text::plain(last4)),
        None => source,
    }
}

/// `keys`.
pub fn list(list: &KeyList, screen: &mut Screen) -> Result<Status, Failure> {
    if screen.is_json() {
        for line in &list.keys {
            screen.json(line)?;
        }
        return Ok(Status::Done);
    }
    for line in &list.keys {
        tell(line, screen)?;
    }
    if list.keys.is_empty() {
        screen.result("No key is kept, and no provider is configured.")?;
        screen.result("Keep one with: longrein keys set anthropic")?;
    }
    say_place(&list.place, screen);
    Ok(Status::Done)
}

fn tell(line: &KeyLine, screen: &mut Screen) -> Result<(), Failure> {
    let name = text::cell(&text::plain(&line.name), NAME_COLUMNS);
    let (shown, tone) = match (&line.found, &line.problem) {
        (Some(found), _) => {
            let last4 = found.last4.as_deref().map(text::plain);
            let shown = last4.map_or_else(|| "present".to_owned(), |last4| format!("…{last4}"));
            (shown, Tone::Good)
        }
        (None, Some(_)) => ("missing".to_owned(), Tone::Bad),
        (None, None) => ("none".to_owned(), Tone::Quiet),
    };
    let shown = screen.result_painted(tone, &text::cell(&shown, KEY_COLUMNS));
    let mut from = match (&line.found, &line.problem) {
        (Some(found), _) => of_source(&found.source),
        (None, Some(problem)) => text::plain(&problem.message),
        (None, None) => String::new(),
    };
    if let Some(kept) = &line.overridden {
        from = format!("{from}, which overrides {}", found_in_words(kept));
    }
    let used_by = match &line.used_by {
        KeyUse::Provider => String::new(),
        KeyUse::Servers(servers) => format!(" · for {}", text::plain(&servers.join(", "))),
        KeyUse::Nothing => " · not used".to_owned(),
    };
    let used_by = screen.result_painted(Tone::Quiet, &used_by);
    screen.result(format!("{name} {shown} {from}{used_by}").trim_end())?;
    if let (None, Some(problem)) = (&line.found, &line.problem)
        && !problem.remedy.is_empty()
    {
        let indent = " ".repeat(NAME_COLUMNS + KEY_COLUMNS + 2);
        screen.result(&format!("{indent}{}", text::plain(&problem.remedy)))?;
    }
    Ok(())
}

fn of_source(source: &Source) -> String {
    match source {
        Source::Environment(variable) => format!("variable {variable}"),
        Source::Keychain => "keychain".to_owned(),
        Source::File => "encrypted file".to_owned(),
        Source::Memory => "memory".to_owned(),
    }
}

/// What is wrong with the place, or what it needs, beside the list.
fn say_place(place: &KeyPlace, screen: &mut Screen) {
    if let Some(problem) = &place.problem {
        screen.say(&text::plain(&problem.message));
        screen.say(&text::plain(&problem.remedy));
    } else if place.standing == Some(Standing::Locked) {
        let words = match place.backend {
            Backend::Keychain => "The keychain is locked: what is in it is not shown.",
            Backend::File | Backend::Memory => {
                "The encrypted file is closed: what is in it is not shown."
            }
        };
        screen.say(words);
    }
}

/// `keys store`.
pub fn place(place: &KeyPlace, screen: &mut Screen) -> Result<Status, Failure> {
    if screen.is_json() {
        screen.json(place)?;
        return Ok(status(place));
    }
    let chosen = if place.chosen {
        ""
    } else {
        " (the usual place; nobody has chosen)"
    };
    screen.result(&format!(
        "Keys are kept in {}{chosen}.",
        in_words(place.backend)
    ))?;
    if let Some(problem) = &place.problem {
        screen.result(&text::plain(&problem.message))?;
        screen.result(&text::plain(&problem.remedy))?;
        return Ok(status(place));
    }
    match (place.backend, place.standing) {
        (Backend::File, Some(Standing::New)) => {
            screen.result("There is no such file yet; setting a key makes it.")?;
        }
        (Backend::File, Some(Standing::Locked)) => {
            screen.result(&format!("{} is closed.", text::plain(&place.file)))?;
        }
        (Backend::File, _) => screen.result(&text::plain(&place.file))?,
        (Backend::Keychain, Some(Standing::Locked)) => screen.result("It is locked.")?,
        _ => {}
    }
    Ok(status(place))
}

fn status(place: &KeyPlace) -> Status {
    match place.problem {
        Some(_) => Status::Failed,
        None => Status::Done,
    }
}
