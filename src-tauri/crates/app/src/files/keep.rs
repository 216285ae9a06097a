//! Takes snapshots, and keeps what they hold beneath the data folder: each content once.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use longrein_core::run::SNAPSHOT_PARTS;
use longrein_keys::Masker;
use longrein_protocol::event::{LeftOut, LeftOutWhy, SNAPSHOT_PATHS, SnapshotTaken};
use longrein_protocol::{BlobHash, Body, RunId};
use longrein_runtime::ports::BlobRead;
use longrein_runtime::world::{NewSnapshot, SnapshotOf, Unavailable};
use longrein_sandbox::SandboxError;
use longrein_sandbox::snapshot::{
    ContentsFolder, DEFAULT_IGNORED, Delta, Entry, Manifest, SnapshotLimits, SnapshotRules, Why,
    WrongPattern, lay_back, take,
};

use crate::error::sentence;

/// Takes snapshots.
pub(crate) struct Keeper {
    contents: Arc<ContentsFolder>,
    rules: Result<Arc<SnapshotRules>, WrongPattern>,
    /// What the workspaces of runs held last, so that it need not be read from the log.
    known: Mutex<HashMap<RunId, Known>>,
}

/// What a workspace held last.
struct Known {
    tree: RunId,
    /// The newest part of what the log says of it.
    part: Option<BlobHash>,
    manifest: Arc<Manifest>,
}

impl Keeper {
    /// Keeps contents in this folder.
    pub(crate) fn new(folder: &Path) -> Self {
        let patterns = DEFAULT_IGNORED.iter().copied();
        Self {
            contents: Arc::new(ContentsFolder::at(folder)),
            rules: SnapshotRules::new(patterns, SnapshotLimits::default()).map(Arc::new),
            known: Mutex::default(),
        }
    }

    /// What contents are kept in.
    pub(crate) fn contents(&self) -> Arc<ContentsFolder> {
        self.contents.clone()
    }

    /// Forgets the runs of a tree that nobody drives here any more.
    pub(crate) fn forget(&self, tree: RunId) {
        self.known().retain(|_, known| known.tree != tree);
    }

    /// Looks at a workspace; what `before` has unchanged is not read again.
    ///
    /// # Errors
    /// When the folder can't be read, or contents can't be kept.
    pub(crate) async fn look(
        &self,
        of: &SnapshotOf,
        before: Option<Manifest>,
    ) -> Result<Manifest, Unavailable> {
        let found = self.take(of, before.map(Arc::new)).await?;
        Ok(Arc::unwrap_or_clone(found))
    }

    /// Looks at a workspace, and gives what is to be recorded where that is not what the log says.
    ///
    /// # Errors
    /// As there.
    pub(crate) async fn snapshot(
        &self,
        of: SnapshotOf,
        blobs: &dyn BlobRead,
        masker: &Masker,
    ) -> Result<Option<NewSnapshot>, Unavailable> {
        let before = self.before(&of, blobs).await;
        let found = self.take(&of, before.clone()).await?;
        let earlier = before.as_deref().cloned().unwrap_or_default();
        let part = of.before.as_ref().and_then(|files| files.parts.last());
        let mut known = Known {
            tree: of.tree,
            part: part.map(Body::hash),
            manifest: found.clone(),
        };
        let changes = earlier.changes(&found);
        let left_out = left_out(&found);
        if changes.is_empty() && left_out == self::left_out(&earlier) {
            self.known().insert(of.run, known);
            return Ok(None);
        }
        let parts = of.before.as_ref().map_or(0, |files| files.parts.len());
        let whole = before.is_none() || !(1..SNAPSHOT_PARTS).contains(&parts);
        let text = match whole {
            true => serde_json::to_string(&*found),
            false => serde_json::to_string(&earlier.delta(&found)),
        };
        let mut text = text.map_err(|error| unavailable(&error.to_string()))?;
        masker.text(&mut text);
        let (files, blob) = Body::of(text);
        known.part = Some(files.hash());
        self.known().insert(of.run, known);
        let mut taken = SnapshotTaken {
            files,
            whole,
            added: 0,
            changed: 0,
            removed: 0,
            paths: Vec::new(),
            entries: u32::try_from(found.entries.len()).unwrap_or(u32::MAX),
            bytes: found.bytes(),
            left_out,
        };
        for change in changes {
            let is_folder = |entry: &Option<Entry>| matches!(entry, None | Some(Entry::Folder));
            if is_folder(&change.before) && is_folder(&change.after) {
                continue;
            }
            match (&change.before, &change.after) {
                (None, _) => taken.added += 1,
                (_, None) => taken.removed += 1,
                _ => taken.changed += 1,
            }
            if taken.paths.len() < SNAPSHOT_PATHS {
                taken.paths.push(change.path);
            }
        }
        Ok(Some(NewSnapshot {
            taken,
            blobs: blob.into_iter().collect(),
        }))
    }

