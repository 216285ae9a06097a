//! By what a container and all that belongs to it is found again.

use std::collections::HashMap;

/// Whose app made it: the data folder's id.
pub(crate) const INSTANCE: &str = "longrein.instance";
/// Which run it belongs to.
pub(crate) const RUN: &str = "longrein.run";
/// What it is for.
pub(crate) const PURPOSE: &str = "longrein.purpose";
/// The mark of what it was made to.
pub(crate) const SETUP: &str = "longrein.setup";

/// Whose container it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Owner {
    /// The app instance: the data folder's id.
    pub instance: String,
    /// The run's id.
    pub run: String,
    /// Which of the run's boxes.
    pub purpose: RunBox,
}

/// Which box of a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RunBox {
    /// The one that its commands work in.
    Work,
    /// A fresh one for a check, by the check's id.
    Check(String),
    /// The one that measures what an engine can hold.
    Probe,
}

impl RunBox {
    fn word(&self) -> String {
        match self {
            Self::Work => "work".to_owned(),
            Self::Check(id) => format!("check-{id}"),
            Self::Probe => "probe".to_owned(),
        }
    }
}

impl Owner {
    /// The name of the container and of its volume: what an engine takes as one.
    pub(crate) fn name(&self) -> String {
        let words = format!("longrein-{}-{}", self.run, self.purpose.word());
        let is_allowed = |letter: &char| letter.is_ascii_alphanumeric() || "-_.".contains(*letter);
        words.to_lowercase().chars().filter(is_allowed).collect()
    }

    pub(crate) fn labels(&self) -> HashMap<String, String> {
        HashMap::from([
            (INSTANCE.to_owned(), self.instance.clone()),
            (RUN.to_owned(), self.run.clone()),
            (PURPOSE.to_owned(), self.purpose.word()),
        ])
    }
}
