//! The entries of a keychain, by account.

use std::collections::HashMap;
use std::sync::Arc;

use keyring_core::{CredentialStore, Entry, Error};
use zeroize::Zeroizing;

use super::{Modifiers, SERVICE, system};

type Value = Zeroizing<Vec<u8>>;

/// Entries of ours in a keychain.
pub(super) struct Entries {
    pub(super) store: Arc<CredentialStore>,
    pub(super) modifiers: Modifiers,
    /// The longest value that one entry takes, in bytes, where there is such a limit.
    pub(super) max_bytes: Option<usize>,
}

impl Entries {
    /// The values of an account. Some keychains can have several, which other programs or a
    /// restored copy left behind; those that are equal count as one.
    pub(super) fn read(&self, account: &str) -> Result<Vec<Value>, Error> {
        let mut values: Vec<Value> = match self.entry(account)?.get_secret() {
            Ok(value) => vec![Value::new(value)],
            Err(Error::NoEntry) => Vec::new(),
            Err(Error::Ambiguous(entries)) => entries
                .iter()
                .map(|entry| entry.get_secret().map(Value::new))
                .collect::<Result<_, _>>()?,
            Err(error) => return Err(error),
        };
        values.dedup();
        Ok(values)
    }

    /// Gives an account this value, and no other.
    pub(super) fn write(&self, account: &str, value: &[u8]) -> Result<(), Error> {
        match self.entry(account)?.set_secret(value) {
            Err(Error::Ambiguous(entries)) => {
                let mut entries = entries.iter();
                if let Some(first) = entries.next() {
                    first.set_secret(value)?;
                }
                entries.try_for_each(Entry::delete_credential)
            }
            done => done,
        }
    }

    /// Removes an account; false when there was none.
    pub(super) fn remove(&self, account: &str) -> Result<bool, Error> {
        match self.entry(account)?.delete_credential() {
            Ok(()) => Ok(true),
            Err(Error::NoEntry) => Ok(false),
            Err(Error::Ambiguous(entries)) => {
                entries.iter().try_for_each(Entry::delete_credential)?;
                Ok(true)
            }
            Err(error) => Err(error),
        }
    }

    /// Every account, in no order.
    pub(super) fn accounts(&self) -> Result<Vec<String>, Error> {
        let found = self.store.search(&HashMap::from([system::OF_SERVICE]))?;
        let accounts = found.iter().filter_map(|entry| {
            let (service, account) = entry.get_specifiers()?;
            (service == SERVICE).then_some(account)
        });
        Ok(accounts.collect())
    }

    fn entry(&self, account: &str) -> Result<Entry, Error> {
        let label = format!("Longrein: {account}");
        let modifiers = (self.modifiers)(&label);
        self.store.build(SERVICE, account, modifiers.as_ref())
    }
}
