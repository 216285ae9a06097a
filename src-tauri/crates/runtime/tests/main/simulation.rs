//! The simulation: random worlds, each from a seed, held against the laws of the runtime.
//!
//! `LONGREIN_SEEDS=n` plays so many seeds, `LONGREIN_SEED=k` plays that one and tells its story. A
//! seed that breaks a law is made smaller; what is left is printed, and written where the test
//! says. Such scenarios are kept in `tests/scenarios` and played by every test run.

use std::path::{Path, PathBuf};

use std::{env, fs};

use longrein_testkit::sim::{Played, Scenario, Violation, play, scenario, shrink};

/// Seeds that are played unless the environment says otherwise.
const SEEDS: u64 = 1_000;
/// Seeds go to this many tests, which run side by side, each with its own limit of time.
const PARTS: u64 = 4;
/// The most failing seeds that are made smaller before a test gives up.
const SHRUNK: usize = 3;

fn number(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is “{text}”, which is no number")),
    )
}

/// What a part of the seeds came to.
#[derive(Default)]
struct Total {
    processes: u64,
    events: u64,
    uncertain: u64,
    ends: std::collections::BTreeMap<String, u64>,
}

impl Total {
    fn add(&mut self, played: &Played) {
        self.processes += u64::from(played.processes);
        self.events += played.events.len() as u64;
        self.uncertain += u64::from(played.uncertain);
        *self.ends.entry(played.ending.phase.clone()).or_default() += 1;
    }
}

fn simulate(part: u64) {
    if let Some(seed) = number("LONGREIN_SEED") {
        if seed % PARTS == part {
            retell(seed);
        }
        return;
    }
    let seeds = number("LONGREIN_SEEDS").unwrap_or(SEEDS);
    let mut total = Total::default();
    let mut failing = Vec::new();
    for seed in (0..seeds).filter(|seed| seed % PARTS == part) {
        let played = play(&scenario(seed));
        total.add(&played);
        if let Some(violation) = played.violation {
            failing.push((seed, violation));
        }
    }
    let Total {
        processes,
        events,
        uncertain,
        ends,
    } = total;
    println!("{processes} processes, {events} events, {uncertain} uncertain, {ends:?}");
    let list: Vec<String> = failing
        .iter()
        .map(|(seed, why)| format!("{seed}: {why}"))
        .collect();
    for (seed, violation) in failing.iter().take(SHRUNK) {
        tell(*seed, violation);
    }
    assert!(
        failing.is_empty(),
        "seeds that break a law:\n{}",
        list.join("\n")
    );
}

/// Makes a failing seed smaller, prints what is left, and keeps it beside the test's other output.
fn tell(seed: u64, violation: &Violation) {
    let smallest = shrink(&scenario(seed), violation.law);
    let text = serde_json::to_string_pretty(&smallest).unwrap();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("scenarios");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join(format!("seed-{seed}.json"));
    fs::write(&file, &text).unwrap();
    let played = play(&smallest);
    let now = played.violation.as_ref().unwrap_or(violation);
    println!(
        "seed {seed}: {violation}\nmade smaller, in {}: {now}\n{text}\n{}",
        file.display(),
        played.story()
    );
}

fn retell(seed: u64) {
    let scenario = scenario(seed);
    let played = play(&scenario);
    println!("{}", serde_json::to_string_pretty(&scenario).unwrap());
    for event in &played.events {
        println!("{}", serde_json::to_string(event).unwrap());
    }
    println!("{:#?}\n{:?}", played.ending, played.violation);
    if let Some(violation) = &played.violation {
        tell(seed, violation);
        panic!("{violation}");
    }
}

#[test]
fn simulation_of_seeds_part_1() {
    simulate(0);
}

#[test]
fn simulation_of_seeds_part_2() {
    simulate(1);
}

#[test]
fn simulation_of_seeds_part_3() {
    simulate(2);
}

#[test]
fn simulation_of_seeds_part_4() {
    simulate(3);
}

#[test]
fn a_seed_gives_the_same_play_every_time() {
    for seed in 0..20 {
        let (one, other) = (play(&scenario(seed)), play(&scenario(seed)));
        assert_eq!(one.events, other.events, "seed {seed}");
        assert_eq!(scenario(seed), scenario(seed));
    }
}

/// Scenarios that once broke a law, with the files that they are kept in.
fn kept() -> Vec<(PathBuf, Scenario)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files = files.filter(|file| file.extension().is_some_and(|ending| ending == "json"));
    files
        .map(|file| {
            let text = fs::read_to_string(&file).unwrap();
            let scenario = serde_json::from_str(&text);
            let scenario = scenario.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            (file, scenario)
        })
        .collect()
}

#[test]
fn scenarios_that_once_broke_a_law_no_longer_do() {
    let mut broken = Vec::new();
    for (file, scenario) in kept() {
        let played = play(&scenario);
        if let Some(violation) = &played.violation {
            broken.push(format!(
                "{}: {violation}\n{}",
                file.display(),
                played.story()
            ));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
