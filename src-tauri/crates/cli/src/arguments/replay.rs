//! `replay`, `compare`.

use clap::Args;

/// `replay`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  longrein replay RUN                  what happened, step by step
  longrein replay RUN --to 42          as it was at event 42
  longrein replay RUN --json           every event as a point, in a few words
  longrein replay RUN --verify         derives each state, decision and request again
  longrein replay --verify             the same of every run

With --verify, what the log says is compared with what this version of Longrein makes of it;
what differs is listed, and the command ends with 1. Of a run that another version made,
differences are listed and are no fault.")]
pub struct Replay {
    /// The run's id, or its first letters; with --verify all runs when it is left out
    #[arg(required_unless_present = "verify")]
    pub run: Option<String>,
    /// Begin with this event
    #[arg(long, value_name = "SEQ", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub from: u32,
    /// End with this event, and show the run as it was then
    #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(u32).range(1..))]
    pub to: Option<u32>,
    /// Derive the run again from its log, and list what differs
    #[arg(long, conflicts_with_all = ["from", "to"])]
    pub verify: bool,
}

/// `compare`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  longrein compare RUN FORK           where they part, and what differs from there on
  longrein compare RUN FORK --json    every step of both, one per line

Ids and times don't count. Forks are the same up to where they part.")]
pub struct Compare {
    /// The one run's id, or its first letters
    #[arg(value_name = "RUN")]
    pub left: String,
    /// The other run's id, or its first letters
    #[arg(value_name = "RUN")]
    pub right: String,
}
