//! What a person may say about skills.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `skills`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  longrein skills                                what there is, and which of it counts
  longrein skills add ~/Downloads/tables.zip     look through it, then install it
  longrein skills add .agents/skills/tables      approve a skill of this project where it lies
  longrein skills check skills/*                 everything that is wrong, with its line
  longrein skills new tables --description \"Cleans tables. Use when a CSV is messy.\"

A skill is a folder with a SKILL.md (agentskills.io). It grants nothing: what it asks for in
allowed-tools is shown and decides nothing. One that changed since you approved it asks again.")]
pub struct Skills {
    /// What to do; without it, list them
    #[command(subcommand)]
    pub action: Option<SkillsAction>,
}

/// What to do with skills.
#[derive(Subcommand, Debug)]
pub enum SkillsAction {
    /// List the skills of every place, with what becomes of each
    List,
    /// Review a skill, a folder or a zip, and install it; one of this project is approved in place
    Add(SkillsAdd),
    /// Check skills by the whole specification, with every problem and its line
    Check(SkillsCheck),
    /// Remove an installed skill
    Remove(SkillsRemove),
    /// Make a new skill to begin with
    New(SkillsNew),
}

/// `skills add`.
#[derive(Args, Debug)]
pub struct SkillsAdd {
    /// The skill's folder, or a zip of one
    pub path: PathBuf,
    /// Install it without asking, after the review
    #[arg(long)]
    pub yes: bool,
    /// Install only if it still is what this hash says, as a review before told it
    #[arg(long, value_name = "HASH")]
    pub hash: Option<String>,
}

/// `skills check`.
#[derive(Args, Debug)]
pub struct SkillsCheck {
    /// Folders of skills
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
}

/// `skills remove`.
#[derive(Args, Debug)]
pub struct SkillsRemove {
    /// The skill's name
    pub name: String,
}

/// `skills new`.
#[derive(Args, Debug)]
pub struct SkillsNew {
    /// Its name: lower-case letters, digits and hyphens
    pub name: String,
    /// What it does and when to use it, in a sentence or two
    #[arg(long, default_value = DESCRIPTION)]
    pub description: String,
    /// The folder to make it in
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub to: PathBuf,
}

/// What a new skill says of itself until somebody says it better.
const DESCRIPTION: &str =
    "Says how one kind of task is done here. Use when that task comes up; say which task it is.";
