//! `files`, `diff`, `fork`.

use std::path::PathBuf;

use clap::Args;

/// `files`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  longrein files RUN                          its files, as they were last recorded
  longrein files RUN --at 42                  as they were at event 42
  longrein files RUN --at 42 --restore old    lays them out in a new folder

Files are recorded when a step is over that may have changed them. Events are counted from 1;
show RUN --json has their numbers.")]
pub struct Files {
    /// The run's id, or its first letters
    pub run: String,
    /// At this event instead of the last
    #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(u32).range(1..))]
    pub at: Option<u32>,
    /// Lay them out in this folder, which must not be there yet
    #[arg(long, value_name = "FOLDER")]
    pub restore: Option<PathBuf>,
}

/// `diff`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  longrein diff RUN 12 42           what changed from event 12 to event 42
  longrein diff RUN 12 42 --json    one line for each file")]
pub struct Diff {
    /// The run's id, or its first letters
    pub run: String,
    /// The event to compare from
    #[arg(value_name = "SEQ", value_parser = clap::value_parser!(u32).range(1..))]
    pub from: u32,
    /// The event to compare to
    #[arg(value_name = "SEQ", value_parser = clap::value_parser!(u32).range(1..))]
    pub to: u32,
}

/// `fork`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  longrein fork RUN                            from where it stands
  longrein fork RUN --at 42                    from event 42: conversation, plan and files
  longrein fork RUN --at 42 --model local/any  with another model from there on
  longrein fork RUN --at 42 --set model.temperature=0.2 --set budget.steps=40
  longrein fork RUN --at 42 --instructions @shorter.md --rule '{ tool = \"write_file\", decision = \"ask\" }'
  longrein fork RUN --at 42 --result ACTION=@other.txt    the model is told another result

The original stays as it is, and keeps what was open. The fork waits until you say how it goes on:
  longrein resume FORK [\"…\"]")]
pub struct Fork {
    /// The run's id, or its first letters
    pub run: String,
    /// From this event instead of the last
    #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(u32).range(1..))]
    pub at: Option<u32>,
    /// Use this model from there on
    #[arg(long, value_name = "PROVIDER/MODEL")]
    pub model: Option<String>,
    /// Use this agent from there on: a name or a file
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
    /// Set a key of the agent's file from there on; may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_and_value)]
    pub set: Vec<(String, String)>,
    /// Use these instructions from there on: a text, or the content of a file
    #[arg(long, value_name = "TEXT|@FILE")]
    pub instructions: Option<String>,
    /// Add a rule to the policy, as in the agent's file; may be given several times
    #[arg(long, value_name = "RULE")]
    pub rule: Vec<String>,
    /// Tell the model another result of an action: a text, or the content of a file; may be given
    /// several times
    #[arg(long, value_name = "ACTION=TEXT|@FILE", value_parser = key_and_value)]
    pub result: Vec<(String, String)>,
}

/// What stands before the first `=` and behind it.
fn key_and_value(text: &str) -> Result<(String, String), KeyWithoutValue> {
    let (key, value) = text.split_once('=').ok_or(KeyWithoutValue)?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

/// A text without `=`.
#[derive(Debug, thiserror::Error)]
#[error("a key and a value with = between them are needed")]
pub struct KeyWithoutValue;
