//! Asking a person in place, on a terminal: approvals, questions, acceptances, actions in doubt.

mod choices;
mod editor;
mod keys;
mod server;
pub mod words;

use std::io::{self, IsTerminal as _};

use longrein_app::Longrein;
use longrein_core::run::Run;
use longrein_core::view;
use longrein_protocol::RunId;
use longrein_protocol::gate::{Always, Scope, Surface};
use longrein_protocol::wish::Wish;

use crate::edit;
use crate::failure::{Failure, Status};
use crate::interrupt::Interrupts;
use crate::screen::Screen;
use crate::text;
use crate::waits::{self, Ask, Waits, What};
use choices::{Accepting, Approving, Settling};
use keys::{Keys, Typed};

/// How often an answer that is none is asked for again.
const ASKED_LIMIT: usize = 5;
/// The most letters of a child's title.
const TITLE_LETTERS: usize = 80;

/// How asking ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    /// An answer was given, here or elsewhere.
    Answered,
    /// None was, or nobody is there to ask: the run waits on.
    LeftOpen,
    /// The person stopped the command.
    Interrupted,
}

/// Whether somebody sits here who can be asked.
pub fn somebody_is_there(screen: &Screen) -> bool {
    io::stdin().is_terminal() && screen.is_live() && !screen.is_json()
}

/// Asks about everything of a run and its children that waits, where there is somebody to ask.
///
/// # Errors
/// What reading and recording give.
pub async fn in_place(
    app: &Longrein,
    run: RunId,
    interrupts: &mut Interrupts,
    screen: &mut Screen,
) -> Result<Asked, Failure> {
    if !somebody_is_there(screen) {
        return Ok(Asked::LeftOpen);
    }
    let mut asked = Asked::LeftOpen;
    for (of, waits) in &waits::of_tree(app, run).await?.runs {
        for ask in &waits.asks {
            screen.say("");
            if *of != run {
                let title = text::brief(&waits.run.title, TITLE_LETTERS);
                screen.say(&format!("for the child {of} · {title}"));
            }
            match said(app, (*of, waits), ask, interrupts, screen).await? {
                Said::Wish(wish) => {
                    app.wish(*of, wish).await?;
                    asked = Asked::Answered;
                }
                Said::Elsewhere => {
                    screen.say("It was answered elsewhere.");
                    asked = Asked::Answered;
                }
                Said::Later => {}
                Said::Interrupted => return Ok(Asked::Interrupted),
            }
        }
    }
    Ok(asked)
}

/// Shows one thing that waits, and asks about it.
async fn said(
    app: &Longrein,
    (run, waits): (RunId, &Waits),
    ask: &Ask,
    interrupts: &mut Interrupts,
    screen: &mut Screen,
) -> Result<Said, Failure> {
    for line in words::lines(app, &ask.what, screen).await? {
        screen.say(&line);
    }
    let mut desk = Desk {
        app,
        run,
        state: &waits.run,
        ask,
        interrupts,
        screen,
    };
    desk.answer().await
}

/// Asks about one thing that waits, where there is somebody to ask; what they said, if they did.
///
/// # Errors
/// What reading gives.
pub async fn about_one(
    app: &Longrein,
    of: (RunId, &Waits),
    ask: &Ask,
    screen: &mut Screen,
) -> Result<Option<Wish>, Failure> {
    if !somebody_is_there(screen) {
        return Ok(None);
    }
    let mut interrupts = Interrupts::listen()?;
    Ok(match said(app, of, ask, &mut interrupts, screen).await? {
        Said::Wish(wish) => Some(wish),
        Said::Later | Said::Elsewhere | Said::Interrupted => None,
    })
}

/// Whether a person says yes. Anything else, an empty line too, is no.
///
/// # Errors
/// When the terminal can't be read.
pub async fn confirmed(prompt: &str, screen: &mut Screen) -> Result<bool, Failure> {
    keys::forget_what_was_typed();
    screen.say(prompt);
    Ok(match Keys::wait().line().await.map_err(unreadable)? {
        Typed::Line(line) => choices::is_yes(&line),
        Typed::Ended => false,
    })
}

/// What a person said.
enum Said {
    Wish(Wish),
    Later,
    Elsewhere,
    Interrupted,
}

/// What came of asking for a line.
enum Line {
    Words(String),
    /// There is none, and this is why.
    None(Said),
}

/// One question, before one person.
struct Desk<'d> {
    app: &'d Longrein,
    run: RunId,
    state: &'d Run,
    ask: &'d Ask,
    interrupts: &'d mut Interrupts,
    screen: &'d mut Screen,
}

