//! Giving a run what a person says: into its inbox, to whoever drives it, or by driving it here;
//! and seeing whether it counted, since somebody else may have been quicker.

use std::time::Duration;

use longrein_app::Longrein;
use longrein_protocol::event::{ApprovalResolved, Event, Payload};
use longrein_protocol::gate::{Actor, Surface};
use longrein_protocol::question::Reply;
use longrein_protocol::wish::Wish;
use longrein_protocol::{ActionId, Body, Millis, RunId};
use longrein_runtime::history;
use longrein_store::{Holder, Log as _};
use tokio::time::{Instant, sleep};

use crate::commands::before;
use crate::commands::drive::{self, Going, of_a_run};
use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::follow::Patience;
use crate::hold;
use crate::screen::Screen;

/// How long the driver of a run may take to answer a wish before this command says that it is
/// left to it.
pub const ANSWER_WAIT: Duration = Duration::from_secs(5);
/// How often its answer is looked for.
pub const ANSWER_POLL: Duration = Duration::from_millis(40);

/// What a person says, and the last event that they can have known of.
#[derive(Clone, Debug)]
pub struct Given {
    /// What they say.
    pub wish: Wish,
    /// The last event of the run when it was looked at.
    pub seq: u32,
}

/// Gives what a person says to whoever drives the run, or drives it here. The status is that of
/// the run where it is driven here.
///
/// # Errors
/// [`Status::Failed`] with who and when, where somebody else was quicker; what reading and driving
/// give.
pub async fn give(
    context: &Context,
    app: &Longrein,
    run: RunId,
    given: Given,
) -> Result<Status, Failure> {
    let mut screen: Screen = context.screen();
    let holder = hold::holder(app, run).await?;
    if let Some(holder) = holder.as_ref().filter(|holder| hold::is_stopped(holder)) {
        refuse_a_second(app, run, &given.wish, holder).await?;
    }
    let posted_at = longrein_app::now();
    let posted = app.store().post_wish(run, given.wish.clone(), posted_at);
    let row = posted.await.map_err(|error| of_a_run(error.into()))?;
    let Some(holder) = holder else {
        return drive_with_it(context, app, run, (&given, posted_at)).await;
    };
    let who = hold::in_words(&holder);
    match taken(app, run, (row, &holder)).await? {
        Taken::Yes => {
            see_that_it_counted(context, app, run, (&given, posted_at)).await?;
            screen.result(&format!(
                "Recorded. It is driven by {who}, which goes on with it."
            ))?;
        }
        Taken::NotYet if hold::is_stopped(&holder) => {
            return tell_stopped(context, run, &holder, &mut screen);
        }
        Taken::NotYet => screen.result(&format!(
            "Recorded. It is driven by {who}, which takes it at its next step."
        ))?,
        Taken::Left => return drive_with_it(context, app, run, (&given, posted_at)).await,
    }
    let watch = context.run_command("watch", run);
    screen.result(&format!("Follow it with: {watch}"))?;
    Ok(Status::Done)
}

async fn drive_with_it(
    context: &Context,
    app: &Longrein,
    run: RunId,
    (given, posted_at): (&Given, Millis),
) -> Result<Status, Failure> {
    let going = Going {
        from: given.seq + 1,
        patience: Patience::Short,
    };
    let status = drive::go_on(context, app, run, going).await?;
    see_that_it_counted(context, app, run, (given, posted_at)).await?;
    Ok(status)
}

/// What became of a wish in the inbox.
enum Taken {
    Yes,
    NotYet,
    /// Its driver is gone, and the wish is still there.
    Left,
}

/// Waits until a wish is taken, within a bound, and not for a holder that is stopped.
async fn taken(
    app: &Longrein,
    run: RunId,
    (row, holder): (i64, &Holder),
) -> Result<Taken, Failure> {
    let deadline = Instant::now() + ANSWER_WAIT;
    loop {
        let waiting = app.store().wishes(run).await?;
        if waiting.iter().all(|(waiting, _)| *waiting != row) {
            return Ok(Taken::Yes);
        }
        if hold::holder(app, run).await?.is_none() {
            return Ok(Taken::Left);
        }
        if Instant::now() >= deadline || hold::is_stopped(holder) {
            return Ok(Taken::NotYet);
        }
        sleep(ANSWER_POLL).await;
    }
}

/// An answer waits already for a process that is stopped: the first one counts, so a second is not
/// recorded.
async fn refuse_a_second(
    app: &Longrein,
    run: RunId,
    wish: &Wish,
    holder: &Holder,
) -> Result<(), Failure> {
    let waiting = app.store().wishes(run).await?;
    let first = waiting.iter().find_map(|(_, earlier)| {
        let (from, what) = answered(earlier)?;
        (what == answered(wish)?.1).then_some(from)
    });
    let Some(first) = first else { return Ok(()) };
    Err(Failure::said(
        Status::Failed,
        format!(
            "An answer to this was given before, from {}, and counts first.",
            first.in_words()
        ),
        format!(
            "It waits for {}, which is stopped: kill -CONT {}",
            hold::in_words(holder),
            holder.pid
        ),
    ))
}

/// What a wish answers, and where it was said; `None` where it answers nothing.
fn answered(wish: &Wish) -> Option<(Surface, Option<&ActionId>)> {
    match wish {
        Wish::Approve { action, from, .. }
        | Wish::Deny { action, from, .. }
        | Wish::Answer { action, from, .. }
        | Wish::Reply { action, from, .. }
        | Wish::Settle { action, from, .. }
        | Wish::Undo { action, from } => Some((*from, Some(action))),
        Wish::Accept { from, .. } => Some((*from, None)),
        Wish::Cancel
        | Wish::Pause
        | Wish::Resume
        | Wish::Say { .. }
        | Wish::Give { .. }
        | Wish::Raise { .. } => None,
    }
}

