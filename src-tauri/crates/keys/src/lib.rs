//! Keys and other secrets of this machine: where they are kept, where they are found, and how
//! they are kept out of everything else.
//!
//! - [`SecretText`] holds one and never shows it.
//! - [`check`] says whether a text that a person gave can be one.
//! - [`environment`] knows the variables that override what is kept.
//! - [`Masker`] finds every known secret in a text or in bytes; [`Known`] is what this process
//!   has learnt so far.
//! - `KeyStore` keeps secrets in the system's keychain, in a file that a passphrase encrypts, or
//!   in memory only, as the person chose. It needs the feature `store`.

pub mod check;
pub mod environment;
mod mask;
mod name;
mod secret;

#[cfg(feature = "store")]
mod error;
#[cfg(feature = "store")]
mod file;
#[cfg(feature = "store")]
mod keychain;
#[cfg(feature = "store")]
mod store;

pub use mask::{Known, MaskStream, MaskedWriter, Masker, SHORTEST_MASKED_BYTES, mask_panics};
pub use name::{NAME_MAX_LETTERS, NotAName, SecretName};
pub use secret::SecretText;

#[cfg(feature = "store")]
pub use error::{KeyError, KeyErrorClass};
#[cfg(feature = "store")]
pub use file::{PASSPHRASE_MIN_LETTERS, Passphrase, SECRETS_FILE};
#[cfg(feature = "store")]
pub use store::{Backend, Found, Key, KeyStore, Named, Source, Standing, Wanted};
