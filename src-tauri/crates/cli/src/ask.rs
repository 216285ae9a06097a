//! Asking a person in place, on a terminal: the tool, its arguments and why it is asked.

use std::io::{self, IsTerminal as _};

use longrein_app::Longrein;
use longrein_core::run::{Action, ActionStage, shown_hash};
use longrein_protocol::RunId;
use longrein_protocol::wish::Wish;

use crate::failure::{Failure, Status};
use crate::interrupt::Interrupts;
use crate::screen::{Screen, Tone};
use crate::text;

/// The most bytes of arguments that are shown; the rest is counted.
const ARGUMENTS_LIMIT_BYTES: usize = 8 << 10;
/// The most letters that are shown of a line that is no answer.
const SHOWN_LETTERS: usize = 24;
/// How often an answer that is none is asked for again.
const ASKED_LIMIT: usize = 5;

/// Shows what an action is about to do.
///
/// # Errors
/// What reading gives.
pub async fn show(app: &Longrein, action: &Action, screen: &mut Screen) -> Result<(), Failure> {
    for line in lines(app, action, screen).await? {
        screen.say(&line);
    }
    Ok(())
}

/// What an action is about to do, line by line: tool, effect, why it is asked, arguments.
///
/// # Errors
/// What reading gives.
pub async fn lines(
    app: &Longrein,
    action: &Action,
    screen: &Screen,
) -> Result<Vec<String>, Failure> {
    let tool = screen.painted(Tone::Accent, &text::plain(&action.tool));
    let effect = serde_json::to_value(action.effect)?;
    let mut lines = vec![format!(
        "{tool} · {} · {}",
        effect.as_str().unwrap_or_default(),
        action.id
    )];
    if !action.why.is_empty() {
        lines.push(format!("  asked because: {}", text::plain(&action.why)));
    }
    let arguments = app.content(&action.arguments).await?;
    let arguments = String::from_utf8_lossy(&arguments).into_owned();
    let pretty = serde_json::from_str::<serde_json::Value>(&arguments)
        .and_then(|value| serde_json::to_string_pretty(&value))
        .unwrap_or(arguments);
    let end = pretty.floor_char_boundary(ARGUMENTS_LIMIT_BYTES);
    lines.extend(
        text::plain_lines(&pretty[..end])
            .lines()
            .map(|line| format!("  {line}")),
    );
    if end < pretty.len() {
        let left = u32::try_from(pretty.len() - end).unwrap_or(u32::MAX);
        lines.push(format!("  … {}", text::counted(left, "more byte")));
    }
    Ok(lines)
}

/// How asking ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    /// An answer was given.
    Answered,
    /// None was, or nobody is there to ask: the run waits on.
    LeftOpen,
    /// The person stopped the command.
    Interrupted,
}

/// Asks about every action of a run that waits, where there is somebody to ask.
///
/// # Errors
/// What reading and recording give.
pub async fn in_place(
    app: &Longrein,
    run: RunId,
    interrupts: &mut Interrupts,
    screen: &mut Screen,
) -> Result<Asked, Failure> {
    if !io::stdin().is_terminal() || !screen.is_live() || screen.is_json() {
        return Ok(Asked::LeftOpen);
    }
    let view = app.view(run).await?;
    let state = view.run();
    let mut asked = Asked::LeftOpen;
    for action in state
        .actions
        .iter()
        .filter(|action| action.stage == ActionStage::Asked)
    {
        screen.say("");
        show(app, action, screen).await?;
        let wish = match answer(interrupts, screen).await? {
            Answer::Yes => Wish::Approve {
                action: action.id.clone(),
                seen: shown_hash(action, state),
            },
            Answer::No(reason) => Wish::Deny {
                action: action.id.clone(),
                reason,
            },
            Answer::Later => continue,
            Answer::Interrupted => return Ok(Asked::Interrupted),
        };
        app.wish(run, wish).await?;
        asked = Asked::Answered;
    }
    Ok(asked)
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Answer {
    Yes,
    No(String),
    Later,
    Interrupted,
}

/// A bare Enter is no answer, and neither is anything that is not meant as one.
async fn answer(interrupts: &mut Interrupts, screen: &mut Screen) -> Result<Answer, Failure> {
    for _ in 0..ASKED_LIMIT {
        screen.say("Let it start? Type yes, or no and why, or later:");
        let reading = tokio::task::spawn_blocking(|| io::stdin().lines().next());
        let line = tokio::select! {
            line = reading => line.ok().flatten(),
            // The thread that reads ends with the process.
            () = interrupts.next() => return Ok(Answer::Interrupted),
        };
        let Some(line) = line else {
            return Ok(Answer::Later);
        };
        let line = line.map_err(|error| {
            Failure::said(
                Status::Parked,
                format!("The answer can't be read: {error}."),
                "",
            )
        })?;
        if let Some(answer) = understood(&line) {
            return Ok(answer);
        }
        screen.say(&not_understood(&line));
    }
    Ok(Answer::Later)
}

fn understood(line: &str) -> Option<Answer> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    match word.trim_end_matches([',', ':']).to_lowercase().as_str() {
        "yes" if rest.is_empty() => Some(Answer::Yes),
        "no" if !rest.is_empty() => Some(Answer::No(rest.to_owned())),
        "no" => Some(Answer::No("The person said no.".to_owned())),
        "later" if rest.is_empty() => Some(Answer::Later),
        _ => None,
    }
}

/// Why a line is asked for again.
fn not_understood(line: &str) -> String {
    match text::brief(line, SHOWN_LETTERS).as_str() {
        "" => "An empty line is no answer.".to_owned(),
        line => format!("“{line}” is no answer: yes and later are whole words that stand alone."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_yes_lets_an_action_start() {
        let no = |reason: &str| Some(Answer::No(reason.to_owned()));
        let cases = [
            ("yes\n", Some(Answer::Yes)),
            ("YES", Some(Answer::Yes)),
            ("\n", None),
            ("y", None),
            ("yes but not now", None),
            ("no", no("The person said no.")),
            ("no: wrong channel", no("wrong channel")),
            ("later", Some(Answer::Later)),
            ("what?", None),
        ];
        for (line, answer) in cases {
            assert_eq!(understood(line), answer, "{line:?}");
        }
    }
}
