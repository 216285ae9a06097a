//! The crash sweep: killed at every commit, on both sides of it, and again while it recovers, a
//! run comes to the same end, and no law of the runtime is broken on the way.

mod delegated;
mod found;
mod long;
mod programs;
mod scenarios;
mod summed_up;

use longrein_testkit::sim::{Law, sweep_blind};

/// Written wrongly on purpose: see the feature `effect-before-fact`.
#[cfg(feature = "effect-before-fact")]
mod broken {
    use longrein_testkit::sim::Scenario;

    use super::*;

    /// The laws that the sweep finds broken, scenario by scenario.
    fn found(scenarios: Vec<Scenario>, blind_to: Option<Law>) -> Vec<Law> {
        let swept = scenarios.iter();
        let found = swept.filter_map(|scenario| sweep_blind(scenario, blind_to).err());
        found.map(|found| found.violation.law).collect()
    }

    #[test]
    fn effect_before_fact_is_found_by_the_sweep_as_it_happens() {
        let laws = found(scenarios::all(), None);
        // In one of them no action starts at all.
        assert_eq!(laws.len(), scenarios::all().len() - 1, "{laws:?}");
        let seen = |law: &Law| *law == Law::FactBeforeEffect;
        assert!(laws.iter().all(seen), "{laws:?}");
    }

    #[test]
    fn effect_before_fact_is_found_by_what_it_does_to_the_world() {
        let scenarios = vec![scenarios::every_effect(), scenarios::approvals()];
        // The first law that each breaks: files that no snapshot holds, or a tool got what nobody
        // approved.
        let laws = found(scenarios, Some(Law::FactBeforeEffect));
        assert_eq!(laws, [Law::FilesRecorded, Law::EffectiveArguments]);
    }
}

#[cfg(not(feature = "effect-before-fact"))]
mod whole {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use longrein_testkit::sim::{Scenario, Swept, hold_fold, play, sweep};

    use super::*;

    /// Threads that sweep side by side.
    const THREADS: usize = 2;

    #[test]
    fn crash_sweep() {
        let scenarios = scenarios::all();
        let next = AtomicUsize::new(0);
        let total = Mutex::new(Swept::default());
        let work = || {
            while let Some(scenario) = scenarios.get(next.fetch_add(1, Ordering::Relaxed)) {
                let swept = sweep(scenario).unwrap_or_else(|found| panic!("{found}"));
                println!("{}: {} kill points", scenario.name, swept.killed);
                total.lock().unwrap().add(swept);
            }
        };
        thread::scope(|scope| {
            (0..THREADS).for_each(|_| drop(scope.spawn(work)));
        });
        println!("{}", total.into_inner().unwrap());
    }

    fn of(name: &str) -> Scenario {
        let mut all = scenarios::all().into_iter();
        all.find(|scenario| scenario.name == name).unwrap()
    }

    fn ends(name: &str, phase: &str, events: &[(&str, usize)]) {
        let played = play(&of(name));
        assert_eq!(played.violation, None, "{name}\n{}", played.story());
        assert_eq!(played.ending.phase, phase, "{name}\n{}", played.story());
        for (event, times) in events {
            let names = played.events.iter().map(|event| event.payload.name());
            let count = names.filter(|name| name == event).count();
            assert_eq!(count, *times, "{name}: {event}\n{}", played.story());
        }
    }

