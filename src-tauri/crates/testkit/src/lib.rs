//! Longrein testkit.
