//! Servers that are known well enough to be added by name.

use std::collections::BTreeMap;

use longrein_keys::SecretName;

use crate::config::{EnvValue, HeaderText, McpConfig, SignInConfig};

/// A server that can be added by name.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name, which the person may change.
    pub name: &'static str,
    /// What it does.
    pub what: &'static str,
    /// What else is needed; may be empty.
    pub needs: &'static str,
    /// The program that has to be on this machine; empty where none is needed.
    pub program: &'static str,
    how: How,
}

#[derive(Clone, Copy, Debug)]
enum How {
    Address {
        url: &'static str,
        /// The header that takes a key, where one is taken.
        key_header: Option<&'static str>,
    },
    Program(&'static [&'static str]),
}

/// Those that there are, in the order in which they are shown.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "exa",
        what: "searches the web and reads pages",
        needs: "a key (longrein keys set exa) or a sign-in (longrein mcp login exa)",
        program: "",
        how: How::Address {
            url: "https://mcp.exa.ai/mcp",
            key_header: Some("x-api-key"),
        },
    },
    Preset {
        name: "github",
        what: "reads and changes repositories, issues and pull requests",
        needs: "a sign-in (longrein mcp login github)",
        program: "",
        how: How::Address {
            url: "https://api.githubcopilot.com/mcp/",
            key_header: None,
        },
    },
    Preset {
        name: "filesystem",
        what: "reads and writes files of the run's workspace",
        needs: "Node.js (npx)",
        program: "Node.js (npx)",
        how: How::Program(&["npx", "-y", "@modelcontextprotocol/server-filesystem", "."]),
    },
    Preset {
        name: "memory",
        what: "keeps a graph of what was learnt",
        needs: "Node.js (npx)",
        program: "Node.js (npx)",
        how: How::Program(&["npx", "-y", "@modelcontextprotocol/server-memory"]),
    },
    Preset {
        name: "git",
        what: "reads and changes git repositories",
        needs: "uv (uvx)",
        program: "uv (uvx)",
        how: How::Program(&["uvx", "mcp-server-git"]),
    },
    Preset {
        name: "time",
        what: "tells the time and converts between zones",
        needs: "uv (uvx)",
        program: "uv (uvx)",
        how: How::Program(&["uvx", "mcp-server-time"]),
    },
    Preset {
        name: "playwright",
        what: "drives a browser",
        needs: "Node.js (npx) and a browser",
        program: "Node.js (npx) and a browser",
        how: How::Program(&["npx", "-y", "@playwright/mcp", "--headless", "--isolated"]),
    },
];

impl Preset {
    /// The one of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// Its configuration. With `key`, an address is asked with the key that is kept under that
    /// name; without it, the person signs in.
    pub fn config(&self, key: Option<&SecretName>) -> McpConfig {
        let mut config = McpConfig {
            command: Vec::new(),
            env: BTreeMap::new(),
            url: None,
            headers: BTreeMap::new(),
            sign_in: SignInConfig::default(),
            start_seconds: None,
            trusted: false,
        };
        match self.how {
            How::Address { url, key_header } => {
                config.url = Some(url.to_owned());
                if let (Some(header), Some(key)) = (key_header, key) {
                    let value = HeaderText {
                        before: String::new(),
                        value: EnvValue::Secret(key.clone()),
                    };
                    config.headers.insert(header.to_owned(), value);
                }
            }
            How::Program(command) => {
                config.command = command.iter().map(|&part| part.to_owned()).collect();
                // The first start fetches the program.
                config.start_seconds = Some(FETCH_SECONDS);
            }
        }
        config
    }

    /// Whether it takes a key.
    pub fn takes_key(&self) -> bool {
        matches!(
            self.how,
            How::Address {
                key_header: Some(_),
                ..
            }
        )
    }
}

/// How long a program that is fetched at its first start may take, in seconds.
const FETCH_SECONDS: u32 = 180;
