//! `search`, `delete`, `storage`.

use clap::{Args, ValueEnum};
use longrein_protocol::view::RunState;

/// `search`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  longrein search vector index            both words, in any order
  longrein search '\"vector index\"'      one behind the other
  longrein search recall --agent research --state accepted
  longrein search recall --run RUN        in one run

Questions, answers, arguments and results of actions, plans, notes, sources and delivered files of
all runs are searched. A word finds what begins with it, without case and accents. The number is
that of the event: replay RUN --to SEQ shows the run as it was there.")]
pub struct Search {
    /// The words
    #[arg(required = true, value_name = "WORDS")]
    pub words: Vec<String>,
    /// Only in runs of this state; may be given several times
    #[arg(long, value_name = "STATE")]
    pub state: Vec<State>,
    /// Only in runs of this agent
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
    /// Only in this run
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// At most so many hits
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub limit: u32,
}

/// A state as it is typed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum State {
    /// It works by itself
    Running,
    /// It waits for you
    Waiting,
    /// You paused it
    Paused,
    /// It stopped by rule
    HandedOff,
    /// It is done, and every criterion holds
    Accepted,
    /// It is done, and nothing was checked
    Finished,
    /// It failed
    Failed,
    /// You cancelled it
    Cancelled,
    /// Its process ended
    Interrupted,
    /// Its log is damaged
    Unreadable,
}

impl From<State> for RunState {
    fn from(state: State) -> Self {
        match state {
            State::Running => Self::Running,
            State::Waiting => Self::Waiting,
            State::Paused => Self::Paused,
            State::HandedOff => Self::HandedOff,
            State::Accepted => Self::Accepted,
            State::Finished => Self::Unverified,
            State::Failed => Self::Failed,
            State::Cancelled => Self::Cancelled,
            State::Interrupted => Self::Interrupted,
            State::Unreadable => Self::Unreadable,
        }
    }
}

/// `delete`.
#[derive(Args, Debug)]
#[command(after_help = "\
The run goes with its children, its folder, and what no other run refers to; forks of it stay. A
run that a process drives is not deleted: cancel it first. Nothing brings it back.")]
pub struct Delete {
    /// The run's id, or its first letters
    pub run: String,
    /// Without being asked
    #[arg(long)]
    pub yes: bool,
}

/// `storage`.
#[derive(Args, Debug)]
pub struct StorageLimit {
    /// At most so many runs
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub limit: u32,
}
