//! Reads the repository as a reviewer would: the files that belong to it, and what the Rust
//! among them declares. The rules themselves are the tests beside this crate. A rule has no
//! list of exceptions: what breaks one is changed.

use std::fmt;

pub mod rust;
pub mod script;
pub mod tree;

pub use rust::{Function, RustFile};
pub use tree::{SourceFile, Tree};

/// What breaks a rule, all of it, so that one run shows all there is to do.
pub struct Violations {
    rule: String,
    found: Vec<String>,
}

impl fmt::Debug for Violations {
    // A failed test shows this form; a list is what its reader wants.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.rule)?;
        for one in &self.found {
            write!(out, "\n  {one}")?;
        }
        Ok(())
    }
}

/// Holds a rule: what was found to break it, one to a line, must be nothing.
///
/// # Errors
/// When there is a violation. A test returns it, which is how it fails.
pub fn demand_none(rule: &str, mut found: Vec<String>) -> Result<(), Violations> {
    if found.is_empty() {
        return Ok(());
    }
    found.sort();
    found.dedup();
    Err(Violations {
        rule: rule.to_owned(),
        found,
    })
}
