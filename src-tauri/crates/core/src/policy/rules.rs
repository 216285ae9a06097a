//! What the rules say of an action.
//!
//! A rule names conditions, and all of them have to hold. Where an action has several paths, hosts
//! or commands:
//!
//! - A rule that *denies* or *asks* speaks up when any one of them fits, also in disguise: another
//!   case, another form of the same letters, a program by its full path. A command that may or may
//!   not fit (`git $x` under a rule for `git push`) is asked about, by a rule that denies as well:
//!   nobody knows yet that it is what the rule denies, and a person can see.
//! - Rules that *allow* have to cover every one of them, exactly, and there has to be one. Several
//!   such rules may share the work, one command or host each: that is what "always" makes for a
//!   compound command. A rule that names a path or host says nothing of commands, and a rule that
//!   names no tool says nothing of what it does not name; such an action it does not cover.

use longrein_protocol::ToolSpec;
use longrein_protocol::agent::{Decision, PolicyRule};
use longrein_protocol::gate::{ActionFacts, Scope, StandingRule, UrlFact};
use longrein_protocol::tool::Effect;
use serde_json::Value;

use super::hosts;
use super::paths::{is_on, may_be_on};
use super::preview::{in_words, says, whose};
use super::selector::{Selector, selects};
use super::shell::pattern::{self, Fit};
use super::text::{fits, short, undisguised};
use crate::run::{Action, Run};

/// Whether a name or `server.*` covers a tool.
pub(super) fn is_tool(pattern: &str, tool: &str) -> bool {
    match pattern.strip_suffix(".*") {
        Some(server) => tool.split_once('.').is_some_and(|(of, _)| of == server),
        None => pattern == tool,
    }
}

/// What rules are held against.
#[derive(Clone, Copy)]
pub(super) struct Matter<'a> {
    pub(super) tool: &'a str,
    pub(super) effect: Effect,
    pub(super) arguments: &'a Value,
    pub(super) facts: &'a ActionFacts,
}

impl<'a> Matter<'a> {
    /// The effect is the worse of what was declared when the action was asked for and what is
    /// declared now.
    pub(super) fn of(
        action: &'a Action,
        spec: Option<&ToolSpec>,
        arguments: &'a Value,
        facts: &'a ActionFacts,
    ) -> Self {
        let declared = spec.map_or(Effect::Irreversible, |spec| spec.effect);
        Self {
            tool: &action.tool,
            effect: action.effect.max(declared),
            arguments,
            facts,
        }
    }
}

/// A rule in force, and whose it is.
#[derive(Clone, Copy)]
pub(super) struct InForce<'a> {
    pub(super) rule: &'a PolicyRule,
    standing: Option<&'a StandingRule>,
}

impl InForce<'_> {
    fn in_words(&self) -> String {
        let whose = self.standing.map_or("the agent's rule", whose);
        let rule = short(&in_words(self.rule));
        format!("{whose} {} it: “{rule}”", says(self.rule.decision))
    }

    /// Whether it also holds after the run has read untrusted text.
    pub(super) fn holds_tainted(&self) -> bool {
        self.standing
            .is_some_and(|standing| standing.tainted && standing.scope == Scope::Run)
    }
}

/// The agent's rules, then those that stand beside them.
pub(super) fn in_force(run: &Run) -> Vec<InForce<'_>> {
    let own = run.agent().map_or(&[][..], |agent| &agent.policy);
    in_force_of(own, &run.rules)
}

/// As [`in_force`], of rules that were taken down.
pub(super) fn in_force_of<'a>(
    own: &'a [PolicyRule],
    standing: &'a [StandingRule],
) -> Vec<InForce<'a>> {
    let own = own.iter().map(|rule| InForce {
        rule,
        standing: None,
    });
    let standing = standing.iter().map(|standing| InForce {
        rule: &standing.rule,
        standing: Some(standing),
    });
    own.chain(standing).collect()
}

