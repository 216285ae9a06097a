//! What a person wants of a run whatever it does: `cancel`, `pause`, `steer`.
//!
//! The wish goes into the run's inbox. Whoever drives the run takes it from there; when nobody
//! does, this command drives the run.

use longrein_app::Longrein;
use longrein_protocol::RunId;
use longrein_protocol::event::ResumeReason;
use longrein_protocol::view::RunState;
use longrein_protocol::wish::Wish;
use longrein_store::Holder;
use tokio::time::{Instant, sleep, timeout};

use crate::arguments::Steer;
use crate::commands::giving::{ANSWER_POLL, ANSWER_WAIT, Given, give, tell_stopped};
use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::follow::End;
use crate::hold;
use crate::summary;

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
///
/// # Errors
/// What reading and driving give.
pub async fn stop(
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
    let line = app.run_line(run).await?;
    let state = line.state;
    if matches!(state, RunState::Cancelled | RunState::Failed) {
        let words = summary::state_words(state);
        return Err(Failure::usage(
            format!("Run {run} is {words}, which is for good."),
            "",
        ));
    }
    let attachments = app.attach(run, steer.attach).await?;
    let wish = match attachments.is_empty() {
        true => Wish::Say { text },
        false => Wish::Give { text, attachments },
    };
    let given = Given {
        wish,
        seq: line.seq,
    };
    give(context, &app, run, given).await
}
