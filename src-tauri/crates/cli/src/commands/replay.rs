//! `replay` and `compare`: looking back at runs. Nothing here acts.

use longrein_app::Longrein;
use longrein_app::replay::{ComparedRow, ComparedStep, Comparison, Verification};
use longrein_protocol::RunId;

use crate::arguments::{Compare, Replay};
use crate::commands::runs;
use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::narrate;
use crate::screen::{Screen, Tone};
use crate::summary;
use crate::text;

/// The columns of an event's number.
const SEQ_COLUMNS: usize = 6;
/// The columns of a fact's name in a comparison.
const NAME_COLUMNS: usize = 9;
/// The columns of what is said where no terminal cuts it.
const WORDS_COLUMNS: usize = 200;

/// `replay`.
pub async fn replay(context: &Context, replay: Replay) -> Result<Status, Failure> {
    let app = context.open()?;
    let mut screen = context.screen();
    let run = match &replay.run {
        Some(run) => app.find_run(run).await?,
        None => return verify_all(&app, &mut screen).await,
    };
    if replay.verify {
        let found = app.verify(run).await?;
        tell_verification(&found, &mut screen)?;
        return concluded(&[found]);
    }
    if screen.is_json() {
        return points(&app, run, &replay, &mut screen).await;
    }
    story(&app, run, &replay, &mut screen).await
}

/// Derives every run again.
async fn verify_all(app: &Longrein, screen: &mut Screen) -> Result<Status, Failure> {
    let mut found = Vec::new();
    for line in runs::newest(app, u32::MAX).await? {
        let Ok(run) = line.run.parse() else { continue };
        if !screen.is_json() {
            let title = screen.result_painted(Tone::Accent, &text::plain(&line.title));
            screen.result(&format!("{} {title}", line.run))?;
        }
        let verified = app.verify(run).await?;
        tell_verification(&verified, screen)?;
        found.push(verified);
    }
    concluded(&found)
}

/// Every event as a point, a line of JSON each.
async fn points(
    app: &Longrein,
    run: RunId,
    replay: &Replay,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    let mut from = Some(replay.from);
    while let Some(next) = from {
        let page = app.points(run, next).await?;
        from = page.next;
        for point in page.points {
            if replay.to.is_some_and(|to| point.seq > to) {
                return Ok(Status::Done);
            }
            screen.json(&point)?;
        }
    }
    Ok(Status::Done)
}

/// The rows of the run as they were at the last event that is wanted.
async fn story(
    app: &Longrein,
    run: RunId,
    replay: &Replay,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    let mut pages = Vec::new();
    let then = app.view_at(run, replay.to).await?;
    let mut before = then.rows.first().map(|row| row.seq);
    let (title, seq) = (then.head.title.clone(), then.seq);
    let (state, reason) = (then.head.state, then.head.reason.clone());
    pages.push(then.rows);
    while let Some(first) = before.filter(|first| *first > replay.from) {
        let rows = app.rows_at(run, replay.to, first).await?;
        before = rows.first().map(|row| row.seq);
        pages.push(rows);
    }
    let title = screen.result_painted(Tone::Accent, &text::plain(&title));
    screen.result(&title)?;
    screen.result("")?;
    let rows = pages.iter().rev().flatten();
    for row in rows.filter(|row| row.seq >= replay.from) {
        let mut number = format!("#{}", row.seq);
        for line in narrate::lines_of(row) {
            let line = screen.result_painted(line.tone, &line.text);
            let place = screen.result_painted(Tone::Quiet, &text::cell(&number, SEQ_COLUMNS));
            screen.result(&format!("{place} {line}"))?;
            number.clear();
        }
    }
    screen.result("")?;
    let words = screen.result_painted(summary::state_tone(state), summary::state_words(state));
    screen.result(&format!("At event {seq}: {words} {}", text::plain(&reason)))?;
    Ok(Status::Done)
}

fn tell_verification(found: &Verification, screen: &mut Screen) -> Result<(), Failure> {
    if screen.is_json() {
        let mut told = serde_json::to_value(found)?;
        told["holds"] = found.holds().into();
        screen.json(&told)?;
    } else {
        for difference in &found.differences {
            let place = format!("event {}, {}", difference.seq, difference.of);
            let place = screen.result_painted(Tone::Bad, &place);
            screen.result(&format!("{place}:"))?;
            screen.result(&format!("  the log  {}", text::plain(&difference.logged)))?;
            screen.result(&format!("  derived  {}", text::plain(&difference.derived)))?;
        }
        if found.more > 0 {
            screen.result(&format!("and {} more", found.more))?;
        }
        for underived in &found.underived {
            let words = format!("event {}: {}", underived.seq, underived.why);
            let words = screen.result_painted(Tone::Accent, &text::plain(&words));
            screen.result(&words)?;
        }
        screen.result(&format!(
            "Derived again: {}, {}, {} put together and {} by their bytes, {}.",
            text::counted(found.events, "event"),
            text::counted(found.decisions, "decision"),
            text::counted(found.contexts, "request"),
            found.requests,
            text::counted(found.facts, "further fact"),
        ))?;
        let end = match (found.differences.is_empty(), found.holds()) {
            (true, true) => "All of it is what the log says.".to_owned(),
            (false, true) => format!(
                "The run is of version {}, and this is {}: what differs is listed, and no fault.",
                text::plain(&found.made_by),
                found.derived_by
            ),
            (_, false) => String::new(),
        };
        screen.result(end.trim_end())?;
    }
    Ok(())
}

