//! Keys.
pub mod check;
pub mod environment;
mod mask;
mod name;
mod secret;
pub use mask::{Known, MaskStream, Masker, SHORTEST_MASKED_BYTES};
pub use name::{NAME_MAX_LETTERS, NotAName, SecretName};
pub use secret::SecretText;
