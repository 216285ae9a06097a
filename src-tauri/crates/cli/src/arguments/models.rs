//! `models …`.

use clap::{Args, Subcommand};

/// `models`.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_precedence_over_arg = true,
    after_help = "\
Examples:
  longrein models                       the models of every provider, with windows and prices
  longrein models anthropic             only this provider's
  longrein models test local/any        what a model can do: tools, images, thinking, schema mode
  longrein models test local/any --save the same, and write the mode that works into config.toml
  longrein models add ollama            add a provider; well-known ones need no more than a name
  longrein models refresh               take the newest price list

Where something is known from stands in the last column: config.toml, our own table, the price
list, or the server itself. What you write under [models.\"provider/model\"] goes first."
)]
pub struct Models {
    /// Only this provider's
    pub provider: Option<String>,
    /// Something else than listing them.
    #[command(subcommand)]
    pub action: Option<ModelsAction>,
}

/// What `models` does besides listing.
#[derive(Subcommand, Debug)]
pub enum ModelsAction {
    /// Ask a model what it can do
    Test(ModelsTest),
    /// Add a provider to config.toml
    Add(ModelsAdd),
    /// Take a newer list of windows and prices
    Refresh(ModelsRefresh),
}

/// `models test`.
#[derive(Args, Debug)]
#[command(after_help = "\
About seven short questions are sent, which cost what tokens cost there. What a question shows is
what the model did this once.")]
pub struct ModelsTest {
    /// The model: provider/model
    #[arg(value_name = "PROVIDER/MODEL")]
    pub model: String,
    /// Test the provider's cache too, with two questions of several thousand tokens
    #[arg(long)]
    pub cache: bool,
    /// Write the way of calling tools that works into config.toml, where it is another
    #[arg(long)]
    pub save: bool,
}

/// `models add`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  longrein models add anthropic
  longrein models add ollama
  longrein models add work --format openai-chat --base-url https://llm.example.org/v1

A key is no part of it: keep it with longrein keys set NAME.")]
pub struct ModelsAdd {
    /// What the provider is called: the part before the slash of its models' names
    pub name: String,
    /// What it speaks: openai-chat, openai-responses, anthropic, gemini
    #[arg(long)]
    pub format: Option<String>,
    /// Where it is
    #[arg(long, value_name = "ADDRESS")]
    pub base_url: Option<String>,
    /// Write it without asking
    #[arg(long)]
    pub yes: bool,
}

/// `models refresh`.
#[derive(Args, Debug)]
#[command(after_help = "\
The list is genai-prices, which many people keep. It is checked whole before it takes the place of
the one that is there. Nothing else ever fetches it.")]
pub struct ModelsRefresh {
    /// Take it from this file or address instead of where it is published
    #[arg(long, value_name = "FILE")]
    pub from: Option<String>,
}
