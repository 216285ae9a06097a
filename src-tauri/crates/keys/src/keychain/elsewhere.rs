//! A system without a keychain that is known here.

use std::collections::HashMap;

use keyring_core::Error;

use super::{Opened, SERVICE};
use crate::KeyError;
use crate::store::Standing;

pub(super) const ENTRY_MAX_BYTES: Option<usize> = None;

pub(super) const OF_SERVICE: (&str, &str) = ("service", SERVICE);

pub(super) fn open() -> Opened {
    Err(Error::NoDefaultStore)
}

pub(super) fn modifiers(_label: &str) -> Option<HashMap<&str, &str>> {
    None
}

pub(super) fn look() -> Result<Standing, KeyError> {
    Err(KeyError::Unsupported)
}

pub(super) fn explain(_error: &Error) -> Option<KeyError> {
    None
}
