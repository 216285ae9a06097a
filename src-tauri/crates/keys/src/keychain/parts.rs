//! A secret that is longer than one entry takes is kept in parts, each an entry of its own. The
//! entry under the secret's name says which they are, so that a secret is replaced at once: the
//! new parts are there before the name speaks of them, and the old ones go after it.

use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::Fault;
use super::entries::Entries;
use crate::check::SECRET_MAX_BYTES;
use crate::{KeyError, SecretName, SecretText};

/// What the entry of a secret in parts begins with. No secret has a control character.
const MARK: &str = "\u{1}longrein parts ";

/// How many letters of a secret's hash say that its parts belong together.
const HASH_LETTERS: usize = 16;

/// What the entry under a secret's name holds.
enum Held {
    /// The secret.
    Whole,
    /// Where its parts are.
    Index(Index),
    /// What looks like an index and is none.
    Broken,
}

/// Which entries a secret in parts is made of.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Index {
    /// New parts never take the place of old ones: there are two sets of them by turns.
    set: u8,
    count: usize,
    hash: String,
}

impl Held {
    fn read(value: &[u8]) -> Self {
        match value.strip_prefix(MARK.as_bytes()) {
            None => Self::Whole,
            Some(words) => Index::read(words).map_or(Self::Broken, Self::Index),
        }
    }
}

impl Index {
    fn read(words: &[u8]) -> Option<Self> {
        let mut words = std::str::from_utf8(words).ok()?.split(' ');
        let set = words.next()?.parse().ok().filter(|set| *set < 2)?;
        let count = words.next()?.parse().ok()?;
        let hash = words.next()?.to_owned();
        let sound = count <= SECRET_MAX_BYTES && words.next().is_none();
        sound.then_some(Self { set, count, hash })
    }

    fn write(&self) -> String {
        format!("{MARK}{} {} {}", self.set, self.count, self.hash)
    }
}

fn hash(secret: &[u8]) -> String {
    let digest = Sha256::digest(secret);
    let letters = digest.iter().map(|byte| format!("{byte:02x}"));
    letters.take(HASH_LETTERS / 2).collect()
}

/// The account of a part. A name has no slash.
fn account(name: &SecretName, set: u8, at: usize) -> String {
    format!("{name}/{set}.{at}")
}

/// The secret of this name.
pub(super) fn get(entries: &Entries, name: &SecretName) -> Result<Option<SecretText>, Fault> {
    // Another process may replace the secret while its parts are read; not twice in a row.
    match get_once(entries, name) {
        Err(Fault::Ours(KeyError::DamagedEntry { .. })) => get_once(entries, name),
        done => done,
    }
}

fn get_once(entries: &Entries, name: &SecretName) -> Result<Option<SecretText>, Fault> {
    let Some(value) = only(entries, name)? else {
        return Ok(None);
    };
    let damaged = || Fault::Ours(KeyError::DamagedEntry { name: name.clone() });
    let whole = match Held::read(&value) {
        Held::Whole => value,
        Held::Index(index) => joined(entries, name, &index)?.ok_or_else(damaged)?,
        Held::Broken => return Err(damaged()),
    };
    let secret = SecretText::from_utf8(whole.to_vec()).ok_or_else(damaged)?;
    Ok(Some(secret))
}

/// The parts as one; `None` when they do not belong together.
fn joined(
    entries: &Entries,
    name: &SecretName,
    index: &Index,
) -> Result<Option<Zeroizing<Vec<u8>>>, Fault> {
    // Made as long as it gets, so that growing leaves no copy behind.
    let mut whole = Zeroizing::new(Vec::with_capacity(SECRET_MAX_BYTES));
    for at in 0..index.count {
        let part = entries.read(&account(name, index.set, at))?;
        let [part] = part.as_slice() else {
            return Ok(None);
        };
        if whole.len() + part.len() > SECRET_MAX_BYTES {
            return Ok(None);
        }
        whole.extend_from_slice(part);
    }
    Ok((hash(&whole) == index.hash).then_some(whole))
}

/// The only value under this name.
fn only(entries: &Entries, name: &SecretName) -> Result<Option<Zeroizing<Vec<u8>>>, Fault> {
    let mut values = entries.read(name.as_str())?.into_iter();
    let value = values.next();
    if values.next().is_some() {
        let name = name.clone();
        return Err(Fault::Ours(KeyError::Several { name }));
    }
    Ok(value)
}

/// Keeps a secret, in place of the one that was there.
pub(super) fn set(entries: &Entries, name: &SecretName, secret: &SecretText) -> Result<(), Fault> {
    let value = secret.expose().as_bytes();
    let Some(max_bytes) = entries.max_bytes else {
        return Ok(entries.write(name.as_str(), value)?);
    };
    let old = index(entries, name)?;
    if value.len() <= max_bytes {
        entries.write(name.as_str(), value)?;
    } else {
        let index = Index {
            set: old.as_ref().map_or(0, |old| 1 - old.set),
            count: value.len().div_ceil(max_bytes),
            hash: hash(value),
        };
        for (at, part) in value.chunks(max_bytes).enumerate() {
            entries.write(&account(name, index.set, at), part)?;
        }
        entries.write(name.as_str(), index.write().as_bytes())?;
    }
    old.map_or(Ok(()), |old| remove_set(entries, name, old.set))
}

/// Removes a secret; false when there was none.
pub(super) fn remove(entries: &Entries, name: &SecretName) -> Result<bool, Fault> {
    let removed = entries.remove(name.as_str())?;
    if entries.max_bytes.is_some() {
        // A process that was killed may have left parts of which no name speaks.
        for set in 0..2 {
            remove_set(entries, name, set)?;
        }
    }
    Ok(removed)
}

fn index(entries: &Entries, name: &SecretName) -> Result<Option<Index>, Fault> {
    let values = entries.read(name.as_str())?;
    // One that can't be read is replaced like any other value.
    Ok(values.iter().find_map(|value| match Held::read(value) {
        Held::Index(index) => Some(index),
        Held::Whole | Held::Broken => None,
    }))
}

fn remove_set(entries: &Entries, name: &SecretName, set: u8) -> Result<(), Fault> {
    for at in 0..SECRET_MAX_BYTES {
        if !entries.remove(&account(name, set, at))? {
            break;
        }
    }
    Ok(())
}