    /// Makes a workspace hold again what the log says that it held before.
    ///
    /// # Errors
    /// When that can't be read any more, or files can't be written.
    pub(crate) async fn lay_back(
        &self,
        of: &SnapshotOf,
        blobs: &dyn BlobRead,
    ) -> Result<(), Unavailable> {
        let failed = |message: &str| Unavailable {
            message: sentence(message),
            ..unavailable("")
        };
        let recorded = of.before.as_ref().map_or(0, |files| files.parts.len());
        let wanted = match (recorded, self.before(of, blobs).await) {
            (0, _) => Arc::default(),
            (_, Some(wanted)) => wanted,
            (_, None) => return Err(failed("What was recorded of them can't be read")),
        };
        let known = self
            .known()
            .get(&of.run)
            .map(|known| known.manifest.clone());
        let found = self.take(of, known).await?;
        let (contents, workspace) = (self.contents.clone(), of.workspace.clone());
        let laying = move || lay_back(&found, &wanted, &*contents, &workspace);
        match tokio::task::spawn_blocking(laying).await {
            Ok(laid) => laid.map_err(|error| failed(&error.to_string())),
            Err(error) => Err(failed(&error.to_string())),
        }
    }

    async fn take(
        &self,
        of: &SnapshotOf,
        before: Option<Arc<Manifest>>,
    ) -> Result<Arc<Manifest>, Unavailable> {
        let rules = match &self.rules {
            Ok(rules) => rules.clone(),
            Err(error) => return Err(unavailable(&error.to_string())),
        };
        let (contents, workspace) = (self.contents.clone(), of.workspace.clone());
        let taking = move || take(&workspace, before.as_deref(), &rules, &*contents).map(Arc::new);
        match tokio::task::spawn_blocking(taking).await {
            Ok(taken) => taken.map_err(|error: SandboxError| unavailable(&error.to_string())),
            Err(error) => Err(unavailable(&error.to_string())),
        }
    }

    /// What the log says that a workspace held; `None` where it says nothing that can be read: all
    /// is recorded then.
    async fn before(&self, of: &SnapshotOf, blobs: &dyn BlobRead) -> Option<Arc<Manifest>> {
        let files = of.before.as_ref();
        let part = files.and_then(|files| files.parts.last()).map(Body::hash);
        if let Some(known) = self.known().get(&of.run).filter(|known| known.part == part) {
            return Some(known.manifest.clone());
        }
        let mut parts = Vec::new();
        for part in &files?.parts {
            parts.push(match part {
                Body::Text(text) => text.clone().into_bytes(),
                Body::Blob { blob, .. } => blobs.read(*blob).await.ok()?.to_vec(),
            });
        }
        put_together(&parts).ok().map(Arc::new)
    }

    fn known(&self) -> MutexGuard<'_, HashMap<RunId, Known>> {
        // A panic elsewhere leaves nothing half done in here.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a workspace held, of a whole list and what changed of it.
///
/// # Errors
/// When a part is not what it should be.
pub(super) fn put_together(parts: &[Vec<u8>]) -> Result<Manifest, serde_json::Error> {
    let Some((whole, deltas)) = parts.split_first() else {
        return Ok(Manifest::default());
    };
    let mut manifest: Manifest = serde_json::from_slice(whole)?;
    for delta in deltas {
        manifest.apply(serde_json::from_slice::<Delta>(delta)?);
    }
    Ok(manifest)
}

/// What a snapshot left out and no rule says so, by cause.
pub(super) fn left_out(manifest: &Manifest) -> Vec<LeftOut> {
    let by = manifest.left_out.by.iter();
    let told = by.filter_map(|(why, count)| {
        let mut listed = manifest.left_out.listed.iter();
        let first = listed.find(|(_, other)| other == why);
        Some(LeftOut {
            why: told_why(*why)?,
            count: u32::try_from(*count).unwrap_or(u32::MAX),
            first: first.map(|(path, _)| path.clone()).unwrap_or_default(),
        })
    });
    told.collect()
}

fn told_why(why: Why) -> Option<LeftOutWhy> {
    Some(match why {
        Why::Ignored => return None,
        Why::TooLarge => LeftOutWhy::TooLarge,
        Why::Full => LeftOutWhy::Full,
        Why::TooMany => LeftOutWhy::TooMany,
        Why::TooDeep => LeftOutWhy::TooDeep,
        Why::Special => LeftOutWhy::Special,
        Why::Name => LeftOutWhy::Name,
        Why::Unreadable => LeftOutWhy::Unreadable,
        Why::Changing => LeftOutWhy::Changing,
    })
}

fn unavailable(message: &str) -> Unavailable {
    Unavailable {
        message: format!("The run's files can't be recorded: {}", sentence(message)),
        remedy: "Check that its folder is there and that the disk has room, then resume the run."
            .to_owned(),
    }
}
