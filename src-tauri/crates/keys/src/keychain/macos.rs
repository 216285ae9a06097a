//! macOS's login keychain.

use std::collections::HashMap;
use std::sync::Arc;

use apple_native_keyring_store::keychain::Store;
use keyring_core::Error;

use super::{Opened, SERVICE};
use crate::KeyError;
use crate::store::Standing;

/// It takes far longer secrets than are kept.
pub(super) const ENTRY_MAX_BYTES: Option<usize> = None;

/// What finds every entry of ours.
pub(super) const OF_SERVICE: (&str, &str) = ("service", SERVICE);

pub(super) fn open() -> Opened {
    let store: Arc<Store> = Store::new()?;
    Ok(store)
}

/// An entry has no label of its own here.
pub(super) fn modifiers(_label: &str) -> Option<HashMap<&str, &str>> {
    None
}

/// The system asks the person by itself when it is locked.
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
