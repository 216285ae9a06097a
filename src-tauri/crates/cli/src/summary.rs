//! How a run stands, when a command about it ends: its state, its files, what it took, and the
//! next command when something is owed.

mod limits;

use std::path::Path;

use longrein_app::Longrein;
use longrein_core::run::{Action, ActionStage, Phase, Run};
use longrein_core::view::View;
use longrein_protocol::RunId;
use longrein_protocol::event::{Digest, HandoffReason};
use longrein_protocol::view::{RowContent, RunHead, RunLine, RunState};
use longrein_store::Log as _;

use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::follow::End;
use crate::hold;
use crate::screen::{Screen, Tone};
use crate::text;
use crate::waits::{self, Ask};

pub use limits::{amount, budget, flag as limit_flag, typed};

/// The columns of a label.
const LABEL_COLUMNS: usize = 9;
/// Commands in a remedy that the summary tells itself, with the run and the data folder in them.
const OURS: [&str; 3] = [
    "longrein settle",
    "longrein resume RUN",
    "longrein accept RUN",
];

/// Tells how a run stands after it was followed, and gives the exit status.
///
/// # Errors
/// What reading gives.
pub async fn conclude(
    context: &Context,
    app: &Longrein,
    run: RunId,
    end: &End,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    let summary = Summary::read(context, app, run).await?;
    summary.tell(end, screen)?;
    Ok(status(end, summary.line.state))
}

fn status(end: &End, state: RunState) -> Status {
    match end {
        End::Interrupted => Status::Cancelled,
        End::Stopped(_) => Status::Parked,
        End::Driven(ended) if ended.failure.is_some() => Status::Parked,
        End::Driven(_) | End::Undriven | End::Asked => Status::of_run(state),
    }
}

/// A state in a word or two.
pub fn state_words(state: RunState) -> &'static str {
    match state {
        RunState::Running => "running",
        RunState::Waiting => "waiting for you",
        RunState::Paused => "paused",
        RunState::HandedOff => "handed off",
        RunState::Accepted => "accepted",
        RunState::Unverified => "finished",
        RunState::Failed => "failed",
        RunState::Cancelled => "cancelled",
        RunState::Interrupted => "interrupted",
        RunState::Unreadable => "unreadable",
    }
}

/// A state's tone.
pub fn state_tone(state: RunState) -> Tone {
    match state {
        RunState::Accepted => Tone::Good,
        RunState::Unverified | RunState::Running => Tone::Plain,
        RunState::Waiting | RunState::Paused | RunState::HandedOff | RunState::Interrupted => {
            Tone::Accent
        }
        RunState::Failed | RunState::Unreadable => Tone::Bad,
        RunState::Cancelled => Tone::Quiet,
    }
}

/// How a run stands.
pub struct Summary<'s> {
    /// The global options.
    pub context: &'s Context,
    /// The run.
    pub run: RunId,
    /// Its rows and its state, as far as its log can be read.
    pub view: View,
    /// Its line, which knows whether anybody drives it. Where the log is damaged it says so.
    pub line: RunLine,
    /// What of its children waits for a person, with the child's title.
    children: Vec<(RunId, String, Ask)>,
}

impl<'s> Summary<'s> {
    /// Reads how a run stands.
    ///
    /// # Errors
    /// When there is no such run, or what reading gives.
    pub async fn read(context: &'s Context, app: &Longrein, run: RunId) -> Result<Self, Failure> {
        let view = app.view(run).await?;
        let mut line = app.run_line(run).await?;
        let last = view.run().seq;
        let rest = app.store().read(run, last.saturating_add(1), 1).await?;
        if let Some(damage) = rest.damage {
            line.state = RunState::Unreadable;
            let shown = match last {
                0 => "Nothing of it can be shown.".to_owned(),
                last => format!("What is shown ends with event {last}."),
            };
            line.reason = format!("Event {} is damaged: {}. {shown}", damage.seq, damage.what);
        }
        let mut children = Vec::new();
        if view.run().open_children().next().is_some() {
            let tree = waits::of_tree(app, run).await?;
            if tree.rests() && line.state != RunState::Waiting {
                line.state = RunState::Waiting;
                "A child of this run waits for you.".clone_into(&mut line.reason);
            }
            for (child, waits) in tree.runs.into_iter().skip(1) {
                let title = waits.run.title;
                let asks = waits.asks.into_iter();
                children.extend(asks.map(|ask| (child, title.clone(), ask)));
            }
        }
        Ok(Self {
            context,
            run,
            view,
            line,
            children,
        })
    }

