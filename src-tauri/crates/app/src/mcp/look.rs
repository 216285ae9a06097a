//! Looks at servers outside of any run, as a window takes them: what the last one found is kept as
//! long as this process lives, so that exactly what was shown can be approved.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use longrein_keys::Known;
use longrein_mcp::{Definition, McpError};
use longrein_protocol::{BlobHash, Millis};

use super::approved::Approved;
use super::list::{FoundLine, ServerFailure, ToolChange};
use super::{Looked, as_error};
use crate::error::{AppError, AppErrorCode};
use crate::{Longrein, system};

/// The most letters of standard error that a look keeps.
const LAST_WORDS_BYTES: usize = 64 * 1024;

/// The last look at each server. Copies are one.
#[derive(Clone, Default)]
pub(crate) struct Looks(Arc<Mutex<BTreeMap<String, Look>>>);

/// One look.
#[derive(Clone)]
pub(super) struct Look {
    pub(super) at: Millis,
    pub(super) outcome: Outcome,
}

/// What came of it.
#[derive(Clone)]
pub(super) enum Outcome {
    /// It answered.
    Found {
        line: FoundLine,
        /// What it said of its tools, to be approved as it is.
        definitions: Vec<Definition>,
    },
    /// It could not be looked at.
    Failed {
        failure: ServerFailure,
        /// Whether that is because it wants to know who asks.
        who: bool,
    },
}

impl Looks {
    pub(super) fn of(&self, server: &str) -> Option<Look> {
        self.lock().get(server).cloned()
    }

    fn keep(&self, server: &str, outcome: Outcome) {
        let look = Look {
            at: system::now(),
            outcome,
        };
        self.lock().insert(server.to_owned(), look);
    }

    /// What was found counts no more: the server is another one now, or we are to it.
    pub(super) fn forget(&self, server: &str) {
        self.lock().remove(server);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Look>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a look failed: the server's own failure, or something before it was asked.
pub(super) enum LookError {
    Server(McpError),
    Before(AppError),
}

impl LookError {
    pub(super) fn into_error(self, server: &str) -> AppError {
        match self {
            Self::Server(error) => {
                let told = as_error(server, &error);
                match error {
                    McpError::SignIn { .. } => told,
                    // To look at it is what was just done.
                    _ => AppError::new(
                        told.code,
                        told.message,
                        format!(
                            "Correct [mcp.{server}] in config.toml, or add it anew with: longrein mcp add"
                        ),
                    ),
                }
            }
            Self::Before(error) => error,
        }
    }
}

/// Names what a server says of its tools.
fn name_of(definitions: &[Definition]) -> String {
    let hashes: Vec<String> = definitions
        .iter()
        .map(|definition| format!("{} {}", definition.tool, definition.hash))
        .collect();
    BlobHash::of(hashes.join("\n").as_bytes()).to_string()
}

impl Longrein {
    /// Looks at a server and keeps what was found, or why it could not be looked at. What it says
    /// the first time counts as approved, since the person has just named it.
    ///
    /// # Errors
    /// When there is no such server; a server that can't be looked at is no error.
    pub async fn test_server(&self, name: &str) -> Result<(), AppError> {
        self.server_config(name)?;
        let looks = self.known_servers().looks();
        let outcome = match self.look(name).await {
            Ok((mut looked, definitions)) => {
                looked.last_words = looked.last_words.map(|words| end_of(&words));
                Outcome::Found {
                    line: FoundLine::of(name, looked, name_of(&definitions)),
                    definitions,
                }
            }
            Err(error) => failed(name, error),
        };
        // It may have been removed meanwhile.
        if self.server_config(name).is_ok() {
            looks.keep(name, outcome);
        }
        Ok(())
    }

    /// Approves what the look that is named `seen` found, and nothing that a server says later.
    ///
    /// # Errors
    /// When another look was taken since, or the approval can't be kept.
    pub fn approve_seen(&self, name: &str, seen: &str) -> Result<(), AppError> {
        self.server_config(name)?;
        let looks = self.known_servers().looks();
        let found = match looks.of(name).map(|look| look.outcome) {
            Some(Outcome::Found { line, definitions }) if line.seen == seen => {
                Some((line, definitions))
            }
            _ => None,
        };
        let Some((mut line, definitions)) = found else {
            return Err(AppError::new(
                AppErrorCode::Refused,
                format!("What {name} says of its tools is no longer what you were shown."),
                "Look at it again; nothing was approved.",
            ));
        };
        Approved::keep(self.data_dir(), name, &definitions)?;
        for tool in &mut line.tools {
            tool.change = None::<ToolChange>;
        }
        looks.keep(name, Outcome::Found { line, definitions });
        Ok(())
    }

    pub(super) fn approved(&self) -> Result<Approved, AppError> {
        Approved::read(self.data_dir())
    }
}

/// What is shown of a failure. The server's own says itself what would help.
fn failed(name: &str, error: LookError) -> Outcome {
    let who = matches!(error, LookError::Server(McpError::SignIn { .. }));
    let is_own = matches!(error, LookError::Server(_));
    let error = error.into_error(name);
    let known = Known::of_process();
    Outcome::Failed {
        failure: ServerFailure {
            message: known.masked(error.message),
            remedy: match is_own {
                true => String::new(),
                false => known.masked(error.remedy),
            },
        },
        who,
    }
}

/// The end of what a program wrote, from the beginning of a line where there is one.
fn end_of(words: &str) -> String {
    if words.len() <= LAST_WORDS_BYTES {
        return words.trim_end().to_owned();
    }
    let cut = words.ceil_char_boundary(words.len() - LAST_WORDS_BYTES);
    let end = &words[cut..];
    let end = end.split_once('\n').map_or(end, |(_, lines)| lines);
    end.trim_end().to_owned()
}

/// What a look found, with what it was found from.
pub(super) type Seen = (Looked, Vec<Definition>);
