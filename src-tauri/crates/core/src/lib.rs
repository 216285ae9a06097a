//! The pure heart of Longrein: it folds events into state, says what is owed next, decides
//! actions, compiles requests and folds the rows that are shown. No I/O, no clock, no chance.

pub mod dialect;
pub mod passage;
