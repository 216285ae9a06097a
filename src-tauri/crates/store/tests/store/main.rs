//! The log, from outside: one suite for both implementations, and what only the real one has.

mod damage;
mod disk;
mod forged;
mod groups;
mod growth;
mod locks;
mod processes;
mod sample;
mod schema;
mod suite;
mod support;
mod watching;
