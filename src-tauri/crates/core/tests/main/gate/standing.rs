//! A change of the rules on disk narrows a running run, and never widens it.

use expect_test::expect;
use longrein_core::policy::{in_words, narrowed};
use longrein_protocol::gate::{Scope, StandingRule};

use super::world::standing;

const ALLOW_LOG: &str = r#"allow: command = "git log""#;
const ALLOW_POST: &str = r#"allow: tool = "ch.post""#;
const ASK_POST: &str = r#"ask: tool = "ch.post""#;
const DENY_PUSH: &str = r#"deny: command = "git push""#;

fn shown(rules: &[StandingRule]) -> String {
    let lines = rules.iter().map(|standing| {
        let decision = format!("{:?}", standing.rule.decision);
        format!(
            "{:?} {decision} {}",
            standing.scope,
            in_words(&standing.rule)
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn rules_of_this_run_stay_whatever_is_on_disk() {
    let own = [
        standing(Scope::Run, true, ALLOW_LOG),
        standing(Scope::Run, false, DENY_PUSH),
    ];
    assert_eq!(narrowed(&own, &[]), own);
}

#[test]
fn what_allowed_and_left_the_disk_goes() {
    let in_force = [
        standing(Scope::Everywhere, false, ALLOW_LOG),
        standing(Scope::Agent, false, ALLOW_POST),
    ];
    let on_disk = [standing(Scope::Agent, false, ALLOW_POST)];
    assert_eq!(narrowed(&in_force, &on_disk), on_disk);
}

#[test]
fn what_asks_or_denies_enters_at_once_and_what_allows_does_not() {
    let on_disk = [
        standing(Scope::Everywhere, false, ALLOW_LOG),
        standing(Scope::Agent, false, ASK_POST),
        standing(Scope::Everywhere, false, DENY_PUSH),
    ];
    expect![[r#"
        Agent Ask ch.post
        Everywhere Deny every tool, when a command begins with “git push”"#]]
    .assert_eq(&shown(&narrowed(&[], &on_disk)));
}

#[test]
fn what_asked_or_denied_stays_although_it_left_the_disk() {
    let in_force = [standing(Scope::Everywhere, false, DENY_PUSH)];
    assert_eq!(narrowed(&in_force, &[]), in_force);
}

#[test]
fn a_rule_that_was_widened_on_disk_no_longer_allows() {
    let in_force = [standing(Scope::Agent, false, ALLOW_LOG)];
    let mut wider = standing(Scope::Agent, false, r#"allow: command = "git""#);
    wider.id.clone_from(&in_force[0].id);
    assert_eq!(narrowed(&in_force, &[wider]), []);
}

#[test]
fn a_rule_that_now_denies_does_so() {
    let in_force = [standing(Scope::Agent, false, ALLOW_POST)];
    let denies = standing(Scope::Agent, false, r#"deny: tool = "ch.post""#);
    assert_eq!(narrowed(&in_force, std::slice::from_ref(&denies)), [denies]);
}

#[test]
fn a_rule_that_changed_its_name_goes_by_the_new_one() {
    let in_force = [standing(Scope::Agent, false, ALLOW_POST)];
    let mut renamed = in_force[0].clone();
    renamed.id = "r9".to_owned();
    let after = narrowed(&in_force, std::slice::from_ref(&renamed));
    assert_eq!(after, [renamed]);
}

#[test]
fn a_rule_on_disk_that_says_it_is_for_a_run_is_none() {
    let on_disk = [standing(Scope::Run, false, DENY_PUSH)];
    assert_eq!(narrowed(&[], &on_disk), []);
}

#[test]
fn narrowing_twice_is_narrowing_once() {
    let in_force = [
        standing(Scope::Run, true, ALLOW_POST),
        standing(Scope::Agent, false, ALLOW_LOG),
    ];
    let on_disk = [
        standing(Scope::Agent, false, ASK_POST),
        standing(Scope::Agent, false, ALLOW_LOG),
    ];
    let once = narrowed(&in_force, &on_disk);
    assert_eq!(narrowed(&once, &on_disk), once);
}
