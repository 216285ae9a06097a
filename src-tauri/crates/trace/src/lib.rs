//! What leaves an installation: a run as JSON Lines.

pub mod jsonl;

pub use jsonl::{ExportError, Exported, export, line};
