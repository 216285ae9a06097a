//! What is known of a server before it is reached.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use longrein_keys::SecretText;
use url::{Host, Url};

use crate::auth::SignIn;
use crate::clean::{Secrets, head, plain};
use crate::error::McpError;

/// The longest name of a server.
pub(crate) const NAME_LETTERS_MAX: usize = 40;

/// How a server is reached, and what the person said of it.
#[derive(Clone)]
pub struct ServerConfig {
    /// The name before the dot of its tools' names.
    pub name: String,
    /// Where it is.
    pub reach: Reach,
    /// Whether the person believes what the server says about its tools.
    pub trusted: bool,
    /// The run's workspace: the one root that the server is told, and the folder that a process
    /// works in.
    pub workspace: PathBuf,
    /// How long things may take.
    pub limits: Limits,
}

/// Where a server is.
#[derive(Clone)]
pub enum Reach {
    /// A program of this machine that speaks over standard input and output.
    Process(ProcessConfig),
    /// An address that speaks streamable HTTP.
    Address(AddressConfig),
}

/// A server that is a program.
#[derive(Clone)]
pub struct ProcessConfig {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The variables that the person granted, with their values; the values are masked in
    /// whatever the server says.
    pub env: BTreeMap<String, String>,
    /// The file where process groups are noted (`longrein_store::groups::groups_file`). Its folder
    /// must exist.
    pub groups_file: PathBuf,
    /// Folders that it must not see: the data folder with the configuration. The session bus is
    /// hidden besides.
    pub hidden: Vec<PathBuf>,
}

/// A server that is an address.
#[derive(Clone)]
pub struct AddressConfig {
    /// Where: `https`, or `http` on this machine.
    pub url: String,
    /// Headers of every request; their values are masked in whatever the server says.
    pub headers: BTreeMap<String, SecretText>,
    /// How the person signs in there; `None` where headers say who it is.
    pub sign_in: Option<Arc<SignIn>>,
}

/// How long things may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// From the start until the tools are listed.
    pub start: Duration,
    /// One call from its last sign of life (progress, an answer of the person's).
    pub call_idle: Duration,
    /// One call altogether.
    pub call_total: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(30),
            call_idle: Duration::from_secs(60),
            call_total: Duration::from_secs(30 * 60),
        }
    }
}

impl ServerConfig {
    /// Everything that the server was given and that nothing else may show.
    pub(crate) fn secrets(&self) -> Secrets {
        match &self.reach {
            Reach::Process(process) => Secrets::of(process.env.values()),
            Reach::Address(address) => {
                let mut values: Vec<String> = address
                    .headers
                    .values()
                    .map(|value| value.expose().to_owned())
                    .collect();
                if let Ok(url) = Url::parse(&address.url) {
                    values.extend(url.query_pairs().map(|(_, value)| value.into_owned()));
                }
                Secrets::of(values.iter())
            }
        }
    }

    /// Whether the name, the address and the folder can be used at all.
    pub(crate) fn check(&self) -> Result<(), McpError> {
        let server = || self.name.clone();
        let sound = (1..=NAME_LETTERS_MAX).contains(&self.name.len())
            && self
                .name
                .bytes()
                .all(|letter| letter.is_ascii_alphanumeric() || b"-_".contains(&letter));
        if !sound {
            return Err(McpError::Name {
                server: head(&plain(&self.name), NAME_LETTERS_MAX),
                limit: NAME_LETTERS_MAX,
            });
        }
        match &self.reach {
            Reach::Process(process) => {
                if process.command.first().is_none_or(String::is_empty) {
                    return Err(McpError::NoCommand { server: server() });
                }
                std::fs::read_dir(&self.workspace).map_err(|source| McpError::Folder {
                    server: server(),
                    folder: self.workspace.clone(),
                    source,
                })?;
            }
            Reach::Address(address) => {
                address.parsed(&self.name)?;
            }
        }
        Ok(())
    }
}

impl AddressConfig {
    /// The address, when it can be used.
    pub(crate) fn parsed(&self, server: &str) -> Result<Url, McpError> {
        let fault = |why: &str| McpError::Address {
            server: server.to_owned(),
            url: shown(&self.url),
            why: why.to_owned(),
        };
        let url = Url::parse(self.url.trim()).map_err(|_| fault("it is no address"))?;
        match url.scheme() {
            "https" => {}
            "http" if is_this_machine(&url) => {}
            "http" => {
                return Err(fault(
                    "keys and results would cross the network in plain text",
                ));
            }
            _ => return Err(fault("it begins neither with https:// nor with http://")),
        }
        if !url.has_host() {
            return Err(fault("it names no host"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(fault("it has a user's name or password in it"));
        }
        Ok(url)
    }
}

/// Whether an address is of this machine alone.
pub(crate) fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    }
}

/// An address as it may be shown: without what stands behind the question mark, where keys occur.
pub(crate) fn shown(url: &str) -> String {
    let Ok(mut parsed) = Url::parse(url.trim()) else {
        return head(&plain(url), NAME_LETTERS_MAX);
    };
    parsed.set_query(None);
    parsed.set_fragment(None);
    // Fails only where there is no host, which then has no user either.
    let _ = parsed.set_username("");
    let _ = parsed.set_password(None);
    parsed.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_that_keep_a_key_to_themselves_are_taken() {
        let address = |url: &str| AddressConfig {
            url: url.to_owned(),
            headers: BTreeMap::new(),
            sign_in: None,
        };
        for good in [
            "https://mcp.exa.ai/mcp",
            "http://127.0.0.1:3001/mcp",
            "http://[::1]:3001/mcp",
            "http://localhost/mcp",
        ] {
            assert!(address(good).parsed("s").is_ok(), "{good}");
        }
        for bad in [
            "http://example.org/mcp",
            "http://192.168.1.1/mcp",
            "ftp://example.org/",
            "https://user:word@example.org/mcp",
            "example.org",
            "",
        ] {
            assert!(address(bad).parsed("s").is_err(), "{bad}");
        }
    }

    #[test]
    fn a_key_in_an_address_is_never_shown() {
        assert_eq!(
            shown("https://mcp.exa.ai/mcp?exaApiKey=sesame#x"),
            "https://mcp.exa.ai/mcp"
        );
    }
}
