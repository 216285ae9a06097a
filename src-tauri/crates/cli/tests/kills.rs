//! `kill -9` at any time at all, again and again, with tools of each repeatability, whose effects
//! are counted in a file.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use longrein_protocol::view::RunState;
use longrein_runtime::ports::Chance as _;
use longrein_runtime::ports::ReplyBlock;
use longrein_store::{Log as _, Store};
use longrein_testkit::SeededChance;
use longrein_testkit::provider::{Content, Setup};
use longrein_testkit::reply::reply_of;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::counting::Counting;
use crate::support::{Outcome, Running, assert_gapless, of_type, until};

/// How many processes are killed, unless the environment says otherwise.
const KILLS: u32 = 40;
/// The marks of one run: the tool, and the label, which no other mark has.
const PLAN: &[(&str, &str)] = &[
    ("mark_again", "again0"),
    ("mark_keyed", "keyed0"),
    ("mark_asked", "asked0"),
    ("mark", "once0"),
    ("mark_keyed", "keyed1"),
    ("mark_asked", "asked1"),
    ("mark", "once1"),
];
/// How long a mark takes before its effect and after it.
const LINGER_MS: &str = "25";
/// The longest that a process lives before it is killed: from its start on, or from the first
/// fact that it records.
const LIFE_MS: u64 = 400;
/// One process in so many is killed at a time that counts from its start.
const FROM_THE_START: u64 = 5;
/// How often one run may be taken up before the test fails.
const ATTEMPTS: u32 = 200;
/// The most events of one run.
const EVENTS: u32 = 10_000;

/// Asks for one mark after the other; the same request gets the same answer.
fn marking() -> Setup {
    Setup::of(|request| {
        let done = request.replies();
        let block = match PLAN.get(done as usize) {
            Some((tool, label)) => ReplyBlock::ToolUse {
                id: format!("call_{done}"),
                name: format!("counter__{tool}"),
                arguments: json!({"label": label}).to_string(),
                raw: None,
            },
            None => ReplyBlock::Text {
                text: "Done.".to_owned(),
                raw: None,
            },
        };
        Content::Reply(reply_of(vec![block], request)).into()
    })
}

/// Looks at the log without another process of the command.
struct Looker {
    store: Store,
    runtime: Runtime,
}

impl Looker {
    fn at(counting: &Counting) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let data = counting.home.data();
        let store = runtime.block_on(async { Store::open(data).unwrap() });
        Self { store, runtime }
    }

    /// The newest run and its state.
    fn newest(&self) -> Option<(String, RunState)> {
        let lines = self.runtime.block_on(self.store.runs(1, None)).unwrap();
        let line = lines.first()?;
        Some((line.run.clone(), line.state))
    }

    /// How many events the newest run has.
    fn newest_events(&self) -> usize {
        self.newest().map_or(0, |(run, _)| self.events(&run).len())
    }

    /// Whether the log says more than it did.
    fn goes_on_from(&self, (run, events): (Option<&str>, usize)) -> bool {
        let newest = self.newest().map(|(run, _)| run);
        newest.as_deref() != run || newest.is_some_and(|run| self.events(&run).len() > events)
    }

    fn events(&self, run: &str) -> Vec<Value> {
        let reading = self.store.read(run.parse().unwrap(), 1, EVENTS);
        let reading = self.runtime.block_on(reading).unwrap();
        assert!(reading.damage.is_none(), "{:?}", reading.damage);
        let events = reading.events.iter();
        events
            .map(|event| serde_json::to_value(event).unwrap())
            .collect()
    }
}

struct Killer {
    counting: Counting,
    look: Looker,
    chance: SeededChance,
    left: u32,
    landings: BTreeMap<&'static str, u32>,
}

