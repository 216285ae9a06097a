//! The demonstration: the `research` agent with a model and a library that need nothing.

use std::fs;
use std::path::Path;

use longrein_models::demo;

use crate::drivers::Driving;
use crate::error::{AppError, AppErrorCode};
use crate::start::NewRun;
use crate::{DEMO_MODEL, Longrein};

/// What a demonstration may have changed.
#[derive(Clone, Debug, Default)]
pub struct DemoRun {
    /// Another question.
    pub question: Option<String>,
    /// Another library.
    pub library: Option<Vec<String>>,
}

impl Longrein {
    /// Begins the demonstration run.
    ///
    /// # Errors
    /// As [`Longrein::start`].
    pub async fn start_demo(&self, demo: DemoRun) -> Result<Driving, AppError> {
        let library = match demo.library {
            Some(folders) => folders,
            None => vec![self.lay_out_demo_library()?],
        };
        let question = demo.question.unwrap_or_else(|| demo::QUESTION.to_owned());
        let (agent, model) = ("research".to_owned(), Some(DEMO_MODEL.to_owned()));
        self.start(NewRun {
            agent,
            question,
            model,
            library: Some(library),
            ..NewRun::default()
        })
        .await
    }

    /// Writes the demonstration library where it can be read as any other.
    fn lay_out_demo_library(&self) -> Result<String, AppError> {
        let folder = self.paths().demo_library();
        write_all(&folder).map_err(|error| {
            AppError::new(
                AppErrorCode::Io,
                format!(
                    "The demonstration library can't be written to {}: {error}.",
                    folder.display()
                ),
                "Check that you may write to the data folder, or name another with --data-dir.",
            )
        })?;
        Ok(folder.to_string_lossy().into_owned())
    }
}

fn write_all(folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    for (name, bytes) in demo::LIBRARY {
        let path = folder.join(name);
        if fs::read(&path).ok().as_deref() != Some(*bytes) {
            fs::write(path, bytes)?;
        }
    }
    Ok(())
}
