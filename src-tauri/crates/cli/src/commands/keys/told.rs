//! Keys in words: where each comes from, and what is wrong.

use longrein_app::keys::{KeyLine, KeyList, KeyPlace, KeyUse, PASSPHRASE_VARIABLE};
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
        say_place(&list.place, screen);
        return Ok(seen(&list.place));
    }
    let is_closed = is_closed_file(&list.place);
    for line in &list.keys {
        tell(line, is_closed, screen)?;
    }
    if list.keys.is_empty() && is_closed {
        screen.result("No provider is configured.")?;
    } else if list.keys.is_empty() {
        screen.result("No key is kept, and no provider is configured.")?;
        screen.result("Keep one with: longrein keys set anthropic")?;
    }
    say_place(&list.place, screen);
    Ok(seen(&list.place))
}

/// Whether there is an encrypted file that nothing is seen of.
fn is_closed_file(place: &KeyPlace) -> bool {
    let is_seen = matches!(place.standing, Some(Standing::Ready | Standing::New));
    place.backend == Backend::File && !is_seen
}

/// A keychain that is not there keeps nothing; a file that can't be opened may keep anything.
fn seen(place: &KeyPlace) -> Status {
    match place.backend {
        Backend::File => status(place),
        Backend::Keychain | Backend::Memory => Status::Done,
    }
}

fn tell(line: &KeyLine, is_closed: bool, screen: &mut Screen) -> Result<(), Failure> {
    let name = text::cell(&text::plain(&line.name), NAME_COLUMNS);
    let (shown, tone) = match (&line.found, &line.problem) {
        (Some(found), _) => {
            let last4 = found.last4.as_deref().map(text::plain);
            let shown = last4.map_or_else(|| "present".to_owned(), |last4| format!("…{last4}"));
            (shown, Tone::Good)
        }
        (None, Some(_)) => ("missing".to_owned(), Tone::Bad),
        (None, None) if is_closed && line.kept_as.is_some() => ("closed".to_owned(), Tone::Quiet),
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
        if place.backend == Backend::File {
            screen.say(&format!(
                "Its passphrase is asked for on a terminal; elsewhere it comes from the file that {PASSPHRASE_VARIABLE} names."
            ));
        }
    }
}

/// What stays in the place that keys were kept in before: how many, or nobody knows.
pub fn staying(from: Backend, count: Option<u32>, screen: &mut Screen) {
    let back = match from {
        // What was there is gone with the process that kept it.
        Backend::Memory => return,
        Backend::Keychain => "keychain",
        Backend::File => "file",
    };
    let what = match count {
        Some(0) => return,
        Some(1) => "1 secret stays".to_owned(),
        Some(count) => format!("{} stay", text::counted(count, "secret")),
        None => "What is kept stays".to_owned(),
    };
    screen.say(&format!(
        "{what} in {}, to be used again after: longrein keys store {back}",
        in_words(from)
    ));
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
