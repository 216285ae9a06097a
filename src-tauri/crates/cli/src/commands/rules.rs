//! `rules`: what a person lets start without being asked, beside what the agents' files say.

use longrein_app::KeptRule;
use longrein_core::policy;
use longrein_protocol::agent::Decision;
use serde_json::{Value, json};

use crate::arguments::{Rules, RulesAction};
use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::screen::{Screen, Tone};
use crate::text;

/// Columns of a rule's name and of what it decides.
const ID_COLUMNS: usize = 10;
const DECISION_COLUMNS: usize = 5;

/// `rules` and `rules revoke`.
pub async fn rules(context: &Context, rules: Rules) -> Result<Status, Failure> {
    let app = context.open()?;
    let mut screen = context.screen();
    match rules.action {
        None => {
            let rules = app.rules()?;
            if rules.is_empty() && !screen.is_json() {
                screen.result("There are no rules for agents or for everything. “Always” makes one: longrein approve --help. Those of one run alone are told by: longrein show RUN")?;
            }
            rules.iter().try_for_each(|rule| tell(rule, &mut screen))?;
        }
        Some(RulesAction::Revoke { rule }) => {
            let revoked = app.revoke_rule(&rule).await?;
            if screen.is_json() {
                screen.json(&as_json(&revoked))?;
            } else {
                screen.result("Revoked; runs that are going obey it with their next action:")?;
                tell(&revoked, &mut screen)?;
            }
        }
    }
    Ok(Status::Done)
}

fn tell(rule: &KeptRule, screen: &mut Screen) -> Result<(), Failure> {
    if screen.is_json() {
        return screen.json(&as_json(rule));
    }
    let (decision, tone) = match rule.rule.decision {
        Decision::Allow => ("allow", Tone::Plain),
        Decision::Ask => ("ask", Tone::Accent),
        Decision::Deny => ("deny", Tone::Bad),
    };
    let decision = text::cell(decision, DECISION_COLUMNS);
    let decision = screen.result_painted(tone, &decision);
    let reach = match &rule.agent {
        Some(agent) => format!("in every run of the agent {}", text::plain(agent)),
        None => "in every run".to_owned(),
    };
    let reach = screen.result_painted(Tone::Quiet, &reach);
    let words = text::plain(&policy::in_words(&rule.rule));
    let id = text::cell(&text::plain(&rule.id), ID_COLUMNS);
    screen.result(&format!("{id} {decision} {words} · {reach}"))
}

fn as_json(rule: &KeptRule) -> Value {
    json!({
        "id": rule.id,
        "scope": rule.scope(),
        "agent": rule.agent,
        "decision": rule.rule.decision,
        "matches": policy::in_words(&rule.rule),
        "rule": rule.rule,
    })
}
