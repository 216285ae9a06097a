//! Where a fetched page may send on to: the rules of the gate, held against another address.

use longrein_protocol::agent::{Decision, PolicyRule};
use longrein_protocol::gate::{ActionFacts, StandingRule, UrlFact};
use longrein_protocol::tool::Effect;
use serde_json::Value;

use super::hosts;
use super::rules::{Matter, in_force_of, verdict};
use crate::run::Run;

/// What an action that was allowed may be sent on to, as the rules were when it started. A page
/// chooses where it sends on to, so its addresses carry nothing away that the first did not; what
/// is judged is the host.
#[derive(Clone, PartialEq, Debug)]
pub struct Onward {
    own: Vec<PolicyRule>,
    standing: Vec<StandingRule>,
    tool: String,
    effect: Effect,
    /// Names of the arguments that are addresses.
    urls: Vec<String>,
    arguments: Value,
}

impl Onward {
    /// What holds for a call of a tool with these arguments, whose declared effect is this or
    /// worse.
    pub fn of(run: &Run, tool: &str, effect: Effect, arguments: &Value) -> Self {
        let spec = run.tool(tool);
        let declared = spec.map_or(Effect::Irreversible, |spec| spec.effect);
        let own = run.agent().map(|agent| agent.policy.clone());
        Self {
            own: own.unwrap_or_default(),
            standing: run.rules.clone(),
            tool: tool.to_owned(),
            effect: effect.max(declared),
            urls: spec.map(|spec| spec.reach.urls.clone()).unwrap_or_default(),
            arguments: arguments.clone(),
        }
    }

    /// What the rules say of an address in the place of the one that was asked for, with words
    /// that say why.
    pub fn judge(&self, address: &str) -> (Decision, String) {
        let found = match hosts::declared(address) {
            Ok(found) => found,
            Err(why) => return (Decision::Deny, format!("it can't be made out: {why}")),
        };
        let mut arguments = self.arguments.clone();
        for name in &self.urls {
            if let Some(argument) = arguments.get_mut(name) {
                *argument = address.into();
            }
        }
        let facts = ActionFacts {
            urls: vec![UrlFact {
                url: found.url,
                host: found.host,
                known: true,
            }],
            ..ActionFacts::default()
        };
        let matter = Matter {
            tool: &self.tool,
            effect: self.effect,
            arguments: &arguments,
            facts: &facts,
        };
        let rules = in_force_of(&self.own, &self.standing);
        verdict(&rules, matter).unwrap_or_else(|| match self.effect {
            Effect::Read | Effect::Workspace => (Decision::Allow, String::new()),
            Effect::Reversible | Effect::Irreversible => (Decision::Ask, String::new()),
        })
    }
}

impl Default for Onward {
    /// What holds outside of any run for a call that only reads: no rule speaks of it.
    fn default() -> Self {
        Self {
            own: Vec::new(),
            standing: Vec::new(),
            tool: String::new(),
            effect: Effect::Read,
            urls: Vec::new(),
            arguments: Value::Null,
        }
    }
}
