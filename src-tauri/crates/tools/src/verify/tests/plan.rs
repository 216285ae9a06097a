//! Criteria of the plan.

use longrein_protocol::agent::{Criterion, PlanCriterion, PlanGoal};
use longrein_protocol::source::{PlanItem, PlanState};

use crate::tests::Desk;

fn desk(states: &[PlanState]) -> Desk {
    let mut desk = Desk::new();
    let items = states.iter().zip('a'..).map(|(state, name)| PlanItem {
        text: format!("Part {name}"),
        state: *state,
        evidence: None,
    });
    desk.context.plan = items.collect();
    desk
}

async fn told(states: &[PlanState], plan: PlanGoal, min: u32) -> String {
    let criterion = Criterion::Plan(PlanCriterion { plan, min });
    desk(states).verify(criterion).await
}

#[tokio::test]
async fn a_plan_is_made_when_it_has_open_items_and_closed_when_it_has_none() {
    use PlanState::{Doing, Done, Dropped, Open};
    let mut lines = Vec::new();
    for (states, goal, min) in [
        (&[Open, Doing][..], PlanGoal::Made, 2),
        (&[Open, Done], PlanGoal::Made, 2),
        (&[Done, Dropped], PlanGoal::Closed, 2),
        (&[Done, Open], PlanGoal::Closed, 1),
        (&[], PlanGoal::Closed, 1),
    ] {
        lines.push(told(states, goal, min).await);
    }
    expect_test::expect![[r#"
        the plan has at least 2 open items: holds: 2 of 2 items of the plan are open
        the plan has at least 2 open items: does not hold: 1 of 2 items of the plan are open
        - The plan has too few open items: it needs at least 2. Write it with update_plan.
        every item of the plan is done or dropped: holds: 0 of 2 items of the plan are open
        every item of the plan is done or dropped: does not hold: 1 of 2 items of the plan are open
        - Still open in the plan: Part b. Set it to done or dropped.
        every item of the plan is done or dropped: does not hold: 0 of 0 items of the plan are open
        - The plan has too few items: it needs at least 1. Write it with update_plan."#]]
    .assert_eq(&lines.join("\n"));
}
