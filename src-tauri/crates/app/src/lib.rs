//! Longrein app.
