//! What a person may type, and the help that teaches it.

mod answers;
mod files;
mod keys;
mod limits;
mod mcp;
mod models;
mod replay;
mod search;
mod skills;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

pub use answers::{Accept, Answer, Approve, Deny, Rules, RulesAction, Settle, Settled, Undo};
pub use files::{Diff, Files, Fork};
pub use keys::{Keys, KeysAction, KeysSet, KeysStore};
pub use limits::LimitArguments;
pub use mcp::{Mcp, McpAction, McpAdd, McpApprove};
pub use models::{Models, ModelsAction, ModelsAdd, ModelsRefresh, ModelsTest};
pub use replay::{Compare, Replay};
pub use search::{Delete, Search, StorageLimit};
pub use skills::{Skills, SkillsAction, SkillsAdd, SkillsNew};

const ABOUT: &str = "Gives an agent a long piece of work, and keeps every step of it on record";

const LONG_ABOUT: &str = "\
Gives an agent a long piece of work, and keeps every step of it on record.

A run survives a crash, waits for as long as you like when it needs you, and ends with files
whose citations were checked. Everything stays on this machine, save what goes to the model
provider that you name.";

const EXAMPLES: &str = "\
Begin here:
  longrein demo                                    a finished run in seconds, without a key
  longrein run research \"Which index is fastest?\" --library ~/Papers
  longrein runs                                    what ran, and what waits for you
  longrein show RUN                                one run: its steps, sources and files
  longrein resume RUN                              go on after a crash, a pause or a handoff
  longrein approvals                               what waits for your answer, and how to give it

A run or an action may be named by the first letters of its id. With --json, each line of
standard output is one event; progress goes to standard error.

Where answers come from:
  longrein models add anthropic                    add a provider; longrein models lists its models
  longrein keys set anthropic                      keep its key; longrein keys lists what is kept
  longrein mcp add exa                             add a server of tools; longrein mcp lists them
  longrein skills add FOLDER                       add a skill; longrein skills lists them

Exit status: 0 accepted, or finished where the agent sets no criteria; 1 failed, or answered
before by somebody else; 2 usage; 3 waiting for you, with the command to go on printed;
130 cancelled or interrupted.";

/// The command line.
#[derive(Parser, Debug)]
#[command(
    name = "longrein",
    version,
    about = ABOUT,
    long_about = LONG_ABOUT,
    after_help = EXAMPLES,
    max_term_width = 100,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
pub struct Arguments {
    /// Write JSON Lines to standard output
    #[arg(long, global = true)]
    pub json: bool,

    /// Use this data folder [env: LONGREIN_HOME]
    // Read by `Context`, which takes an empty variable for none.
    #[arg(long, global = true, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,

    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Start a run and follow it
    Run(Run),
    /// List runs, newest first
    Runs(Runs),
    /// Show a run, or the exact bytes of one of its requests
    Show(Show),
    /// List a run's files as they were at an event, or lay them out in a folder
    Files(Files),
    /// Show what differs between a run's files at two events
    Diff(Diff),
    /// Make a new run that begins as another one was at an event
    Fork(Fork),
    /// Show a run as it was at an event, or derive it again from its log
    Replay(Replay),
    /// Show where two runs part
    Compare(Compare),
    /// Find words in everything that was ever said or found
    Search(Search),
    /// Delete a run for good, with its files
    Delete(Delete),
    /// Show what takes space
    Storage(StorageLimit),
    /// Free the contents of files that no run refers to any more
    Gc,
    /// Follow a run, whoever drives it
    Watch(Watch),
    /// Go on with a run
    Resume(Resume),
    /// End a run for good
    Cancel(OneRun),
    /// Stop a run before its next step
    Pause(OneRun),
    /// Say something to a run; it reads it before its next step
    Steer(Steer),
    /// List what waits for your answer
    Approvals,
    /// Let an action start
    Approve(Approve),
    /// Refuse an action
    Deny(Deny),
    /// Answer a question that a run asks you
    Answer(Answer),
    /// Accept a result, or send it back
    Accept(Accept),
    /// Say what became of an action that may or may not have happened
    Settle(Settle),
    /// Take back what an action did, where its tool can
    Undo(Undo),
    /// List the rules that you made with “always”, or revoke one
    Rules(Rules),
    /// Take up every run that was going and that nobody drives
    Drive,
    /// Run the demonstration: no key, no network
    Demo(Demo),
    /// List agents
    Agents,
    /// Work with an agent file
    #[command(subcommand)]
    Agent(Agent),
    /// Keep, list, test and remove keys
    Keys(Keys),
    /// List, test and add models
    Models(Models),
    /// Add, list, test or remove MCP servers, or sign in to one
    Mcp(Mcp),
    /// List, add, check or remove skills, or make one
    Skills(Skills),
    /// Check everything that Longrein depends on
    Doctor,
    /// Check or mend the log
    #[command(subcommand)]
    Log(Log),
    /// Write a run to a file
    Export(Export),
    /// Measure what a step costs
    #[command(subcommand)]
    Bench(Bench),
    /// Print completions for a shell
    Completions(Completions),
}

