//! Reads the repository as a reviewer would: the files that belong to it, and what the Rust
//! among them declares. The rules themselves are the tests beside this crate. A rule has no
//! list of exceptions: what breaks one is changed.

pub mod rust;
pub mod script;
pub mod tree;

pub use rust::{Function, RustFile};
pub use tree::{SourceFile, Tree};

/// Fails with every violation at once, one to a line, so that one run shows all there is to do.
///
/// # Panics
/// When there is a violation; that is how a test says so.
pub fn demand_none(rule: &str, mut violations: Vec<String>) {
    violations.sort();
    violations.dedup();
    assert!(
        violations.is_empty(),
        "{rule}\n  {}\n",
        violations.join("\n  ")
    );
}
