//! Windows' Credential Manager.

use std::collections::HashMap;
use std::sync::Arc;

use keyring_core::Error;
use windows_native_keyring_store::Store;

use super::Opened;
use crate::KeyError;
use crate::store::Standing;

/// Windows refuses more (`CRED_MAX_CREDENTIAL_BLOB_SIZE`, five times 512).
pub(super) const ENTRY_MAX_BYTES: Option<usize> = Some(2_560);

/// What finds every entry of ours: the name of one is its account, a dot and the service.
pub(super) const OF_SERVICE: (&str, &str) = ("pattern", r"\.longrein$");

pub(super) fn open() -> Opened {
    let store: Arc<Store> = Store::new()?;
    Ok(store)
}

/// An entry stays on this machine: it does not follow the person to others of a domain.
pub(super) fn modifiers(_label: &str) -> Option<HashMap<&str, &str>> {
    Some(HashMap::from([("persistence", "local")]))
}

/// It is open as long as the person is logged in.
pub(super) fn look() -> Result<Standing, KeyError> {
    match open() {
        Ok(_) => Ok(Standing::Ready),
        Err(error) => Err(super::explain(&error)),
    }
}

/// What a failure means, where it is one of this system's own.
pub(super) fn explain(_error: &Error) -> Option<KeyError> {
    None
}
