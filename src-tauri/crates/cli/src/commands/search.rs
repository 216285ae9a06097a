//! `search`: words in everything that was ever said or found.

use longrein_app::search::{Marked, Search as Wanted, SearchHit};
use longrein_protocol::view::RunState;

use crate::arguments::Search;
use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::screen::{Screen, Tone};
use crate::summary;
use crate::text;

/// The columns of an event's number, and of what a hit is.
const SEQ_COLUMNS: usize = 7;
const KIND_COLUMNS: usize = 9;
/// The columns of a run's title.
const TITLE_COLUMNS: usize = 100;

/// `search`.
pub async fn search(context: &Context, search: Search) -> Result<Status, Failure> {
    let app = context.open()?;
    let run = match &search.run {
        Some(run) => app.find_run(run).await?.to_string(),
        None => String::new(),
    };
    let mut wanted = Wanted {
        words: search.words.join(" "),
        states: search.state.into_iter().map(RunState::from).collect(),
        agent: search.agent.unwrap_or_default(),
        run,
        after: String::new(),
    };
    let mut screen = context.screen();
    let (mut left, mut told_run) = (search.limit, String::new());
    loop {
        let page = app.search(wanted.clone()).await?;
        for hit in page.hits {
            if left == 0 {
                screen.say("There is more: raise --limit, or write more words.");
                return Ok(Status::Done);
            }
            left -= 1;
            if screen.is_json() {
                screen.json(&hit)?;
            } else {
                tell(&hit, &mut told_run, &mut screen)?;
            }
        }
        if page.next.is_empty() {
            break;
        }
        wanted.after = page.next;
    }
    if left == search.limit && !screen.is_json() {
        screen.result("Nothing was found.")?;
    }
    Ok(Status::Done)
}

/// Hits of one run that follow each other stand beneath its title.
fn tell(hit: &SearchHit, told_run: &mut String, screen: &mut Screen) -> Result<(), Failure> {
    if *told_run != hit.run.run {
        told_run.clone_from(&hit.run.run);
        let title = text::brief(&text::plain(&hit.run.title), TITLE_COLUMNS);
        let title = screen.result_painted(Tone::Accent, &title);
        let state = summary::state_words(hit.run.state);
        let state = screen.result_painted(summary::state_tone(hit.run.state), state);
        screen.result(&format!("{} {state} {title}", hit.run.run))?;
    }
    let place = text::cell(&format!("#{}", hit.seq), SEQ_COLUMNS);
    let kind = text::cell(&hit.kind, KIND_COLUMNS);
    let place = screen.result_painted(Tone::Quiet, &format!("{place} {kind}"));
    let words = painted(&hit.text, &hit.marks, screen);
    screen.result(&format!("{place} {words}"))
}

/// A text with its marks painted. Marks are counted in UTF-16.
fn painted(words: &str, marks: &[Marked], screen: &Screen) -> String {
    let units: Vec<u16> = words.encode_utf16().collect();
    let part = |from: u32, to: u32| {
        let (from, to) = (
            (from as usize).min(units.len()),
            (to as usize).min(units.len()),
        );
        text::plain(&String::from_utf16_lossy(&units[from.min(to)..to]))
    };
    let (mut shown, mut at) = (String::new(), 0);
    for mark in marks {
        shown.push_str(&part(at, mark.from));
        shown.push_str(&screen.result_painted(Tone::Good, &part(mark.from, mark.to)));
        at = mark.to;
    }
    shown.push_str(&part(at, u32::MAX));
    shown
}
