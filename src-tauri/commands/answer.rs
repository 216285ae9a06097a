//! What a person answers: to an action that waits, to a question, to a result.

use std::time::Duration;

use longrein_core::question;
use longrein_core::run::{Action, ActionStage};
use longrein_core::view::{self, View};
use longrein_protocol::agent::PolicyRule;
use longrein_protocol::event::Verdict;
use longrein_protocol::gate::{Always, Scope, Surface};
use longrein_protocol::question::{Replied, Reply, ServerQuestion, Wants};
use longrein_protocol::view::{ActionRow, RowContent, SaidLine};
use longrein_protocol::wish::Wish;
use longrein_protocol::{ActionId, BlobHash};
use longrein_runtime::world::check_arguments;
use serde::Deserialize;
use specta::Type;
use tauri::{AppHandle, State};
use tauri_plugin_opener::OpenerExt;

use super::{Answer, run_id};
use crate::bridge::{BridgeError, ErrorCode};
use crate::desktop::Desktop;

/// The most bytes of what a person writes as an answer, an edit or a result.
const WORDS_BYTES: usize = 1024 * 1024;

/// What a person says with their approval.
#[derive(Clone, Debug, Deserialize, Type)]
pub struct Approval {
    /// What was on the screen: `seen` of the row.
    pub seen: String,
    /// The arguments as the person wants them, as JSON; `null`: as they are.
    pub edit: Option<String>,
    /// The rules that they make with it.
    pub always: Option<AlwaysChoice>,
}

/// The rules that an approval makes.
#[derive(Clone, Debug, Deserialize, Type)]
pub struct AlwaysChoice {
    /// How far they reach.
    pub scope: Scope,
    /// Rules that the row offers, as they were shown.
    pub rules: Vec<String>,
    /// Whether they also hold after untrusted text was read; for this run only.
    pub tainted: bool,
}

/// Lets an action start, as it stands or edited, if it is still what the person saw.
#[tauri::command]
#[specta::specta]
pub async fn approve_action(
    desktop: State<'_, Desktop>,
    run: String,
    action: String,
    approval: Approval,
) -> Answer<()> {
    let (run, action) = (run_id(&run)?, ActionId(action));
    let view = desktop.longrein().view(run).await?;
    let asked = asked(&view, &action)?;
    let seen = same(asked, &approval.seen)?;
    let edit = match approval.edit {
        Some(text) => Some(edited(&view, asked, &bounded(text)?)?),
        None => None,
    };
    let always = match approval.always {
        Some(choice) => Some(always(card(&view, &action), choice)?),
        None => None,
    };
    let from = Surface::Window;
    let wish = Wish::Approve {
        action,
        seen,
        edit,
        always,
        from,
    };
    desktop.ask(run, wish).await
}

/// Refuses an action; the model is told why.
#[tauri::command]
#[specta::specta]
pub async fn deny_action(
    desktop: State<'_, Desktop>,
    run: String,
    action: String,
    reason: String,
) -> Answer<()> {
    let (run, action) = (run_id(&run)?, ActionId(action));
    let reason = bounded(reason)?;
    asked(&desktop.longrein().view(run).await?, &action)?;
    let from = Surface::Window;
    let wish = Wish::Deny {
        action,
        reason,
        from,
    };
    desktop.ask(run, wish).await
}

/// All arguments of an action that is asked, as JSON with indents.
#[tauri::command]
#[specta::specta]
pub async fn asked_arguments(
    desktop: State<'_, Desktop>,
    run: String,
    action: String,
    seen: String,
) -> Answer<String> {
    let (run, action) = (run_id(&run)?, ActionId(action));
    let view = desktop.longrein().view(run).await?;
    let asked = asked(&view, &action)?;
    same(asked, &seen)?;
    let bytes = desktop.longrein().content(&asked.arguments).await?;
    Ok(view::pretty(&String::from_utf8_lossy(&bytes)))
}

/// Answers a server's question: `values` are those of a form, as JSON, each as it was typed or chosen;
/// empty for a page, and where the person declines or gives no answer.
#[tauri::command]
#[specta::specta]
pub async fn answer_server(
    desktop: State<'_, Desktop>,
    run: String,
    action: String,
    number: u32,
    reply: Replied,
    values: String,
) -> Answer<()> {
    let (run, action) = (run_id(&run)?, ActionId(action));
    let values = bounded(values)?;
    let view = desktop.longrein().view(run).await?;
    let asked = asked_by_server(&view, &action, number)?;
    let reply = match reply {
        Replied::Declined => Reply::Declined,
        Replied::Dismissed => Reply::Dismissed,
        Replied::Given => Reply::Given {
            values: question::filled_in(&asked.wants, typed_values(&values)?),
        },
    };
    let answer = question::fitting(&asked.wants, reply)
        .map_err(|mistakes| usage(question::in_titles(&asked.wants, mistakes), MEND))?;
    let wish = Wish::Reply {
        action,
        number,
        answer,
        from: Surface::Window,
    };
    desktop.ask(run, wish).await
}