impl Killer {
    /// Runs a command to its end, or kills it somewhere on the way. `last` is how far the log
    /// went before: the newest run, and its number of events.
    fn attempt(&mut self, words: &[&str], last: (Option<&str>, usize)) -> Option<Outcome> {
        let mut running: Running = self.counting.home.spawn(words);
        if self.left == 0 {
            return Some(running.outcome());
        }
        if !(self.chance.random() as u64).is_multiple_of(FROM_THE_START) {
            // A process takes longest to begin, and would mostly be killed before it did anything.
            until("the first fact", || {
                (running.has_ended() || self.look.goes_on_from(last)).then_some(())
            });
        }
        let life = self.chance.random() as u64 % LIFE_MS;
        thread::sleep(Duration::from_millis(life));
        if running.has_ended() {
            return Some(running.outcome());
        }
        running.kill();
        self.left -= 1;
        None
    }

    /// Drives one run to its end through any number of kills.
    fn run(&mut self, agent: &str) -> String {
        let known = self.look.newest().map(|(run, _)| run);
        let mut words: Vec<String> = ["run", agent, "Mark them."].map(str::to_owned).into();
        let mut current = known.clone();
        let mut seen = self.look.newest_events();
        for _ in 0..ATTEMPTS {
            let attempt: Vec<&str> = words.iter().map(String::as_str).collect();
            let ended = self.attempt(&attempt, (current.as_deref(), seen));
            let newest = self.look.newest();
            let Some((run, state)) = newest.filter(|(run, _)| Some(run) != known.as_ref()) else {
                assert!(ended.is_none(), "it ended without a run: {ended:?}");
                self.note_landing(&[], 0);
                continue;
            };
            let events = self.look.events(&run);
            match ended {
                Some(outcome) if outcome.status == 0 => return run,
                Some(outcome) => assert_eq!(outcome.status, 3, "{outcome}"),
                None if current == known => self.note_landing(&events, 0),
                None => self.note_landing(&events, seen),
            }
            seen = events.len();
            current = Some(run.clone());
            words = self.next(&run, state);
        }
        panic!("the run did not come to its end in {ATTEMPTS} attempts");
    }

    /// What a person types next: yes to an action that waits for it, what became of one in doubt,
    /// or simply to go on.
    fn next(&self, run: &str, state: RunState) -> Vec<String> {
        let resume = vec!["resume".to_owned(), run.to_owned()];
        if !matches!(state, RunState::Waiting | RunState::HandedOff) {
            return resume;
        }
        let waiting = self.counting.home.run(&["approvals", "--json"]).json();
        let Some(waiting) = waiting.iter().find(|waiting| waiting["run"] == run) else {
            return resume;
        };
        let action = waiting["action"].as_str().unwrap();
        if waiting["waits_for"] == "approval" {
            return ["approve", action].map(str::to_owned).into();
        }
        assert_eq!(waiting["waits_for"], "verdict", "{waiting}");
        assert_eq!(
            waiting["tool"], "counter.mark",
            "only this one may be in doubt"
        );
        let labels = self.counting.labels();
        let marked = labels
            .iter()
            .any(|label| waiting["arguments"]["label"] == **label);
        let verdict = if marked { "happened" } else { "retry" };
        ["settle", action, verdict].map(str::to_owned).into()
    }

    /// Counts where a kill landed. `seen` events were there before the process began.
    fn note_landing(&mut self, events: &[Value], seen: usize) {
        let place = self.landing(events, seen);
        *self.landings.entry(place).or_default() += 1;
    }

