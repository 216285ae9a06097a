//! What a person may say to a run that waits for them.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use longrein_protocol::gate::Scope;

/// `approve`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  longrein approve ACTION                            let it start as it is
  longrein approve ACTION --edit '{\"to\": \"#lab\"}'    let it start with these arguments instead
  longrein approve ACTION --edit @arguments.json     the same, from a file
  longrein approve ACTION --always agent             and never ask about the like again

“Always” prints exactly what it will match, and asks you; without a terminal it needs --yes. Such
a rule is listed, and revoked, with: longrein rules

Exit status 1: somebody else had answered it before; you are told who and when.")]
pub struct Approve {
    /// The action's id, or its first letters
    pub action: String,
    /// Start it with these arguments instead: a JSON object, or @FILE that holds one
    #[arg(long, value_name = "JSON|@FILE")]
    pub edit: Option<String>,
    /// Also let the like of it start from now on: in this run, in every run of this agent, everywhere
    #[arg(long, value_name = "SCOPE")]
    pub always: Option<Always>,
    /// Also after the run has read untrusted text; only with --always run
    #[arg(long, requires = "always")]
    pub even_after_untrusted: bool,
    /// Make the rule without asking
    #[arg(long, requires = "always")]
    pub yes: bool,
}

/// How far “always” reaches.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum Always {
    /// This run only
    Run,
    /// Every run of this agent
    Agent,
    /// Every run of every agent
    Everywhere,
}

impl From<Always> for Scope {
    fn from(always: Always) -> Self {
        match always {
            Always::Run => Self::Run,
            Always::Agent => Self::Agent,
            Always::Everywhere => Self::Everywhere,
        }
    }
}

/// `deny`.
#[derive(Args, Debug)]
pub struct Deny {
    /// The action's id, or its first letters
    pub action: String,
    /// Why; the model is told
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
}

/// `answer`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  longrein answer ACTION \"The second one.\"                what the model asked
  longrein answer ACTION                                   a server's form, field by field
  longrein answer ACTION '{\"city\": \"Bern\", \"days\": 2}'   the same at once
  longrein answer ACTION --open                            open the page that a server asks for
  longrein answer ACTION visited                           you have opened it yourself
  longrein answer ACTION decline                           say no to a server
  longrein answer ACTION dismiss                           give a server no answer

A server waits only as long as the process that drives the run holds its call open. Never type a
password or a key into a server's form: keep it with longrein keys set, and grant it to the server.")]
pub struct Answer {
    /// The id of the action that asks, or its first letters
    pub action: String,
    /// Your answer; to a server's form the values as JSON. Without it a terminal asks
    pub text: Option<String>,
    /// Open the page that a server asks for in your browser
    #[arg(long, conflicts_with = "text")]
    pub open: bool,
}

/// `accept`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  longrein accept RUN                                      take the result
  longrein accept RUN --note \"Good, send it to Ann.\"       the same, with a note on record
  longrein accept RUN --send-back \"Compare prices too.\"    let the run go on; the model reads this

A run that was handed off can be accepted as it stands. It is then finished, but not called
accepted, since not every criterion holds.")]
pub struct Accept {
    /// The run's id, or its first letters
    pub run: String,
    /// A note that is kept with it
    #[arg(long, value_name = "TEXT", conflicts_with = "send_back")]
    pub note: Option<String>,
    /// Do not accept it: say what is missing, and let the run go on
    #[arg(long, value_name = "TEXT")]
    pub send_back: Option<String>,
}

/// `settle`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  longrein settle ACTION happened                     the model is told that it happened
  longrein settle ACTION happened --result out.txt    and is given this as its result
  longrein settle ACTION retry                        start it once more, if it did not happen

Look outside first: nobody but you can know what became of it.")]
pub struct Settle {
    /// The action's id, or its first letters
    pub action: String,
    /// What became of it
    pub verdict: Settled,
    /// A file that holds its result; only with “happened”
    #[arg(long, value_name = "FILE")]
    pub result: Option<PathBuf>,
}

/// What became of an action.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum Settled {
    /// It happened: the model is told so
    Happened,
    /// It did not happen: the model is told so
    NotHappened,
    /// Start it once more
    Retry,
    /// Leave it open and end the run for good
    Stop,
}

/// `undo`.
#[derive(Args, Debug)]
pub struct Undo {
    /// The action's id, or its first letters
    pub action: String,
}

/// `rules`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  longrein rules                 every rule that you made with “always”, and what it matches
  longrein rules revoke RULE     ask again from now on

Rules of one run are shown by: longrein show RUN. The rules of an agent stand in its file.")]
pub struct Rules {
    /// What to do; without it the rules are listed
    #[command(subcommand)]
    pub action: Option<RulesAction>,
}

/// `rules …`.
#[derive(Subcommand, Debug)]
pub enum RulesAction {
    /// Take a rule out of force
    Revoke {
        /// The rule's name, as the list shows it
        rule: String,
    },
}
