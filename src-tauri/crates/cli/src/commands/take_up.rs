//! `drive`: every run that was going and that nobody drives is taken up, and driven until it is
//! finished or waits for a person.

use std::collections::HashMap;
use std::time::Duration;

use longrein_app::{Driving, Longrein, Recovery};
use longrein_protocol::RunId;
use longrein_protocol::view::RunState;
use tokio::time::sleep;

use crate::commands::keys;
use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::interrupt::Interrupts;
use crate::screen::{Screen, Tone};
use crate::summary;
use crate::text;
use crate::waits;

/// How often it is looked how the runs stand.
const LOOK: Duration = Duration::from_millis(200);
/// Looks in a row at which a run waits for a person and its inbox is empty, before it is let go.
const WAITING_LOOKS: u32 = 2;

/// At every so many looks it is also looked at the children of a run.
const CHILDREN_LOOKS: u32 = 8;
/// How long a driver that was let go may take to end.
const STOP_WAIT: Duration = Duration::from_secs(5);

/// A run that this command drives.
struct Taken {
    driving: Driving,
    /// At how many looks in a row it waited for a person.
    waited: u32,
    /// How often it was looked at.
    looks: u32,
    /// Whether nothing of it goes on without a person.
    rests: bool,
}

impl Taken {
    fn new(driving: Driving) -> Self {
        Self {
            driving,
            waited: 0,
            looks: 0,
            rests: false,
        }
    }
}

/// `drive`.
pub async fn drive(context: &Context) -> Result<Status, Failure> {
    let app = context.open()?;
    keys::open_for_runs(context, &app, None).await?;
    let mut screen = context.screen();
    let mut interrupts = Interrupts::listen()?;
    let mut recovery = app.recovery();
    let mut taken: HashMap<RunId, Taken> = HashMap::new();
    let mut status = Status::Done;
    let mut count = 0;
    loop {
        let found = look(&mut recovery, &mut screen).await?;
        count += found.len();
        for (run, driving) in found {
            match driving {
                Some(driving) => {
                    taken.insert(run, Taken::new(driving));
                }
                None => status = Status::Failed,
            }
        }
        let_go_of_waiting(&app, &mut taken).await?;
        status = worse(status, tell_ended(&app, &mut taken, &mut screen).await?);
        if taken.values().all(|taken| taken.rests) {
            break;
        }
        tokio::select! {
            () = sleep(LOOK) => {}
            () = interrupts.next() => {
                screen.say("Stopping. What was going is taken up by the next driver.");
                let_go(&taken).await;
                return Ok(Status::Cancelled);
            }
        }
    }
    let_go(&taken).await;
    status = worse(status, tell_ended(&app, &mut taken, &mut screen).await?);
    if count == 0 && !screen.is_json() {
        screen.result("Nothing was going without a driver.")?;
    }
    Ok(status)
}

/// Takes up what has no driver; `None` for what can't be driven, which hides none of the others.
async fn look(
    recovery: &mut Recovery,
    screen: &mut Screen,
) -> Result<Vec<(RunId, Option<Driving>)>, Failure> {
    let mut found = Vec::new();
    for recovered in recovery.look().await? {
        let run = recovered.run;
        match &recovered.driving {
            Ok(_) => screen.say(&format!("run {run} is taken up")),
            Err(error) => screen.say(&text::plain(&format!(
                "run {run} can't be taken up: {} {}",
                error.message, error.remedy
            ))),
        }
        found.push((run, recovered.driving.ok()));
    }
    Ok(found)
}

/// A run that waits for a person needs no driver: whoever answers takes it up. One whose children
/// wait would be taken up again at once, so it is kept until nothing else works.
async fn let_go_of_waiting(
    app: &Longrein,
    taken: &mut HashMap<RunId, Taken>,
) -> Result<(), Failure> {
    for (run, taken) in taken.iter_mut() {
        taken.looks += 1;
        let state = app.run_line(*run).await?.state;
        // Whether children wait, only all of their logs tell.
        let is_looked_at = match state {
            RunState::Waiting => true,
            RunState::Running => taken.looks.is_multiple_of(CHILDREN_LOOKS),
            _ => false,
        };
        if !is_looked_at {
            continue;
        }
        // A server that asks waits only as long as its call is held here.
        let waits = waits::rests(app, *run).await? && waits::held(app, *run).await?.is_empty();
        taken.waited = if waits { taken.waited + 1 } else { 0 };
        taken.rests = taken.waited >= WAITING_LOOKS;
        if taken.rests && state == RunState::Waiting {
            taken.driving.let_go();
        }
    }
    Ok(())
}

/// Tells of the runs that came to a stop, and forgets them.
async fn tell_ended(
    app: &Longrein,
    taken: &mut HashMap<RunId, Taken>,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    let driven = app.runs_driven_here();
    let ended: Vec<RunId> = taken
        .keys()
        .filter(|run| !driven.contains(run))
        .copied()
        .collect();
    let mut status = Status::Done;
    for run in ended {
        taken.remove(&run);
        let line = app.run_line(run).await?;
        status = worse(status, Status::of_run(line.state));
        if screen.is_json() {
            screen.json(&line)?;
            continue;
        }
        let words = summary::state_words(line.state);
        let words = screen.result_painted(summary::state_tone(line.state), words);
        let reason = match line.reason.as_str() {
            "" => String::new(),
            reason => format!(": {}", text::brief(reason, 200)),
        };
        let title = screen.result_painted(Tone::Quiet, &text::brief(&line.title, 80));
        screen.result(&format!("{run} {words}{reason} · {title}"))?;
    }
    Ok(status)
}

/// Lets go of runs, and waits within a bound until they are.
async fn let_go(taken: &HashMap<RunId, Taken>) {
    for taken in taken.values() {
        taken.driving.let_go();
    }
    for taken in taken.values() {
        let ended = taken.driving.clone().ended();
        // One that does not end is in nobody's way: its lock ends with this process.
        let _ = tokio::time::timeout(STOP_WAIT, ended).await;
    }
}

/// The status that says more: failed before waiting before done.
fn worse(one: Status, other: Status) -> Status {
    let weight = |status: Status| match status {
        Status::Done => 0,
        Status::Cancelled => 1,
        Status::Parked => 2,
        Status::Usage | Status::Failed => 3,
    };
    if weight(other) > weight(one) {
        other
    } else {
        one
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_that_failed_or_waits_shows_in_the_status_of_all() {
        let all = |states: &[Status]| states.iter().copied().fold(Status::Done, worse);
        assert_eq!(all(&[]), Status::Done);
        assert_eq!(all(&[Status::Done, Status::Cancelled]), Status::Cancelled);
        assert_eq!(all(&[Status::Parked, Status::Cancelled]), Status::Parked);
        assert_eq!(all(&[Status::Parked, Status::Failed]), Status::Failed);
    }
}
