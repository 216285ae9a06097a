//! What the window may ask, thin: each command says it to the app and hands back its answer.

pub mod act;
pub mod answer;
pub mod files;
pub mod keys;
pub mod replay;
pub mod rules;
pub mod runs;
pub mod search;
pub mod servers;
pub mod settings;
pub mod skills;
pub mod window;

use longrein_protocol::RunId;

use crate::bridge::{BridgeError, ErrorCode};

/// The answer of a command.
pub(crate) type Answer<T> = Result<T, BridgeError>;

/// The run that a text names.
pub(crate) fn run_id(text: &str) -> Answer<RunId> {
    text.parse().map_err(|_| {
        let message = format!("“{text}” is not the id of a run.");
        BridgeError::new(ErrorCode::NotFound, message, "Choose a run from the list.")
    })
}
