//! What a person says to a run that waits for them: `approve`, `deny`, `answer`, `accept`,
//! `settle`, and `undo`.

use longrein_app::Longrein;
use longrein_core::question::{self, Mistake};
use longrein_core::run::{Action, Phase};
use longrein_protocol::agent::PolicyRule;
use longrein_protocol::event::Verdict;
use longrein_protocol::gate::{Always, Scope, Surface};
use longrein_protocol::question::{Reply, ServerQuestion, Wants};
use longrein_protocol::view::{ActionRow, RunState};
use longrein_protocol::wish::Wish;
use longrein_protocol::{ActionId, RunId};
use serde_json::Map;

use crate::arguments::{Accept, Answer, Approve, Deny, Settle, Settled, Undo};
use crate::ask::{self, words};
use crate::browser;
use crate::commands::before;
use crate::commands::giving::{Given, give};
use crate::commands::wishes;
use crate::context::Context;
use crate::edit;
use crate::failure::{Failure, Status};
use crate::screen::Screen;
use crate::text;
use crate::waits::{self, Ask, Waits, What};

/// The most bytes of a result that a person knows.
const RESULT_LIMIT_BYTES: u64 = 16 << 20;

/// `approve`.
pub async fn approve(context: &Context, approve: Approve) -> Result<Status, Failure> {
    let scope = approve.always.map(Scope::from);
    if approve.even_after_untrusted && scope != Some(Scope::Run) {
        return Err(Failure::usage(
            "A rule that holds even after untrusted text is for one run only.",
            "Use it with --always run.",
        ));
    }
    let edit = approve.edit.as_deref().map(edit::text).transpose()?;
    let app = context.open()?;
    let (id, run) = app.find_action(&approve.action).await?;
    let (waits, ask) = open(context, &app, (run, &id), |what| {
        matches!(what, What::Approval { .. })
    })
    .await?;
    let What::Approval { action, offers, .. } = &ask.what else {
        return Err(before::action(context, &app, run, &id).await?);
    };
    if let Some(text) = &edit {
        edit::check(&waits.run, &action.tool, text)?;
    }
    let mut screen = context.screen();
    show(&app, &ask, (action, edit.as_deref()), &mut screen).await?;
    let always = match scope {
        Some(scope) => {
            let tainted = approve.even_after_untrusted;
            let always = rules(&id, offers, (scope, tainted))?;
            agree(&waits, &always, approve.yes, &mut screen).await?;
            Some(always)
        }
        None => None,
    };
    let seen = action.shown.unwrap_or_else(|| action.arguments.hash());
    let wish = Wish::Approve {
        action: id,
        seen,
        edit,
        always,
        from: Surface::Command,
    };
    let seq = waits.run.seq;
    give(context, &app, run, Given { wish, seq }).await
}

/// Shows what an action is about to do, and what the person makes of it.
async fn show(
    app: &Longrein,
    ask: &Ask,
    (action, edit): (&Action, Option<&str>),
    screen: &mut Screen,
) -> Result<(), Failure> {
    for line in words::lines(app, &ask.what, screen).await? {
        screen.say(&line);
    }
    if let Some(edit) = edit {
        screen.say(&format!(
            "{} starts with these arguments instead:",
            action.tool
        ));
        for line in words::arguments(edit) {
            screen.say(&line);
        }
    }
    Ok(())
}

fn rules(
    id: &ActionId,
    offers: &[PolicyRule],
    (scope, tainted): (Scope, bool),
) -> Result<Always, Failure> {
    if offers.is_empty() {
        return Err(Failure::usage(
            format!("There is no rule that would let the like of action {id} start."),
            "What can't be made out, or is asked by a rule, is asked every time. Approve it alone.",
        ));
    }
    Ok(Always {
        scope,
        rules: offers.to_vec(),
        tainted,
    })
}

/// Says exactly what "always" will match, and waits for a yes.
async fn agree(
    waits: &Waits,
    always: &Always,
    yes: bool,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let agent = waits.run.agent().map_or("", |agent| agent.name.as_str());
    for line in words::preview(always, agent) {
        screen.say(&line);
    }
    if waits.run.tainted && !always.tainted {
        screen.say(
            "This run has read untrusted text: here what reaches outside is asked all the same, \
             save with --always run --even-after-untrusted.",
        );
    }
    if yes {
        return Ok(());
    }
    if !ask::somebody_is_there(screen) {
        return Err(Failure::usage(
            "Nobody is here to say yes to this rule, so nothing was approved.",
            "If that is what you want, add --yes.",
        ));
    }
    if ask::confirmed("Make this rule, and let it start? y/N:", screen).await? {
        return Ok(());
    }
    Err(Failure::said(
        Status::Parked,
        "The rule was not made, and nothing was approved.",
        "",
    ))
}

