//! `show`: looking at what is recorded. Nothing here acts.

use longrein_app::{Longrein, RequestView};
use longrein_core::view::View;
use longrein_protocol::event::Fragment;
use longrein_protocol::view::RunState;
use longrein_protocol::{Body, RunId};
use longrein_runtime::history;
use serde_json::json;

use crate::arguments::Show;
use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::follow::End;
use crate::narrate;
use crate::screen::{Screen, Tone};
use crate::summary::{self, Summary};
use crate::text;

/// The columns of an event's number in a run's story.
const SEQ_COLUMNS: usize = 6;

/// `show`.
pub async fn show(context: &Context, show: Show) -> Result<Status, Failure> {
    let app = context.open()?;
    let run = app.find_run(&show.run).await?;
    let mut screen = context.screen();
    match show.request {
        Some(number) => {
            let request = app.request(run, number).await?;
            show_request(&app, &request, (number, show.raw), &mut screen).await
        }
        None if screen.is_json() => show_events(&app, run, &mut screen).await,
        None => show_run(context, &app, run, &mut screen).await,
    }
}

async fn show_events(app: &Longrein, run: RunId, screen: &mut Screen) -> Result<Status, Failure> {
    let mut outcome = Ok(());
    let mut show = |event: &longrein_protocol::Event| {
        if outcome.is_ok() {
            outcome = screen.event(event);
        }
    };
    let damage = history::each_event(app.store(), run, &mut show).await?;
    outcome?;
    match damage {
        Some(damage) => Err(Failure::said(
            Status::Failed,
            format!("Event {} is damaged: {}.", damage.seq, damage.what),
            "See what is damaged with: longrein log check",
        )),
        None => Ok(Status::Done),
    }
}

async fn show_run(
    context: &Context,
    app: &Longrein,
    run: RunId,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    let summary = Summary::read(context, app, run).await?;
    let title = screen.result_painted(Tone::Accent, &text::plain(&summary.line.title));
    screen.result(&title)?;
    screen.result("")?;
    for row in summary.view.rows() {
        let mut number = format!("#{}", row.seq);
        for line in narrate::lines_of(row) {
            let line = screen.result_painted(line.tone, &line.text);
            let place = screen.result_painted(Tone::Quiet, &text::cell(&number, SEQ_COLUMNS));
            screen.result(&format!("{place} {line}"))?;
            // `files`, `diff` and `fork` take it.
            number.clear();
        }
    }
    tell_panel(&summary.view, screen)?;
    summary.tell(&End::Undriven, screen)?;
    Ok(match summary.line.state {
        RunState::Unreadable => Status::Failed,
        _ => Status::Done,
    })
}

fn tell_panel(view: &View, screen: &mut Screen) -> Result<(), Failure> {
    let head = view.head();
    section("Plan", !head.plan.is_empty(), screen)?;
    for item in &head.plan {
        let state = serde_json::to_value(item.state)?;
        let state = text::cell(state.as_str().unwrap_or_default(), 8);
        let state = screen.result_painted(Tone::Quiet, &state);
        screen.result(&format!("  {state} {}", text::plain(&item.text)))?;
    }
    section("Sources", !head.sources.is_empty(), screen)?;
    for source in &head.sources {
        let place = source.meta.file.as_ref().or(source.meta.url.as_ref());
        let place = place.map(|place| format!(" ({place})")).unwrap_or_default();
        let words = format!("{} {}{place}", text::cell(&source.id, 5), source.meta.title);
        screen.result(&format!("  {}", text::plain(&words)))?;
    }
    let budget = summary::budget(&head);
    section("Limits", !budget.is_empty(), screen)?;
    for words in &budget {
        screen.result(&format!("  {words}"))?;
    }
    section("Rules beside the agent's", !head.rules.is_empty(), screen)?;
    for rule in &head.rules {
        screen.result(&format!("  {}", narrate::rule_words(rule)))?;
    }
    section(
        "Checked",
        !head.done_when.is_empty() && head.verified,
        screen,
    )?;
    for result in &head.done_when {
        let (tone, word) = match (result.holds, result.waits) {
            (true, _) => (Tone::Good, "holds"),
            (false, true) => (Tone::Accent, "waits"),
            (false, false) => (Tone::Bad, "fails"),
        };
        let word = screen.result_painted(tone, word);
        let words = text::plain(&format!("{}: {}", result.criterion, result.evidence));
        screen.result(&format!("  {word} {words}"))?;
    }
    Ok(())
}

fn section(title: &str, is_there: bool, screen: &mut Screen) -> Result<(), Failure> {
    if is_there {
        screen.result("")?;
        let title = screen.result_painted(Tone::Quiet, title);
        screen.result(&title)?;
    }
    Ok(())
}

async fn show_request(
    app: &Longrein,
    view: &RequestView,
    (number, raw): (u32, bool),
    screen: &mut Screen,
) -> Result<Status, Failure> {
    let request = &view.request;
    if raw {
        screen.bytes(&request.sealed.bytes)?;
    } else if screen.is_json() {
        let body: serde_json::Value = serde_json::from_slice(&request.sealed.bytes)?;
        let parts = request.fragments.iter().map(part);
        screen.json(&json!({
            "request": number,
            "model": request.requested.model,
            "sha256": request.sealed.sha256,
            "exact": view.exact,
            "bytes": request.sealed.bytes.len(),
            "parts": parts.collect::<Vec<_>>(),
            "body": body,
        }))?;
    } else {
        tell_request(app, view, number, screen).await?;
    }
    if view.exact {
        return Ok(Status::Done);
    }
    Err(Failure::said(
        Status::Failed,
        format!("What the log rebuilds of request {number} is not what was sent."),
        "See what is damaged with: longrein log check",
    ))
}

/// What a piece of a request is, whose words it has, and whether they may be believed.
fn part(fragment: &Fragment) -> serde_json::Value {
    json!({
        "section": fragment.part.name(),
        "bytes": fragment.body.len(),
        "origin": fragment.origin,
        "trust": fragment.trust,
    })
}

async fn tell_request(
    app: &Longrein,
    view: &RequestView,
    number: u32,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let request = &view.request;
    screen.result(&format!(
        "Request {number} to {} · {} bytes · SHA-256 {}",
        text::plain(&request.requested.model),
        text::count(request.sealed.bytes.len() as u64),
        request.sealed.sha256
    ))?;
    let mut section = "";
    for fragment in &request.fragments {
        if fragment.part.name() != section {
            section = fragment.part.name();
            screen.result("")?;
            let title = screen.result_painted(Tone::Accent, section);
            screen.result(&title)?;
        }
        screen.result(&text::plain_lines(&content(app, &fragment.body).await?))?;
    }
    Ok(())
}

async fn content(app: &Longrein, body: &Body) -> Result<String, Failure> {
    let bytes = app.content(body).await?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