    #[test]
    fn crash_sweep_scenarios_do_what_they_are_named_after() {
        const ACCEPTED: &str = "Finished(Accepted)";
        const UNVERIFIED: &str = "Finished(Unverified)";
        let checked = [("verification.finished", 2), ("snapshot.taken", 1)];
        ends("every effect", ACCEPTED, &checked);
        let asked = [
            ("action.lost", 3),
            ("action.queried", 3),
            ("action.uncertain", 0),
        ];
        ends("keyed and queryable", UNVERIFIED, &asked);
        let approvals = [("approval.requested", 3), ("policy.changed", 2)];
        ends("approvals", UNVERIFIED, &approvals);
        ends(
            "budget",
            UNVERIFIED,
            &[("run.handed_off", 2), ("budget.raised", 2)],
        );
        ends(
            "loop",
            UNVERIFIED,
            &[("run.handed_off", 1), ("loop.detected", 3)],
        );
        ends(
            "cancel",
            "Cancelled",
            &[("action.started", 2), ("action.finished", 1)],
        );
        let person = [("question.answered", 1), ("acceptance.resolved", 2)];
        ends("person", ACCEPTED, &person);
        ends("judge", ACCEPTED, &[("side.responded", 2)]);
        let retried = [("model.failed", 4), ("model.responded", 3)];
        ends("provider", UNVERIFIED, &retried);
        ends("undo", UNVERIFIED, &[("action.compensated", 1)]);
        ends(
            "narrowed",
            UNVERIFIED,
            &[("policy.changed", 1), ("action.started", 0)],
        );
        ends(
            "steered",
            UNVERIFIED,
            &[("run.paused", 1), ("turn.started", 2)],
        );
        let parts = [("child.spawned", 2), ("child.finished", 2)];
        ends("children", UNVERIFIED, &parts);
        ends("leaving", UNVERIFIED, &approvals);
        ends(
            "late",
            UNVERIFIED,
            &[("action.uncertain", 1), ("action.reconciled", 1)],
        );
    }

    #[test]
    fn crash_sweep_scenarios_of_boxes_skills_and_found_tools_do_what_they_are_named_after() {
        const UNVERIFIED: &str = "Finished(Unverified)";
        ends("boxed", UNVERIFIED, &[("action.progressed", 2)]);
        let skills = [
            ("skill.loaded", 3),
            ("approval.requested", 2),
            ("snapshot.taken", 2),
        ];
        ends("skills", UNVERIFIED, &skills);
        // The child was asked; what was approved there is approved.
        let granted = [
            ("child.finished", 1),
            ("skill.loaded", 1),
            ("approval.requested", 0),
        ];
        ends("skills of children", UNVERIFIED, &granted);
        let found = [
            ("tools.found", 2),
            ("action.rejected", 1),
            ("approval.requested", 2),
            ("action.finished", 4),
        ];
        ends("found", UNVERIFIED, &found);
        let summed_up = [("side.responded", 2), ("context.compacted", 2)];
        ends("summed up", UNVERIFIED, &summed_up);
        let without = [("side.responded", 6), ("context.compacted", 2)];
        ends("done without a summary", UNVERIFIED, &without);
    }

    #[test]
    fn crash_sweep_scenarios_of_programs_do_what_they_are_named_after() {
        const UNVERIFIED: &str = "Finished(Unverified)";
        ends("programs", UNVERIFIED, &[("action.proposed", 6)]);
        let begun_anew = [
            ("action.lost", 1),
            ("action.progressed", 4),
            ("action.proposed", 6),
        ];
        ends("programs whose box is lost", UNVERIFIED, &begun_anew);
        ends(
            "programs of each kind",
            UNVERIFIED,
            &[("action.proposed", 7)],
        );
        let asked = [("approval.requested", 2), ("action.uncertain", 0)];
        ends("programs that ask", UNVERIFIED, &asked);
        let raised = [("run.handed_off", 1), ("action.proposed", 6)];
        ends("programs over the limit", UNVERIFIED, &raised);
        ends("programs cancelled", "Cancelled", &[("action.proposed", 4)]);
        let denied = [("action.proposed", 6), ("action.started", 4)];
        ends("programs denied", UNVERIFIED, &denied);
    }

    #[test]
    fn folding_in_one_go_equals_folding_in_pieces_and_the_log_says_what_is_next() {
        for scenario in scenarios::all() {
            let events = play(&scenario).events;
            hold_fold(&events, 0..=events.len()).unwrap();
        }
    }

    /// The sweep is worth something only if it sees what is wrong.
    #[test]
    fn crash_sweep_sees_a_scenario_that_ends_in_another_way() {
        let mut scenario = scenarios::every_effect();
        scenario.person.retries = true;
        // The second process of this scenario reads another word of the model.
        scenario.mishaps = vec![longrein_testkit::sim::Mishap {
            request: 6,
            what: longrein_testkit::sim::MishapKind::Empty,
        }];
        let found = sweep_blind(&scenario, None).unwrap_err();
        assert_eq!(found.violation.law, Law::SameEnd);
    }
}
