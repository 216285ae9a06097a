//! Longrein tools.
