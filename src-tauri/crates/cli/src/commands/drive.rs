//! `run`, `demo`, `resume`, `watch`: a run is driven, or followed while another process does.

use std::path::PathBuf;

use longrein_app::demo::DemoRun;
use longrein_app::{AppErrorCode, Driving, Longrein, NewRun};
use longrein_protocol::RunId;
use longrein_protocol::event::ResumeReason;
use longrein_protocol::view::{RunLine, RunState};
use longrein_protocol::wish::Wish;
use longrein_store::Holder;

use crate::arguments;
use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::follow::{End, Follow, Patience, follow};
use crate::hold;
use crate::summary;
use crate::text;

/// `run`.
pub async fn run(context: &Context, run: arguments::Run) -> Result<Status, Failure> {
    let app = context.open()?;
    let driving = app
        .start(NewRun {
            agent: run.agent,
            question: run.task,
            model: run.model,
            library: run.library.map(folders),
        })
        .await?;
    drive(context, &app, driving, 1, Patience::of(run.wait)).await
}

/// `demo`.
pub async fn demo(context: &Context, demo: arguments::Demo) -> Result<Status, Failure> {
    let app = context.open()?;
    let (question, library) = (demo.question, demo.library.map(folders));
    let driving = app.start_demo(DemoRun { question, library }).await?;
    drive(context, &app, driving, 1, Patience::Short).await
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
    let followed = Follow {
        run,
        from,
        driving: Some(driving),
        patience,
    };
    let end = follow(app, followed, &mut screen).await;
    let end = end.map_err(Failure::of_a_run)?;
    let told = summary::conclude(context, app, run, &end, &mut screen).await;
    told.map_err(Failure::of_a_run)
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

/// `resume`.
pub async fn resume(context: &Context, resume: arguments::Resume) -> Result<Status, Failure> {
    let app = context.open()?;
    let run = app.find_run(&resume.run).await?;
    let line = app.run_line(run).await?;
    let patience = Patience::of(resume.wait);
    let text = resume
        .text
        .map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty());
    if let Some(status) = nothing_to_resume(context, &app, &line, run, text.is_some()).await? {
        return Ok(status);
    }
    if resume.take_over {
        agree_to_take_over(context, &app, run, resume.yes).await?;
        app.wish(run, wish_of(text)).await.map_err(of_a_run)?;
        let driving = app.take_over(run).await.map_err(of_a_run)?;
        return drive(context, &app, driving, line.seq + 1, patience).await;
    }
    go_on(
        context,
        &app,
        run,
        Going {
            wish: wish_of(text),
            from: line.seq + 1,
            patience,
        },
    )
    .await
}

/// What somebody wants of a run that is to go on.
pub struct Going {
    /// What its driver finds in the inbox.
    pub wish: Wish,
    /// What happened before this event is not told.
    pub from: u32,
    /// How long to wait for somebody else.
    pub patience: Patience,
}

/// Posts a wish, then drives the run, or follows it when another process drives it.
pub async fn go_on(
    context: &Context,
    app: &Longrein,
    run: RunId,
    going: Going,
) -> Result<Status, Failure> {
    let holder = hold::holder(app, run).await?;
    // Who only wants the run to go on has nothing to say to whoever drives it already.
    if holder.is_none() || going.wish != Wish::Resume {
        app.wish(run, going.wish).await.map_err(of_a_run)?;
    }
    if let Some(holder) = holder {
        return follow_holder(context, app, run, (going.from, going.patience), &holder).await;
    }
    match app.take_up(run, ResumeReason::Interrupted).await {
        Ok(driving) => drive(context, app, driving, going.from, going.patience).await,
        // Somebody was quicker.
        Err(error) if error.code == AppErrorCode::Busy => match hold::holder(app, run).await? {
            Some(holder) => {
                follow_holder(context, app, run, (going.from, going.patience), &holder).await
            }
            None => Err(error.into()),
        },
        Err(error) => Err(of_a_run(error)),
    }
}

fn of_a_run(error: longrein_app::AppError) -> Failure {
    let is_unreadable = error.code == AppErrorCode::Unreadable;
    let failure = Failure::from(error);
    if is_unreadable {
        failure
    } else {
        failure.of_a_run()
    }
}

/// Words open a turn or steer one; without any the run simply goes on.
fn wish_of(text: Option<String>) -> Wish {
    text.map_or(Wish::Resume, |text| Wish::Say { text })
}

/// Follows a run that another process drives, having said so. Nothing is done to it.
async fn follow_holder(
    context: &Context,
    app: &Longrein,
    run: RunId,
    (from, patience): (u32, Patience),
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
        follow(
            app,
            Follow {
                run,
                from,
                driving: None,
                patience,
            },
            &mut screen,
        )
        .await?
    };
    summary::conclude(context, app, run, &end, &mut screen).await
}

/// The status where there is nothing to go on with, having said so.
async fn nothing_to_resume(
    context: &Context,
    app: &Longrein,
    line: &RunLine,
    run: RunId,
    has_words: bool,
) -> Result<Option<Status>, Failure> {
    let mut screen = context.screen();
    match line.state {
        RunState::Accepted | RunState::Unverified if !has_words => {
            screen.say("It is finished already. Say what to do next to open a new turn:");
            screen.say(&format!("{} \"…\"", context.run_command("resume", run)));
            Ok(Some(
                summary::conclude(context, app, run, &End::Undriven, &mut screen).await?,
            ))
        }
        RunState::Cancelled => Err(Failure::usage(
            format!("Run {run} is cancelled, which is for good."),
            "Start a new one with: longrein run",
        )),
        RunState::Failed => Err(Failure::usage(
            format!("Run {run} has failed, which is for good."),
            "Start a new one with: longrein run",
        )),
        _ => Ok(None),
    }
}

/// Checks that a person knows which runs end with the process that drives this one.
async fn agree_to_take_over(
    context: &Context,
    app: &Longrein,
    run: RunId,
    yes: bool,
) -> Result<(), Failure> {
    let mut screen = context.screen();
    let Some(holder) = hold::holder(app, run).await? else {
        screen.say("Nobody drives it; it simply goes on.");
        return Ok(());
    };
    let others = app.driven_with(run).await?;
    let others: Vec<String> = others
        .iter()
        .filter(|other| **other != run)
        .map(RunId::to_string)
        .collect();
    if !others.is_empty() && !yes {
        return Err(Failure::usage(
            format!(
                "{} also drives: {}.",
                text::sentence(&hold::in_words(&holder)),
                others.join(", ")
            ),
            "They stop with it and can be resumed. If that is what you want, add --yes.",
        ));
    }
    screen.say(&format!(
        "Ending {}, which drives it.",
        hold::in_words(&holder)
    ));
    Ok(())
}

/// Settles a wish that the run's driver has to take: follows or drives the run.
pub async fn settle(
    context: &Context,
    app: &Longrein,
    run: RunId,
    wish: Wish,
) -> Result<Status, Failure> {
    let from = app.run_line(run).await?.seq + 1;
    go_on(
        context,
        app,
        run,
        Going {
            wish,
            from,
            patience: Patience::Short,
        },
    )
    .await
}