fn typed_values(values: &str) -> Answer<serde_json::Map<String, serde_json::Value>> {
    match values.trim() {
        "" => Ok(serde_json::Map::new()),
        text => serde_json::from_str(text)
            .map_err(|error| usage(format!("The answer is no JSON: {error}."), MEND)),
    }
}

/// Opens the page that a server wants visited in the person's browser. The address is the one in
/// the log.
#[tauri::command]
#[specta::specta]
pub async fn open_asked_page(
    app: AppHandle,
    desktop: State<'_, Desktop>,
    run: String,
    action: String,
    number: u32,
) -> Answer<()> {
    let (run, action) = (run_id(&run)?, ActionId(action));
    let view = desktop.longrein().view(run).await?;
    let asked = asked_by_server(&view, &action, number)?;
    let Wants::Visit { url, .. } = &asked.wants else {
        return Err(usage(
            "The server asks for values, and not to open a page.",
            MEND,
        ));
    };
    app.opener().open_url(url, None::<&str>).map_err(|error| {
        let message = format!("No browser can be opened: {error}.");
        BridgeError::new(ErrorCode::Io, message, format!("Open it yourself: {url}"))
    })
}

/// What to do about an answer that does not fit.
const MEND: &str = "Mend it, and answer again.";

/// A server's question, if it still waits for an answer.
fn asked_by_server<'a>(
    view: &'a View,
    action: &ActionId,
    number: u32,
) -> Answer<&'a ServerQuestion> {
    let open = at_stage(view, action, ActionStage::Started)?;
    match open.open_question(number) {
        Some(open) => Ok(&open.question),
        None => {
            let message = format!("{} does not wait for this answer any more.", open.tool);
            Err(refused(message, "Nothing was changed."))
        }
    }
}

/// Answers the model's question, or in words that of a server, which waits longest.
#[tauri::command]
#[specta::specta]
pub async fn answer_question(
    desktop: State<'_, Desktop>,
    run: String,
    action: String,
    text: String,
) -> Answer<()> {
    let (run, action) = (run_id(&run)?, ActionId(action));
    let text = bounded(text)?;
    let view = desktop.longrein().view(run).await?;
    let from = Surface::Window;
    let asking = view.run().action(&action);
    if let Some(open) = asking.and_then(|asking| asking.questions.first()) {
        let asked = asked_by_server(&view, &action, open.question.number)?;
        let answer = question::read(&asked.wants, &text)
            .map_err(|mistakes| usage(question::in_words(&mistakes), MEND))?;
        let wish = Wish::Reply {
            action,
            number: asked.number,
            answer,
            from,
        };
        return desktop.ask(run, wish).await;
    }
    at_stage(&view, &action, ActionStage::Questioned)?;
    desktop.ask(run, Wish::Answer { action, text, from }).await
}

/// Says what became of an action of which nobody knows.
#[tauri::command]
#[specta::specta]
pub async fn settle_action(
    desktop: State<'_, Desktop>,
    run: String,
    action: String,
    verdict: Verdict,
    result: Option<String>,
) -> Answer<()> {
    let (run, action) = (run_id(&run)?, ActionId(action));
    let result = result.map(bounded).transpose()?;
    at_stage(
        &desktop.longrein().view(run).await?,
        &action,
        ActionStage::Uncertain,
    )?;
    let from = Surface::Window;
    let wish = Wish::Settle {
        action,
        verdict,
        result,
        from,
    };
    desktop.ask(run, wish).await
}

/// Accepts the result, or sends it back.
#[tauri::command]
#[specta::specta]
pub async fn accept_result(
    desktop: State<'_, Desktop>,
    run: String,
    accepted: bool,
    note: String,
) -> Answer<()> {
    let (run, note) = (run_id(&run)?, bounded(note)?);
    let from = Surface::Window;
    let wish = Wish::Accept {
        accepted,
        note,
        from,
    };
    desktop.ask(run, wish).await
}

/// Takes the effect of an action back.
#[tauri::command]
#[specta::specta]
pub async fn undo_action(desktop: State<'_, Desktop>, run: String, action: String) -> Answer<()> {
    let (run, action) = (run_id(&run)?, ActionId(action));
    let view = desktop.longrein().view(run).await?;
    if !card(&view, &action).is_some_and(|row| row.undo) {
        let message = "This can't be taken back, or it is being taken back already.";
        return Err(refused(message.to_owned(), "Look at the action again."));
    }
    let from = Surface::Window;
    desktop.ask(run, Wish::Undo { action, from }).await
}

fn refused(message: String, remedy: &str) -> BridgeError {
    BridgeError::new(ErrorCode::Refused, message, remedy)
}

fn usage(message: impl Into<String>, remedy: &str) -> BridgeError {
    BridgeError::new(ErrorCode::Usage, message, remedy)
}

fn bounded(text: String) -> Answer<String> {
    if text.len() > WORDS_BYTES {
        let message = format!(
            "That is {} bytes, and at most {WORDS_BYTES} can be kept.",
            text.len()
        );
        return Err(usage(message, "Write less, or put it into a file."));
    }
    Ok(text)
}

