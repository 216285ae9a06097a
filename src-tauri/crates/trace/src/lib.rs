//! Longrein trace.
