//! What a person wants of a run: `cancel`, `pause`, `steer`, `approve`, `deny`, `settle`.
//!
//! The wish goes into the run's inbox. Whoever drives the run takes it from there; when nobody
//! does, this command drives the run.

use std::time::Duration;

use longrein_app::Longrein;
use longrein_core::run::{Action, ActionStage, Run, shown_hash};
use longrein_protocol::event::ResumeReason;
use longrein_protocol::view::RunState;
use longrein_protocol::wish::Wish;
use longrein_protocol::{ActionId, RunId};
use longrein_store::Holder;
use tokio::time::{Instant, sleep, timeout};

use crate::arguments::{Deny, Settle, Steer};
use crate::ask;
use crate::commands::drive;
use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::follow::End;
use crate::hold;
use crate::screen::Screen;
use crate::summary;

/// How long the driver of a run may take to answer a wish before this command says that it is
/// left to it.
const ANSWER_WAIT: Duration = Duration::from_secs(5);
/// How often its answer is looked for.
const ANSWER_POLL: Duration = Duration::from_millis(40);

/// `cancel`.
pub async fn cancel(context: &Context, run: &str) -> Result<Status, Failure> {
    let app = context.open()?;
    let run = app.find_run(run).await?;
    let state = app.run_line(run).await?.state;
    if matches!(
        state,
        RunState::Accepted | RunState::Unverified | RunState::Failed
    ) {
        return Err(Failure::usage(
            format!("Run {run} is {} already.", summary::state_words(state)),
            "",
        ));
    }
    stop(context, &app, run, (Wish::Cancel, RunState::Cancelled)).await
}

/// `pause`.
pub async fn pause(context: &Context, run: &str) -> Result<Status, Failure> {
    let app = context.open()?;
    let run = app.find_run(run).await?;
    let state = app.run_line(run).await?.state;
    let is_driven = hold::holder(&app, run).await?.is_some();
    if state != RunState::Paused && !is_driven {
        return Err(Failure::usage(
            format!("Nobody drives run {run} ({}).", summary::state_words(state)),
            "There is nothing to pause.",
        ));
    }
    stop(context, &app, run, (Wish::Pause, RunState::Paused)).await
}

/// Posts a wish that stops a run, and sees to it that it is taken.
async fn stop(
    context: &Context,
    app: &Longrein,
    run: RunId,
    (wish, wanted): (Wish, RunState),
) -> Result<Status, Failure> {
    let mut screen = context.screen();
    if app.run_line(run).await?.state != wanted {
        app.wish(run, wish).await?;
        match hold::holder(app, run).await? {
            Some(holder) => {
                if !comes_to(app, run, wanted, &holder).await? {
                    if hold::is_stopped(&holder) {
                        return tell_stopped(context, run, &holder, &mut screen);
                    }
                    let who = hold::in_words(&holder);
                    screen.result(&format!(
                        "The wish is recorded; {who} takes it at its next step."
                    ))?;
                    return Ok(Status::Done);
                }
            }
            None => {
                let driving = app.take_up(run, ResumeReason::Interrupted).await?;
                let waiting = driving.clone();
                if timeout(ANSWER_WAIT, waiting.ended()).await.is_err() {
                    driving.let_go();
                }
            }
        }
    }
    summary::conclude(context, app, run, &End::Undriven, &mut screen).await?;
    let state = app.run_line(run).await?.state;
    Ok(if state == wanted {
        Status::Done
    } else {
        Status::of_run(state)
    })
}

/// Waits until a run is in a state, within a bound, and not for a holder that is stopped.
async fn comes_to(
    app: &Longrein,
    run: RunId,
    wanted: RunState,
    holder: &Holder,
) -> Result<bool, Failure> {
    let deadline = Instant::now() + ANSWER_WAIT;
    loop {
        if app.run_line(run).await?.state == wanted {
            return Ok(true);
        }
        if Instant::now() >= deadline || hold::is_stopped(holder) {
            return Ok(false);
        }
        sleep(ANSWER_POLL).await;
    }
}

