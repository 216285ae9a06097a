//! `runs`: the list of runs. What was given to a child stands beneath its parent, where it is asked
//! for or where the child waits for a person.

use std::collections::HashMap;

use longrein_app::Longrein;
use longrein_protocol::RunId;
use longrein_protocol::view::{RunLine, RunState};

use crate::arguments::Runs;
use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::screen::{Screen, Tone};
use crate::summary;
use crate::text;

/// Columns of the list of runs: id, state, agent, time, cost. What is left is the title's.
const ID_COLUMNS: usize = 26;
const STATE_COLUMNS: usize = 15;
const AGENT_COLUMNS: usize = 12;
const TIME_COLUMNS: usize = 12;
const COST_COLUMNS: usize = 8;
/// The columns of a title where no terminal cuts it.
const TITLE_COLUMNS: usize = 120;
/// What stands before the title of a child, for each generation.
const CHILD: &str = "└ ";
/// Runs that are read at once.
const PAGE_RUNS: u32 = 500;

/// A run of the list.
struct Listed {
    line: RunLine,
    /// How many generations above it there are.
    depth: usize,
    /// How many children of its own are not listed.
    hidden: usize,
}

/// `runs`.
pub async fn runs(context: &Context, asked: &Runs) -> Result<Status, Failure> {
    let app = context.open()?;
    let mut screen = context.screen();
    let listed = listed(&app, asked).await?;
    if listed.is_empty() && !screen.is_json() {
        screen.result("There are no runs yet. Begin with: longrein demo")?;
    }
    for one in &listed {
        if screen.is_json() {
            screen.json(&one.line)?;
        } else {
            tell(one, &mut screen)?;
        }
    }
    if listed.iter().any(|one| one.hidden > 0) {
        screen.say(&format!(
            "See children too: {}",
            context.command("runs --children")
        ));
    }
    Ok(Status::Done)
}

/// The newest runs, children and all, page by page.
///
/// # Errors
/// What reading gives.
pub async fn newest(app: &Longrein, limit: u32) -> Result<Vec<RunLine>, Failure> {
    let mut lines = Vec::new();
    let mut take = |line: RunLine| {
        lines.push(line);
        lines.len() < limit as usize
    };
    each(app, &mut take).await?;
    Ok(lines)
}

/// Gives the runs, newest first, for as long as `take` wants more.
async fn each(app: &Longrein, take: &mut dyn FnMut(RunLine) -> bool) -> Result<(), Failure> {
    let mut before: Option<RunId> = None;
    loop {
        let page = app.runs(PAGE_RUNS, before).await?;
        let is_last = page.len() < PAGE_RUNS as usize;
        before = page.last().and_then(|line| line.run.parse().ok());
        for line in page {
            if !take(line) {
                return Ok(());
            }
        }
        if is_last || before.is_none() {
            return Ok(());
        }
    }
}

/// The newest runs that are nobody's children, each with those of its children that are asked for.
async fn listed(app: &Longrein, asked: &Runs) -> Result<Vec<Listed>, Failure> {
    let mut listed = Vec::new();
    let mut tops = 0;
    // A child is younger than the first run of its tree, and so comes before it.
    let mut children: HashMap<String, Vec<RunLine>> = HashMap::new();
    let mut take = |line: RunLine| {
        if let Some(root) = &line.root {
            children.entry(root.clone()).or_default().push(line);
            return true;
        }
        let mut below = children.remove(&line.run).unwrap_or_default();
        below.reverse();
        tree(line, &below, asked.children, &mut listed);
        tops += 1;
        tops < asked.limit
    };
    each(app, &mut take).await?;
    Ok(listed)
}

/// Lists a run and those beneath it: all of them, or those that wait for a person.
fn tree(first: RunLine, below: &[RunLine], all: bool, listed: &mut Vec<Listed>) {
    let mut depths: HashMap<&str, usize> = HashMap::new();
    let is_over = !matches!(
        first.state,
        RunState::Running | RunState::Waiting | RunState::Interrupted
    );
    let place = listed.len();
    listed.push(Listed {
        line: first,
        depth: 0,
        hidden: 0,
    });
    // Older ones come first, and with them whoever is above the others.
    for line in below {
        let above = line.parent.as_deref().and_then(|parent| depths.get(parent));
        let depth = above.map_or(1, |depth| depth + 1);
        depths.insert(&line.run, depth);
        if all || (line.state == RunState::Waiting && !is_over) {
            listed.push(Listed {
                line: line.clone(),
                depth,
                hidden: 0,
            });
        } else {
            listed[place].hidden += 1;
        }
    }
}

fn tell(one: &Listed, screen: &mut Screen) -> Result<(), Failure> {
    let line = &one.line;
    let state = text::cell(summary::state_words(line.state), STATE_COLUMNS);
    let state = screen.result_painted(summary::state_tone(line.state), &state);
    let when = text::cell(
        &text::ago(line.updated_at, longrein_app::now()),
        TIME_COLUMNS,
    );
    let agent = text::cell(&text::plain(&line.agent), AGENT_COLUMNS);
    let cost = match line.cost_micro {
        _ if line.demo || line.steps == 0 => String::new(),
        // About so much: by the price, since the provider does not say.
        Some(micro) if line.cost_estimated => format!("~{}", text::dollars(micro.into())),
        Some(micro) => text::dollars(micro.into()),
        None => "unknown".to_owned(),
    };
    let cost = text::cell(&cost, COST_COLUMNS);
    let more = match one.hidden {
        0 => String::new(),
        1 => " · 1 child".to_owned(),
        hidden => format!(" · {hidden} children"),
    };
    let used = ID_COLUMNS + STATE_COLUMNS + AGENT_COLUMNS + TIME_COLUMNS + COST_COLUMNS + 5;
    let left = screen.columns_left(used + more.chars().count(), TITLE_COLUMNS);
    let title = text::brief(&line.title, TITLE_COLUMNS);
    let title = format!("{}{title}", CHILD.repeat(one.depth));
    let title = text::fit(&title, left);
    screen.result(&format!(
        "{} {state} {agent} {} {} {title}{}",
        text::cell(&line.run, ID_COLUMNS),
        screen.result_painted(Tone::Quiet, &when),
        screen.result_painted(Tone::Quiet, &cost),
        screen.result_painted(Tone::Quiet, &more),
    ))?;
    let owes = matches!(
        line.state,
        RunState::Waiting | RunState::HandedOff | RunState::Interrupted | RunState::Unreadable
    );
    if owes && !line.reason.is_empty() {
        let reason = text::brief(&line.reason, 200);
        let reason = screen.result_painted(Tone::Quiet, &reason);
        screen.result(&format!("{} {reason}", " ".repeat(ID_COLUMNS)))?;
    }
    Ok(())
}
