//! What a person may say about keys; never a key itself.

use std::ffi::OsString;

use clap::{Args, Subcommand, ValueEnum};
use longrein_keys::Backend;

/// `keys`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  longrein keys                                  which keys there are, and where each comes from
  longrein keys set anthropic                    asks for the key and shows nothing of it
  pass show anthropic | longrein keys set anthropic --stdin
  longrein keys test anthropic                   asks the provider whether it takes the key
  longrein keys store file                       where there is no keychain

A key is never an argument: arguments are in the list of processes and in the shell's history. A
variable (LONGREIN_ANTHROPIC_API_KEY, ANTHROPIC_API_KEY) overrides what is kept. Other secrets, such
as a server's token, are kept under the name that config.toml has: secret:NAME.

The passphrase of the encrypted file is asked for on a terminal. Where nobody sits at one, it is the
first line of the file that LONGREIN_PASSPHRASE_FILE names (/dev/fd/3 is one too), or systemd's
credential longrein-passphrase.")]
pub struct Keys {
    /// What to do; without it, list them
    #[command(subcommand)]
    pub action: Option<KeysAction>,
}

/// What to do with keys.
#[derive(Subcommand, Debug)]
pub enum KeysAction {
    /// List keys: where each comes from and its last four characters
    List,
    /// Keep a key, in place of the one that was kept
    Set(KeysSet),
    /// Remove a key that is kept
    Remove(KeysName),
    /// Ask a provider whether it takes its key
    Test(KeysName),
    /// Say where keys are kept, or choose another place
    Store(KeysStore),
    /// Change the passphrase of the encrypted file
    Passphrase,
}

/// `keys set`.
#[derive(Args, Debug)]
pub struct KeysSet {
    /// A provider, or the name of another secret
    pub name: String,
    /// Read it from standard input instead of asking for it
    #[arg(long)]
    pub stdin: bool,
    /// A key that somebody wrote there. It is refused.
    #[arg(hide = true, num_args = 0..)]
    pub refused: Vec<OsString>,
}

/// A command about one key.
#[derive(Args, Debug)]
pub struct KeysName {
    /// A provider, or the name of another secret
    pub name: String,
}

/// `keys store`.
#[derive(Args, Debug)]
#[command(after_help = "\
  keychain   the system's: the Secret Service, macOS's Keychain, Windows' Credential Manager
  file       secrets.age in the data folder, which a passphrase encrypts
  memory     the window's memory only; commands take keys from variables")]
pub struct KeysStore {
    /// The place
    pub place: Option<Place>,
    /// Take along what is kept now, without asking
    #[arg(long = "move", requires = "place")]
    pub take_along: bool,
    /// Leave what is kept now where it is, without asking
    #[arg(long, requires = "place", conflicts_with = "take_along")]
    pub leave: bool,
}

/// Where keys are kept.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum Place {
    /// The system's keychain
    Keychain,
    /// A file that a passphrase encrypts
    File,
    /// Memory only
    Memory,
}

impl From<Place> for Backend {
    fn from(place: Place) -> Self {
        match place {
            Place::Keychain => Self::Keychain,
            Place::File => Self::File,
            Place::Memory => Self::Memory,
        }
    }
}