/// What the rules say, in words; `None` where none speaks.
pub(super) fn verdict(rules: &[InForce<'_>], matter: Matter<'_>) -> Option<(Decision, String)> {
    let speaking = |decision: Decision, at_least: Fit| {
        rules
            .iter()
            .filter(move |rule| rule.rule.decision == decision)
            .find(move |rule| touches(rule.rule, matter) >= at_least)
    };
    if let Some(rule) = speaking(Decision::Deny, Fit::Yes) {
        return Some((Decision::Deny, rule.in_words()));
    }
    if let Some(rule) = speaking(Decision::Ask, Fit::May) {
        return Some((Decision::Ask, rule.in_words()));
    }
    if let Some(rule) = speaking(Decision::Deny, Fit::May) {
        let words = format!("this may be what a rule forbids; {}", rule.in_words());
        return Some((Decision::Ask, words));
    }
    let allowing: Vec<InForce<'_>> = rules
        .iter()
        .filter(|rule| rule.rule.decision == Decision::Allow)
        .copied()
        .collect();
    let used = allowed_by(&allowing, matter)?;
    let mut words: Vec<String> = Vec::new();
    for rule in used {
        let said = rule.in_words();
        if !words.contains(&said) {
            words.push(said);
        }
    }
    Some((Decision::Allow, words.join("; ")))
}

/// Whether a rule that denies or asks speaks of an action.
fn touches(rule: &PolicyRule, matter: Matter<'_>) -> Fit {
    let facts = matter.facts;
    let yes = |holds: bool| if holds { Fit::Yes } else { Fit::No };
    let plain = is_about(rule, matter)
        && rule.args.iter().all(|(name, pattern)| {
            argument(matter.arguments, name).is_some_and(|value| may_read(pattern, value))
        });
    let path = rule.path.as_deref().map_or(Fit::Yes, |pattern| {
        let real = |fact: &longrein_protocol::gate::PathFact| fact.real.clone();
        yes(facts
            .paths
            .iter()
            .filter_map(real)
            .any(|path| may_be_on(pattern, &path)))
    });
    let host = rule.host.as_deref().map_or(Fit::Yes, |pattern| {
        // A rule that can't be read as a host may have meant this one.
        let Some(pattern) = RuleHost::read(pattern) else {
            return if facts.urls.is_empty() {
                Fit::No
            } else {
                Fit::May
            };
        };
        yes(facts.urls.iter().any(|url| pattern.may_be(url)))
    });
    let command = rule.command.as_deref().map_or(Fit::Yes, |pattern| {
        let commands = facts.commands.iter();
        let fit = commands
            .map(|words| pattern::may_begin(pattern, words))
            .max();
        fit.unwrap_or(Fit::No)
    });
    yes(plain).min(path).min(host).min(command)
}

/// What a rule may be narrowed by, of which an action may have several.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Path,
    Host,
    Command,
}

const KINDS: [Kind; 3] = [Kind::Path, Kind::Host, Kind::Command];

impl Kind {
    fn is_named(self, rule: &PolicyRule) -> bool {
        match self {
            Self::Path => rule.path.is_some(),
            Self::Host => rule.host.is_some(),
            Self::Command => rule.command.is_some(),
        }
    }

    /// How many an action has.
    fn count(self, facts: &ActionFacts) -> usize {
        match self {
            Self::Path => facts.paths.len(),
            Self::Host => facts.urls.len(),
            Self::Command => facts.commands.len(),
        }
    }

    /// Whether a rule that names this kind covers one of them.
    fn is_covered(self, rule: &PolicyRule, facts: &ActionFacts, at: usize) -> bool {
        match self {
            Self::Path => match (&rule.path, &facts.paths[at].real) {
                (Some(pattern), Some(real)) => is_on(pattern, real),
                _ => false,
            },
            Self::Host => rule.host.as_deref().is_some_and(|pattern| {
                RuleHost::read(pattern).is_some_and(|host| host.is(&facts.urls[at]))
            }),
            Self::Command => rule
                .command
                .as_deref()
                .is_some_and(|pattern| pattern::begins(pattern, &facts.commands[at])),
        }
    }

    /// Whether a rule covers all of them, if it names this kind at all.
    fn is_satisfied(self, rule: &PolicyRule, facts: &ActionFacts) -> bool {
        let count = self.count(facts);
        !self.is_named(rule) || (count > 0 && (0..count).all(|at| self.is_covered(rule, facts, at)))
    }
}

/// The rules of `allowing` that together cover everything that an action touches: one alone, or
/// several that are narrowed by the same one kind and share what there is of it.
pub(super) fn allowed_by<'a>(
    allowing: &[InForce<'a>],
    matter: Matter<'_>,
) -> Option<Vec<InForce<'a>>> {
    let facts = matter.facts;
    let speaking: Vec<InForce<'a>> = allowing
        .iter()
        .filter(|rule| speaks_of_all(rule.rule, matter))
        .copied()
        .collect();
    let alone = speaking
        .iter()
        .find(|rule| KINDS.iter().all(|kind| kind.is_satisfied(rule.rule, facts)));
    if let Some(rule) = alone {
        return Some(vec![*rule]);
    }
    KINDS.into_iter().find_map(|kind| {
        let sharing = |rule: &&InForce<'a>| {
            let mut others = KINDS.into_iter();
            others.all(|other| other.is_named(rule.rule) == (other == kind))
        };
        let rules: Vec<&InForce<'a>> = speaking.iter().filter(sharing).collect();
        let covering = |at| {
            let mut rules = rules.iter();
            rules
                .find(|rule| kind.is_covered(rule.rule, facts, at))
                .map(|rule| **rule)
        };
        let used: Option<Vec<InForce<'a>>> = (0..kind.count(facts)).map(covering).collect();
        used.filter(|used| !used.is_empty())
    })
}

