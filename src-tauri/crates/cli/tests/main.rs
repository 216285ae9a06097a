//! The command from outside: the real binary, real folders, a provider that is a stand-in.
#![cfg(unix)]

mod always;
mod answers;
mod attaching;
mod bench;
mod children;
mod closed_keys;
mod counting;
mod crash;
mod damage;
mod deleting;
mod demo;
mod disk;
mod events;
mod exact;
mod files;
mod finding;
mod hostile;
mod interrupt;
mod keyring;
mod keys;
mod kills;
mod limits;
mod looking;
mod mcp;
mod models;
mod on_an_engine;
mod patience;
mod processes;
mod replaying;
#[cfg(target_os = "linux")]
mod research;
mod searching;
mod server_questions;
mod settling;
mod skills;
mod streaming;
mod support;
mod taking_up;
mod terminal;
mod waiting;
#[cfg(target_os = "linux")]
mod without_an_engine;
mod wrong_input;