/// What waits of an action, with the run as it stands.
async fn open(
    context: &Context,
    app: &Longrein,
    (run, id): (RunId, &ActionId),
    is_it: impl Fn(&What) -> bool,
) -> Result<(Waits, Ask), Failure> {
    let waits = waits::of(app, run).await?;
    let found = waits.asks.iter().find(|ask| {
        let about = ask.what.action().is_some_and(|action| action.id == *id);
        about && is_it(&ask.what)
    });
    match found.cloned() {
        Some(ask) => Ok((waits, ask)),
        None => Err(before::action(context, app, run, id).await?),
    }
}

/// `deny`.
pub async fn deny(context: &Context, deny: Deny) -> Result<Status, Failure> {
    let reason = said(
        &deny.reason,
        "The reason is empty.",
        "Say why not; the model is told.",
    )?;
    let app = context.open()?;
    let (id, run) = app.find_action(&deny.action).await?;
    let is_it = |what: &What| matches!(what, What::Approval { .. });
    let (waits, _) = open(context, &app, (run, &id), is_it).await?;
    let wish = Wish::Deny {
        action: id,
        reason,
        from: Surface::Command,
    };
    let seq = waits.run.seq;
    give(context, &app, run, Given { wish, seq }).await
}

/// `answer`.
pub async fn answer(context: &Context, answer: Answer) -> Result<Status, Failure> {
    let text = answer.text.as_deref().map(|text| {
        said(
            text,
            "The answer is empty.",
            "Say what the run should know.",
        )
    });
    let text = text.transpose()?;
    let app = context.open()?;
    let (id, run) = app.find_action(&answer.action).await?;
    let is_it = |what: &What| matches!(what, What::Question { .. } | What::ServerQuestion { .. });
    let (waits, ask) = open(context, &app, (run, &id), is_it).await?;
    let wish = match (&ask.what, text) {
        (What::ServerQuestion { question, .. }, Some(text)) => {
            let answer = question::read(&question.wants, &text);
            let answer = answer.map_err(|mistakes| misfit(&mistakes))?;
            reply(id, question, answer)
        }
        (What::ServerQuestion { question, .. }, None) if answer.open => {
            let Wants::Visit { url, host } = &question.wants else {
                return Err(Failure::usage(
                    "The server asks for values, and not to open a page.",
                    "Give them as JSON, or say decline.",
                ));
            };
            let mut screen = context.screen();
            screen.say(&format!("Opening a page of {host}:\n{url}"));
            browser::open(url)?;
            let values = Map::new();
            reply(id, question, Reply::Given { values })
        }
        (What::Question { .. }, _) if answer.open => {
            return Err(Failure::usage(
                "The model asks, and there is no page to open.",
                "Answer it in words.",
            ));
        }
        (_, Some(text)) => Wish::Answer {
            action: id,
            text,
            from: Surface::Command,
        },
        (_, None) => asked_here(context, &app, (run, &waits), &ask).await?,
    };
    let seq = waits.run.seq;
    give(context, &app, run, Given { wish, seq }).await
}

fn reply(action: ActionId, question: &ServerQuestion, answer: Reply) -> Wish {
    Wish::Reply {
        action,
        number: question.number,
        answer,
        from: Surface::Command,
    }
}

/// That an answer does not fit what a server wants, field by field.
fn misfit(mistakes: &[Mistake]) -> Failure {
    Failure::usage(
        format!(
            "Nothing was sent: {}",
            text::plain(&question::in_words(mistakes))
        ),
        "Mend it, and answer again.",
    )
}

/// An answer that is asked for in place.
async fn asked_here(
    context: &Context,
    app: &Longrein,
    of: (RunId, &Waits),
    ask: &Ask,
) -> Result<Wish, Failure> {
    let mut screen = context.screen();
    if !ask::somebody_is_there(&screen) {
        let commands = ask.what.commands(of.0);
        let commands: Vec<String> = commands
            .iter()
            .map(|words| context.command(words))
            .collect();
        return Err(Failure::usage(
            "There is no answer, and nobody sits here who could be asked.",
            format!("Answer with: {}", commands.join(" or: ")),
        ));
    }
    let wish = ask::about_one(app, of, ask, &mut screen).await?;
    wish.ok_or_else(|| Failure::said(Status::Parked, "Nothing was answered.", ""))
}