fn card<'a>(view: &'a View, action: &ActionId) -> Option<&'a ActionRow> {
    match &view.action_row(action)?.content {
        RowContent::Action(row) => Some(row),
        _ => None,
    }
}

fn asked<'a>(view: &'a View, action: &ActionId) -> Answer<&'a Action> {
    at_stage(view, action, ActionStage::Asked)
}

/// The action, if it waits for just this answer; else what was said of it, by whom and when.
fn at_stage<'a>(view: &'a View, action: &ActionId, stage: ActionStage) -> Answer<&'a Action> {
    if let Some(open) = view.run().action(action)
        && open.stage == stage
    {
        return Ok(open);
    }
    let Some(row) = card(view, action) else {
        let message = format!("There is no action {action} in this run.");
        return Err(BridgeError::new(ErrorCode::NotFound, message, ""));
    };
    let message = match row.said.last() {
        Some(said) => answered(&row.tool, said, longrein_app::now()),
        None => format!("{} does not wait for an answer any more.", row.tool),
    };
    Err(refused(message, "Nothing was changed."))
}

/// That an action was answered before, by whom and how long ago.
fn answered(tool: &str, said: &SaidLine, now: i64) -> String {
    let place = match said.from {
        Some(surface) => format!(" from {}", surface.in_words()),
        None => String::new(),
    };
    let passed = u64::try_from(now - said.at).unwrap_or_default();
    let ago = ago(Duration::from_millis(passed));
    format!("{tool} was answered{place} {ago}: {}.", said.words)
}

fn ago(passed: Duration) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    match passed.as_secs() {
        0..MINUTE => "a moment ago".to_owned(),
        seconds @ MINUTE..HOUR => format!("{} min ago", seconds / MINUTE),
        seconds @ HOUR..DAY => format!("{} h ago", seconds / HOUR),
        seconds => format!("{} d ago", seconds / DAY),
    }
}

/// What the person saw, if that is still what is asked.
fn same(asked: &Action, seen: &str) -> Answer<BlobHash> {
    let seen: Option<BlobHash> = seen.parse().ok();
    seen.filter(|seen| asked.shown == Some(*seen))
        .ok_or_else(|| {
            let message = "This is not what is asked any more, so nothing was approved.";
            refused(message.to_owned(), "Look at the action again.")
        })
}

/// The edited arguments, if they satisfy the tool's schema.
fn edited(view: &View, asked: &Action, text: &str) -> Answer<String> {
    let Some(tool) = view.run().tool(&asked.tool) else {
        let message = format!("{} is not among this run's tools any more.", asked.tool);
        return Err(refused(message, "Deny the action, or approve it as it is."));
    };
    check_arguments(tool, text)
        .map_err(|error| usage(error.to_string(), "Mend the arguments, then approve."))?;
    Ok(text.to_owned())
}

/// The rules that the person makes: such as the card offered, word for word.
fn always(row: Option<&ActionRow>, choice: AlwaysChoice) -> Answer<Always> {
    let offers = row.map(|row| row.offers.as_slice()).unwrap_or_default();
    let mut rules = Vec::with_capacity(choice.rules.len());
    for text in &choice.rules {
        let offered = offers.iter().any(|offer| offer.rule == *text);
        let rule: Option<PolicyRule> = serde_json::from_str(text).ok();
        match rule.filter(|_| offered) {
            Some(rule) => rules.push(rule),
            None => {
                let message = "A rule that was chosen is not among those that were offered.";
                return Err(refused(message.to_owned(), "Look at the action again."));
            }
        }
    }
    if rules.is_empty() {
        return Err(usage(
            "No rule was chosen.",
            "Choose one, or approve this once.",
        ));
    }
    if choice.tainted && choice.scope != Scope::Run {
        let message = "A rule that holds after untrusted text was read is for one run only.";
        return Err(usage(message, "Choose “this run”."));
    }
    Ok(Always {
        scope: choice.scope,
        rules,
        tainted: choice.tainted,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_of_two_answers_is_told_by_whom_and_when() {
        let said = SaidLine {
            words: "refused".to_owned(),
            note: String::new(),
            from: Some(Surface::Command),
            at: 60_000,
        };
        assert_eq!(
            answered("chat.post", &said, 60_000 + 185_000),
            "chat.post was answered from the command line 3 min ago: refused."
        );
        let by_tool = SaidLine { from: None, ..said };
        assert_eq!(
            answered("chat.post", &by_tool, 0),
            "chat.post was answered a moment ago: refused."
        );
    }

    #[test]
    fn how_long_ago_is_said_in_one_unit() {
        let words: Vec<String> = [59, 60, 3_599, 3_600, 86_400 * 3]
            .map(|seconds| ago(Duration::from_secs(seconds)))
            .to_vec();
        assert_eq!(
            words,
            [
                "a moment ago",
                "1 min ago",
                "59 min ago",
                "1 h ago",
                "3 d ago"
            ]
        );
    }
}
