//! What waits for a person, in the words in which it is shown.

use longrein_app::Longrein;
use longrein_core::run::Action;
use longrein_core::{policy, view};
use longrein_protocol::agent::{Decision, PolicyRule};
use longrein_protocol::gate::{Always, Check, Scope};

use crate::failure::Failure;
use crate::screen::{Screen, Tone};
use crate::text;
use crate::waits::What;

/// The most bytes of arguments that are shown; the rest is counted.
const ARGUMENTS_LIMIT_BYTES: usize = 8 << 10;
/// The most bytes of the review of a skill that are shown.
const REVIEW_LIMIT_BYTES: usize = 24 << 10;
/// The most bytes of a question that are shown.
const QUESTION_LIMIT_BYTES: usize = 4 << 10;

/// What waits, line by line, in the tones of progress.
///
/// # Errors
/// What reading gives.
pub async fn lines(app: &Longrein, what: &What, screen: &Screen) -> Result<Vec<String>, Failure> {
    match what {
        What::Approval {
            action,
            checks,
            offers,
        } => {
            let mut lines = approval(action, checks, screen)?;
            lines.extend(arguments_of(app, action).await?);
            lines.extend(review_of(app, action).await?);
            lines.extend(always(offers));
            Ok(lines)
        }
        What::Question {
            action,
            question,
            options,
        } => {
            let asks = screen.painted(Tone::Accent, "a question for you");
            let mut lines = vec![format!("{asks} · {}", action.id)];
            let question = app.content(question).await?;
            let question = String::from_utf8_lossy(&question);
            lines.extend(indented(&question, QUESTION_LIMIT_BYTES));
            let options = options.iter().enumerate();
            lines.extend(
                options
                    .map(|(place, option)| format!("    {}  {}", place + 1, text::plain(option))),
            );
            Ok(lines)
        }
        What::ServerQuestion {
            action,
            question,
            message,
        } => {
            let asks = format!("the server {} asks you", text::plain(&question.server));
            let asks = screen.painted(Tone::Accent, &asks);
            let mut lines = vec![format!(
                "{asks} · {} · {}",
                text::plain(&action.tool),
                action.id
            )];
            let message = app.content(message).await?;
            let message = String::from_utf8_lossy(&message);
            lines.extend(indented(&message, QUESTION_LIMIT_BYTES));
            let wanted = longrein_core::question::lines(&question.wants);
            lines.extend(wanted.iter().map(|line| format!("  {}", text::plain(line))));
            lines.push("  These are the server's words. What you answer is sent to it.".to_owned());
            Ok(lines)
        }
        What::Acceptance { text } => {
            let asks = screen.painted(Tone::Accent, "the result waits to be accepted");
            let mut lines = vec![asks];
            lines.extend(indented(text, QUESTION_LIMIT_BYTES));
            Ok(lines)
        }
        What::Verdict { action } => {
            let mut lines = vec![title(action, screen)?];
            let why = text::plain(&action.why);
            lines.push(format!("  it may or may not have happened: {why}"));
            lines.extend(arguments_of(app, action).await?);
            Ok(lines)
        }
    }
}

fn title(action: &Action, screen: &Screen) -> Result<String, Failure> {
    let tool = screen.painted(Tone::Accent, &text::plain(&action.tool));
    let effect = serde_json::to_value(action.effect)?;
    let effect = effect.as_str().unwrap_or_default().to_owned();
    Ok(format!("{tool} · {effect} · {}", action.id))
}

/// The tool, and why it is asked about: the check that decided, then what others say against it.
fn approval(action: &Action, checks: &[Check], screen: &Screen) -> Result<Vec<String>, Failure> {
    let mut lines = vec![title(action, screen)?];
    if !action.why.is_empty() {
        lines.push(format!("  asked because: {}", text::plain(&action.why)));
    }
    let also = checks.iter().filter(|check| {
        let objects = check.decision != Decision::Allow;
        objects && !check.facts.is_empty() && !action.why.contains(&check.facts)
    });
    lines.extend(also.map(|check| format!("  also: {}", text::plain(&check.facts))));
    Ok(lines)
}

async fn arguments_of(app: &Longrein, action: &Action) -> Result<Vec<String>, Failure> {
    let text = app.content(&action.arguments).await?;
    Ok(arguments(&String::from_utf8_lossy(&text)))
}

/// What the person is shown of a skill before it counts.
async fn review_of(app: &Longrein, action: &Action) -> Result<Vec<String>, Failure> {
    let skill = action.facts.skill.as_ref();
    let Some(review) = skill.and_then(|skill| skill.review.as_ref()) else {
        return Ok(Vec::new());
    };
    let review = app.content(review).await?;
    Ok(indented(
        &String::from_utf8_lossy(&review),
        REVIEW_LIMIT_BYTES,
    ))
}

/// Arguments as JSON with indents, line by line; the rest is counted.
pub fn arguments(text: &str) -> Vec<String> {
    indented(&view::pretty(text), ARGUMENTS_LIMIT_BYTES)
}

fn indented(words: &str, limit: usize) -> Vec<String> {
    let end = words.floor_char_boundary(limit);
    let shown = text::plain_lines(&words[..end]);
    let mut lines: Vec<String> = shown.lines().map(|line| format!("  {line}")).collect();
    if end < words.len() {
        let left = u32::try_from(words.len() - end).unwrap_or(u32::MAX);
        lines.push(format!("  … {}", text::counted(left, "more byte")));
    }
    lines
}

fn always(offers: &[PolicyRule]) -> Vec<String> {
    if offers.is_empty() {
        return Vec::new();
    }
    let rules = offers.iter().map(in_words);
    std::iter::once("  “always” would let start:".to_owned())
        .chain(rules.map(|rule| format!("    {rule}")))
        .collect()
}

fn in_words(rule: &PolicyRule) -> String {
    text::plain(&policy::in_words(rule))
}

/// Exactly what "always" will match, before it is agreed to.
pub fn preview(always: &Always, agent: &str) -> Vec<String> {
    let reach = match always.scope {
        Scope::Run => "in this run".to_owned(),
        Scope::Agent => format!("in every run of the agent {}", text::plain(agent)),
        Scope::Everywhere => "in every run of every agent".to_owned(),
    };
    let also = if always.tainted {
        ", also after it has read untrusted text"
    } else {
        ""
    };
    let rules = always.rules.iter().map(in_words);
    std::iter::once(format!(
        "From now on, {reach}{also}, this starts without asking:"
    ))
    .chain(rules.map(|rule| format!("  {rule}")))
    .collect()
}