/// Whether a rule that allows may speak of an action at all: see the head of this module.
fn speaks_of_all(rule: &PolicyRule, matter: Matter<'_>) -> bool {
    let facts = matter.facts;
    let is_narrowed = KINDS.iter().any(|kind| kind.is_named(rule));
    let says_nothing_of = |kind: Kind| kind.count(facts) > 0 && !kind.is_named(rule);
    // A selector without a server names no tool.
    let tool = rule.tool.as_deref();
    let names_tool = tool.is_some_and(|tool| !matches!(Selector::of(tool), Some((None, _))));
    let is_silent = is_narrowed
        && (says_nothing_of(Kind::Command)
            || (!names_tool && KINDS.into_iter().any(says_nothing_of)));
    !is_silent
        && is_about(rule, matter)
        && rule.args.iter().all(|(name, pattern)| {
            argument(matter.arguments, name).is_some_and(|value| fits(pattern, &in_text(value)))
        })
}

fn is_about(rule: &PolicyRule, matter: Matter<'_>) -> bool {
    let tool = rule.tool.as_deref();
    let covers = |tool: &str| {
        let selected = selects(tool, matter.tool, matter.effect);
        selected.unwrap_or_else(|| is_tool(tool, matter.tool))
    };
    tool.is_none_or(covers) && rule.effect.is_none_or(|effect| effect == matter.effect)
}

/// Whether a rule that allows names a host and covers this one, whatever else the action has.
pub(super) fn allows_host(rules: &[InForce<'_>], matter: Matter<'_>, url: &UrlFact) -> bool {
    rules.iter().any(|InForce { rule, .. }| {
        let pattern = rule.host.as_deref().and_then(RuleHost::read);
        rule.decision == Decision::Allow
            && speaks_of_all(rule, matter)
            && pattern.is_some_and(|pattern| pattern.is(url))
    })
}

fn argument<'a>(arguments: &'a Value, name: &str) -> Option<&'a Value> {
    if name.starts_with('/') {
        arguments.pointer(name)
    } else {
        arguments.get(name)
    }
}

/// An argument as the text that a pattern is held against.
fn in_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Whether a pattern of a rule that denies or asks fits an argument, or one in its list.
fn may_read(pattern: &str, value: &Value) -> bool {
    let text = in_text(value);
    let listed = value.as_array().map_or(&[][..], Vec::as_slice);
    fits(pattern, &text)
        || fits(&undisguised(pattern), undisguised(&text).trim())
        || listed.iter().any(|value| may_read(pattern, value))
}

/// Whether a text names a host without a port, `*.` before it or not, as rules do.
pub fn is_host(text: &str) -> bool {
    RuleHost::read(text).is_some_and(|host| host.port.is_none())
}

/// The host of a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RuleHost {
    /// As [`longrein_protocol::gate::UrlFact::host`] writes it, without port.
    name: String,
    /// `*.` stood before it.
    with_hosts_beneath: bool,
    port: Option<u16>,
}

impl RuleHost {
    /// Reads `example.org`, `*.example.org`, `[::1]:8080`. `None` for what is no host.
    pub(super) fn read(pattern: &str) -> Option<Self> {
        let pattern = pattern.trim();
        let (with_hosts_beneath, host) = match pattern.strip_prefix("*.") {
            Some(domain) => (true, domain),
            None => (false, pattern),
        };
        let (name, port) = hosts::of_rule(host)?;
        Some(Self {
            name,
            with_hosts_beneath,
            port,
        })
    }

    pub(super) fn in_words(&self) -> String {
        let port = self.port.map_or(String::new(), |port| format!(":{port}"));
        let name = &self.name;
        if self.with_hosts_beneath {
            format!("{name}{port} and the hosts beneath it")
        } else {
            format!("{name}{port}")
        }
    }

    fn is_name(&self, name: &str) -> bool {
        let beneath = || name.strip_suffix(self.name.as_str())?.strip_suffix('.');
        name == self.name
            || (self.with_hosts_beneath && beneath().is_some_and(|rest| !rest.is_empty()))
    }

    /// Whether it covers an address. A rule without a port covers the scheme's own port only.
    fn is(&self, url: &UrlFact) -> bool {
        let (name, port) = hosts::split_port(&url.host);
        let is_port = match self.port {
            None => port.is_none(),
            Some(wanted) => port.or(hosts::own_port(&url.url)) == Some(wanted),
        };
        is_port && self.is_name(name)
    }

    /// As [`RuleHost::is`], for a rule that denies or asks: without a port it means every port.
    fn may_be(&self, url: &UrlFact) -> bool {
        let (name, port) = hosts::split_port(&url.host);
        let port = port.or(hosts::own_port(&url.url));
        let is_port = self.port.is_none() || port.is_none() || self.port == port;
        is_port && self.is_name(name)
    }
}
