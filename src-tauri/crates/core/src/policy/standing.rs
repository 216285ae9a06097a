//! Standing rules of a running run, when the file on disk changes.

use longrein_protocol::agent::Decision;
use longrein_protocol::gate::{Scope, StandingRule};

/// The rules of a running run after a change on disk. Such a change narrows and never widens:
///
/// - rules of this run only stay, since no file holds them;
/// - rules that allow and left the disk go; a rule that was edited has left it;
/// - rules that ask or deny and are new on disk enter at once;
/// - rules that ask or deny and left the disk stay, and rules that allow and are new on disk do
///   not enter: both would widen what a person agreed to when the run began.
pub fn narrowed(in_force: &[StandingRule], on_disk: &[StandingRule]) -> Vec<StandingRule> {
    let on_disk: Vec<&StandingRule> = on_disk
        .iter()
        .filter(|standing| standing.scope != Scope::Run)
        .collect();
    let written = |standing: &StandingRule| {
        let mut same = on_disk.iter().filter(|disk| disk.rule == standing.rule);
        same.next().copied()
    };
    let mut rules: Vec<StandingRule> = in_force
        .iter()
        .filter_map(|standing| match written(standing) {
            _ if standing.scope == Scope::Run => Some(standing.clone()),
            // As it is called there now, so that it can be revoked by that name.
            Some(disk) => Some(disk.clone()),
            None => (standing.rule.decision != Decision::Allow).then(|| standing.clone()),
        })
        .collect();
    for standing in on_disk {
        let known = rules
            .iter()
            .any(|rule| rule.scope != Scope::Run && rule.rule == standing.rule);
        if standing.rule.decision != Decision::Allow && !known {
            rules.push(standing.clone());
        }
    }
    rules
}