    fn is_damaged(&self) -> bool {
        self.line.state == RunState::Unreadable
    }

    /// Tells all of it.
    ///
    /// # Errors
    /// When nobody reads the output any more.
    pub fn tell(&self, end: &End, screen: &mut Screen) -> Result<(), Failure> {
        self.tell_answer(screen)?;
        screen.result("")?;
        let head = self.view.head();
        self.tell_state(end, screen)?;
        if let Some(digest) = &head.digest {
            tell_digest(digest, screen)?;
        }
        self.tell_facts(&head, screen)?;
        self.tell_next(end, screen)
    }

    /// The model's last words, where they are the result: the run delivered no file.
    fn tell_answer(&self, screen: &mut Screen) -> Result<(), Failure> {
        let is_done = matches!(self.line.state, RunState::Accepted | RunState::Unverified);
        if screen.is_json() || !is_done || !self.view.head().artifacts.is_empty() {
            return Ok(());
        }
        let mut answers = self
            .view
            .rows()
            .iter()
            .rev()
            .filter_map(|row| match &row.content {
                RowContent::Answer { text, .. } if !text.trim().is_empty() => Some(text),
                _ => None,
            });
        match answers.next() {
            Some(answer) => screen.result(&format!("\n{}", text::plain_lines(answer.trim()))),
            None => Ok(()),
        }
    }

    fn tell_state(&self, end: &End, screen: &mut Screen) -> Result<(), Failure> {
        let (mut reason, mut remedy) = (self.line.reason.clone(), self.view.head().remedy);
        match end {
            End::Driven(ended) if ended.failure.is_some() => {
                reason.clone_from(&ended.reason);
                remedy.clone_from(&ended.remedy);
            }
            End::Stopped(holder) => {
                reason = format!(
                    "It is driven by {}, which is stopped.",
                    hold::in_words(holder)
                );
                remedy = format!("Let it go on with: kill -CONT {}", holder.pid);
            }
            End::Interrupted if self.line.state == RunState::Interrupted => {
                reason = "You stopped this command; nothing that was recorded is lost.".to_owned();
            }
            End::Interrupted if self.line.state == RunState::Running => {
                reason = "This command stopped following; the run goes on.".to_owned();
            }
            _ => {}
        }
        if self.is_damaged() {
            // The rest of the log would be needed to know what can be done.
            reason.clone_from(&self.line.reason);
            remedy.clear();
        }
        let words = state_words(self.line.state);
        let tone = state_tone(self.line.state);
        let reason = text::plain(&reason);
        let told = match reason.to_lowercase().strip_prefix(words) {
            // The reason names the state itself.
            Some(_) => screen.result_painted(tone, &reason),
            None => {
                let words = screen.result_painted(tone, &text::sentence(words));
                let colon = if reason.is_empty() { "" } else { ": " };
                format!("{words}{colon}{reason}")
            }
        };
        screen.result(&told)?;
        // What a person can answer, and a remedy that is a command of ours, is told below, with the
        // data folder in it.
        let remedy = text::plain(&remedy);
        let is_told_below =
            self.line.state == RunState::Waiting || OURS.iter().any(|ours| remedy.contains(ours));
        if !remedy.is_empty() && !is_told_below {
            screen.result(&remedy)?;
        }
        Ok(())
    }

