//! What was answered before, by whom and when; and why something does not wait for an answer.
//!
//! To be too late is no mistake of usage and leaves nothing open, so such a command ends with
//! status 1: what was asked of it was not done.

use longrein_app::Longrein;
use longrein_core::view::View;
use longrein_protocol::view::{ActionRow, ActionState, RowContent, SaidLine};
use longrein_protocol::wish::Wish;
use longrein_protocol::{ActionId, Millis, RunId};

use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::text;
use crate::waits;

/// The most letters of somebody's own words.
const NOTE_LETTERS: usize = 200;

/// Why an action is not open to an answer.
///
/// # Errors
/// What reading gives; the failure itself is the answer.
pub async fn action(
    context: &Context,
    app: &Longrein,
    run: RunId,
    id: &ActionId,
) -> Result<Failure, Failure> {
    let view = app.view(run).await?;
    let what = format!("Action {id}");
    let list = || format!("See what waits with: {}", context.command("approvals"));
    let Some(row) = row_of(&view, id) else {
        return Ok(Failure::usage(
            format!("{what} does not wait for an answer."),
            list(),
        ));
    };
    let other = other_answer(context, app, run, id).await?;
    Ok(match (row.said.last(), row.state) {
        // It is still open, to another kind of answer.
        _ if other.is_some() => Failure::usage(
            format!("{what} waits for another kind of answer."),
            other.unwrap_or_default(),
        ),
        (Some(said), _) => told(&what, said, list()),
        (None, ActionState::Withdrawn) => Failure::said(
            Status::Failed,
            format!(
                "{what} is no longer asked about: {}.",
                without_stop(&row.outcome)
            ),
            list(),
        ),
        (None, _) => Failure::usage(format!("{what} does not wait for an answer."), list()),
    })
}

/// The commands by which an action is answered that waits.
async fn other_answer(
    context: &Context,
    app: &Longrein,
    run: RunId,
    id: &ActionId,
) -> Result<Option<String>, Failure> {
    let waits = waits::of(app, run).await?;
    let is_it = |ask: &&waits::Ask| ask.what.action().is_some_and(|action| action.id == *id);
    Ok(waits.asks.iter().find(is_it).map(|ask| {
        let commands = ask.what.commands(run);
        let commands: Vec<String> = commands
            .iter()
            .map(|words| context.command(words))
            .collect();
        format!("Answer with: {}", commands.join(" or: "))
    }))
}

/// Why a result does not wait to be accepted.
///
/// # Errors
/// What reading gives; the failure itself is the answer.
pub async fn acceptance(context: &Context, app: &Longrein, run: RunId) -> Result<Failure, Failure> {
    let view = app.view(run).await?;
    let said = view.rows().iter().rev().find_map(|row| match &row.content {
        RowContent::Acceptance { said, .. } => said.as_ref(),
        _ => None,
    });
    let show = format!(
        "See how it stands with: {}",
        context.run_command("show", run)
    );
    Ok(match said {
        Some(said) => told(&format!("The result of run {run}"), said, show),
        None => Failure::usage(
            format!("Run {run} has no result that waits to be accepted."),
            show,
        ),
    })
}

/// That somebody else was quicker, with what they said at `at`.
///
/// # Errors
/// What reading gives; the failure itself is the answer.
pub async fn answered(
    context: &Context,
    app: &Longrein,
    run: RunId,
    (wish, at): (&Wish, Millis),
) -> Result<Failure, Failure> {
    match about(wish) {
        Some(id) => {
            let view = app.view(run).await?;
            let said = row_of(&view, id).map_or(&[][..], |row| &row.said);
            match said.iter().find(|said| said.at == at).or(said.last()) {
                Some(said) => Ok(told(
                    &format!("Action {id}"),
                    said,
                    context.run_command("show", run),
                )),
                None => action(context, app, run, id).await,
            }
        }
        None => acceptance(context, app, run).await,
    }
}

/// Why an answer was taken and did not count: what it was given for is asked anew, or is gone.
///
/// # Errors
/// What reading gives; the failure itself is the answer.
pub async fn not_taken(
    context: &Context,
    app: &Longrein,
    run: RunId,
    wish: &Wish,
) -> Result<Failure, Failure> {
    let Some(id) = about(wish) else {
        return acceptance(context, app, run).await;
    };
    let waits = waits::of(app, run).await?;
    let waits_still = waits
        .asks
        .iter()
        .any(|ask| ask.what.action().is_some_and(|action| action.id == *id));
    if waits_still {
        return Ok(Failure::said(
            Status::Parked,
            format!(
                "Action {id} is not what you were shown any more, so your answer was not taken."
            ),
            format!("Look at it again: {}", context.command("approvals")),
        ));
    }
    action(context, app, run, id).await
}

fn about(wish: &Wish) -> Option<&ActionId> {
    match wish {
        Wish::Approve { action, .. }
        | Wish::Deny { action, .. }
        | Wish::Answer { action, .. }
        | Wish::Reply { action, .. }
        | Wish::Settle { action, .. }
        | Wish::Undo { action, .. } => Some(action),
        _ => None,
    }
}

/// The row of an action.
pub fn row_of<'v>(view: &'v View, id: &ActionId) -> Option<&'v ActionRow> {
    match &view.action_row(id)?.content {
        RowContent::Action(row) => Some(row),
        _ => None,
    }
}

fn told(what: &str, said: &SaidLine, remedy: String) -> Failure {
    let from = said
        .from
        .map(|from| format!(", from {}", from.in_words()))
        .unwrap_or_default();
    let note = match said.note.trim() {
        "" => String::new(),
        note => format!(" (“{}”)", text::brief(note, NOTE_LETTERS)),
    };
    let words = format!(
        "{what} was answered before{from}, {}: {}{note}.",
        when(said),
        without_stop(&said.words),
    );
    Failure::said(Status::Failed, words, remedy)
}

/// That the effect of an action was taken back before.
pub fn taken_back(context: &Context, run: RunId, row: &ActionRow) -> Failure {
    let when = row.said.last().map(when).unwrap_or_default();
    Failure::said(
        Status::Failed,
        format!("Action {} was taken back before, {when}.", row.action),
        format!("See by what with: {}", context.run_command("show", run)),
    )
}

/// `3 min ago (2026-11-29 21:46:20 UTC)`.
fn when(said: &SaidLine) -> String {
    let ago = text::ago(said.at, longrein_app::now());
    format!("{ago} ({})", text::utc(said.at))
}

fn without_stop(words: &str) -> &str {
    words.trim_end_matches('.')
}