/// `run`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  longrein run research \"Compare the three best vector indexes\" --library ~/Papers
  longrein run my.agent.toml \"What changed in May?\" --model local/any
  longrein run research \"…\" --json > events.jsonl
  longrein run research \"…\" --max-cost 2.50 --max-minutes 30

A run stops before it passes a limit, with its state saved; resume can raise the limit. On a
terminal a run asks you in place. Without one, a run that needs your answer stops with status 3
and prints the command to go on; with --wait it keeps waiting. Ctrl-C stops the run; it can be
resumed.")]
pub struct Run {
    /// An agent's name, or its file
    pub agent: String,
    /// What should be found out
    pub task: String,
    /// Use this model instead of the agent's
    #[arg(long, value_name = "PROVIDER/MODEL")]
    pub model: Option<String>,
    /// Use this folder as the library instead of the agent's; may be given several times
    #[arg(long, value_name = "DIR")]
    pub library: Option<Vec<PathBuf>>,
    /// Give this image, PDF or recording with the task; may be given several times
    #[arg(long, value_name = "FILE")]
    pub attach: Vec<PathBuf>,
    /// Keep waiting when the run needs your answer
    #[arg(long)]
    pub wait: bool,
    /// Limits instead of the agent's.
    #[command(flatten)]
    pub limits: LimitArguments,
}

/// `runs`.
#[derive(Args, Debug)]
pub struct Runs {
    /// At most so many
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub limit: u32,
    /// List each run's children beneath it, and not only those that wait for you
    #[arg(long)]
    pub children: bool,
}

/// A command about one run.
#[derive(Args, Debug)]
pub struct OneRun {
    /// The run's id, or its first letters
    pub run: String,
}

/// `show`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  longrein show RUN                        what happened, step by step
  longrein show RUN --request 3            what the model was shown in its third request
  longrein show RUN --request 3 --raw      the same request, byte for byte
  longrein show RUN --json                 its events, one per line")]
pub struct Show {
    /// The run's id, or its first letters
    pub run: String,
    /// Show this request, counted from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub request: Option<u32>,
    /// Write the request's bytes as they were sent
    #[arg(long, requires = "request")]
    pub raw: bool,
}

/// `watch`.
#[derive(Args, Debug)]
pub struct Watch {
    /// The run's id, or its first letters
    pub run: String,
    /// Begin with this event
    #[arg(long, value_name = "SEQ", default_value_t = 1)]
    pub from: u32,
}

/// `resume`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  longrein resume RUN                        go on where it stopped
  longrein resume RUN \"Only since 2024\"      say how to go on; after the end this opens a new turn
  longrein resume RUN --max-cost 5           set a limit anew, and go on
  longrein resume RUN --take-over            end the process that drives it first

A limit is the whole run's: --max-steps 120 lets it come to 120 steps, those it took included.
A run that another process drives is followed instead.")]
pub struct Resume {
    /// The run's id, or its first letters
    pub run: String,
    /// What to say
    pub text: Option<String>,
    /// End the process that drives the run, then go on here
    #[arg(long)]
    pub take_over: bool,
    /// Also when that process drives other runs
    #[arg(long, requires = "take_over")]
    pub yes: bool,
    /// Keep waiting when the run needs your answer
    #[arg(long)]
    pub wait: bool,
    /// Limits that are set anew.
    #[command(flatten)]
    pub limits: LimitArguments,
}