    fn tell_facts(&self, head: &RunHead, screen: &mut Screen) -> Result<(), Failure> {
        screen.result("")?;
        self.fact("run", &self.run.to_string(), screen)?;
        let demo = if head.demo {
            " (the demonstration model: rules, no AI)"
        } else {
            ""
        };
        self.fact(
            "agent",
            &format!("{} · {}{demo}", head.agent, head.model),
            screen,
        )?;
        for artifact in &head.artifacts {
            let path = Path::new(&workspace(self.view.run())).join(&artifact.path);
            let is_page = artifact.media_type == "text/html";
            let label = if is_page { "page" } else { "file" };
            self.fact(label, &path.to_string_lossy(), screen)?;
        }
        let held = head.done_when.iter().filter(|result| result.holds).count();
        if head.verified {
            let criteria = match head.done_when.len() {
                1 => "1 criterion holds".to_owned(),
                all => format!("{all} criteria hold"),
            };
            let words = format!("{held} of {criteria}");
            self.fact("checked", &words, screen)?;
        }
        let tokens = format!(
            "{} in, {} out",
            text::count(head.tokens_in.used.into()),
            text::count(head.tokens_out.used.into())
        );
        self.fact("steps", &head.steps.used.to_string(), screen)?;
        self.fact("tokens", &tokens, screen)?;
        if !head.demo && head.steps.used > 0 {
            self.fact("cost", &limits::cost(head), screen)?;
        }
        if self.is_damaged() {
            // The list knows the time of all events, which are more than these.
            return Ok(());
        }
        self.fact("time", &text::duration(self.line.working_ms.into()), screen)
    }

    fn fact(&self, label: &str, value: &str, screen: &mut Screen) -> Result<(), Failure> {
        let label = screen.result_painted(Tone::Quiet, &text::cell(label, LABEL_COLUMNS));
        screen.result(&format!("  {label}{}", text::plain(value)))
    }

    fn tell_next(&self, end: &End, screen: &mut Screen) -> Result<(), Failure> {
        let next = self.next_commands(end);
        if next.is_empty() {
            return Ok(());
        }
        screen.result("")?;
        next.iter().try_for_each(|line| screen.result(line))
    }

    /// What a person types to go on; nothing when nothing is owed.
    fn next_commands(&self, end: &End) -> Vec<String> {
        if let End::Stopped(_) = end {
            let command = self.context.run_command("resume", self.run);
            return vec![format!("Or end it and go on here: {command} --take-over")];
        }
        let owed = self.owed();
        if !owed.is_empty() {
            return owed;
        }
        let command = |words: &str| self.context.command(words);
        let run = self.run;
        let resume = || format!("Go on with: {}", command(&format!("resume {run}")));
        match self.line.state {
            RunState::HandedOff => {
                let mut next: Vec<String> = self.raise().into_iter().collect();
                if next.is_empty() {
                    next.push(resume());
                }
                if self.words_help() {
                    let say = command(&format!("resume {run} \"…\""));
                    next.push(format!("Or say how:  {say}"));
                    let accept = command(&format!("accept {run}"));
                    next.push(format!("Or take the result as it is:  {accept}"));
                }
                next
            }
            RunState::Waiting | RunState::Paused | RunState::Interrupted => vec![resume()],
            RunState::Running if matches!(end, End::Driven(_)) => vec![resume()],
            RunState::Running => vec![format!(
                "Follow it with: {}",
                command(&format!("watch {run}"))
            )],
            RunState::Unreadable => {
                let check = command(&format!("log check {run}"));
                vec![format!("See what is damaged: {check}")]
            }
            RunState::Accepted | RunState::Unverified | RunState::Failed | RunState::Cancelled => {
                Vec::new()
            }
        }
    }

    /// The command that raises the limit at which the run stopped.
    fn raise(&self) -> Option<String> {
        let reached = self.view.head().reached?;
        let flag = limits::flag(reached.limit);
        let enough = limits::typed(reached.limit, reached.suggested);
        let words = format!("resume {} {flag} {enough}", self.run);
        Some(format!("Raise it: {}", self.context.command(&words)))
    }

