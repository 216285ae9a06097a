//! Longrein models.
