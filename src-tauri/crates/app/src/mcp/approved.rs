//! What the person approved of servers' tools, in `mcp-tools.json` of the data folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use longrein_mcp::{Change, Definition, compare};
use serde::{Deserialize, Serialize};

use crate::error::{AppError, AppErrorCode};
use crate::own_file;

/// The file's name.
const FILE_NAME: &str = "mcp-tools.json";

/// What keeps two processes from writing it at once.
const LOCK_NAME: &str = "mcp-tools.lock";

/// The version of its shape.
const VERSION: u32 = 1;

/// The most bytes of the file: some hundred servers with hundreds of tools each.
const FILE_BYTES: u64 = 256 * 1024 * 1024;

/// How a server stands to what was approved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Standing {
    /// It was never met; what it says is approved by naming it.
    First,
    /// It says what was approved.
    Same,
    /// It says something else: each tool with what has changed.
    Changed(Vec<(String, Change)>),
}

/// What was approved, by server and tool.
#[derive(Serialize, Deserialize)]
pub(super) struct Approved {
    v: u32,
    servers: BTreeMap<String, BTreeMap<String, Definition>>,
}

fn path(data_dir: &Path) -> PathBuf {
    data_dir.join(FILE_NAME)
}

impl Approved {
    /// Takes down that what a server says now is approved.
    ///
    /// # Errors
    /// When the file can't be read or written.
    pub(super) fn keep(data_dir: &Path, server: &str, now: &[Definition]) -> Result<(), AppError> {
        let _lock = own_file::lock(data_dir, FILE_NAME, LOCK_NAME)?;
        let mut approved = Self::read(data_dir)?;
        approved.take(server, now);
        approved.write(data_dir)
    }

    /// Forgets a server.
    ///
    /// # Errors
    /// As [`Self::keep`].
    pub(super) fn lose(data_dir: &Path, server: &str) -> Result<(), AppError> {
        let _lock = own_file::lock(data_dir, FILE_NAME, LOCK_NAME)?;
        let mut approved = Self::read(data_dir)?;
        approved.forget(server);
        approved.write(data_dir)
    }

    /// How a server stands to what was approved. What one says that was never met is approved by
    /// that.
    ///
    /// # Errors
    /// As [`Self::keep`].
    pub(super) fn meet(
        data_dir: &Path,
        server: &str,
        now: &[Definition],
    ) -> Result<Standing, AppError> {
        let standing = Self::read(data_dir)?.standing(server, now);
        if standing != Standing::First {
            return Ok(standing);
        }
        let _lock = own_file::lock(data_dir, FILE_NAME, LOCK_NAME)?;
        // Another process may have met it meanwhile.
        let mut approved = Self::read(data_dir)?;
        let standing = approved.standing(server, now);
        if standing == Standing::First {
            approved.take(server, now);
            approved.write(data_dir)?;
        }
        Ok(standing)
    }

    /// Reads the file; nothing was approved when there is none.
    ///
    /// # Errors
    /// When it can't be read: then nothing counts as approved, and nothing is written over it.
    pub(super) fn read(data_dir: &Path) -> Result<Self, AppError> {
        let text = own_file::read_up_to(&path(data_dir), FILE_BYTES)
            .map_err(|problems| own_file::as_error(FILE_NAME, &problems))?;
        if text.trim().is_empty() {
            return Ok(Self {
                v: VERSION,
                servers: BTreeMap::new(),
            });
        }
        let unreadable = |why: String| {
            AppError::new(
                AppErrorCode::Io,
                format!("What you approved of servers' tools can't be read: {why}."),
                format!(
                    "Move {} away; each server's tools are then approved anew.",
                    path(data_dir).display()
                ),
            )
        };
        let read: Self =
            serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
        if read.v != VERSION {
            return Err(unreadable(format!("it is of version {}", read.v)));
        }
        Ok(read)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// When the disk refuses; the file is then as it was.
    fn write(&self, data_dir: &Path) -> Result<(), AppError> {
        let text = serde_json::to_string_pretty(self).map_err(|error| {
            AppError::new(AppErrorCode::Io, format!("{FILE_NAME}: {error}."), "")
        })?;
        own_file::replace(data_dir, FILE_NAME, &text)
    }

    /// What differs from what was approved; `None` when the server was never met.
    pub(super) fn changes(
        &self,
        server: &str,
        now: &[Definition],
    ) -> Option<Vec<(String, Change)>> {
        let known = self.servers.get(server)?;
        let changes = now.iter().filter_map(|definition| {
            let change = compare(known.get(&definition.tool), definition)?;
            Some((definition.tool.clone(), change))
        });
        Some(changes.collect())
    }

    pub(super) fn standing(&self, server: &str, now: &[Definition]) -> Standing {
        match self.changes(server, now) {
            None => Standing::First,
            Some(changes) if changes.is_empty() => Standing::Same,
            Some(changes) => Standing::Changed(changes),
        }
    }

    /// Approves what a server says now.
    fn take(&mut self, server: &str, now: &[Definition]) {
        let tools = now
            .iter()
            .map(|definition| (definition.tool.clone(), definition.clone()));
        self.servers.insert(server.to_owned(), tools.collect());
    }

    /// How many tools of a server were approved; `None` when it was never met.
    pub(super) fn count(&self, server: &str) -> Option<usize> {
        self.servers.get(server).map(BTreeMap::len)
    }

    fn forget(&mut self, server: &str) {
        self.servers.remove(server);
    }
}

#[cfg(test)]
mod tests {
    use longrein_protocol::BlobHash;

    use super::*;

    fn says(words: &str) -> Vec<Definition> {
        vec![Definition {
            tool: "t".to_owned(),
            hash: BlobHash::of(words.as_bytes()),
            text: words.to_owned(),
        }]
    }

    #[test]
    fn what_was_approved_outlives_the_process_and_a_change_is_told() {
        let data = tempfile::tempdir().unwrap();
        let mut approved = Approved::read(data.path()).unwrap();
        assert_eq!(approved.standing("s", &says("adds")), Standing::First);
        approved.take("s", &says("adds"));
        approved.write(data.path()).unwrap();
        let approved = Approved::read(data.path()).unwrap();
        assert_eq!(approved.standing("s", &says("adds")), Standing::Same);
        let Standing::Changed(changes) = approved.standing("s", &says("takes away")) else {
            panic!("a change expected");
        };
        assert!(matches!(&changes[..], [(tool, Change::Changed { .. })] if tool == "t"));
    }

    #[test]
    fn a_file_that_can_not_be_read_approves_nothing_and_stays() {
        let data = tempfile::tempdir().unwrap();
        let file = path(data.path());
        for text in ["{", "{\"v\": 99, \"servers\": {}}"] {
            std::fs::write(&file, text).unwrap();
            assert!(Approved::read(data.path()).is_err());
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        }
    }

    #[test]
    fn of_servers_that_are_met_at_once_none_is_lost() {
        const SERVERS: usize = 12;
        let data = tempfile::tempdir().unwrap();
        let begin = std::sync::Barrier::new(SERVERS);
        std::thread::scope(|scope| {
            for number in 0..SERVERS {
                let (begin, data) = (&begin, data.path());
                scope.spawn(move || {
                    begin.wait();
                    Approved::meet(data, &format!("s{number}"), &says("adds")).unwrap();
                });
            }
        });
        let approved = Approved::read(data.path()).unwrap();
        for number in 0..SERVERS {
            let standing = approved.standing(&format!("s{number}"), &says("adds"));
            assert_eq!(standing, Standing::Same, "s{number}");
        }
    }
}
