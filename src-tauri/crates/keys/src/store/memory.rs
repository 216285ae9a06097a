//! Secrets in memory only.

use std::collections::BTreeMap;

use super::{Standing, Vault};
use crate::{KeyError, SecretName, SecretText};

/// Secrets that go with the process.
#[derive(Default)]
pub(super) struct Memory(BTreeMap<SecretName, SecretText>);

impl Vault for Memory {
    fn look(&mut self) -> Result<Standing, KeyError> {
        Ok(Standing::Ready)
    }

    fn get(&mut self, name: &SecretName) -> Result<Option<SecretText>, KeyError> {
        Ok(self.0.get(name).cloned())
    }

    fn set(&mut self, name: &SecretName, secret: &SecretText) -> Result<(), KeyError> {
        self.0.insert(name.clone(), secret.clone());
        Ok(())
    }

    fn remove(&mut self, name: &SecretName) -> Result<bool, KeyError> {
        Ok(self.0.remove(name).is_some())
    }

    fn names(&mut self) -> Result<Vec<SecretName>, KeyError> {
        Ok(self.0.keys().cloned().collect())
    }
}
