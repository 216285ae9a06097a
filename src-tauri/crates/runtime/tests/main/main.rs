//! The driver over the log in memory: what is done, what is sent, and what a crash leaves.

mod effects;
mod requests;
mod stage;
mod stopping;
mod sweep;
