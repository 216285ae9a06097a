//! `plan`: the plan is as far as it has to be.

use longrein_protocol::agent::{PlanCriterion, PlanGoal};
use longrein_protocol::source::{PlanItem, PlanState};
use longrein_runtime::ports::RunContext;

use super::Finding;

/// The most open items that one difference names.
const NAMED: usize = 8;

pub(super) fn check(criterion: &PlanCriterion, context: &RunContext) -> Finding {
    let is_open = |item: &&PlanItem| matches!(item.state, PlanState::Open | PlanState::Doing);
    let (items, least) = (context.plan.len(), criterion.min as usize);
    let open: Vec<&PlanItem> = context.plan.iter().filter(is_open).collect();
    let evidence = format!("{} of {items} items of the plan are open", open.len());
    let has_enough = match criterion.plan {
        PlanGoal::Made => open.len() >= least,
        PlanGoal::Closed => items >= least,
    };
    let mut difference = Vec::new();
    if !has_enough {
        let kind = if criterion.plan == PlanGoal::Made {
            "open items"
        } else {
            "items"
        };
        difference.push(format!(
            "The plan has too few {kind}: it needs at least {least}. Write it with update_plan."
        ));
    }
    if criterion.plan == PlanGoal::Closed {
        let named = open.iter().take(NAMED);
        difference.extend(named.map(|item| {
            format!(
                "Still open in the plan: {}. Set it to done or dropped.",
                item.text
            )
        }));
    }
    Finding::of(evidence, difference)
}