impl Desk<'_> {
    async fn answer(&mut self) -> Result<Said, Failure> {
        let ask = self.ask;
        for _ in 0..ASKED_LIMIT {
            let said = match &ask.what {
                What::Approval { .. } => self.approval().await?,
                What::Question { options, .. } => self.question(options).await?,
                What::ServerQuestion { question, .. } => self.server_question(question).await?,
                What::Acceptance { .. } => self.acceptance().await?,
                What::Verdict { .. } => self.verdict().await?,
            };
            if let Some(said) = said {
                return Ok(said);
            }
        }
        Ok(Said::Later)
    }

    /// Asks for a line, until there is one, or the question is answered elsewhere.
    async fn line(&mut self, prompt: &str) -> Result<Line, Failure> {
        keys::forget_what_was_typed();
        self.screen.say(prompt);
        let mut typing = Keys::wait();
        let mut changes = self.app.store().watch().map_err(Failure::from)?;
        let mut seq = self.state.seq;
        loop {
            tokio::select! {
                line = typing.line() => {
                    return Ok(match line.map_err(unreadable)? {
                        Typed::Line(words) => Line::Words(words.trim().to_owned()),
                        Typed::Ended => Line::None(Said::Later),
                    });
                }
                () = self.interrupts.next() => return Ok(Line::None(Said::Interrupted)),
                changed = changes.changed() => {
                    changed.map_err(Failure::from)?;
                    let now = self.app.run_line(self.run).await?.seq;
                    if now != seq && !self.still_waits().await? {
                        return Ok(Line::None(Said::Elsewhere));
                    }
                    seq = now;
                }
            }
        }
    }

    async fn still_waits(&self) -> Result<bool, Failure> {
        let waits = waits::of(self.app, self.run).await?;
        Ok(waits.asks.contains(self.ask))
    }

    /// Says why a line is asked for again.
    fn again(&mut self, line: &str) -> Option<Said> {
        let why = choices::not_understood(line);
        self.screen.say(&why);
        None
    }
}

