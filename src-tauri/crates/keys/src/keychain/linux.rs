//! The Secret Service over the session's bus: gnome-keyring, KWallet and others.

use std::collections::HashMap;
use std::sync::Arc;

use keyring_core::Error;
use secret_service::blocking::SecretService;
use secret_service::{EncryptionType, Error as ServiceError};
use zbus_secret_service_keyring_store::Store;

use super::{Opened, SERVICE, WHOSE};
use crate::KeyError;
use crate::error::cause;
use crate::store::Standing;

/// It takes far longer secrets than are kept.
pub(super) const ENTRY_MAX_BYTES: Option<usize> = None;

/// What finds every entry of ours.
pub(super) const OF_SERVICE: (&str, &str) = ("service", SERVICE);

/// What a bus says when nobody answers to a name, and nobody can be started who would.
const NOBODY: &[&str] = &[
    "org.freedesktop.DBus.Error.ServiceUnknown",
    "org.freedesktop.DBus.Error.NameHasNoOwner",
];

/// Who answers could not be started.
const NOT_STARTED: &str = "org.freedesktop.DBus.Error.Spawn.";

pub(super) fn open() -> Opened {
    let store: Arc<Store> = Store::new()?;
    Ok(store)
}

/// What the person sees in a program for passwords.
pub(super) fn modifiers(label: &str) -> Option<HashMap<&str, &str>> {
    Some(HashMap::from([("label", label)]))
}

/// How the default keyring is. It is asked over a connection of its own, and not unlocked.
pub(super) fn look() -> Result<Standing, KeyError> {
    let locked = SecretService::connect(EncryptionType::Plain)
        .and_then(|service| service.get_default_collection()?.is_locked());
    match locked {
        Ok(true) => Ok(Standing::Locked),
        Ok(false) => Ok(Standing::Ready),
        Err(error) => Err(of_service(&error)),
    }
}

/// What a failure means, where it is one of this system's own.
pub(super) fn explain(error: &Error) -> Option<KeyError> {
    match error {
        Error::PlatformFailure(why) | Error::NoStorageAccess(why) => {
            why.downcast_ref::<ServiceError>().map(of_service)
        }
        _ => None,
    }
}

fn of_service(error: &ServiceError) -> KeyError {
    match error {
        ServiceError::Unavailable => KeyError::NoBus {
            cause: cause(error),
        },
        ServiceError::Locked => KeyError::Locked,
        ServiceError::Prompt | ServiceError::PromptDisconnected => KeyError::Dismissed,
        ServiceError::NoResult => KeyError::NoCollection,
        ServiceError::Zbus(error) => of_bus(error),
        ServiceError::ZbusFdo(error) => of_standard(error),
        error => failed(error),
    }
}

fn of_bus(error: &zbus::Error) -> KeyError {
    match error {
        zbus::Error::MethodError(name, ..) if is_nobody(name.as_str()) => KeyError::NoService {
            cause: cause(error),
        },
        zbus::Error::FDO(error) => of_standard(error),
        zbus::Error::Address(_)
        | zbus::Error::Connection(..)
        | zbus::Error::InputOutput(_)
        | zbus::Error::Handshake(_) => KeyError::NoBus {
            cause: cause(error),
        },
        error => failed(error),
    }
}

fn of_standard(error: &zbus::fdo::Error) -> KeyError {
    match error {
        zbus::fdo::Error::ZBus(error) => of_bus(error),
        error if is_nobody(zbus::DBusError::name(error).as_str()) => KeyError::NoService {
            cause: cause(error),
        },
        error => failed(error),
    }
}

fn is_nobody(name: &str) -> bool {
    NOBODY.contains(&name) || name.starts_with(NOT_STARTED)
}

fn failed(error: &dyn std::fmt::Display) -> KeyError {
    KeyError::Failed {
        whose: WHOSE,
        cause: cause(error),
    }
}