fn said(words: &str, problem: &str, remedy: &str) -> Result<String, Failure> {
    match words.trim() {
        "" => Err(Failure::usage(problem, remedy)),
        words => Ok(words.to_owned()),
    }
}

/// `accept`.
pub async fn accept(context: &Context, accept: Accept) -> Result<Status, Failure> {
    let back = accept.send_back.as_deref();
    let back = back.map(|back| {
        said(
            back,
            "There are no words.",
            "Say what is missing; the model reads it.",
        )
    });
    let back = back.transpose()?;
    let app = context.open()?;
    let run = app.find_run(&accept.run).await?;
    let waits = waits::of(&app, run).await?;
    let is_asked = |ask: &Ask| matches!(ask.what, What::Acceptance { .. });
    let is_asked = waits.asks.iter().any(is_asked);
    let stands = matches!(waits.run.phase, Phase::HandedOff { .. });
    match (is_asked, stands, &back) {
        (true, _, _) | (false, true, None) => {}
        (false, true, Some(_)) => {
            let resume = context.run_command("resume", run);
            return Err(Failure::usage(
                format!("Run {run} was handed off, and asks nobody to accept it."),
                format!("Say how it should go on: {resume} \"…\""),
            ));
        }
        (false, false, _) => return Err(before::acceptance(context, &app, run).await?),
    }
    let accepted = back.is_none();
    let wish = Wish::Accept {
        accepted,
        note: back.or(accept.note).unwrap_or_default(),
        from: Surface::Command,
    };
    let seq = waits.run.seq;
    give(context, &app, run, Given { wish, seq }).await
}

/// `settle`.
pub async fn settle(context: &Context, settle: Settle) -> Result<Status, Failure> {
    let verdict = match settle.verdict {
        Settled::Happened => Some(Verdict::Happened),
        Settled::NotHappened => Some(Verdict::NotHappened),
        Settled::Retry => Some(Verdict::Retry),
        Settled::Stop => None,
    };
    if settle.result.is_some() && verdict != Some(Verdict::Happened) {
        return Err(Failure::usage(
            "Only what happened has a result.",
            "Leave --result out, or say: happened",
        ));
    }
    let result = settle
        .result
        .as_ref()
        .map(|file| edit::file_text(&file.to_string_lossy(), RESULT_LIMIT_BYTES));
    let result = result.transpose()?;
    let app = context.open()?;
    let (id, run) = app.find_action(&settle.action).await?;
    let is_it = |what: &What| matches!(what, What::Verdict { .. });
    let (waits, _) = open(context, &app, (run, &id), is_it).await?;
    let Some(verdict) = verdict else {
        return wishes::stop(context, &app, run, (Wish::Cancel, RunState::Cancelled)).await;
    };
    let wish = Wish::Settle {
        action: id,
        verdict,
        result,
        from: Surface::Command,
    };
    let seq = waits.run.seq;
    give(context, &app, run, Given { wish, seq }).await
}

/// `undo`. The status says whether the effect was taken back.
pub async fn undo(context: &Context, undo: Undo) -> Result<Status, Failure> {
    let app = context.open()?;
    let (id, run) = app.find_action(&undo.action).await?;
    let view = app.view(run).await?;
    let row = before::row_of(&view, &id);
    match row {
        Some(row) if row.undo => {}
        Some(row) if row.undone => return Err(before::taken_back(context, run, row)),
        row => {
            return Err(Failure::usage(
                format!("Action {id} can't be taken back."),
                row.map_or("", why_not),
            ));
        }
    }
    let wish = Wish::Undo {
        action: id.clone(),
        from: Surface::Command,
    };
    let seq = view.run().seq;
    let status = give(context, &app, run, Given { wish, seq }).await?;
    let after = app.view(run).await?;
    let row = before::row_of(&after, &id);
    Ok(match row {
        Some(row) if row.undone => Status::Done,
        // Another process goes on with it.
        _ if status == Status::Done && app.is_driven(run) => Status::Done,
        Some(row) if row.undo => Status::Failed,
        _ => Status::Parked,
    })
}

fn why_not(row: &ActionRow) -> &'static str {
    use longrein_protocol::view::ActionState::Succeeded;
    match row.state {
        Succeeded => "Its tool names none that takes it back, or it left no receipt to do it by.",
        _ => "Only what ended well can be.",
    }
}
