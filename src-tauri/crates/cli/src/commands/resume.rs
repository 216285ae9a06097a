//! `resume`: a run goes on, with new words, with new limits, or in the place of a process that is
//! ended first.

use longrein_app::Longrein;
use longrein_protocol::RunId;
use longrein_protocol::event::{Limit, Limits};
use longrein_protocol::gate::Surface;
use longrein_protocol::view::{Meter, RunHead, RunLine, RunState};
use longrein_protocol::wish::Wish;

use crate::arguments;
use crate::commands::drive::{self, Going, of_a_run};
use crate::commands::keys;
use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::follow::{End, Patience};
use crate::hold;
use crate::summary;
use crate::text;

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
    let limits = resume.limits.limits();
    let sets_limits = limits != Limits::default();
    if let Some(status) =
        nothing_to_resume(context, &app, &line, run, (text.is_some(), sets_limits)).await?
    {
        return Ok(status);
    }
    if sets_limits {
        check_limits(&app.view(run).await?.head(), &limits)?;
    }
    let going = Going {
        from: line.seq + 1,
        patience,
    };
    if resume.take_over {
        agree_to_take_over(context, &app, run, resume.yes).await?;
        keys::open_for_runs(context, &app, Some(&line.model)).await?;
        for wish in wishes(limits, text) {
            app.wish(run, wish).await.map_err(of_a_run)?;
        }
        let driving = app.take_over(run).await.map_err(of_a_run)?;
        return drive::drive(context, &app, driving, going.from, patience).await;
    }
    let holder = hold::holder(&app, run).await?;
    for wish in wishes(limits, text) {
        // Who only wants the run to go on has nothing to say to whoever drives it already.
        if holder.is_none() || wish != Wish::Resume {
            app.wish(run, wish).await.map_err(of_a_run)?;
        }
    }
    drive::go_on(context, &app, run, going).await
}

/// What the run's driver finds in the inbox: the limits first, so that what follows is done under
/// them. Words open a turn or steer one; without any the run simply goes on.
fn wishes(limits: Limits, text: Option<String>) -> Vec<Wish> {
    let raise = (limits != Limits::default()).then_some(Wish::Raise {
        limits,
        from: Surface::Command,
    });
    let go_on = text.map_or(Wish::Resume, |text| Wish::Say { text });
    raise.into_iter().chain([go_on]).collect()
}

/// The status where there is nothing to go on with, having said so.
async fn nothing_to_resume(
    context: &Context,
    app: &Longrein,
    line: &RunLine,
    run: RunId,
    (has_words, sets_limits): (bool, bool),
) -> Result<Option<Status>, Failure> {
    let mut screen = context.screen();
    let again = format!("{} \"…\"", context.run_command("resume", run));
    match line.state {
        RunState::Accepted | RunState::Unverified if !has_words && sets_limits => {
            Err(Failure::usage(
                format!("Run {run} is finished, and a limit alone does not set it going."),
                format!("Say what to do next as well: {again}"),
            ))
        }
        RunState::Accepted | RunState::Unverified if !has_words => {
            screen.say("It is finished already. Say what to do next to open a new turn:");
            screen.say(&again);
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

/// Checks that a run could go on under limits that are set anew.
fn check_limits(head: &RunHead, limits: &Limits) -> Result<(), Failure> {
    let whole = |meter: Meter| u64::from(meter.used) + u64::from(meter.held);
    let set = [
        (Limit::Steps, limits.steps, whole(head.steps)),
        (Limit::TokensIn, limits.tokens_in, whole(head.tokens_in)),
        (Limit::TokensOut, limits.tokens_out, whole(head.tokens_out)),
        (
            Limit::WorkingMinutes,
            limits.working_minutes,
            u64::from(head.working_seconds.used / 60),
        ),
        (Limit::Actions, limits.actions, whole(head.actions)),
    ];
    for (limit, new, used) in set {
        check_limit(head, limit, (new.map(u64::from), used))?;
    }
    if limits.money_micro.is_some() && !head.money.known {
        return Err(Failure::usage(
            format!(
                "What {} costs is not known, so a limit of money can't be held.",
                text::plain(&head.model)
            ),
            "Set --max-tokens-in and --max-tokens-out instead.",
        ));
    }
    let spent = head.money.used_micro + head.money.held_micro;
    check_limit(head, Limit::Money, (limits.money_micro, spent))
}

/// Checks one limit: it has to leave something, and at least what the next step may need.
fn check_limit(
    head: &RunHead,
    limit: Limit,
    (new, used): (Option<u64>, u64),
) -> Result<(), Failure> {
    let Some(new) = new else { return Ok(()) };
    let typed = |amount| {
        format!(
            "{} {}",
            summary::limit_flag(limit),
            summary::typed(limit, amount)
        )
    };
    if new <= used {
        let used = summary::amount(limit, used);
        return Err(Failure::usage(
            format!("Used already: {used}. So {} leaves nothing.", typed(new)),
            "A limit is the whole run's. Set one that is higher than what is used.",
        ));
    }
    match head.reached {
        Some(reached) if reached.limit == limit && new < reached.used => {
            let needed = summary::amount(limit, reached.used);
            Err(Failure::usage(
                format!(
                    "The next step may need {needed} in all, so {} would stop the run at once.",
                    typed(new)
                ),
                format!("For a good while to go on: {}", typed(reached.suggested)),
            ))
        }
        _ => Ok(()),
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