/// `steer`.
#[derive(Args, Debug)]
pub struct Steer {
    /// The run's id, or its first letters
    pub run: String,
    /// What to say
    pub text: String,
    /// Give this image, PDF or recording with it; may be given several times
    #[arg(long, value_name = "FILE")]
    pub attach: Vec<PathBuf>,
}

/// `demo`.
#[derive(Args, Debug)]
#[command(after_help = "\
The demonstration is the agent `research` with a rule-based stand-in for the model. It reads,
cites and is checked like any other run; with another library it writes another page.")]
pub struct Demo {
    /// Ask something else
    #[arg(long, value_name = "TEXT")]
    pub question: Option<String>,
    /// Read this folder instead of the demonstration library; may be given several times
    #[arg(long, value_name = "DIR")]
    pub library: Option<Vec<PathBuf>>,
}

/// `agent …`.
#[derive(Subcommand, Debug)]
pub enum Agent {
    /// Print the file with its defaults, or everything that is wrong with it
    Check(AgentCheck),
}

/// `agent check`.
#[derive(Args, Debug)]
pub struct AgentCheck {
    /// The file
    pub file: PathBuf,
}

/// `log …`.
#[derive(Subcommand, Debug)]
pub enum Log {
    /// Check every row, chain and file of the log; name what is damaged
    Check(LogCheck),
    /// Write the list of runs anew from their events
    Rebuild,
}

/// `log check`.
#[derive(Args, Debug)]
pub struct LogCheck {
    /// Only this run
    pub run: Option<String>,
}

/// `export`.
#[derive(Args, Debug)]
#[command(after_help = "\
Ending with .jsonl, the file has one event per line, with the contents that it refers to, so that it stands alone.
With .html it is one page for people, which asks nothing of any network; with .md it is Markdown.")]
pub struct Export {
    /// The run's id, or its first letters
    pub run: String,
    /// The file; its ending says the format: .jsonl, .html or .md
    #[arg(long, value_name = "FILE")]
    pub to: PathBuf,
}

/// `bench …`.
#[derive(Subcommand, Debug)]
pub enum Bench {
    /// What a durable step costs: time, bytes on disk, memory
    Steps(BenchSteps),
    /// What a long research sends: tokens, the part that stays the same, what is left in view
    Context(BenchContext),
    /// What a box for commands costs: to be there, for each command, to record its files
    Sandbox(BenchSandbox),
    /// Run up to the first request and stop
    #[command(hide = true)]
    Start,
}

/// `bench steps`.
#[derive(Args, Debug)]
pub struct BenchSteps {
    /// Steps per run
    #[arg(long, value_delimiter = ',', default_value = "100,1000,10000", value_name = "N,…",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub n: Vec<u32>,
}

/// `bench context`.
#[derive(Args, Debug)]
pub struct BenchContext {
    /// Steps of the research
    #[arg(long, default_value_t = 300, value_name = "N",
          value_parser = clap::value_parser!(u32).range(4..=5_000))]
    pub steps: u32,
    /// The model's window, in tokens
    #[arg(long, default_value_t = 131_072, value_name = "TOKENS",
          value_parser = clap::value_parser!(u32).range(16_000..=10_000_000))]
    pub window: u32,
    /// Where chance begins: the same number gives the same research
    #[arg(long, default_value_t = 1, value_name = "SEED")]
    pub seed: u64,
}

/// `bench sandbox`.
#[derive(Args, Debug)]
pub struct BenchSandbox {
    /// The container engines, one after the other: an address, the path of a socket, or
    /// "bubblewrap"; without it the one that is configured, or all that there are
    #[arg(long, value_delimiter = ',', value_name = "ENGINE,…")]
    pub engine: Vec<String>,
    /// The image; without it the one that ships
    #[arg(long, value_name = "IMAGE")]
    pub image: Option<String>,
    /// Commands that are timed
    #[arg(long, default_value_t = 200, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub commands: u32,
}

/// `completions`.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  longrein completions bash > ~/.local/share/bash-completion/completions/longrein")]
pub struct Completions {
    /// The shell
    pub shell: Shell,
}
