//! The pure heart of Longrein: it folds events into state, says what is owed next, decides
//! actions, compiles requests and folds the rows that are shown. No I/O, no clock, no chance.

pub mod agent_file;
pub mod calendar;
pub mod compact;
pub mod compile;
pub mod dialect;
pub mod disclosure;
pub mod evidence;
pub mod index;
pub mod outline;
pub mod passage;
pub mod pinned;
pub mod policy;
pub mod question;
pub mod run;
pub mod search;
pub mod summary;
pub mod view;