    fn landing(&self, events: &[Value], seen: usize) -> &'static str {
        if events.is_empty() {
            return "before the run began";
        }
        let new = &events[seen.min(events.len())..];
        let Some(last) = new.last() else {
            return "while it took the run up";
        };
        let open = |event: &&Value| {
            let later = &events[event["seq"].as_u64().unwrap() as usize..];
            let ends = [
                "action.finished",
                "action.lost",
                "action.uncertain",
                "action.reconciled",
            ];
            !later.iter().any(|other| {
                let ends = ends.iter().any(|end| other["type"] == **end);
                let resumed = other["type"] == "run.resumed";
                resumed || (ends && other["action"] == event["action"])
            })
        };
        let started = of_type(events, "action.started")
            .into_iter()
            .rev()
            .find(open);
        if let Some(started) = started {
            let key = started["key"].as_str().unwrap();
            let happened = self.counting.lines().iter().any(|line| line.ends_with(key));
            return if happened {
                "in flight, after the effect"
            } else {
                "in flight, before the effect"
            };
        }
        let worked = |kind: &&str| new.iter().any(|event| event["type"] == **kind);
        if new[0]["type"] == "run.resumed"
            && !["model.requested", "action.started"].iter().any(worked)
        {
            return "when it had taken the run up";
        }
        match last["type"].as_str().unwrap() {
            "action.finished" | "action.reconciled" => "after an action ended",
            "approval.requested" | "run.handed_off" => "while it waited for a person",
            "model.requested" => "while the model was asked",
            "run.finished" | "turn.finished" => "after the end",
            _ => "between two steps",
        }
    }

    fn tell(&self, seed: u64) {
        println!("seed {seed}; kills by where they landed:");
        for (place, count) in &self.landings {
            println!("{count:>5}  {place}");
        }
        let all: u32 = self.landings.values().sum();
        println!("{all:>5}  in all");
    }
}

/// Checks that every effect happened exactly as often as its tool allows.
fn assert_counts(lines: &[String], events: &[Value]) {
    for (tool, label) in PLAN {
        let of_label = |line: &&String| line.split(' ').next() == Some(*label);
        let count = lines.iter().filter(of_label).count();
        let proposed = of_type(events, "action.proposed");
        let action = proposed
            .iter()
            .find(|proposed| {
                proposed["arguments"]
                    .as_str()
                    .is_some_and(|text| text.contains(label))
            })
            .unwrap_or_else(|| panic!("{label} was never asked for"));
        let about = |kind: &str| {
            let all = of_type(events, kind).into_iter();
            all.filter(|event| event["action"] == action["action"])
                .count()
        };
        let starts = about("action.started");
        match *tool {
            // Marks of one call differ in nothing, so they count as one.
            "mark_again" => assert!(
                (1..=starts).contains(&count),
                "{label}: {count} of {starts}"
            ),
            _ => assert_eq!(count, 1, "{label}: {lines:?}"),
        }
        if *tool != "mark" {
            assert_eq!(about("action.uncertain"), 0, "{label} needs nobody's word");
            continue;
        }
        // Each start of it but the first was told by a person, and each that was cut short asked.
        let lost = starts - about("action.finished").min(1);
        assert_eq!(
            about("action.uncertain"),
            lost,
            "{label}: what is in doubt is asked"
        );
        assert_eq!(
            about("action.reconciled"),
            lost,
            "{label}: and a person says"
        );
        assert_eq!(
            about("approval.resolved"),
            1,
            "{label}: one approval, one action"
        );
    }
    let keys: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.split(' ').nth(1))
        .collect();
    let distinct: std::collections::BTreeSet<&str> = keys.iter().copied().collect();
    assert_eq!(
        distinct.len(),
        PLAN.len(),
        "a key stays the same: {lines:?}"
    );
}

#[test]
fn however_often_processes_are_killed_every_effect_happens_once() {
    let kills = std::env::var("LONGREIN_KILLS")
        .ok()
        .and_then(|kills| kills.parse().ok());
    let seed = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64;
    println!("seed {seed}");
    let counting = Counting::with(&["--kinds", "--linger", LINGER_MS], marking());
    let mut killer = Killer {
        look: Looker::at(&counting),
        counting,
        chance: SeededChance::new(seed),
        left: kills.unwrap_or(KILLS),
        landings: BTreeMap::new(),
    };
    let agent = killer.counting.kinds();
    while killer.left > 0 {
        killer.counting.forget();
        let run = killer.run(&agent);
        let events = killer.look.events(&run);
        assert_counts(&killer.counting.lines(), &events);
        assert_gapless(&events);
        assert_eq!(events.last().unwrap()["type"], "run.finished");
    }
    killer.tell(seed);
    killer.counting.home.assert_whole();
}
