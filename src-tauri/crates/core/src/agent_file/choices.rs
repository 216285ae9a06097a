//! Words that stand for one of a few things, by name.

use longrein_protocol::agent::{Decision, Each, Permit, PlanGoal, Thinking};
use longrein_protocol::{Effect, Repeat};

pub(super) const EFFECTS: &[(&str, Effect)] = &[
    ("read", Effect::Read),
    ("workspace", Effect::Workspace),
    ("reversible", Effect::Reversible),
    ("irreversible", Effect::Irreversible),
];

pub(super) const REPEATS: &[(&str, Repeat)] = &[
    ("repeatable", Repeat::Repeatable),
    ("keyed", Repeat::Keyed),
    ("queryable", Repeat::Queryable),
    ("once", Repeat::Once),
];

pub(super) const DECISIONS: &[(&str, Decision)] = &[
    ("allow", Decision::Allow),
    ("ask", Decision::Ask),
    ("deny", Decision::Deny),
];

pub(super) const THINKINGS: &[(&str, Thinking)] = &[
    ("off", Thinking::Off),
    ("low", Thinking::Low),
    ("medium", Thinking::Medium),
    ("high", Thinking::High),
];

pub(super) const PERMITS: &[(&str, Permit)] =
    &[("allow", Permit::Allow), ("forbid", Permit::Forbid)];

pub(super) const EACHES: &[(&str, Each)] = &[("plan", Each::Plan)];

pub(super) const PLAN_GOALS: &[(&str, PlanGoal)] =
    &[("made", PlanGoal::Made), ("closed", PlanGoal::Closed)];

/// The word for a thing; every thing has one.
pub(super) fn word<T: PartialEq>(choices: &[(&'static str, T)], thing: &T) -> &'static str {
    let named = choices.iter().find(|(_, choice)| choice == thing);
    named.map_or("", |(name, _)| name)
}