/// The exit status of what was derived.
fn concluded(found: &[Verification]) -> Result<Status, Failure> {
    let Some(first) = found.iter().find(|found| !found.holds()) else {
        return Ok(Status::Done);
    };
    let message = match first.damage.as_str() {
        "" => format!(
            "What is derived of run {} is not what its log says.",
            first.run
        ),
        damage => format!("Run {}: {damage}", first.run),
    };
    Err(Failure::said(
        Status::Failed,
        message,
        "See whether the log is damaged with: longrein log check. If it is whole, please report this with the run's log.",
    ))
}

/// `compare`.
pub async fn compare(context: &Context, compare: Compare) -> Result<Status, Failure> {
    let app = context.open()?;
    let left = app.find_run(&compare.left).await?;
    let right = app.find_run(&compare.right).await?;
    let mut screen = context.screen();
    let mut page = app.compare(left, right, 0).await?;
    if !screen.is_json() {
        tell_facts(&page, &mut screen)?;
    }
    loop {
        for step in &page.steps {
            if screen.is_json() {
                screen.json(step)?;
            } else if !step.same {
                tell_step(step, &mut screen)?;
            }
        }
        let Some(next) = page.next else { break };
        page = app.compare(left, right, next).await?;
    }
    Ok(Status::Done)
}

fn tell_facts(found: &Comparison, screen: &mut Screen) -> Result<(), Failure> {
    let (left, right) = (&found.left, &found.right);
    let cost = |micro: Option<u32>| micro.map(|micro| text::dollars(micro.into()));
    let facts = [
        ("run", left.run.clone(), right.run.clone()),
        ("question", left.title.clone(), right.title.clone()),
        ("agent", left.agent.clone(), right.agent.clone()),
        ("model", left.model.clone(), right.model.clone()),
        (
            "state",
            summary::state_words(left.state).to_owned(),
            summary::state_words(right.state).to_owned(),
        ),
        ("steps", left.steps.to_string(), right.steps.to_string()),
        (
            "tokens in",
            left.tokens_in.to_string(),
            right.tokens_in.to_string(),
        ),
        (
            "tokens out",
            left.tokens_out.to_string(),
            right.tokens_out.to_string(),
        ),
        (
            "cost",
            cost(left.cost_micro).unwrap_or_default(),
            cost(right.cost_micro).unwrap_or_default(),
        ),
    ];
    for (name, left, right) in facts {
        let name = screen.result_painted(Tone::Quiet, &text::cell(name, NAME_COLUMNS + 2));
        let (left, right) = (text::plain(&left), text::plain(&right));
        match left == right {
            true => screen.result(&format!("{name} {left}"))?,
            false => screen.result(&format!("{name} {left}  →  {right}"))?,
        }
    }
    screen.result("")?;
    if found.shared > 0 {
        screen.result(&format!("They share their first {} events.", found.shared))?;
    }
    match &found.diverges {
        None => screen.result("They say the same."),
        Some(first) => {
            let event = |seq: Option<u32>| match seq {
                Some(seq) => format!("#{seq}"),
                None => "its end".to_owned(),
            };
            let (left, right) = (event(first.left), event(first.right));
            let words = format!(
                "They part in step {}, at {left} and {right}: {}.",
                first.step,
                text::plain(&first.words)
            );
            let words = screen.result_painted(Tone::Accent, &words);
            screen.result(&words)
        }
    }
}

fn tell_step(step: &ComparedStep, screen: &mut Screen) -> Result<(), Failure> {
    screen.result("")?;
    let title = screen.result_painted(Tone::Accent, &format!("Step {}", step.step));
    screen.result(&title)?;
    for rows in &step.rows {
        match (&rows.left, &rows.right) {
            (Some(left), _) if rows.same => tell_row("=", Tone::Quiet, left, screen)?,
            (left, right) => {
                if let Some(left) = left {
                    tell_row("-", Tone::Bad, left, screen)?;
                }
                if let Some(right) = right {
                    tell_row("+", Tone::Good, right, screen)?;
                }
            }
        }
    }
    Ok(())
}

fn tell_row(mark: &str, tone: Tone, row: &ComparedRow, screen: &mut Screen) -> Result<(), Failure> {
    let place = text::cell(&format!("#{}", row.seq), SEQ_COLUMNS);
    let left = screen.columns_left(SEQ_COLUMNS + 4, WORDS_COLUMNS);
    let words = text::plain(&format!("{} {}", row.title, row.words));
    let words = text::brief(&words, WORDS_COLUMNS);
    let words = text::fit(&words, left);
    let line = screen.result_painted(tone, &format!("{mark} {place} {words}"));
    screen.result(&line)
}
