//! The driver over the log in memory: what is done, what is sent, and what a crash leaves.

mod approvals;
mod asked_by_servers;
mod budgets;
mod children;
mod effects;
mod judging;
mod masking;
mod media;
mod narrowing;
mod offload;
mod pace;
mod patience;
mod questions;
mod recovery;
mod red_team;
mod requests;
mod saved;
mod side_by_side;
mod simulation;
mod stage;
mod stages;
mod stopping;
mod summaries;
mod sweep;
