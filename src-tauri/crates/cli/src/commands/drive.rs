//! `run`, `demo`, `watch`, and what every command does that drives a run: it is driven here, or
//! followed while another process does.

use std::path::PathBuf;

use longrein_app::demo::DemoRun;
use longrein_app::skills::project_at;
use longrein_app::{AppErrorCode, Driving, Longrein, NewRun};
use longrein_protocol::RunId;
use longrein_protocol::event::{HandoffReason, ResumeReason};
use longrein_protocol::view::RunState;
use longrein_store::Holder;

use crate::arguments;
use crate::ask::{self, Asked};
use crate::commands::keys;
use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::follow::{End, Follow, Patience, follow};
use crate::hold;
use crate::interrupt::Interrupts;
use crate::screen::Screen;
use crate::summary;
use crate::text;

/// How often a run that a person took up in place may stop again and ask them: far more often than
/// anybody answers.
const TAKEN_UP_LIMIT: usize = 10_000;

/// `run`.
pub async fn run(context: &Context, run: arguments::Run) -> Result<Status, Failure> {
    let app = context.open()?;
    let new = NewRun {
        agent: run.agent,
        question: run.task,
        model: run.model,
        library: run.library.map(folders),
        project: project(),
        limits: run.limits.limits(),
        attachments: run.attach,
    };
    let driving = match app.start(new.clone()).await {
        Err(error) if error.code == AppErrorCode::Locked => {
            keys::open_for_runs(context, &app, None).await?;
            app.start(new).await?
        }
        started => started?,
    };
    drive(context, &app, driving, 1, Patience::of(run.wait)).await
}

/// `demo`.
pub async fn demo(context: &Context, demo: arguments::Demo) -> Result<Status, Failure> {
    let app = context.open()?;
    let (question, library) = (demo.question, demo.library.map(folders));
    let driving = app.start_demo(DemoRun { question, library }).await?;
    drive(context, &app, driving, 1, Patience::Short).await
}

/// The project that this command is given in.
pub fn project() -> Option<PathBuf> {
    project_at(&std::env::current_dir().ok()?)
}

/// Folders as they are wherever the run is resumed from.
fn folders(given: Vec<PathBuf>) -> Vec<String> {
    let whole = |folder: PathBuf| std::path::absolute(&folder).unwrap_or(folder);
    given
        .into_iter()
        .map(|folder| whole(folder).to_string_lossy().into_owned())
        .collect()
}

/// Follows a run that this process drives, and tells how it ended.
pub async fn drive(
    context: &Context,
    app: &Longrein,
    driving: Driving,
    from: u32,
    patience: Patience,
) -> Result<Status, Failure> {
    let mut screen = context.screen();
    let run = driving.run;
    screen.say(&format!("run {run}"));
    let end = drive_on(app, driving, (from, patience), &mut screen).await;
    let end = end.map_err(Failure::of_a_run)?;
    let told = summary::conclude(context, app, run, &end, &mut screen).await;
    told.map_err(Failure::of_a_run)
}

/// Drives a run, and drives it on whenever somebody who sits here says what became of an action
/// that is in doubt.
async fn drive_on(
    app: &Longrein,
    driving: Driving,
    (from, patience): (u32, Patience),
    screen: &mut Screen,
) -> Result<End, Failure> {
    let run = driving.run;
    let mut followed = Follow {
        run,
        from,
        driving: Some(driving),
        patience,
    };
    for _ in 0..TAKEN_UP_LIMIT {
        let end = follow(app, followed.clone(), screen).await?;
        let from = app.run_line(run).await?.seq + 1;
        match settled_here(app, run, &end, screen).await? {
            Asked::Answered => {
                let driving = app.take_up(run, ResumeReason::Asked).await?;
                followed.from = from;
                followed.driving = Some(driving);
            }
            Asked::LeftOpen => return Ok(end),
            Asked::Interrupted => return Ok(End::Interrupted),
        }
    }
    Ok(End::Undriven)
}

