//! Why a server could not be started.

use std::io;
use std::path::PathBuf;

/// Why a server could not be started; each says what would mend it. No secrets: what the server
/// printed is masked before it comes here.
#[derive(Debug, thiserror::Error)]
pub enum McpError {
    /// The name can't stand before the dot of a tool's name.
    #[error(
        "“{server}” can't be the name of an MCP server. Use letters, digits, “-” and “_”, at most {limit} of them."
    )]
    Name {
        /// The name as given.
        server: String,
        /// The most characters that a name may have.
        limit: usize,
    },
    /// There is no command.
    #[error(
        "MCP server “{server}” has no command. Write command = [\"program\", \"argument\"] in [mcp.{server}]."
    )]
    NoCommand {
        /// The server.
        server: String,
    },
    /// The program is not there.
    #[error(
        "MCP server “{server}” can't be started: there is no program “{program}”. Install it, or give its full path as the first part of command in [mcp.{server}]."
    )]
    NoProgram {
        /// The server.
        server: String,
        /// The program as written.
        program: String,
    },
    /// The folder that it would work in can't be used.
    #[error("MCP server “{server}” can't be started in the folder {}: {source}. Create the folder or make it readable.", folder.display())]
    Folder {
        /// The server.
        server: String,
        /// The run's workspace.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system refuses to start the program.
    #[error(
        "MCP server “{server}” can't be started: {program}: {source}. Check that it is a program and that you may run it."
    )]
    Spawn {
        /// The server.
        server: String,
        /// The program as written.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// The watchdog that ends the server when we are killed could not be started.
    #[error(
        "MCP server “{server}” was not started, because nothing would end it if this process were killed: /bin/sh: {source}. Make /bin/sh available."
    )]
    Watchdog {
        /// The server.
        server: String,
        /// What the system said.
        source: io::Error,
    },
    /// The process group could not be written down, so a later start could not end it.
    #[error("MCP server “{server}” was ended again, because its process group could not be noted in {}: {source}. Make room on the disk or make the folder writable.", path.display())]
    GroupsFile {
        /// The server.
        server: String,
        /// The file of process groups.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It ended instead of answering.
    #[error(
        "MCP server “{server}” ended while it was starting ({reason}). Run its command by hand to see why: {command}"
    )]
    Ended {
        /// The server.
        server: String,
        /// Its status and its last words.
        reason: String,
        /// The command as one line.
        command: String,
    },
    /// It did not answer in time.
    #[error("MCP server “{server}” did not answer within {limit_seconds} s{said}.{hint}")]
    Silent {
        /// The server.
        server: String,
        /// How long it had.
        limit_seconds: u64,
        /// Its last words, with a semicolon before them, or nothing.
        said: String,
        /// What to look at, with a space before it, or nothing.
        hint: &'static str,
    },
    /// What it answered is not MCP.
    #[error("MCP server “{server}” does not speak MCP as it should: {reason}.{hint}")]
    Protocol {
        /// The server.
        server: String,
        /// What was off.
        reason: String,
        /// What to look at, with a space before it, or nothing.
        hint: &'static str,
    },
    /// Its address can't be used.
    #[error(
        "MCP server “{server}” can't be reached at {url}: {why}. Correct url in [mcp.{server}]."
    )]
    Address {
        /// The server.
        server: String,
        /// The address, without what may be a key.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// A header can't be sent.
    #[error(
        "MCP server “{server}” was not asked, because the header “{header}” can't be sent: its name or value has characters that no header has. Correct headers in [mcp.{server}], or the secret that it names."
    )]
    Header {
        /// The server.
        server: String,
        /// The header's name as written.
        header: String,
    },
    /// Nothing answers at its address.
    #[error(
        "MCP server “{server}” can't be reached at {url}: {reason}. Check the connection and url in [mcp.{server}]."
    )]
    Unreachable {
        /// The server.
        server: String,
        /// The address, without what may be a key.
        url: String,
        /// What failed.
        reason: String,
    },
    /// It wants to know who asks.
    #[error(
        "MCP server “{server}” at {url} wants to know who you are. Sign in with: longrein mcp login {server}. If it takes a key, keep it with longrein keys set and name it under headers in [mcp.{server}]."
    )]
    SignIn {
        /// The server.
        server: String,
        /// The address, without what may be a key.
        url: String,
        /// What it said of how to sign in (the header `WWW-Authenticate`).
        challenge: Option<String>,
    },
    /// It speaks the older way only.
    #[error(
        "MCP server “{server}” at {url} speaks only the older way, HTTP with server-sent events, which was given up in 2025 and is not spoken here. Ask its makers for the address that speaks streamable HTTP; it often ends in /mcp."
    )]
    OldWay {
        /// The server.
        server: String,
        /// The address, without what may be a key.
        url: String,
    },
}
