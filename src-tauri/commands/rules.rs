//! The rules of the policy file: those that a person made for one agent or for every run.

use longrein_app::policy::KeptRule;
use longrein_core::policy;
use longrein_protocol::view::RuleLine;
use tauri::State;

use super::Answer;
use crate::desktop::Desktop;

/// The rules that stand in the policy file.
#[tauri::command]
#[specta::specta]
pub async fn list_rules(desktop: State<'_, Desktop>) -> Answer<Vec<RuleLine>> {
    Ok(lines(desktop.longrein().rules()?))
}

/// Takes a rule out of the policy file, and answers with those that are left.
#[tauri::command]
#[specta::specta]
pub async fn revoke_rule(desktop: State<'_, Desktop>, id: String) -> Answer<Vec<RuleLine>> {
    desktop.longrein().revoke_rule(&id).await?;
    Ok(lines(desktop.longrein().rules()?))
}

fn lines(rules: Vec<KeptRule>) -> Vec<RuleLine> {
    let line = |kept: KeptRule| RuleLine {
        scope: kept.scope(),
        words: policy::in_words(&kept.rule),
        decision: kept.rule.decision,
        // What holds after untrusted text is for one run and never in the file.
        tainted: false,
        agent: kept.agent.unwrap_or_default(),
        id: kept.id,
    };
    rules.into_iter().map(line).collect()
}