    /// What a person types to answer, where the run waits for an answer.
    fn owed(&self) -> Vec<String> {
        let command = |words: &str| self.context.command(words);
        if !matches!(self.line.state, RunState::Waiting | RunState::HandedOff) {
            return Vec::new();
        }
        let actions = &self.view.run().actions;
        let mut owed: Vec<String> = actions
            .iter()
            .flat_map(|action| match action.stage {
                ActionStage::Asked => self.approval(action),
                ActionStage::Questioned => self.question(action),
                ActionStage::Started if !action.questions.is_empty() => self.question(action),
                ActionStage::Uncertain => {
                    let words = format!("settle {} happened|not-happened|retry|stop", action.id);
                    vec![format!("Find out, then: {}", command(&words))]
                }
                _ => Vec::new(),
            })
            .collect();
        if self.view.head().acceptance.is_some() {
            let run = self.run;
            let accept = command(&format!("accept {run}"));
            owed.push(format!("Accept it:        {accept}"));
            owed.push(format!("Or send it back:  {accept} --send-back \"…\""));
        }
        owed.extend(self.children.iter().flat_map(|child| self.of_child(child)));
        owed
    }

    fn of_child(&self, (child, title, ask): &(RunId, String, Ask)) -> Vec<String> {
        let what = match ask.what.action() {
            Some(action) => format!("{} waits for your answer", text::plain(&action.tool)),
            None => "the result waits to be accepted".to_owned(),
        };
        let head = format!("For the child {child} ({}): {what}", text::brief(title, 80));
        let commands = ask.what.commands(*child).into_iter();
        let commands = commands.map(|words| format!("  {}", self.context.command(&words)));
        std::iter::once(head).chain(commands).collect()
    }

    /// Whether a run was handed off by a rule that a person's words can do something about.
    fn words_help(&self) -> bool {
        use HandoffReason::{Budget, Denied, Loop, NoProgress, NoReply, Verification};
        match self.view.run().phase {
            Phase::HandedOff { reason, .. } => {
                matches!(
                    reason,
                    Budget | Denied | Loop | NoProgress | NoReply | Verification
                )
            }
            _ => false,
        }
    }

    fn approval(&self, action: &Action) -> Vec<String> {
        let why = text::brief(&action.why, 200);
        let say = |words: &str| self.context.command(&format!("{words} {}", action.id));
        vec![
            format!("{} waits for your answer: {why}", text::plain(&action.tool)),
            format!("Let it start:  {}", say("approve")),
            format!("Or refuse it:  {} --reason \"…\"", say("deny")),
        ]
    }

    fn question(&self, action: &Action) -> Vec<String> {
        let asked = match self.view.action_row(&action.id).map(|row| &row.content) {
            Some(RowContent::Action(row)) => row.question.as_ref(),
            _ => None,
        };
        let mut lines = Vec::new();
        if let Some(asked) = asked {
            lines.push(format!("It asks you: {}", text::brief(&asked.text, 400)));
            let options = asked.options.iter();
            lines.extend(options.map(|option| format!("  {}", text::plain(option))));
        }
        let answer = self.context.command(&format!("answer {} \"…\"", action.id));
        lines.push(format!("Answer it:  {answer}"));
        lines
    }
}

/// Where the work stands when a run was handed off.
fn tell_digest(digest: &Digest, screen: &mut Screen) -> Result<(), Failure> {
    for (label, lines) in [("Done:", &digest.done), ("Open:", &digest.open)] {
        if lines.is_empty() {
            continue;
        }
        let label = screen.result_painted(Tone::Quiet, label);
        screen.result(&label)?;
        for line in lines {
            screen.result(&format!("  {}", text::plain(line)))?;
        }
    }
    match digest.cost.as_str() {
        "" => Ok(()),
        cost => screen.result(&text::plain(cost)),
    }
}

/// The folder that a run works in.
pub fn workspace(run: &Run) -> String {
    run.created
        .as_ref()
        .map(|created| created.workspace.clone())
        .unwrap_or_default()
}
