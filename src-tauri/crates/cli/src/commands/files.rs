//! `files` and `diff`: a run's files as they were, step by step.

use longrein_app::files::{Entry, FileChange, FilesAt, FilesDiff, Shown};
use longrein_core::view::left_out_words;
use serde_json::{Value, json};

use crate::arguments::{Diff, Files};
use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::screen::{Screen, Tone};
use crate::text;

/// Columns of a file's size.
const SIZE_COLUMNS: usize = 10;

/// `files`.
pub async fn files(context: &Context, files: Files) -> Result<Status, Failure> {
    let app = context.open()?;
    let run = app.find_run(&files.run).await?;
    let found = match &files.restore {
        Some(folder) => app.restore(run, files.at, folder).await?,
        None => app.files(run, files.at).await?,
    };
    let mut screen = context.screen();
    if screen.is_json() {
        for (path, entry) in &found.manifest.entries {
            screen.json(&named(path, Some(entry)))?;
        }
        return Ok(Status::Done);
    }
    if let Some(folder) = &files.restore {
        let folder = text::plain(&folder.to_string_lossy());
        screen.result(&format!("{} are in {folder}", summary(&found)))?;
    } else {
        for (path, entry) in &found.manifest.entries {
            tell_entry(path, entry, &mut screen)?;
        }
        screen.result(&summary(&found))?;
    }
    tell_limits(&found, &mut screen)?;
    Ok(Status::Done)
}

/// `diff`.
pub async fn diff(context: &Context, diff: Diff) -> Result<Status, Failure> {
    let app = context.open()?;
    let run = app.find_run(&diff.run).await?;
    let found = app.diff(run, diff.from, diff.to).await?;
    let mut screen = context.screen();
    if screen.is_json() {
        for change in &found.changes {
            screen.json(&change_as_json(change))?;
        }
        return Ok(Status::Done);
    }
    for change in &found.changes {
        tell_change(change, &mut screen)?;
    }
    tell_end(&found, &mut screen)?;
    Ok(Status::Done)
}

fn tell_entry(path: &str, entry: &Entry, screen: &mut Screen) -> Result<(), Failure> {
    let path = text::plain(path);
    let (size, words) = match entry {
        Entry::File {
            bytes, executable, ..
        } => {
            let mark = if *executable { "  (may be run)" } else { "" };
            (size(*bytes), format!("{path}{mark}"))
        }
        Entry::Folder => ("folder".to_owned(), format!("{path}/")),
        Entry::Link { target } => (
            "link".to_owned(),
            format!("{path} → {}", text::plain(target)),
        ),
    };
    screen.result(&format!("{size:>SIZE_COLUMNS$}  {words}"))
}

fn summary(found: &FilesAt) -> String {
    let files = found.manifest.entries.values();
    let count = files
        .filter(|entry| !matches!(entry, Entry::Folder))
        .count();
    let count = text::counted(u32::try_from(count).unwrap_or(u32::MAX), "file");
    match found.recorded {
        Some(seq) => format!(
            "{count}, {}, as recorded by event {seq}",
            size(found.manifest.bytes())
        ),
        None => format!("{count}: nothing was recorded by event {}", found.at),
    }
}

fn tell_limits(found: &FilesAt, screen: &mut Screen) -> Result<(), Failure> {
    let left_out = found.left_out();
    if !left_out.is_empty() {
        let words = text::plain(&left_out_words(&left_out));
        let words = screen.result_painted(Tone::Accent, &format!("Not recorded: {words}"));
        screen.result(&words)?;
    }
    if found.open {
        screen
            .result("What began after that may have changed them; it is recorded with its step.")?;
    }
    Ok(())
}

fn tell_change(change: &FileChange, screen: &mut Screen) -> Result<(), Failure> {
    let path = text::plain(&change.path);
    let what = match (&change.before, &change.after) {
        (None, _) => "added",
        (_, None) => "removed",
        _ => "changed",
    };
    let sizes = match (&change.before, &change.after) {
        (Some(Entry::File { bytes: before, .. }), Some(Entry::File { bytes: after, .. })) => {
            format!("{} → {}", size(*before), size(*after))
        }
        (_, Some(entry)) | (Some(entry), None) => kind_words(entry),
        (None, None) => String::new(),
    };
    let note = match &change.shown {
        Shown::Lines { .. } | Shown::Entry => "",
        Shown::Binary => ", no text",
        Shown::TooLarge => ", too long to be compared",
        Shown::NotCompared => ", not compared: there are too many",
    };
    let head = screen.result_painted(Tone::Accent, &format!("{what} {path}"));
    screen.result(&format!("{head} ({sizes}{note})"))?;
    if let Shown::Lines { text: lines, cut } = &change.shown {
        for line in lines.lines() {
            let line = text::plain_lines(line);
            let tone = match line.as_bytes().first() {
                Some(b'+') => Tone::Good,
                Some(b'-') => Tone::Bad,
                Some(b'@') => Tone::Quiet,
                _ => Tone::Plain,
            };
            let line = screen.result_painted(tone, &line);
            screen.result(&line)?;
        }
        if *cut {
            screen.result("… more differs in this file; lay both out with files --restore")?;
        }
    }
    Ok(())
}

fn tell_end(found: &FilesDiff, screen: &mut Screen) -> Result<(), Failure> {
    if found.changes.is_empty() {
        screen.result("Nothing differs.")?;
    }
    tell_limits(&found.after, screen)
}

fn kind_words(entry: &Entry) -> String {
    match entry {
        Entry::File { bytes, .. } => size(*bytes),
        Entry::Folder => "folder".to_owned(),
        Entry::Link { target } => format!("link to {}", text::plain(target)),
    }
}

fn named(path: &str, entry: Option<&Entry>) -> Value {
    let mut value = json!({"path": path});
    let facts = match entry {
        Some(Entry::File {
            hash,
            bytes,
            executable,
            ..
        }) => json!({"kind": "file", "bytes": bytes, "hash": hash, "executable": executable}),
        Some(Entry::Folder) => json!({"kind": "folder"}),
        Some(Entry::Link { target }) => json!({"kind": "link", "target": target}),
        None => return Value::Null,
    };
    if let (Some(value), Value::Object(facts)) = (value.as_object_mut(), facts) {
        value.extend(facts);
    }
    value
}

fn change_as_json(change: &FileChange) -> Value {
    let mut value = json!({
        "path": change.path,
        "before": named(&change.path, change.before.as_ref()),
        "after": named(&change.path, change.after.as_ref()),
    });
    let (shown, lines) = match &change.shown {
        Shown::Lines { text, cut } => ("lines", Some((text, cut))),
        Shown::Binary => ("binary", None),
        Shown::TooLarge => ("too_large", None),
        Shown::NotCompared => ("not_compared", None),
        Shown::Entry => ("entry", None),
    };
    value["shown"] = shown.into();
    if let Some((text, cut)) = lines {
        value["diff"] = text.as_str().into();
        value["cut"] = (*cut).into();
    }
    value
}

/// Bytes as people read them.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GB", 1_000_000_000), ("MB", 1_000_000), ("KB", 1_000)];
    match UNITS.iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => format!("{:.1} {name}", bytes as f64 / *unit as f64),
        None => format!("{bytes} B"),
    }
}
