//! Where things lie.

use std::path::{Path, PathBuf};

use longrein_protocol::RunId;

use crate::error::AppError;

/// The folders of one installation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Paths {
    /// Database, blobs, locks, indexes, agents, configuration. No tool may reach it.
    pub data: PathBuf,
    /// One workspace per run.
    pub work: PathBuf,
}

impl Paths {
    /// The folders for `--data-dir`, or the usual ones.
    ///
    /// # Errors
    /// When no folder is given and the home folder is not known.
    pub fn find(data_dir: Option<&Path>) -> Result<Self, AppError> {
        if let Some(data) = data_dir {
            let data = std::path::absolute(data).unwrap_or_else(|_| data.to_path_buf());
            let mut work = data.clone().into_os_string();
            work.push(".work");
            return Ok(Self {
                data,
                work: work.into(),
            });
        }
        let Some(home) = home() else {
            return Err(AppError::usage(
                "The home folder is not known.",
                "Set HOME, or name a folder with --data-dir.",
            ));
        };
        let share = std::env::var_os("XDG_DATA_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute());
        let share = share.unwrap_or_else(|| home.join(".local/share"));
        Ok(Self {
            data: share.join("longrein"),
            work: home.join("Longrein"),
        })
    }

    /// The folder that a run works in.
    pub fn workspace(&self, run: RunId) -> PathBuf {
        self.work.join(run.to_string())
    }

    /// What boxes are made with, beside the workspaces and outside of the data folder.
    pub fn boxes(&self) -> PathBuf {
        self.work.join(".boxes")
    }

    /// Where process groups of this process's servers are noted.
    pub fn groups_file(&self) -> PathBuf {
        self.data
            .join("locks")
            .join(format!("{}.groups", std::process::id()))
    }

    /// Contents of the files of runs, each once, by hash.
    pub fn files(&self) -> PathBuf {
        self.data.join("files")
    }

    /// Full-text indexes of libraries.
    pub fn library_index(&self) -> PathBuf {
        self.data.join("library-index")
    }

    /// Installed skills, and what was approved of skills.
    pub fn skills(&self) -> PathBuf {
        self.data.join("skills")
    }

    /// The demonstration library, laid out for reading.
    pub fn demo_library(&self) -> PathBuf {
        self.data.join("demo-library")
    }
}

/// The person's home folder.
pub fn home() -> Option<PathBuf> {
    std::env::var_os("HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}