/// Asks what became of an action, where the run stopped because nobody knows.
async fn settled_here(
    app: &Longrein,
    run: RunId,
    end: &End,
    screen: &mut Screen,
) -> Result<Asked, Failure> {
    use longrein_core::run::Phase;
    let End::Driven(ended) = end else {
        return Ok(Asked::LeftOpen);
    };
    if ended.state != RunState::HandedOff || ended.failure.is_some() {
        return Ok(Asked::LeftOpen);
    }
    let waits = crate::waits::of(app, run).await?;
    let in_doubt = HandoffReason::Uncertain;
    if !matches!(waits.run.phase, Phase::HandedOff { reason, .. } if reason == in_doubt) {
        return Ok(Asked::LeftOpen);
    }
    let mut interrupts = Interrupts::listen()?;
    ask::in_place(app, run, &mut interrupts, screen).await
}

/// `watch`.
pub async fn watch(context: &Context, watch: arguments::Watch) -> Result<Status, Failure> {
    let app = context.open()?;
    let run = app.find_run(&watch.run).await?;
    let mut screen = context.screen();
    let followed = Follow {
        run,
        from: watch.from,
        driving: None,
        patience: Patience::Long,
    };
    let end = follow(&app, followed, &mut screen).await?;
    summary::conclude(context, &app, run, &end, &mut screen).await
}

/// How a run that is to go on is followed.
#[derive(Clone, Copy, Debug)]
pub struct Going {
    /// What happened before this event is not told.
    pub from: u32,
    /// How long to wait for somebody else.
    pub patience: Patience,
}

/// Drives a run whose inbox holds what is wanted of it, or follows it when another process drives
/// it.
///
/// # Errors
/// What driving and following give.
pub async fn go_on(
    context: &Context,
    app: &Longrein,
    run: RunId,
    going: Going,
) -> Result<Status, Failure> {
    if let Some(holder) = hold::holder(app, run).await? {
        return follow_holder(context, app, run, going, &holder).await;
    }
    // A child is driven by whoever drives the root of its tree.
    let tree = app.store().tree_of(run).await?;
    if tree != run {
        let from = app.run_line(tree).await?.seq + 1;
        return Box::pin(go_on(context, app, tree, Going { from, ..going })).await;
    }
    let model = app.run_line(run).await?.model;
    keys::open_for_runs(context, app, Some(&model)).await?;
    match app.take_up(run, ResumeReason::Interrupted).await {
        Ok(driving) => drive(context, app, driving, going.from, going.patience).await,
        // Somebody was quicker.
        Err(error) if error.code == AppErrorCode::Busy => match hold::holder(app, run).await? {
            Some(holder) => follow_holder(context, app, run, going, &holder).await,
            None => Err(error.into()),
        },
        Err(error) => Err(of_a_run(error)),
    }
}

/// A failure about a run that exists: it can be gone on with, unless its log is damaged.
pub fn of_a_run(error: longrein_app::AppError) -> Failure {
    let is_unreadable = error.code == AppErrorCode::Unreadable;
    let failure = Failure::from(error);
    if is_unreadable {
        failure
    } else {
        failure.of_a_run()
    }
}

/// Follows a run that another process drives, having said so. Nothing is done to it.
async fn follow_holder(
    context: &Context,
    app: &Longrein,
    run: RunId,
    going: Going,
    holder: &Holder,
) -> Result<Status, Failure> {
    let mut screen = context.screen();
    screen.say(&format!(
        "Run {run} is driven by {}, which took it up {}.",
        hold::in_words(holder),
        text::ago(holder.since_ms, longrein_app::now())
    ));
    let end = if hold::is_stopped(holder) {
        End::Stopped(holder.clone())
    } else {
        screen.say("Following it; Ctrl-C stops following, the run goes on.");
        let followed = Follow {
            run,
            from: going.from,
            driving: None,
            patience: going.patience,
        };
        follow(app, followed, &mut screen).await?
    };
    summary::conclude(context, app, run, &end, &mut screen).await
}