/// The answers; `None` where the line was no answer.
impl Desk<'_> {
    async fn approval(&mut self) -> Result<Option<Said>, Failure> {
        let What::Approval { action, offers, .. } = &self.ask.what else {
            return Ok(Some(Said::Later));
        };
        let has_always = !offers.is_empty();
        let line = self.line(choices::approval_prompt(has_always)).await?;
        let line = match line {
            Line::Words(line) => line,
            Line::None(said) => return Ok(Some(said)),
        };
        let seen = action.shown.unwrap_or_else(|| action.arguments.hash());
        let approve = |edit, always| Wish::Approve {
            action: action.id.clone(),
            seen,
            edit,
            always,
            from: Surface::Command,
        };
        Ok(match choices::approving(&line) {
            Some(Approving::Approve) => Some(Said::Wish(approve(None, None))),
            Some(Approving::Edit) => match self.edited().await? {
                Ok(text) => Some(Said::Wish(approve(Some(text), None))),
                Err(said) => said,
            },
            Some(Approving::Always) if has_always => match self.rules().await? {
                Ok(always) => Some(Said::Wish(approve(None, Some(always)))),
                Err(said) => said,
            },
            Some(Approving::Deny(reason)) => Some(self.denial(reason).await?),
            Some(Approving::Later) => Some(Said::Later),
            Some(Approving::Always) | None => self.again(&line),
        })
    }

    async fn denial(&mut self, reason: String) -> Result<Said, Failure> {
        let mut reason = reason;
        if reason.is_empty() {
            reason = match self.line("Why not? The model is told:").await? {
                Line::Words(words) => words,
                Line::None(said) => return Ok(said),
            };
        }
        if reason.is_empty() {
            "The person said no.".clone_into(&mut reason);
        }
        let action = self.ask.what.action().map(|action| action.id.clone());
        Ok(action.map_or(Said::Later, |action| {
            Said::Wish(Wish::Deny {
                action,
                reason,
                from: Surface::Command,
            })
        }))
    }

    /// Arguments that a person edited, and that fit; else what to do instead.
    async fn edited(&mut self) -> Result<Result<String, Option<Said>>, Failure> {
        let Some(action) = self.ask.what.action() else {
            return Ok(Err(None));
        };
        let arguments = self.app.content(&action.arguments).await?;
        let mut text = view::pretty(&String::from_utf8_lossy(&arguments));
        for _ in 0..ASKED_LIMIT {
            text = match editor::command() {
                Some(editor) => match editor::edit(&editor, &text).await {
                    Ok(text) => text,
                    Err(failure) => {
                        failure.told();
                        return Ok(Err(None));
                    }
                },
                None => match self.line(choices::EDIT_PROMPT).await? {
                    Line::Words(line) => line,
                    Line::None(said) => return Ok(Err(Some(said))),
                },
            };
            match edit::check(self.state, &action.tool, &text) {
                Ok(()) => return Ok(Ok(text)),
                Err(failure) => failure.told(),
            };
            match self.line("Edit it once more? y/N:").await? {
                Line::Words(line) if choices::is_yes(&line) => {}
                Line::Words(_) => break,
                Line::None(said) => return Ok(Err(Some(said))),
            }
        }
        Ok(Err(None))
    }

    /// The rules that "always" makes, once a person has seen what they match and said yes; else
    /// what to do instead.
    async fn rules(&mut self) -> Result<Result<Always, Option<Said>>, Failure> {
        let What::Approval { offers, .. } = &self.ask.what else {
            return Ok(Err(None));
        };
        let line = match self.line(choices::SCOPE_PROMPT).await? {
            Line::Words(line) => line,
            Line::None(said) => return Ok(Err(Some(said))),
        };
        let Some(scope) = choices::scope(&line) else {
            return Ok(Err(None));
        };
        let mut always = Always {
            scope,
            rules: offers.clone(),
            tainted: false,
        };
        let agent = self.state.agent().map_or("", |agent| agent.name.as_str());
        for line in words::preview(&always, agent) {
            self.screen.say(&line);
        }
        if self.state.tainted && scope == Scope::Run {
            match self.line(choices::TAINTED_PROMPT).await? {
                Line::Words(line) => always.tainted = choices::is_yes(&line),
                Line::None(said) => return Ok(Err(Some(said))),
            }
        }
        match self.line("Make this rule, and let it start? y/N:").await? {
            Line::Words(line) if choices::is_yes(&line) => Ok(Ok(always)),
            Line::Words(_) => Ok(Err(None)),
            Line::None(said) => Ok(Err(Some(said))),
        }
    }

    async fn question(&mut self, options: &[String]) -> Result<Option<Said>, Failure> {
        let line = match self.line(choices::question_prompt(options)).await? {
            Line::Words(line) => line,
            Line::None(said) => return Ok(Some(said)),
        };
        let (Some(text), Some(action)) = (choices::chosen(&line, options), self.ask.what.action())
        else {
            return Ok(self.again(&line));
        };
        Ok(Some(Said::Wish(Wish::Answer {
            action: action.id.clone(),
            text,
            from: Surface::Command,
        })))
    }

    async fn acceptance(&mut self) -> Result<Option<Said>, Failure> {
        let line = match self.line(choices::ACCEPT_PROMPT).await? {
            Line::Words(line) => line,
            Line::None(said) => return Ok(Some(said)),
        };
        let accept = |accepted, note| {
            Some(Said::Wish(Wish::Accept {
                accepted,
                note,
                from: Surface::Command,
            }))
        };
        Ok(match choices::accepting(&line) {
            Some(Accepting::Accept) => accept(true, String::new()),
            Some(Accepting::SendBack(words)) if words.is_empty() => {
                match self.line("What is missing? The model reads it:").await? {
                    Line::Words(words) if words.is_empty() => self.again(&words),
                    Line::Words(words) => accept(false, words),
                    Line::None(said) => Some(said),
                }
            }
            Some(Accepting::SendBack(words)) => accept(false, words),
            Some(Accepting::Later) => Some(Said::Later),
            None => self.again(&line),
        })
    }

    async fn verdict(&mut self) -> Result<Option<Said>, Failure> {
        let line = match self.line(choices::SETTLE_PROMPT).await? {
            Line::Words(line) => line,
            Line::None(said) => return Ok(Some(said)),
        };
        let Some(action) = self.ask.what.action() else {
            return Ok(Some(Said::Later));
        };
        Ok(match choices::settling(&line) {
            Some(Settling::Verdict(verdict)) => Some(Said::Wish(Wish::Settle {
                action: action.id.clone(),
                verdict,
                result: None,
                from: Surface::Command,
            })),
            Some(Settling::Stop) => Some(Said::Wish(Wish::Cancel)),
            Some(Settling::Later) => Some(Said::Later),
            None => self.again(&line),
        })
    }
}

fn unreadable(error: io::Error) -> Failure {
    let message = format!("The answer can't be read: {error}.");
    Failure::said(Status::Parked, message, "")
}
