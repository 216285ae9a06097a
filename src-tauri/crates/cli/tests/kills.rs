//! `kill -9` at any time at all, again and again, with a tool that must not act twice.

use std::thread;
use std::time::Duration;

use longrein_runtime::ports::Chance as _;
use longrein_runtime::ports::ReplyBlock;
use longrein_testkit::SeededChance;
use longrein_testkit::provider::{Content, Setup};
use longrein_testkit::reply::reply_of;
use serde_json::{Value, json};

use crate::counting::{Counting, MARK};
use crate::support::{Outcome, Running, assert_gapless};

/// How many processes are killed, unless the environment says otherwise.
const KILLS: u32 = 40;
/// Marks of one run.
const MARKS: u32 = 5;
/// The longest that a process lives before it is killed.
const LIFE_MS: u64 = 350;
/// How often one run may be taken up before the test fails.
const ATTEMPTS: u32 = 200;

/// Asks for one mark after the other; the same request gets the same answer.
fn marking() -> Setup {
    Setup::of(|request| {
        let done = request.replies();
        let block = if done < MARKS {
            ReplyBlock::ToolUse {
                id: format!("call_{done}"),
                name: MARK.to_owned(),
                arguments: json!({"label": format!("mark{done}")}).to_string(),
                raw: None,
            }
        } else {
            ReplyBlock::Text {
                text: "Done.".to_owned(),
                raw: None,
            }
        };
        Content::Reply(reply_of(vec![block], request)).into()
    })
}

struct Killer {
    counting: Counting,
    chance: SeededChance,
    left: u32,
}

impl Killer {
    /// Runs a command to its end, or kills it somewhere on the way.
    fn attempt(&mut self, words: &[&str]) -> Option<Outcome> {
        let mut running: Running = self.counting.home.spawn(words);
        if self.left == 0 {
            return Some(running.outcome());
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
        let known = self.counting.home.runs().len();
        let mut words: Vec<String> = ["run", agent, "Mark them."].map(str::to_owned).into();
        for _ in 0..ATTEMPTS {
            let attempt: Vec<&str> = words.iter().map(String::as_str).collect();
            let ended = self.attempt(&attempt);
            let runs = self.counting.home.runs();
            if runs.len() == known {
                continue;
            }
            let run = runs[0]["run"].as_str().unwrap().to_owned();
            match ended {
                Some(outcome) if outcome.status == 0 => return run,
                Some(outcome) => assert_eq!(outcome.status, 3, "{outcome}"),
                None => {}
            }
            words = self.next(&run);
        }
        panic!("the run did not come to its end in {ATTEMPTS} attempts");
    }

    /// What a person types next: yes to an action that waits for it, what became of one in doubt,
    /// or simply to go on.
    fn next(&self, run: &str) -> Vec<String> {
        let waiting = self.counting.home.run(&["approvals", "--json"]).json();
        let Some(waiting) = waiting.iter().find(|waiting| waiting["run"] == run) else {
            return vec!["resume".to_owned(), run.to_owned()];
        };
        let action = waiting["action"].as_str().unwrap();
        if waiting["waits_for"] == "approval" {
            return ["approve", action].map(str::to_owned).into();
        }
        let labels = self.counting.labels();
        let marked = labels
            .iter()
            .any(|label| waiting["arguments"]["label"] == **label);
        let verdict = if marked { "happened" } else { "retry" };
        ["settle", action, verdict].map(str::to_owned).into()
    }
}

#[test]
fn however_often_processes_are_killed_every_effect_happens_once() {
    let kills = std::env::var("LONGREIN_KILLS")
        .ok()
        .and_then(|kills| kills.parse().ok());
    let seed = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64;
    println!("seed {seed}");
    let mut killer = Killer {
        counting: Counting::new(false, marking()),
        chance: SeededChance::new(seed),
        left: kills.unwrap_or(KILLS),
    };
    let agent = killer.counting.agent("allow");
    while killer.left > 0 {
        killer.counting.forget();
        let run = killer.run(&agent);
        let labels = killer.counting.labels();
        let wanted: Vec<String> = (0..MARKS).map(|mark| format!("mark{mark}")).collect();
        assert_eq!(labels, wanted, "every effect happens once, in order");
        let events: Vec<Value> = killer.counting.home.events(&run);
        assert_gapless(&events);
        assert_eq!(events.last().unwrap()["type"], "run.finished");
    }
    killer.counting.home.assert_whole();
}