/// Tells that a wish waits in the inbox for a process that is stopped.
///
/// # Errors
/// When nobody reads the output any more.
pub fn tell_stopped(
    context: &Context,
    run: RunId,
    holder: &Holder,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    let who = hold::in_words(holder);
    screen.result(&format!(
        "Recorded. It is driven by {who}, which is stopped."
    ))?;
    let pid = holder.pid;
    screen.result(&format!("It takes this when it goes on: kill -CONT {pid}"))?;
    let resume = context.run_command("resume", run);
    screen.result(&format!("Or end it and go on here: {resume} --take-over"))?;
    Ok(Status::Parked)
}

/// Sees whether an answer counted. It did not where somebody else was quicker, or where what it
/// was given for is asked anew.
async fn see_that_it_counted(
    context: &Context,
    app: &Longrein,
    run: RunId,
    (given, posted_at): (&Given, Millis),
) -> Result<(), Failure> {
    if answered(&given.wish).is_none() {
        return Ok(());
    }
    let mut answers = Vec::new();
    let mut take = |event: &Event| {
        if event.seq > given.seq && is_about(&given.wish, &event.payload) {
            answers.push(event.clone());
        }
    };
    history::each_event(app.store(), run, &mut take).await?;
    let Some(first) = answers.first() else {
        return Err(before::not_taken(context, app, run, &given.wish).await?);
    };
    if first.at >= posted_at && is_ours(app, &given.wish, &first.payload).await? {
        return Ok(());
    }
    Err(before::answered(context, app, run, (&given.wish, first.at)).await?)
}

/// Whether an event answers what a wish answers.
fn is_about(wish: &Wish, payload: &Payload) -> bool {
    match (wish, payload) {
        (
            Wish::Approve { action, .. } | Wish::Deny { action, .. },
            Payload::ApprovalResolved(resolved),
        ) => resolved.action == *action,
        (Wish::Answer { action, .. }, Payload::QuestionAnswered(answered)) => {
            answered.action == *action && answered.number == 0
        }
        (Wish::Reply { action, number, .. }, Payload::QuestionAnswered(answered)) => {
            answered.action == *action && answered.number == *number
        }
        (Wish::Settle { action, .. }, Payload::ActionReconciled(reconciled)) => {
            reconciled.action == *action
        }
        (Wish::Undo { action, .. }, Payload::ActionProposed(proposed)) => {
            proposed.by == Actor::Person && proposed.undoes.as_ref() == Some(action)
        }
        (Wish::Accept { .. }, Payload::AcceptanceResolved(_)) => true,
        (Wish::Accept { accepted: true, .. }, Payload::RunFinished(finished)) => {
            finished.by.is_some()
        }
        _ => false,
    }
}

/// Whether an event says what a wish says.
async fn is_ours(app: &Longrein, wish: &Wish, payload: &Payload) -> Result<bool, Failure> {
    Ok(match (wish, payload) {
        (Wish::Approve { edit, always, .. }, Payload::ApprovalResolved(resolved)) => {
            let same_edit = match (edit, &resolved.arguments) {
                (None, None) => true,
                (Some(edit), Some(body)) => is_same(app, body, edit).await?,
                _ => false,
            };
            let ApprovalResolved { approved, by, .. } = resolved;
            *approved && *by == Surface::Command && resolved.always == *always && same_edit
        }
        (Wish::Deny { reason, .. }, Payload::ApprovalResolved(resolved)) => {
            let noted = same_or_masked(resolved.note.as_bytes(), reason.as_bytes());
            !resolved.approved && resolved.by == Surface::Command && noted
        }
        (Wish::Answer { text, .. }, Payload::QuestionAnswered(answered)) => {
            answered.by == Surface::Command && is_same(app, &answered.answer, text).await?
        }
        (Wish::Reply { answer, .. }, Payload::QuestionAnswered(answered)) => {
            let same = match answer {
                Reply::Given { values } if !values.is_empty() => {
                    is_same(app, &answered.answer, &serde_json::to_string(values)?).await?
                }
                _ => true,
            };
            let replied = answered.replied == Some(answer.replied());
            answered.by == Surface::Command && replied && same
        }
        (Wish::Settle { verdict, .. }, Payload::ActionReconciled(reconciled)) => {
            reconciled.by == Some(Surface::Command) && reconciled.verdict == *verdict
        }
        (Wish::Accept { accepted, note, .. }, Payload::AcceptanceResolved(resolved)) => {
            let same = is_same(app, &resolved.note, note).await?;
            resolved.by == Surface::Command && resolved.accepted == *accepted && same
        }
        (Wish::Accept { .. }, Payload::RunFinished(finished)) => {
            finished.by == Some(Surface::Command)
        }
        (Wish::Undo { .. }, Payload::ActionProposed(_)) => true,
        _ => false,
    })
}

async fn is_same(app: &Longrein, recorded: &Body, said: &str) -> Result<bool, Failure> {
    let recorded = app.content(recorded).await?;
    Ok(same_or_masked(&recorded, said.as_bytes()))
}

/// Whether words were recorded as they were said: a secret in them is kept as asterisks of the
/// same length.
fn same_or_masked(recorded: &[u8], said: &[u8]) -> bool {
    let same = |(recorded, said): (&u8, &u8)| recorded == said || *recorded == b'*';
    recorded.len() == said.len() && recorded.iter().zip(said).all(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_count_as_said_where_only_a_secret_in_them_is_masked() {
        assert!(same_or_masked(b"use ******* now", b"use hunter2 now"));
        assert!(same_or_masked(b"", b""));
        assert!(!same_or_masked(b"label a", b"label b"));
        assert!(!same_or_masked(b"label", b"label b"));
    }
}