/// Tells that a wish waits in the inbox for a process that is stopped.
fn tell_stopped(
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

/// `steer`.
pub async fn steer(context: &Context, steer: Steer) -> Result<Status, Failure> {
    let app = context.open()?;
    let run = app.find_run(&steer.run).await?;
    let text = steer.text.trim().to_owned();
    if text.is_empty() {
        return Err(Failure::usage(
            "There are no words.",
            "Say what the run should know.",
        ));
    }
    let state = app.run_line(run).await?.state;
    if matches!(state, RunState::Cancelled | RunState::Failed) {
        let words = summary::state_words(state);
        return Err(Failure::usage(
            format!("Run {run} is {words}, which is for good."),
            "",
        ));
    }
    hand_over(context, &app, run, Wish::Say { text }).await
}

/// `approve`.
pub async fn approve(context: &Context, action: &str) -> Result<Status, Failure> {
    let app = context.open()?;
    let (id, run) = app.find_action(action).await?;
    let view = app.view(run).await?;
    let state = view.run();
    let action = open_action(state, &id, ActionStage::Asked)?;
    let mut screen = context.screen();
    ask::show(&app, action, &mut screen).await?;
    let seen = shown_hash(action, state);
    hand_over(context, &app, run, Wish::Approve { action: id, seen }).await
}

/// `deny`.
pub async fn deny(context: &Context, deny: Deny) -> Result<Status, Failure> {
    let reason = deny.reason.trim().to_owned();
    if reason.is_empty() {
        return Err(Failure::usage(
            "The reason is empty.",
            "Say why not; the model is told.",
        ));
    }
    let app = context.open()?;
    let (id, run) = app.find_action(&deny.action).await?;
    let view = app.view(run).await?;
    open_action(view.run(), &id, ActionStage::Asked)?;
    hand_over(context, &app, run, Wish::Deny { action: id, reason }).await
}

/// `settle`.
pub async fn settle(context: &Context, settle: Settle) -> Result<Status, Failure> {
    let app = context.open()?;
    let (id, run) = app.find_action(&settle.action).await?;
    let view = app.view(run).await?;
    open_action(view.run(), &id, ActionStage::Uncertain)?;
    let verdict = settle.verdict.into();
    hand_over(
        context,
        &app,
        run,
        Wish::Settle {
            action: id,
            verdict,
        },
    )
    .await
}

/// An action that is in the stage that an answer needs.
fn open_action<'r>(run: &'r Run, id: &ActionId, stage: ActionStage) -> Result<&'r Action, Failure> {
    match run.action(id) {
        Some(action) if action.stage == stage => Ok(action),
        _ if stage == ActionStage::Uncertain => Err(Failure::usage(
            format!("Action {id} is not in doubt."),
            "See what waits with: longrein approvals",
        )),
        _ => Err(Failure::usage(
            format!("Action {id} does not wait for an answer any more."),
            "See what waits with: longrein approvals",
        )),
    }
}

/// Gives a wish to whoever drives the run, or drives it here.
async fn hand_over(
    context: &Context,
    app: &Longrein,
    run: RunId,
    wish: Wish,
) -> Result<Status, Failure> {
    let Some(holder) = hold::holder(app, run).await? else {
        return drive::settle(context, app, run, wish).await;
    };
    let mut screen: Screen = context.screen();
    app.wish(run, wish).await?;
    let who = hold::in_words(&holder);
    if hold::is_stopped(&holder) {
        return tell_stopped(context, run, &holder, &mut screen);
    }
    screen.result(&format!(
        "Recorded. It is driven by {who}, which goes on with it."
    ))?;
    let watch = context.run_command("watch", run);
    screen.result(&format!("Follow it with: {watch}"))?;
    Ok(Status::Done)
}
