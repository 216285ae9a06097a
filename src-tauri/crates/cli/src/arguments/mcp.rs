//! What a person may say about MCP servers.

use clap::{Args, Subcommand};

/// `mcp`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  longrein mcp add exa                           a server that is known by name
  longrein mcp add notes -- npx -y my-notes-server ~/Notes
  longrein mcp add lab --url https://lab.example/mcp --header \"Authorization=Bearer secret:lab\"
  longrein mcp test exa                          what it offers, and what is odd about it
  longrein mcp login exa                         sign in with your browser

An agent uses a server's tools when its file allows them: allow = [\"exa.*\"]. Secrets are named,
never written: secret:NAME is what longrein keys set NAME keeps, env:NAME is a variable.")]
pub struct Mcp {
    /// What to do; without it, list them
    #[command(subcommand)]
    pub action: Option<McpAction>,
}

/// What to do with servers.
#[derive(Subcommand, Debug)]
pub enum McpAction {
    /// List the servers, and those that can be added by name
    List,
    /// Add a server, or change the one of this name
    Add(McpAdd),
    /// Remove a server, with your sign-in
    Remove(McpName),
    /// Start or reach a server and show what it offers
    Test(McpName),
    /// Show what a server says of its tools now, and approve just that
    Approve(McpApprove),
    /// Sign in to a server with your browser
    Login(McpName),
    /// Forget your sign-in to a server
    Logout(McpName),
    /// Play the client in the official conformance suite, which gives the address
    Conformance(McpConformance),
}

/// A command about one server.
#[derive(Args, Debug)]
pub struct McpName {
    /// The server's name in config.toml
    pub name: String,
}

/// `mcp approve`.
#[derive(Args, Debug)]
pub struct McpApprove {
    /// The server's name in config.toml
    pub name: String,
    /// Don't ask: what has changed was read before
    #[arg(long)]
    pub yes: bool,
}

/// `mcp add`.
#[derive(Args, Debug)]
pub struct McpAdd {
    /// The name that its tools begin with; one that is known by name needs nothing else
    pub name: String,
    /// Its address, for a server that speaks streamable HTTP
    #[arg(long, conflicts_with_all = ["command", "env"])]
    pub url: Option<String>,
    /// A header of every request, NAME=VALUE with the value secret:NAME or env:NAME where it is one
    #[arg(long = "header", value_name = "NAME=VALUE", requires = "url")]
    pub headers: Vec<String>,
    /// A variable that its program is given, NAME=VALUE likewise
    #[arg(long, value_name = "NAME=VALUE", requires = "command")]
    pub env: Vec<String>,
    /// Ask with the key that is kept under this name, for a server that is known by name
    #[arg(long, value_name = "NAME", conflicts_with_all = ["url", "command"])]
    pub key: Option<String>,
    /// Believe what it says of its tools: which of them only read
    #[arg(long)]
    pub trusted: bool,
    /// The program and its arguments, behind --
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// `mcp conformance`.
#[derive(Args, Debug)]
pub struct McpConformance {
    /// The address of the scenario's server
    pub url: String,
}
