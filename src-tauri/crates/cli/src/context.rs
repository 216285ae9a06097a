//! What every command has at hand: the global options and the installation.

use std::path::PathBuf;
use std::time::Duration;

use longrein_app::{AppError, Longrein, Options};
use longrein_protocol::RunId;

use crate::arguments::Arguments;
use crate::ask;
use crate::failure::Failure;
use crate::screen::Screen;
use crate::text;

/// How long the demonstration model takes for a word when somebody watches.
const PACE: Duration = Duration::from_millis(12);

/// The variable that names the data folder.
pub const HOME_VARIABLE: &str = "LONGREIN_HOME";

/// The data folder that the variable names. One that is empty is as good as unset.
fn from_variable() -> Option<PathBuf> {
    std::env::var_os(HOME_VARIABLE)
        .filter(|folder| !folder.is_empty())
        .map(PathBuf::from)
}

/// The global options.
#[derive(Clone, Debug)]
pub struct Context {
    /// Whether standard output takes JSON Lines.
    pub json: bool,
    data_dir: Option<PathBuf>,
}

impl Context {
    /// The options that a person gave.
    pub fn of(arguments: &Arguments) -> Self {
        Self {
            json: arguments.json,
            data_dir: arguments.data_dir.clone().or_else(from_variable),
        }
    }

    /// The screen of this command.
    pub fn screen(&self) -> Screen {
        Screen::new(self.json)
    }

    /// Opens the installation.
    ///
    /// # Errors
    /// As [`Longrein::open`].
    pub fn open(&self) -> Result<Longrein, Failure> {
        Ok(self.try_open()?)
    }

    /// The same, for who can do something without it.
    ///
    /// # Errors
    /// As [`Longrein::open`].
    pub fn try_open(&self) -> Result<Longrein, AppError> {
        let watched = !self.json && self.screen().is_live();
        let options = Options {
            data_dir: self.data_dir.clone(),
            pace: if watched { PACE } else { Duration::ZERO },
            surface: "command",
        };
        let app = Longrein::open(options)?;
        if !ask::somebody_is_there(&self.screen()) {
            app.keys().ask_nobody();
        }
        Ok(app)
    }

    /// The data folder as the person named it.
    pub fn data_dir(&self) -> Option<&PathBuf> {
        self.data_dir.as_ref()
    }

    /// A command that a person can type to go on, on the same data folder.
    pub fn command(&self, words: &str) -> String {
        match &self.data_dir {
            Some(folder) if from_variable().as_ref() != Some(folder) => {
                let folder = folder.to_string_lossy();
                format!("longrein --data-dir {} {words}", text::shell_word(&folder))
            }
            _ => format!("longrein {words}"),
        }
    }

    /// A command about a run.
    pub fn run_command(&self, verb: &str, run: RunId) -> String {
        self.command(&format!("{verb} {run}"))
    }
}
