//! The crash sweep: a scenario is played once to its end; then it is killed at every append, on
//! both sides of it, and again during the recovery, and the disk refuses every append once. It has
//! to come to the same end each time.

use std::fmt;

use super::laws::{Law, Violation};
use super::play::{Played, play_blind};
use super::scenario::{DiskFault, FaultWhat, Scenario};

/// How many appends of a recovery are killed as well, for each append that was killed before.
const KILLS_OF_RECOVERY: u32 = 7;

/// What a sweep over one scenario did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Swept {
    /// Scenarios.
    pub scenarios: u32,
    /// Plays that were killed.
    pub killed: u32,
    /// Of these, those that were killed again during their recovery.
    pub killed_again: u32,
    /// Plays in which the disk refused one append.
    pub refused: u32,
    /// Plays in which something was uncertain, and was asked.
    pub uncertain: u32,
}

impl Swept {
    /// Adds another sweep's numbers.
    pub fn add(&mut self, other: Self) {
        self.scenarios += other.scenarios;
        self.killed += other.killed;
        self.killed_again += other.killed_again;
        self.refused += other.refused;
        self.uncertain += other.uncertain;
    }
}

impl fmt::Display for Swept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            scenarios,
            killed,
            killed_again,
            refused,
            uncertain,
        } = self;
        write!(
            f,
            "{scenarios} scenarios × {killed} kill points ({killed_again} of them during the \
             recovery of another), and {refused} appends that the disk refused; {uncertain} left \
             something uncertain, which was asked"
        )
    }
}

/// A sweep that found something.
#[derive(Debug, thiserror::Error)]
#[error("{at}: {violation}\n{story}")]
pub struct Found {
    /// Where it was killed.
    pub at: String,
    /// The law that was broken.
    pub violation: Violation,
    /// The scenario with its kills.
    pub scenario: Box<Scenario>,
    /// What stood in the log.
    pub story: String,
}

/// Sweeps over a scenario.
///
/// # Errors
/// The first kill that broke a law.
pub fn sweep(scenario: &Scenario) -> Result<Swept, Box<Found>> {
    sweep_blind(scenario, None)
}

/// Sweeps over a scenario, and does not see one law broken.
///
/// # Errors
/// The first kill that broke another law.
pub fn sweep_blind(scenario: &Scenario, blind_to: Option<Law>) -> Result<Swept, Box<Found>> {
    let reference = play_blind(scenario, blind_to);
    if reference.violation.is_some() {
        return Err(found("unharmed", scenario.clone(), reference));
    }
    let mut swept = Swept {
        scenarios: 1,
        ..Swept::default()
    };
    for first in 1..=reference.appends {
        for (what, durable) in [(FaultWhat::Full, false), (FaultWhat::Io, true)] {
            let fault = DiskFault {
                append: first,
                durable,
                what,
            };
            let played = killed(scenario, &reference, &[fault], blind_to)?;
            swept.refused += 1;
            swept.uncertain += u32::from(played.uncertain);
        }
        for durable in [false, true] {
            let kill = crash(first, durable);
            let played = killed(scenario, &reference, &[kill], blind_to)?;
            swept.killed += 1;
            swept.uncertain += u32::from(played.uncertain);
            let last = (first + KILLS_OF_RECOVERY).min(played.appends);
            for second in first + 1..=last {
                let kills = [kill, crash(second, !durable)];
                let played = killed(scenario, &reference, &kills, blind_to)?;
                swept.killed += 1;
                swept.killed_again += 1;
                swept.uncertain += u32::from(played.uncertain);
            }
        }
    }
    Ok(swept)
}

fn crash(append: u32, durable: bool) -> DiskFault {
    DiskFault {
        append,
        durable,
        what: FaultWhat::Crash,
    }
}

fn killed(
    scenario: &Scenario,
    reference: &Played,
    kills: &[DiskFault],
    blind_to: Option<Law>,
) -> Result<Played, Box<Found>> {
    let scenario = Scenario {
        faults: kills.to_vec(),
        ..scenario.clone()
    };
    let mut played = play_blind(&scenario, blind_to);
    if played.violation.is_none() && !struck(&played, kills) {
        played.violation = Some(Violation {
            law: Law::SameEnd,
            how: "the kill did not strike".to_owned(),
        });
    }
    let certain = !played.uncertain && !reference.uncertain;
    if played.violation.is_none() && certain && played.ending != reference.ending {
        let how = format!("{:#?}\nand not\n{:#?}", played.ending, reference.ending);
        let law = Law::SameEnd;
        played.violation = Some(Violation { law, how });
    }
    match played.violation {
        None => Ok(played),
        Some(_) => Err(found(&format!("killed at {kills:?}"), scenario, played)),
    }
}

fn struck(played: &Played, kills: &[DiskFault]) -> bool {
    played.processes as usize > kills.len()
}

fn found(at: &str, scenario: Scenario, played: Played) -> Box<Found> {
    let unknown = || Violation {
        law: Law::SameEnd,
        how: String::new(),
    };
    let story = played.story();
    Box::new(Found {
        at: format!("{}, {at}", scenario.name),
        violation: played.violation.unwrap_or_else(unknown),
        scenario: Box::new(scenario),
        story,
    })
}
