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
    #[error(
        "MCP server “{server}” did not answer within {limit_seconds} s{said}. Check that its command starts an MCP server that speaks over standard input and output."
    )]
    Silent {
        /// The server.
        server: String,
        /// How long it had.
        limit_seconds: u64,
        /// Its last words, with a comma before them, or nothing.
        said: String,
    },
    /// What it answered is not MCP.
    #[error(
        "MCP server “{server}” does not speak MCP as it should: {reason}. Check that its command starts an MCP server that speaks over standard input and output."
    )]
    Protocol {
        /// The server.
        server: String,
        /// What was off.
        reason: String,
    },
}
